//! All solutions of a board, one a row, with their properties.

use std::collections::BTreeMap;

use queens::{Board, Symmetry};

use super::{AtlasTable, TableCell};
use crate::motion::{Motion, letter};
use crate::orbits::{SolutionOrbits, TooMany};
use crate::rings::{Shift, ShiftGraph};
use crate::setting::Setting;

/// One row for each solution of n queens on the plain board. The columns are
///
/// - number, rows by column, and family;
/// - the letter that leads to the solution from the family's smallest;
/// - symmetry class, number of the image under c (left and right swapped), and ring.
///
/// # Errors
/// [`TooMany`] beyond a million solutions.
pub fn solutions(board: Board) -> Result<AtlasTable, TooMany> {
    let setting = Setting::queens(board);
    let orbits = SolutionOrbits::of(setting)?;
    let graph = ShiftGraph::of(setting, &Shift::STRAIGHT)?;
    let rings: BTreeMap<usize, usize> = graph
        .rings()
        .iter()
        .flat_map(|ring| ring.members.iter().map(|member| (*member, ring.number())))
        .collect();
    let mut rows: Vec<(usize, [TableCell; 7])> = Vec::new();
    for (family, orbit) in (1..).zip(&orbits.orbits) {
        let class =
            orbits.class(orbit).map_or(TableCell::Nothing, |class| TableCell::Word(class.to_string()));
        for member in &orbit.members {
            let index = member.number - 1;
            let solution = &orbits.solutions[index];
            let image = Motion::of(Symmetry::MirrorColumns).image(board, solution);
            let image = orbits.solutions.partition_point(|other| *other < image) + 1;
            let cells = [
                TableCell::Number(member.number as u64),
                TableCell::Rows(solution.clone()),
                TableCell::Word(format!("B{family}")),
                TableCell::Word(letter(member.motion.symmetry).to_string()),
                class.clone(),
                TableCell::Number(image as u64),
                rings.get(&index).map_or(TableCell::Nothing, |ring| TableCell::Word(format!("R{ring}"))),
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
    Ok(AtlasTable::new(columns, rows.into_iter().map(|(_, cells)| cells).collect()))
}
