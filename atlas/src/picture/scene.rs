//! A picture: SVG shapes on white paper or on a dark ground.

use svg::node::element::{Circle, Definitions, Element, Path, Polygon, Polyline, Rectangle, Use};
use svg::{Document, Node, node};

use super::font;
use super::paint::{Colour, INK, PAPER, Paint, Theme};
use super::point::{Point, point, short};
use super::symbol::{QUEEN, ROOK, Symbol};

/// A picture, which becomes SVG text or the pixels of a PNG file.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) theme: Theme,
    /// Later shapes lie over earlier ones.
    shapes: Vec<(Element, Paint)>,
}

/// How a text lies at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Picture {
    /// Blank paper.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut picture = Self { width, height, theme: Theme::Light, shapes: Vec::new() };
        picture.rectangle(point(0.0, 0.0), width, height, PAPER);
        picture
    }

    /// A transparent sheet of the size of this picture, to be laid over it.
    pub(super) fn overlay(&self) -> Self {
        Self { shapes: Vec::new(), ..*self }
    }

    /// The picture as it is drawn on that ground.
    #[must_use]
    pub fn in_theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// The larger of width and height.
    pub fn longest_side(&self) -> f64 {
        self.width.max(self.height)
    }

    /// The picture as SVG text. Its font is named, not embedded.
    pub fn to_svg(&self) -> String {
        self.document(self.elements(self.theme))
    }

    /// SVG text of the size of this picture.
    pub(super) fn document(&self, content: impl IntoIterator<Item = Element>) -> String {
        let (width, height) = (short(self.width), short(self.height));
        let outline = |symbol: &Symbol| Path::new().set("id", symbol.id).set("d", symbol.outline);
        let mut svg = Document::new()
            .set("width", width)
            .set("height", height)
            .set("viewBox", (0, 0, width, height))
            .set("font-family", font::FAMILY.to_owned() + ", sans-serif")
            .add(Definitions::new().add(outline(&QUEEN)).add(outline(&ROOK)));
        content.into_iter().for_each(|element| svg.append(element));
        format!("{svg}\n")
    }

    /// The shapes as they are painted on that ground.
    pub(super) fn elements(&self, theme: Theme) -> impl Iterator<Item = Element> {
        self.shapes.iter().map(move |(shape, paint)| paint.on(shape, theme))
    }

    fn add(&mut self, shape: impl Into<Element>, paint: impl Into<Paint>) {
        self.shapes.push((shape.into(), paint.into()));
    }

    pub(super) fn rectangle(&mut self, at: Point, width: f64, height: f64, paint: impl Into<Paint>) {
        let shape = Rectangle::new().set("x", short(at.x)).set("y", short(at.y));
        self.add(shape.set("width", short(width)).set("height", short(height)), paint);
    }

    /// Squares of one size, by their upper left corners.
    pub(super) fn squares(&mut self, corners: impl IntoIterator<Item = Point>, side: f64, colour: Colour) {
        let side = short(side);
        let square = |at: Point| format!("M{}h{side}v{side}h-{side}z", at.svg());
        let squares: String = corners.into_iter().map(square).collect();
        if !squares.is_empty() {
            self.add(Path::new().set("d", squares), colour);
        }
    }

    pub(super) fn circle(&mut self, centre: Point, radius: f64, paint: impl Into<Paint>) {
        let shape = Circle::new().set("cx", short(centre.x)).set("cy", short(centre.y));
        self.add(shape.set("r", short(radius)), paint);
    }

    /// A filled polygon, or lines from corner to corner if only an outline is drawn.
    pub(super) fn corners(&mut self, points: impl IntoIterator<Item = Point>, paint: impl Into<Paint>) {
        let points: Vec<String> = points.into_iter().map(Point::svg).collect();
        match paint.into() {
            paint @ Paint::Fill(_) => self.add(Polygon::new().set("points", points), paint),
            paint @ Paint::Stroke { .. } => self.add(Polyline::new().set("points", points), paint),
        }
    }

    pub(super) fn text(&mut self, at: Point, size: f64, colour: Colour, anchor: Anchor, text: &str) {
        let mut shape = Element::new("text");
        shape.append(node::Text::new(text));
        for (name, value) in [("x", at.x), ("y", at.y), ("font-size", size)] {
            shape.assign(name, short(value));
        }
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => shape.assign("text-anchor", "middle"),
            Anchor::End => shape.assign("text-anchor", "end"),
        }
        self.add(shape, colour);
    }

    pub(super) fn symbol(&mut self, symbol: &Symbol, at: Point, size: f64) {
        let scale = (size * 10.0).round() / 1000.0;
        let transform = format!("translate({}) scale({scale})", at.svg());
        self.add(Use::new().set("href", format!("#{}", symbol.id)).set("transform", transform), INK);
    }
}
