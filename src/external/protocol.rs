//! The lines that diadem and an external program exchange; docs/external.md describes them.

use queens::Position;
use serde_json::{Value, json};

/// An answer, for error messages.
pub const EXAMPLE: &str = r#"{"id":5,"count":42}"#;

/// The line that asks for the completions of a position.
///
/// The rows of placed queens have one column, so `columns` and `rights` alone say what is to be counted.
pub fn request(id: u64, position: &Position) -> String {
    let (board, queens) = (position.board(), position.queens());
    let placed = |row| queens.iter().filter(move |queen| queen.row == row);
    let columns = |row| placed(row).fold(position.squares(row), |columns, queen| columns & 1 << queen.col);
    let rights = |left| position.boundary().map_or(board.full(), |pairs| pairs.rights(left));
    let line = json!({
        "id": id,
        "n": board.n(),
        "queens": queens.iter().map(|queen| [queen.row, queen.col]).collect::<Vec<_>>(),
        "columns": board.lines().map(columns).collect::<Vec<_>>(),
        "rights": board.lines().map(rights).collect::<Vec<_>>(),
    });
    format!("{line}\n")
}

/// The id and the count of an answer; `None` if the line is none.
pub fn answer(line: &str) -> Option<(u64, u64)> {
    let object: Value = serde_json::from_str(line).ok()?;
    Some((object.get("id")?.as_u64()?, object.get("count")?.as_u64()?))
}

#[cfg(test)]
mod tests {
    use queens::{Board, BoundaryPairs, Square};

    use super::*;

    /// The example of docs/external.md.
    #[test]
    fn request_describes_the_whole_position() {
        let mut pairs = BoundaryPairs::none();
        pairs.allow(1, 2);
        let position = Position::empty(Board::new(4).unwrap())
            .with_queen(Square::new(0, 2))
            .with_row_within(2, 0b1001)
            .with_boundary(pairs);
        let line = r#"{"id":5,"n":4,"queens":[[0,2]],"columns":[4,15,9,15],"rights":[0,4,0,0]}"#;
        assert_eq!(request(5, &position), format!("{line}\n"));
        let empty = Position::empty(Board::new(2).unwrap());
        assert_eq!(
            request(0, &empty),
            "{\"id\":0,\"n\":2,\"queens\":[],\"columns\":[3,3],\"rights\":[3,3]}\n"
        );
    }

    #[test]
    fn only_whole_numbers_are_answers() {
        assert_eq!(answer(EXAMPLE), Some((5, 42)));
        assert_eq!(
            answer(r#" { "count": 18446744073709551615, "id": 0, "nodes": 3 } "#),
            Some((0, u64::MAX))
        );
        for wrong in
            ["", "42", "[5,42]", "ready", r#"{"id":5}"#, r#"{"id":5,"count":-1}"#, r#"{"id":5,"count":4.5}"#]
        {
            assert_eq!(answer(wrong), None, "{wrong}");
        }
    }
}
