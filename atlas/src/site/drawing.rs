//! Boards in a page: each is a few references to an empty board and to a queen that the page holds once.

use maud::{Markup, html};
use queens::Board;

use crate::picture::QUEEN;
use crate::placement::Placement;

/// The empty board and the queen, a square being one unit wide.
pub(super) fn symbols(board: Board) -> Markup {
    let n = board.n();
    let dark = (0..n).flat_map(|column| (0..n).map(move |row| (column, row)));
    let dark = dark.filter(|(column, row)| (column + n - 1 - row).is_multiple_of(2));
    html! {
        svg.symbols aria-hidden="true" {
            defs {
                g #squares.squares {
                    rect width=(n) height=(n) {}
                    path d={ @for (column, row) in dark { "M" (column) " " (row) "h1v1h-1z" } } {}
                }
                g #queen.queen { path transform="scale(.01)" d=(QUEEN.outline) {} }
            }
        }
    }
}

/// The board with its queens, its upper left corner there.
pub(super) fn squares(placement: &Placement, (x, y): (f64, f64)) -> Markup {
    let top = placement.n() - 1;
    let at = |lines: f64| (lines * 100.0).round() / 100.0;
    html! {
        use href="#squares" x=(at(x)) y=(at(y)) {}
        @for (column, row) in placement.squares() {
            use href="#queen" x=(at(x + f64::from(column))) y=(at(y + f64::from(top - row))) {}
        }
    }
}

/// A board by itself.
pub(super) fn board(placement: &Placement) -> Markup {
    let n = placement.n();
    html! {
        svg.board viewBox={ "0 0 " (n) " " (n) } role="img" aria-label={ "Queens by column in the rows " (placement) } {
            (squares(placement, (0.0, 0.0)))
        }
    }
}
