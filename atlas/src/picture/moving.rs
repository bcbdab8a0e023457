//! Pictures that move: SVG with animations of its own (SMIL), which browsers play. Who plays none of them sees one scene,
//! the one that says most.

use queens::{Board, Square, Symmetry};

use super::board::framed;
use super::drawn_board::DrawnBoard;
use super::error::PictureError;
use super::scene::{Anchor, GREEN, INK, Picture, Point, RED, Shape, Theme, point};
use super::svg::short;
use super::symbol::QUEEN;
use crate::motion::{LETTERS, Motion, letter, words};
use crate::placement::Placement;
use crate::search::{Backtracking, ColumnChoice, SearchStep};

/// Steps of a search beyond which nobody would look on.
const MOST: usize = 600;

/// Pictures one after the other, on the same ground, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingPicture {
    /// What is always there.
    ground: Picture,
    scenes: Vec<Scene>,
    /// The scene that is seen where nothing moves.
    still: usize,
    /// What goes from place to place: for each, where it stands in each scene.
    paths: Vec<Vec<Point>>,
    /// The size of what goes.
    size: f64,
}

/// What is there for a time.
#[derive(Clone, Debug, PartialEq)]
struct Scene {
    seconds: f64,
    shapes: Vec<Shape>,
}

impl MovingPicture {
    /// The search for a solution of n queens, step by step until the first one: queens, the squares that the next row
    /// may still take, and what the step does. Where nothing moves, the solution is seen.
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
            scenes
                .push(Scene { seconds: 0.6, shapes: step(&ground, squares, &search, (column, row), &words) });
        }
        let words = match search.solution() {
            Some(solution) => format!("Found after {} placements: {solution}", search.placements()),
            None => format!("No solution: all is tried after {} placements", search.placements()),
        };
        let mut last = queens(squares, &search);
        last.push(caption(&ground, &words));
        scenes.push(Scene { seconds: 5.0, shapes: last });
        Ok(Self { ground, still: scenes.len() - 1, scenes, paths: Vec::new(), size: 0.0 })
    }

    /// A placement turning into its images under the eight symmetries, each queen going where it is taken, and back.
    pub fn turns(board: Board, placement: &Placement) -> Self {
        let n = board.n();
        let (ground, squares) = framed((n, n), &format!("The images of {placement}"), " ");
        // The turns in their order, then the reflections, each a turn from the one before.
        let order = [0, 3, 4, 5, 1, 6, 2, 7].map(|index| LETTERS[index]);
        let images = order.map(|symmetry| {
            let image = Motion::of(symmetry).image(board, placement);
            let caption_words = format!("{}, {}: {image}", letter(symmetry), words(symmetry));
            Scene { seconds: 2.0, shapes: vec![caption(&ground, &caption_words)] }
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

    /// The picture as SVG text. Who asks for less motion, and has a viewer that knows of it, sees what is seen where nothing
    /// moves.
    pub fn to_svg(&self) -> String {
        let mut svg = self.ground.head();
        svg += "<style>.still{display:none}@media(prefers-reduced-motion:reduce){.still{display:inline}.moving{display:none}}\
                </style>\n";
        svg += &self.drawn(&self.ground.shapes);
        format!(
            "{svg}<g class=\"moving\">\n{}</g>\n<g class=\"still\">\n{}</g>\n</svg>\n",
            self.moving(),
            self.standing()
        )
    }

    /// All scenes, each in its time, and what goes.
    fn moving(&self) -> String {
        let total: f64 = self.scenes.iter().map(|scene| scene.seconds).sum();
        let mut svg = String::new();
        let mut begin = 0.0;
        for (index, scene) in self.scenes.iter().enumerate() {
            let (from, to) = (begin / total, (begin + scene.seconds) / total);
            let seen = if index == self.still { "visible" } else { "hidden" };
            let (times, values) = match (index, index + 1 == self.scenes.len()) {
                (0, _) => (format!("0;{to:.5}"), "visible;hidden"),
                (_, true) => (format!("0;{from:.5}"), "hidden;visible"),
                _ => (format!("0;{from:.5};{to:.5}"), "hidden;visible;hidden"),
            };
            svg += &format!(
                "<g visibility=\"{seen}\"><animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"{}s\" \
                 repeatCount=\"indefinite\" keyTimes=\"{times}\" values=\"{values}\"/>\n{}</g>\n",
                short(total),
                self.drawn(&scene.shapes)
            );
            begin += scene.seconds;
        }
        svg + &self.paths.iter().map(|path| self.going(path, total)).collect::<String>()
    }

    /// The scene that is seen where nothing moves, and what goes in its place.
    fn standing(&self) -> String {
        let goers = self.paths.iter().map(|path| self.goer(path[self.still])).collect::<Vec<_>>();
        self.drawn(&self.scenes[self.still].shapes) + &self.drawn(&goers)
    }

    fn drawn(&self, shapes: &[Shape]) -> String {
        shapes.iter().map(|shape| shape.svg(self.ground.theme) + "\n").collect()
    }

    fn goer(&self, at: Point) -> Shape {
        Shape::Symbol { symbol: &QUEEN, at, size: self.size }
    }

    /// A queen that stands still for the first half of each scene and then goes to its place in the next.
    fn going(&self, path: &[Point], total: f64) -> String {
        let count = path.len() as f64;
        let stops = path.iter().enumerate().flat_map(|(index, at)| {
            [0.0, 0.5].map(|half| (format!("{:.4}", (index as f64 + half) / count), at.to_string()))
        });
        let (times, places): (Vec<_>, Vec<_>) = stops.chain([("1".to_owned(), path[0].to_string())]).unzip();
        format!(
            "<g transform=\"translate({})\"><animateTransform attributeName=\"transform\" type=\"translate\" dur=\"{}s\" \
             repeatCount=\"indefinite\" keyTimes=\"{}\" values=\"{}\"/>{}</g>\n",
            path[0],
            short(total),
            times.join(";"),
            places.join(";"),
            self.goer(point(0.0, 0.0)).svg(self.ground.theme)
        )
    }
}

/// The queens of a search, the one just placed in a red frame, and what the row after it may take.
fn step(
    ground: &Picture,
    squares: DrawnBoard,
    search: &Backtracking,
    placed: (u8, u8),
    words: &str,
) -> Vec<Shape> {
    let mut shapes = vec![Shape::Squares {
        corners: vec![squares.corner(placed)],
        side: squares.cell,
        colour: RED.thin(0.35),
    }];
    shapes.extend(queens(squares, search));
    let next = search.queens().len();
    if let Some(untried) = search.untried().get(next) {
        shapes.extend(untried.iter().map(|column| Shape::Circle {
            centre: squares.middle((column, next as u8)),
            radius: squares.cell * 0.15,
            paint: GREEN.into(),
        }));
    }
    shapes.push(caption(ground, words));
    shapes
}

fn queens(squares: DrawnBoard, search: &Backtracking) -> Vec<Shape> {
    let queen = |(row, column): (u8, &u8)| Shape::Symbol {
        symbol: &QUEEN,
        at: squares.corner((*column, row)),
        size: squares.cell,
    };
    (0u8..).zip(search.queens()).map(queen).collect()
}

/// Words below the board.
fn caption(ground: &Picture, words: &str) -> Shape {
    let at = point(ground.width / 2.0, ground.height - 9.0);
    Shape::Text { at, size: 13.0, colour: INK, anchor: Anchor::Middle, text: words.to_owned() }
}
