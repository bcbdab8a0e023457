//! All solutions of a board, one a row: what is known of each.

use std::collections::BTreeMap;

use queens::{Board, Symmetry};

use super::{Cell, Table};
use crate::motion::{Motion, letter};
use crate::orbits::{SolutionOrbits, TooMany};
use crate::rings::{Shift, ShiftGraph};
use crate::setting::Setting;

/// One row for each solution of n queens on the plain board: its number, the rows by column, the family and the letter
/// that leads to it from the family's smallest, its symmetry class, the number of its image under c (left and right
/// swapped), and its ring.
///
/// # Errors
/// [`TooMany`] beyond a million solutions.
pub fn solutions(board: Board) -> Result<Table, TooMany> {
    let orbits = SolutionOrbits::of(Setting::queens(board))?;
    let graph = ShiftGraph::of(board, &Shift::STRAIGHT)?;
    let rings: BTreeMap<usize, usize> = graph
        .rings()
        .iter()
        .flat_map(|ring| ring.members.iter().map(|member| (*member, ring.number())))
        .collect();
    let mut rows: Vec<(usize, [Cell; 7])> = Vec::new();
    for (family, orbit) in (1..).zip(&orbits.orbits) {
        let class = orbits.class(orbit).map_or(Cell::Nothing, |class| Cell::Word(class.to_string()));
        for member in &orbit.members {
            let index = member.number - 1;
            let solution = &orbits.solutions[index];
            let image = Motion::of(Symmetry::MirrorColumns).image(board, solution);
            let image = orbits.solutions.partition_point(|other| *other < image) + 1;
            let cells = [
                Cell::Number(member.number as u64),
                Cell::Rows(solution.clone()),
                Cell::Word(format!("B{family}")),
                Cell::Word(letter(member.motion.symmetry).to_string()),
                class.clone(),
                Cell::Number(image as u64),
                rings.get(&index).map_or(Cell::Nothing, |ring| Cell::Word(format!("R{ring}"))),
            ];
            rows.push((index, cells));
        }
    }
    rows.sort_unstable_by_key(|(index, _)| *index);
    let columns = [
        ("number", "number"),
        ("rows", "rows"),
        ("family", "family"),
        ("letter", "letter"),
        ("class", "class"),
        ("mirrored", "under c"),
        ("ring", "ring"),
    ];
    Ok(Table::new(columns, rows.into_iter().map(|(_, cells)| cells).collect()))
}
