//! The position of a unit, as a picture and in words. Rows and columns count from 0, as families and constellations do.

use std::fmt::Write;

use queens::plan::{Border, Family};
use queens::{Constellation, Measure, Plan, Position, Square, Summand, SymmetryClass, Unit};
use serde_json::{Value, json};

/// The board as text, the first row on top.
pub fn drawn(position: &Position) -> String {
    let lines = || position.board().lines();
    let mut text = "   ".to_owned();
    lines().for_each(|column| text.extend([' ', char::from(b'0' + column % 10)]));
    for row in lines() {
        let _ = write!(text, "\n{row:>3}");
        for column in lines() {
            let square = Square::new(row, column);
            let letter = match square {
                _ if position.queens().contains(&square) => 'Q',
                _ if position.is_free(square) => '.',
                _ => '-',
            };
            text.extend([' ', letter]);
        }
    }
    text + "\n    Q placed, . free, - attacked or left to other units"
}

/// The columns without a placed queen.
fn free_columns(position: &Position) -> Vec<u8> {
    let is_open = |column: &u8| position.queens().iter().all(|queen| queen.col != *column);
    position.board().lines().filter(is_open).collect()
}

fn border(plan: &Plan, unit: &Unit) -> Option<Border> {
    plan.unit_ranges().find(|range| range.units.contains(&unit.id.0)).map(|range| range.border)
}

/// The class of the unit's constellations, and what is counted.
fn summand(plan: &Plan, unit: &Unit) -> (SymmetryClass, Measure) {
    match unit.summand {
        Summand::Asymmetric => (SymmetryClass::Asymmetric, Measure::Completions),
        Summand::Symmetric(member, measure) => (plan.symmetric_members()[member as usize].class, measure),
    }
}

fn class_name(class: SymmetryClass) -> &'static str {
    match class {
        SymmetryClass::Asymmetric => "without symmetry",
        SymmetryClass::Point => "with the half turn",
        SymmetryClass::Rotational => "with the quarter turn",
        SymmetryClass::Full => "with all symmetries",
    }
}

fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Completions => "completions",
        Measure::HalfTurn => "half-turn",
        Measure::QuarterTurn => "quarter-turn",
    }
}

/// The unit in words, a line each.
pub fn described(plan: &Plan, unit: &Unit) -> Vec<String> {
    let board = plan.board();
    let (class, measure) = summand(plan, unit);
    let class = class_name(class);
    let mut lines = Vec::new();
    lines.push(match border(plan, unit) {
        Some(Border::Constellation(Constellation { top, bottom, left, right })) => {
            format!(
                "constellation top {top}, bottom {bottom}, left {left}, right {right} (or an image of it), \
                 {class}"
            )
        }
        Some(Border::Family(Family { top, bottom })) => {
            format!("family top {top}, bottom {bottom} (or an image of it): constellations {class}")
        }
        None => format!("constellations {class}"),
    });
    lines.push(match measure {
        Measure::Completions => "what is counted: the completions".to_owned(),
        Measure::HalfTurn => "what is counted: the completions that the half turn fixes".to_owned(),
        Measure::QuarterTurn => "what is counted: the completions that the quarter turn fixes".to_owned(),
    });
    if let Some(pairs) = unit.position.boundary() {
        lines.push(format!("allowed pairs of left and right queen: {}", pairs.iter().count()));
    }
    let free = free_columns(&unit.position);
    let columns: Vec<_> = free.iter().map(ToString::to_string).collect();
    lines.push(format!("free columns: {}, {} of {board}", columns.join(" "), free.len()));
    lines
}

/// The unit as JSON.
pub fn value(plan: &Plan, unit: &Unit) -> Value {
    let (class, measure) = summand(plan, unit);
    let border = border(plan, unit);
    let queen = |queen: &Square| json!({ "row": queen.row, "column": queen.col });
    let constellation = match border {
        Some(Border::Constellation(constellation)) => json!(constellation),
        _ => Value::Null,
    };
    json!({
        "queens": unit.position.queens().iter().map(queen).collect::<Vec<_>>(),
        "free_columns": free_columns(&unit.position),
        "family": border.map(|border| border.family(plan.board())),
        "constellation": constellation,
        "class": class,
        "counts": measure_name(measure),
    })
}

#[cfg(test)]
mod tests {
    use queens::{Board, PlanSpec, UnitId};

    use super::*;

    #[test]
    fn picture_shows_placed_free_and_attacked_squares() {
        let board = Board::new(4).unwrap();
        let position = Position::empty(board).with_queen(Square::new(0, 1)).with_row_within(2, 0b0001);
        let expected = "
    0 1 2 3
  0 - Q - -
  1 - - - .
  2 . - - -
  3 . - . .
    Q placed, . free, - attacked or left to other units";
        assert_eq!(drawn(&position), expected.trim_start_matches('\n'));
        assert_eq!(free_columns(&position), [0, 2, 3]);
    }

    #[test]
    fn every_unit_is_described_by_its_queens() {
        for spec in [PlanSpec::new, PlanSpec::families].map(|spec| spec(Board::new(10).unwrap())) {
            let plan = Plan::derive(spec).unwrap();
            for unit in (0..plan.units()).map(|unit| plan.unit(UnitId(unit))) {
                let value = value(&plan, &unit);
                let queens = value["queens"].as_array().unwrap().len();
                assert_eq!(drawn(&unit.position).matches('Q').count(), queens + 1, "with the legend");
                assert_eq!(value["free_columns"].as_array().unwrap().len(), 10 - queens);
                assert!(value["family"].is_object(), "{value}");
            }
        }
    }
}
