//! Why a position cannot be cut in two halves.

/// Why a position cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncut {
    /// No completion exists: some row has no open square, or no boundary pair is possible.
    Impossible,
    /// More diagonals than a word has bits for: it must be narrowed by the sides of rows, or by one more queen.
    TooWide,
    /// More boundary bits than a word has room for: the left boundary queens must be tried in groups.
    TooManyPairs,
}
