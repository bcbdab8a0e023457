//! Boards in a page: each is a few references to an empty board and to a queen that the page holds once.

use queens::Board;

use crate::picture::QUEEN;
use crate::placement::Placement;

/// The empty board and the queen, a square being one unit wide.
pub(super) fn symbols(board: Board) -> String {
    let n = board.n();
    let dark = (0..n).flat_map(|column| (0..n).map(move |row| (column, row)));
    let dark = dark.filter(|(column, row)| (column + n - 1 - row).is_multiple_of(2));
    let dark: Vec<_> = dark.map(|(column, row)| format!("M{column} {row}h1v1h-1z")).collect();
    let dark = dark.concat();
    format!(
        "<svg class=\"symbols\" aria-hidden=\"true\"><defs>\
         <g id=\"squares\" class=\"squares\"><rect width=\"{n}\" height=\"{n}\"/><path d=\"{dark}\"/></g>\
         <g id=\"queen\" class=\"queen\"><path transform=\"scale(.01)\" d=\"{}\"/></g>\
         </defs></svg>\n",
        QUEEN.outline
    )
}

/// The board with its queens, its upper left corner there.
pub(super) fn squares(placement: &Placement, (x, y): (f64, f64)) -> String {
    let top = placement.n() - 1;
    let at = |lines: f64| (lines * 100.0).round() / 100.0;
    let queen = |(column, row): (u8, u8)| {
        let (x, y) = (at(x + f64::from(column)), at(y + f64::from(top - row)));
        format!("<use href=\"#queen\" x=\"{x}\" y=\"{y}\"/>")
    };
    let queens: String = placement.squares().map(queen).collect();
    format!("<use href=\"#squares\" x=\"{}\" y=\"{}\"/>{queens}", at(x), at(y))
}

/// A board by itself.
pub(super) fn board(placement: &Placement) -> String {
    let n = placement.n();
    let squares = squares(placement, (0.0, 0.0));
    format!(
        "<svg class=\"board\" viewBox=\"0 0 {n} {n}\" role=\"img\" aria-label=\"Queens by column in the rows {placement}\">{squares}</svg>"
    )
}
