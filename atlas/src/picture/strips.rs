//! Strips of paper that show the eight images of a solution: to print, cut and fold.
//!
//! A strip has four lines of N numbers: the columns k, the rows n, N+1-k and N+1-n. Folded between the lines to a stick
//! with four sides, it shows two lines at each edge. Upper numbers are columns and lower numbers rows of one image, lower
//! numbers columns and upper numbers rows of another. The first line is printed once more, for glue.

use super::error::PictureError;
use super::paint::{DARK, FAINT, INK, Paint};
use super::paragraph::{Paragraph, page_title};
use super::point::{Point, point};
use super::scene::{Anchor, Picture};
use crate::orbits::SolutionOrbits;
use crate::placement::Placement;

/// The most strips in a picture.
const MOST: usize = 2_000;

/// The width and height of a page are about those of a sheet of paper.
const PAGE: (f64, f64) = (820.0, 1_160.0);

/// The width and height of a number.
const CELL: (f64, f64) = (24.0, 22.0);

/// The room for the names of the lines, left of them.
const NAMES: f64 = 44.0;

/// The room for the letters of the folds, right of the lines.
const LETTERS: f64 = 58.0;

/// The room between strips, and around them.
const GAP: f64 = 26.0;

/// The letters that the two lines at a fold lead to: the upper line as columns, and the lower one.
const FOLDS: [(char, char); 4] = [('a', 'g'), ('d', 'c'), ('e', 'h'), ('f', 'b')];

const LEGEND: &str = "Cut along the solid lines. Fold along the dashed lines to a stick with four sides, and glue the \
    shaded line under the first one. At each edge the two lines make two images of the solution. Under \u{2193} the upper \
    number is the column, and the lower number is the row. Under \u{2191} it is the other way round.";

/// One strip for each orbit, as many on a page as fit.
///
/// # Errors
/// [`PictureError::Nothing`] without a solution, [`PictureError::TooMany`] beyond 2000 orbits.
pub fn strips(orbits: &SolutionOrbits) -> Result<Vec<Picture>, PictureError> {
    let (count, setting) = (orbits.orbits.len(), orbits.setting);
    if count == 0 {
        return Err(PictureError::Nothing(format!("{setting} have no solution")));
    }
    if count > MOST {
        return Err(PictureError::TooMany { what: "picture", count, largest: MOST });
    }
    let strips: Vec<Strip> = (1..)
        .zip(&orbits.orbits)
        .map(|(number, orbit)| Strip::of(number, orbits.fundamental(orbit)))
        .collect();
    let (width, height) = strips[0].size();
    let fit = |room: f64, side: f64| ((room - GAP) / (side + GAP)).floor().max(1.0) as usize;
    let beside = fit(PAGE.0, width).min(count);
    let below = fit(PAGE.1 - 130.0, height);
    let pages: Vec<&[Strip]> = strips.chunks(beside * below).collect();
    let title = format!("{setting}: strips of {count} {}", if count == 1 { "family" } else { "families" });
    let page =
        |(number, shown): (usize, &&[Strip])| page(&page_title(&title, number, pages.len()), shown, beside);
    Ok((1..).zip(&pages).map(page).collect())
}

/// One page, with these strips.
fn page(title: &str, strips: &[Strip], beside: usize) -> Picture {
    let (width, height) = strips[0].size();
    let inside = beside as f64 * (width + GAP) - GAP;
    let page_width = (inside + 2.0 * GAP).max(420.0);
    let title = Paragraph::new(title, 17.0, page_width - 2.0 * GAP);
    let legend = Paragraph::new(LEGEND, 13.0, page_width - 2.0 * GAP);
    let head = 24.0 + title.height();
    let rows = strips.len().div_ceil(beside) as f64;
    let mut picture = Picture::new(page_width, head + rows * (height + GAP) + legend.height() + 16.0);
    title.draw(&mut picture, point(page_width / 2.0, 10.0), INK, Anchor::Middle);
    let left = (page_width - inside) / 2.0;
    for (place, strip) in strips.iter().enumerate() {
        let right = (place % beside) as f64 * (width + GAP);
        let down = (place / beside) as f64 * (height + GAP);
        strip.draw(&mut picture, point(left + right, head + down));
    }
    let below = head + rows * (height + GAP) - 8.0;
    legend.draw(&mut picture, point(page_width / 2.0, below), FAINT, Anchor::Middle);
    picture
}

/// The strip of a solution.
struct Strip {
    name: String,
    /// The lines from above: k, n, N+1-k, N+1-n.
    lines: [Vec<u16>; 4],
}

impl Strip {
    fn of(number: usize, solution: &Placement) -> Self {
        let size = u16::from(solution.n());
        let columns: Vec<u16> = (1..=size).collect();
        let rows: Vec<u16> = solution.rows().iter().map(|row| u16::from(*row) + 1).collect();
        let opposite = |line: &Vec<u16>| line.iter().map(|number| size + 1 - number).collect();
        let (from_right, from_above) = (opposite(&columns), opposite(&rows));
        Self { name: format!("B{number}"), lines: [columns, rows, from_right, from_above] }
    }

    /// How many numbers a line has.
    fn n(&self) -> usize {
        self.lines[0].len()
    }

    fn size(&self) -> (f64, f64) {
        (NAMES + self.n() as f64 * CELL.0 + LETTERS, 5.0 * CELL.1)
    }

    fn draw(&self, picture: &mut Picture, at: Point) {
        let last = self.n() + 1;
        let names = ["k".to_owned(), "n".to_owned(), format!("{last}-k"), format!("{last}-n")];
        let (width, height) = self.size();
        let end = at.x + width - 6.0;
        picture.rectangle(point(at.x, at.y + 4.0 * CELL.1), width, CELL.1, DARK);
        picture.text(point(end, at.y + 13.0), 12.0, INK, Anchor::End, &self.name);
        for line in 0..5 {
            let y = at.y + line as f64 * CELL.1;
            let base = y + 15.5;
            let colour = if line == 4 { FAINT } else { INK };
            picture.text(point(at.x + 6.0, base), 12.0, FAINT, Anchor::Start, &names[line % 4]);
            for (place, number) in self.lines[line % 4].iter().enumerate() {
                let x = at.x + NAMES + (place as f64 + 0.5) * CELL.0;
                picture.text(point(x, base), 13.0, colour, Anchor::Middle, &number.to_string());
            }
            if line > 0 {
                let fold = Paint::Stroke { colour: INK, width: 1.0, dashed: true };
                picture.corners([point(at.x, y), point(at.x + width - LETTERS + 6.0, y)], fold);
                let (down, up) = FOLDS[line - 1];
                let letters = format!("\u{2193}{down} \u{2191}{up}");
                picture.text(point(end, y + 4.0), 11.0, FAINT, Anchor::End, &letters);
            }
        }
        let (right, bottom) = (at.x + width, at.y + height);
        let corners = [(at.x, at.y), (right, at.y), (right, bottom), (at.x, bottom), (at.x, at.y)];
        picture.corners(corners.map(|(x, y)| point(x, y)), Paint::line(INK, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{LETTERS as ALL, Motion, letter};
    use queens::Board;

    #[test]
    fn folds_show_the_eight_images() {
        for rows in ["15863724", "2413", "1,3,6,8,10,5,9,2,4,7"] {
            let solution: Placement = rows.parse().unwrap();
            let strip = Strip::of(1, &solution);
            let board = Board::new(solution.n()).unwrap();
            let mut shown = String::new();
            for (fold, (down, up)) in FOLDS.into_iter().enumerate() {
                let (upper, lower) = (&strip.lines[fold], &strip.lines[(fold + 1) % 4]);
                for (letter_here, columns, from_columns) in [(down, upper, lower), (up, lower, upper)] {
                    let mut image = vec![0; strip.n()];
                    let pairs = columns.iter().zip(from_columns);
                    pairs.for_each(|(column, row)| image[usize::from(*column) - 1] = *row as u8 - 1);
                    let symmetry = ALL.into_iter().find(|symmetry| letter(*symmetry) == letter_here).unwrap();
                    let expected = Motion::of(symmetry).image(board, &solution);
                    assert_eq!(image, expected.rows(), "{rows}: {letter_here}");
                    shown.push(letter_here);
                }
            }
            let mut letters: Vec<char> = shown.chars().collect();
            letters.sort_unstable();
            assert_eq!(letters, ('a'..='h').collect::<Vec<_>>());
        }
    }
}
