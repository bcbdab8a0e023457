//! How many boundary constellations boards have up to symmetry, by symmetry class.

use queens::{Board, Constellation, SymmetryClass};

use super::{AtlasTable, TableCell};

/// One row for each board.
pub fn constellations(boards: impl Iterator<Item = Board>) -> AtlasTable {
    let columns = [
        ("n", "n"),
        ("count", "constellations"),
        ("asymmetric", "asymmetric"),
        ("point", "point"),
        ("rotational", "rotational"),
        ("full", "full"),
    ];
    AtlasTable::new(columns, boards.map(row).collect())
}

fn row(board: Board) -> [TableCell; 6] {
    let (mut all, mut asymmetric, mut point, mut rotational, mut full) = (0, 0, 0, 0, 0);
    for orbit in Constellation::orbits(board) {
        all += 1;
        *match orbit.class {
            SymmetryClass::Asymmetric => &mut asymmetric,
            SymmetryClass::Point => &mut point,
            SymmetryClass::Rotational => &mut rotational,
            SymmetryClass::Full => &mut full,
        } += 1;
    }
    [board.n().into(), all, asymmetric, point, rotational, full].map(TableCell::Number)
}
