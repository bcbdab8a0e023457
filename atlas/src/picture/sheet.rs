//! All fundamental solutions of a board on one sheet.

use queens::SymmetryClass;

use super::board::{draw_pieces, draw_squares};
use super::error::PictureError;
use super::scene::{Anchor, Colour, FAINT, INK, Picture, Point, colour, point};
use crate::orbits::{SolutionOrbit, SolutionOrbits};

/// Boards beyond which nobody would look at each.
const MOST: usize = 400;

/// The colour of the signs of symmetry.
const SIGN: Colour = colour(0xb3_40_2e);

/// One board for each orbit: its number and fundamental solution, its symmetry, and the number of its members. A
/// symmetry is marked by the sign that crystallographers use for it, a lens for the half turn and a square for the
/// quarter turn.
///
/// # Errors
/// [`PictureError::Nothing`] without a solution, [`PictureError::TooMany`] beyond 400 orbits.
pub fn sheet(orbits: &SolutionOrbits) -> Result<Picture, PictureError> {
    let (count, setting) = (orbits.orbits.len(), orbits.setting);
    if count == 0 {
        return Err(PictureError::Nothing(format!("{setting} have no solution")));
    }
    if count > MOST {
        return Err(PictureError::TooMany { what: "sheet", count, largest: MOST });
    }
    let n = f64::from(setting.board.n());
    let cell = (168.0 / n).clamp(9.0, 24.0);
    let (side, gap, below, head) = (cell * n, 30.0, 48.0, 62.0);
    let columns = columns_for(count);
    let rows = count.div_ceil(columns);
    let title = format!("{setting}: {} solutions in {count} {}", orbits.solutions.len(), plural(count));
    let name = orbits.solutions[0].to_string().len() + 6;
    let step = (side + gap).max(7.6 * name as f64).max(176.0);
    let width = (gap + columns as f64 * step).max(9.6 * title.len() as f64);
    let mut picture = Picture::new(width, head + rows as f64 * (side + below) + 6.0);
    picture.text(point(width / 2.0, 34.0), 16.0, INK, Anchor::Middle, &title);
    let left = (width - columns as f64 * step) / 2.0;
    for (index, orbit) in orbits.orbits.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let at = point(left + column as f64 * step + (step - side) / 2.0, head + row as f64 * (side + below));
        draw_orbit(&mut picture, at, cell, orbits, index, orbit);
    }
    Ok(picture)
}

fn plural(orbits: usize) -> &'static str {
    if orbits == 1 { "family" } else { "families" }
}

/// As many columns as make the sheet about 4 to 3.
fn columns_for(count: usize) -> usize {
    ((count as f64 * 4.0 / 3.0).sqrt().ceil() as usize).clamp(1, 20)
}

fn draw_orbit(
    picture: &mut Picture,
    at: Point,
    cell: f64,
    orbits: &SolutionOrbits,
    index: usize,
    orbit: &SolutionOrbit,
) {
    let n = orbits.setting.board.n();
    let side = cell * f64::from(n);
    let class = orbits.class(orbit);
    draw_squares(picture, at, cell, n);
    draw_pieces(picture, at, cell, orbits.fundamental(orbit), orbits.setting.piece);
    let middle = at.x + side / 2.0;
    let name = format!("B{} · {}", index + 1, orbits.fundamental(orbit));
    picture.text(point(middle, at.y + side + 16.0), 12.5, INK, Anchor::Middle, &name);
    let about = described(class, orbit.members.len());
    picture.text(point(middle, at.y + side + 31.0), 10.0, FAINT, Anchor::Middle, &about);
    draw_sign(picture, point(middle - 2.6 * about.len() as f64 - 11.0, at.y + side + 27.5), class);
}

fn described(class: Option<SymmetryClass>, members: usize) -> String {
    let symmetry = match class {
        Some(SymmetryClass::Asymmetric) => "A, no symmetry, ",
        Some(SymmetryClass::Point) => "P, half turn, ",
        Some(SymmetryClass::Rotational) => "R, quarter turn, ",
        Some(SymmetryClass::Full) | None => "",
    };
    format!("{symmetry}{members} {}", if members == 1 { "member" } else { "members" })
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
    let corners = corners.iter().map(|(x, y)| point(centre.x + x, centre.y + y)).collect();
    picture.corners(corners, SIGN);
}
