//! Drawings of pieces.

/// A drawing used many times, on a square of 100 units.
#[derive(Debug, PartialEq)]
pub(crate) struct Symbol {
    pub(super) id: &'static str,
    pub(super) polygons: &'static [&'static [(f64, f64)]],
    /// The middles of its discs.
    pub(super) discs: &'static [(f64, f64)],
}

/// The radius of a symbol's discs.
pub(super) const DISC: f64 = 5.5;

/// A crown, for all queens.
pub(crate) static QUEEN: Symbol = Symbol {
    id: "queen",
    polygons: &[
        &[
            (24.0, 74.0),
            (14.0, 38.0),
            (34.0, 56.0),
            (38.0, 28.0),
            (50.0, 52.0),
            (62.0, 28.0),
            (66.0, 56.0),
            (86.0, 38.0),
            (76.0, 74.0),
        ],
        &[(24.0, 78.0), (76.0, 78.0), (76.0, 86.0), (24.0, 86.0)],
    ],
    discs: &[(14.0, 34.0), (38.0, 24.0), (62.0, 24.0), (86.0, 34.0)],
};

/// A tower.
pub(super) static ROOK: Symbol = Symbol {
    id: "rook",
    polygons: &[
        &[
            (26.0, 22.0),
            (36.0, 22.0),
            (36.0, 30.0),
            (44.0, 30.0),
            (44.0, 22.0),
            (56.0, 22.0),
            (56.0, 30.0),
            (64.0, 30.0),
            (64.0, 22.0),
            (74.0, 22.0),
            (74.0, 42.0),
            (66.0, 48.0),
            (66.0, 68.0),
            (72.0, 76.0),
            (28.0, 76.0),
            (34.0, 68.0),
            (34.0, 48.0),
            (26.0, 42.0),
        ],
        &[(24.0, 79.0), (76.0, 79.0), (76.0, 87.0), (24.0, 87.0)],
    ],
    discs: &[],
};
