//! All fundamental solutions of a board on sheets.

use queens::SymmetryClass;

use super::drawn_board::{DrawnBoard, GLUE};
use super::error::PictureError;
use super::paint::{FAINT, INK, RED};
use super::paragraph::{Paragraph, page_title};
use super::point::{Point, point};
use super::scene::{Anchor, Picture};
use crate::orbits::SolutionOrbits;
use crate::setting::Surface;

/// The most boards in a picture.
const MOST: usize = 2_000;

/// Boards beside each other and below each other on a page.
const PAGE: (usize, usize) = (6, 8);

/// One board for each orbit: its number and fundamental solution, its symmetry, and the number of its members; up to 48
/// on a page. A symmetry is marked by the sign that crystallographers use for it, a lens for the half turn and a square
/// for the quarter turn.
///
/// # Errors
/// [`PictureError::Nothing`] without a solution, [`PictureError::TooMany`] beyond 2000 orbits.
pub fn sheets(orbits: &SolutionOrbits) -> Result<Vec<Picture>, PictureError> {
    let (count, setting) = (orbits.orbits.len(), orbits.setting);
    if count == 0 {
        return Err(PictureError::Nothing(format!("{setting} have no solution")));
    }
    if count > MOST {
        return Err(PictureError::TooMany { what: "sheet", count, largest: MOST });
    }
    let numbers: Vec<usize> = (0..count).collect();
    let pages: Vec<&[usize]> = numbers.chunks(PAGE.0 * PAGE.1).collect();
    let title = format!(
        "{setting}: {} solutions in {count} {}",
        orbits.solutions.len(),
        if count == 1 { "family" } else { "families" }
    );
    let page =
        |(number, shown): (usize, &&[usize])| sheet(orbits, &page_title(&title, number, pages.len()), shown);
    Ok((1..).zip(&pages).map(page).collect())
}

/// One page, with the orbits of these indices.
fn sheet(orbits: &SolutionOrbits, title: &str, shown: &[usize]) -> Picture {
    let n = orbits.setting.board.n();
    let (cell, side, step) = sizes(n);
    let columns = columns_for(shown.len());
    let width = (30.0 + columns as f64 * step).max(400.0);
    let left = (width - columns as f64 * step) / 2.0;
    let title = Paragraph::new(title, 17.0, width - 30.0);
    let legend = Paragraph::new(&legend(orbits, shown), 13.0, width - 30.0);
    let captions = shown.iter().map(|index| caption(orbits, *index, if n > 9 { side } else { step - 8.0 }));
    let captions: Vec<_> = captions.collect();
    let row_height =
        side + 40.0 + captions.iter().map(|(name, about)| name.height() + about.height()).fold(0.0, f64::max);
    let head = 24.0 + title.height();
    let boards = shown.len().div_ceil(columns) as f64 * row_height;
    let mut picture = Picture::new(width, head + boards + legend.height() + 14.0);
    title.draw(&mut picture, point(width / 2.0, 10.0), INK, Anchor::Middle);
    for (place, (index, (name, about))) in shown.iter().zip(&captions).enumerate() {
        let x = left + (place % columns) as f64 * step + (step - side) / 2.0;
        let squares = DrawnBoard {
            at: point(x, head + (place / columns) as f64 * row_height),
            cell,
            columns: n,
            rows: n,
        };
        let orbit = &orbits.orbits[*index];
        squares.draw(&mut picture);
        squares.draw_pieces(&mut picture, orbits.setting.piece, orbits.fundamental(orbit).squares());
        squares.draw_glue(&mut picture, orbits.setting.surface);
        let below = point(x + side / 2.0, squares.at.y + side + 6.0);
        name.draw(&mut picture, below, INK, Anchor::Middle);
        about.draw(&mut picture, point(below.x, below.y + name.height()), FAINT, Anchor::Middle);
        draw_sign(
            &mut picture,
            point(below.x - name.width() / 2.0 - 12.0, below.y + 10.0),
            orbits.class(orbit),
        );
    }
    legend.draw(&mut picture, point(width / 2.0, head + boards - 6.0), FAINT, Anchor::Middle);
    picture
}

/// The sides of a square and of a board, and from a board to the next. From n = 10 on the captions have commas, and wrap
/// at the width of the board.
fn sizes(n: u8) -> (f64, f64, f64) {
    let cell = (if n > 9 { 200.0 } else { 144.0 } / f64::from(n)).clamp(9.0, 22.0);
    let side = cell * f64::from(n);
    (cell, side, (side + 30.0).max(176.0))
}

/// As many columns as make a page about 4 to 3.
fn columns_for(count: usize) -> usize {
    ((count as f64 * 4.0 / 3.0).sqrt().ceil() as usize).clamp(1, PAGE.0)
}

/// The text below a board.
fn caption(orbits: &SolutionOrbits, index: usize, width: f64) -> (Paragraph, Paragraph) {
    let orbit = &orbits.orbits[index];
    let name = format!("B{} · {}", index + 1, orbits.fundamental(orbit));
    let about = described(orbits.class(orbit), orbit.members.len());
    (
        Paragraph::new(&name, if orbits.setting.board.n() > 9 { 13.0 } else { 14.0 }, width),
        Paragraph::new(&about, 12.0, width),
    )
}

fn described(class: Option<SymmetryClass>, members: usize) -> String {
    let letter = match class {
        Some(SymmetryClass::Asymmetric) => "A, ",
        Some(SymmetryClass::Point) => "P, ",
        Some(SymmetryClass::Rotational) => "R, ",
        Some(SymmetryClass::Full) | None => "",
    };
    format!("{letter}{members} {}", if members == 1 { "member" } else { "members" })
}

/// The legend of the marks on the page.
fn legend(orbits: &SolutionOrbits, shown: &[usize]) -> String {
    let has = |class| shown.iter().any(|index| orbits.class(&orbits.orbits[*index]) == Some(class));
    let said = [
        (has(SymmetryClass::Asymmetric), "A: no symmetry, 8 members."),
        (has(SymmetryClass::Point), "P, the red lens: a half turn leads to itself, 4 members."),
        (has(SymmetryClass::Rotational), "R, the red square: a quarter turn leads to itself, 2 members."),
        (orbits.setting.surface != Surface::Plain, GLUE),
    ];
    said.into_iter().filter(|(is_said, _)| *is_said).map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

fn draw_sign(picture: &mut Picture, centre: Point, class: Option<SymmetryClass>) {
    let corners: &[(f64, f64)] = match class {
        Some(SymmetryClass::Point) => &[
            (-8.0, 0.0),
            (-4.4, -2.4),
            (0.0, -3.3),
            (4.4, -2.4),
            (8.0, 0.0),
            (4.4, 2.4),
            (0.0, 3.3),
            (-4.4, 2.4),
        ],
        Some(SymmetryClass::Rotational) => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
        _ => return,
    };
    let corners = corners.iter().map(|(x, y)| point(centre.x + x, centre.y + y));
    picture.corners(corners, RED);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use queens::Board;

    #[test]
    fn captions_are_no_larger_than_their_boards() {
        for n in 10..=12 {
            let orbits = SolutionOrbits::of(Setting::queens(Board::new(n).unwrap())).unwrap();
            let (_, side, step) = sizes(n);
            for index in 0..orbits.orbits.len() {
                let (name, about) = caption(&orbits, index, side);
                assert!(name.width() <= side && about.width() <= side && side < step, "n = {n}, {index}");
                assert!(name.height() < side / 4.0, "n = {n}, {index}: {name:?}");
            }
        }
    }
}
