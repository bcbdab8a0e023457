//! Drawings of pieces.

/// A drawing used many times: its outline, in SVG's language of paths, fills a square of 100 units.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(super) id: &'static str,
    pub(crate) outline: &'static str,
}

/// A crown, for all queens.
pub(crate) static QUEEN: Symbol = Symbol {
    id: "queen",
    outline: "M24 74L14 38L34 56L38 28L50 52L62 28L66 56L86 38L76 74Z\
              M8.5 34a5.5 5.5 0 0 1 11 0a5.5 5.5 0 0 1 -11 0Z\
              M32.5 24a5.5 5.5 0 0 1 11 0a5.5 5.5 0 0 1 -11 0Z\
              M56.5 24a5.5 5.5 0 0 1 11 0a5.5 5.5 0 0 1 -11 0Z\
              M80.5 34a5.5 5.5 0 0 1 11 0a5.5 5.5 0 0 1 -11 0Z\
              M24 78H76V86H24Z",
};

/// A tower.
pub(super) static ROOK: Symbol = Symbol {
    id: "rook",
    outline: "M26 22H36V30H44V22H56V30H64V22H74V42L66 48V68L72 76H28L34 68V48L26 42Z\
              M24 79H76V87H24Z",
};
