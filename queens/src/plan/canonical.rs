//! Which of its eight images stands for a constellation in families: the one whose top and bottom queens reach nearest
//! to a corner.

use crate::board::Board;
use crate::constellation::Constellation;

/// The image that stands for the constellation and all its images.
pub fn canonical(board: Board, x: Constellation) -> Constellation {
    x.smallest_image_by(board, |image| rank(board, image))
}

/// Whether of all its images this one stands for the constellation.
pub fn is_canonical(board: Board, x: Constellation) -> bool {
    x == canonical(board, x)
}

/// The order in which images are preferred: top and bottom queen near a corner first.
fn rank(board: Board, x: Constellation) -> (u8, u8, Constellation) {
    let from_corner = |place: u8| place.min(board.last() - place);
    let (top, bottom) = (from_corner(x.top), from_corner(x.bottom));
    (top.min(bottom), top.max(bottom), x)
}
