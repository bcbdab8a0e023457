//! Moving pictures: SVG with its own animations (SMIL), which browsers play. A viewer without animations
//! shows the most informative scene.

use queens::{Board, Square, Symmetry};
use svg::Node;
use svg::node::element::{Animate, AnimateTransform, Group, Style};

use super::board::{LONGEST_LIST, framed, title};
use super::drawn_board::DrawnBoard;
use super::error::PictureError;
use super::paint::{GREEN, INK, RED, Theme};
use super::point::{Point, point, short};
use super::scene::{Anchor, Picture};
use super::symbol::QUEEN;
use crate::motion::{LETTERS, Motion, letter, words};
use crate::placement::Placement;
use crate::search::{Backtracking, ColumnChoice, SearchStep};
use crate::setting::Piece;

/// The most steps of a search in a picture.
const MOST: usize = 600;

/// Pictures one after the other, on the same ground, again and again.
#[derive(Clone, Debug)]
pub struct MovingPicture {
    /// The part that is always visible.
    ground: Picture,
    scenes: Vec<Scene>,
    /// The scene that is seen where nothing moves.
    still: usize,
    /// The paths of the moving elements: the place of each in each scene.
    paths: Vec<Vec<Point>>,
    /// The size of what goes.
    size: f64,
}

/// A drawing that is visible for a time.
#[derive(Clone, Debug)]
struct Scene {
    seconds: f64,
    overlay: Picture,
}

impl MovingPicture {
    /// The search for a solution of n queens, step by step until the first one: queens, the squares that the next row
    /// may still take, and what the step does. Without motion the picture shows the solution.
    ///
    /// # Errors
    /// [`PictureError::TooMany`] beyond 600 steps.
    pub fn search(board: Board, mut choice: ColumnChoice) -> Result<Self, PictureError> {
        let n = board.n();
        let (ground, squares) = framed((n, n), &format!("The search for {n} queens"), " ");
        let mut search = Backtracking::new(n);
        let mut scenes = Vec::new();
        let mut deepest = 0;
        while search.solution().is_none() {
            let SearchStep::Placed { row, column } = search.step(&mut choice) else { break };
            if scenes.len() == MOST {
                return Err(PictureError::TooMany { what: "search", count: scenes.len() + 1, largest: MOST });
            }
            let back = if usize::from(row) < deepest { "back to row" } else { "row" };
            let words = format!("{}. {back} {}: column {}", search.placements(), row + 1, column + 1);
            deepest = search.untried().len();
            let overlay = step(&ground, squares, &search, (column, row), &words);
            scenes.push(Scene { seconds: 0.6, overlay });
        }
        let words = match search.solution() {
            Some(_) if n > LONGEST_LIST => format!("Found after {} placements", search.placements()),
            Some(solution) => format!("Found after {} placements: {solution}", search.placements()),
            None => format!("No solution: all is tried after {} placements", search.placements()),
        };
        let mut overlay = captioned(&ground, &words);
        squares.draw_pieces(&mut overlay, Piece::Queen, queens(&search));
        scenes.push(Scene { seconds: 5.0, overlay });
        Ok(Self { ground, still: scenes.len() - 1, scenes, paths: Vec::new(), size: 0.0 })
    }

    /// A placement that turns into its images under the eight symmetries and back; each queen moves to its
    /// image.
    pub fn turns(board: Board, placement: &Placement) -> Self {
        let n = board.n();
        let (ground, squares) =
            framed((n, n), &format!("The images of {}", title(placement, Piece::Queen, 1)), " ");
        // The turns in their order, then the reflections, each a turn from the one before.
        let order = [0, 3, 4, 5, 1, 6, 2, 7].map(|index| LETTERS[index]);
        let images = order.map(|symmetry| {
            let image = Motion::of(symmetry).image(board, placement);
            let name = format!("{}, {}", letter(symmetry), words(symmetry));
            let words = if n > LONGEST_LIST { name } else { format!("{name}: {image}") };
            Scene { seconds: 2.0, overlay: captioned(&ground, &words) }
        });
        let path = |(column, row)| {
            let at = |symmetry: Symmetry| {
                let image = symmetry.image(board, Square::new(board.last() - row, column));
                squares.corner((image.col, board.last() - image.row))
            };
            order.map(at).to_vec()
        };
        let paths = placement.squares().map(path).collect();
        Self { ground, scenes: images.to_vec(), still: 0, paths, size: squares.cell }
    }

    /// As it is drawn on that ground.
    #[must_use]
    pub fn in_theme(self, theme: Theme) -> Self {
        Self { ground: self.ground.in_theme(theme), ..self }
    }

    /// The picture as SVG text. A viewer that honours a wish for less motion shows the scene for viewers without motion.
    pub fn to_svg(&self) -> String {
        let style = Style::new(
            ".still{display:none}\
             @media(prefers-reduced-motion:reduce){.still{display:inline}.moving{display:none}}",
        );
        let ground = self.ground.elements(self.ground.theme);
        let groups = [self.moving().set("class", "moving"), self.standing().set("class", "still")];
        self.ground.document([style.into()].into_iter().chain(ground).chain(groups.map(Group::into)))
    }

    /// All scenes, each in its time, and what goes.
    fn moving(&self) -> Group {
        let total: f64 = self.scenes.iter().map(|scene| scene.seconds).sum();
        let mut all = Group::new();
        let mut begin = 0.0;
        for (index, scene) in self.scenes.iter().enumerate() {
            let (from, to) = (begin / total, (begin + scene.seconds) / total);
            let (times, values) = match (index, index + 1 == self.scenes.len()) {
                (0, _) => (format!("0;{to:.5}"), "visible;hidden"),
                (_, true) => (format!("0;{from:.5}"), "hidden;visible"),
                _ => (format!("0;{from:.5};{to:.5}"), "hidden;visible;hidden"),
            };
            let animation = Animate::new()
                .set("attributeName", "visibility")
                .set("calcMode", "discrete")
                .set("dur", format!("{}s", short(total)))
                .set("repeatCount", "indefinite")
                .set("keyTimes", times)
                .set("values", values);
            let seen = if index == self.still { "visible" } else { "hidden" };
            all.append(self.drawn(&scene.overlay).set("visibility", seen).add(animation));
            begin += scene.seconds;
        }
        self.paths.iter().for_each(|path| all.append(self.going(path, total)));
        all
    }

    /// The scene that is seen where nothing moves, and what goes in its place.
    fn standing(&self) -> Group {
        let mut overlay = self.scenes[self.still].overlay.clone();
        self.paths.iter().for_each(|path| overlay.symbol(&QUEEN, path[self.still], self.size));
        self.drawn(&overlay)
    }

    fn drawn(&self, overlay: &Picture) -> Group {
        overlay.elements(self.ground.theme).fold(Group::new(), Group::add)
    }

    /// A queen that stands still for the first half of each scene and then goes to its place in the next.
    fn going(&self, path: &[Point], total: f64) -> Group {
        let count = path.len() as f64;
        let stops = path.iter().enumerate().flat_map(|(index, at)| {
            [0.0, 0.5].map(|half| (format!("{:.4}", (index as f64 + half) / count), at.svg()))
        });
        let (times, places): (Vec<_>, Vec<_>) = stops.chain([("1".to_owned(), path[0].svg())]).unzip();
        let animation = AnimateTransform::new()
            .set("attributeName", "transform")
            .set("type", "translate")
            .set("dur", format!("{}s", short(total)))
            .set("repeatCount", "indefinite")
            .set("keyTimes", times.join(";"))
            .set("values", places.join(";"));
        let mut queen = self.ground.overlay();
        queen.symbol(&QUEEN, point(0.0, 0.0), self.size);
        self.drawn(&queen).set("transform", format!("translate({})", path[0].svg())).add(animation)
    }
}

/// The queens of a search, the one just placed on red, and what the row after it may take.
fn step(
    ground: &Picture,
    squares: DrawnBoard,
    search: &Backtracking,
    placed: (u8, u8),
    words: &str,
) -> Picture {
    let mut overlay = captioned(ground, words);
    overlay.squares([squares.corner(placed)], squares.cell, RED.thin(0.35));
    squares.draw_pieces(&mut overlay, Piece::Queen, queens(search));
    let next = search.queens().len();
    for column in search.untried().get(next).iter().flat_map(|untried| untried.iter()) {
        overlay.circle(squares.middle((column, next as u8)), squares.cell * 0.15, GREEN);
    }
    overlay
}

/// The squares of the queens of a search.
fn queens(search: &Backtracking) -> impl Iterator<Item = (u8, u8)> {
    (0u8..).zip(search.queens()).map(|(row, column)| (*column, row))
}

/// Only words below the board.
fn captioned(ground: &Picture, words: &str) -> Picture {
    let mut overlay = ground.overlay();
    let at = point(ground.width / 2.0, ground.height - 9.0);
    overlay.text(at, 13.0, INK, Anchor::Middle, words);
    overlay
}
