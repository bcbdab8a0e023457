//! What a picture is: a few shapes on white paper or on a dark ground, described once and then written as SVG text
//! (`svg.rs`) or drawn in pixels (`pixels.rs`).

use super::symbol::Symbol;

/// A picture, which becomes SVG text or the pixels of a PNG file.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
    pub(super) theme: Theme,
}

/// On what a picture is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// White paper.
    #[default]
    Light,
    /// A dark screen.
    Dark,
}

/// One thing drawn; later ones lie over earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Rectangle {
        at: Point,
        width: f64,
        height: f64,
        paint: Paint,
    },
    /// Squares of one size, by their upper left corners.
    Squares {
        corners: Vec<Point>,
        side: f64,
        colour: Colour,
    },
    Circle {
        centre: Point,
        radius: f64,
        paint: Paint,
    },
    Corners {
        points: Vec<Point>,
        paint: Paint,
    },
    Text {
        at: Point,
        size: f64,
        colour: Colour,
        anchor: Anchor,
        text: String,
    },
    Symbol {
        symbol: &'static Symbol,
        at: Point,
        size: f64,
    },
}

/// A point, right and down from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// Red, green and blue on white paper and on a dark ground, and how much of the colour hides what lies below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    light: u32,
    dark: u32,
    pub(super) opacity: f64,
}

/// An opaque colour, written 0xRRGGBB, on white paper and on a dark ground.
pub(super) const fn colour(light: u32, dark: u32) -> Colour {
    Colour { light, dark, opacity: 1.0 }
}

/// Paper.
pub(super) const PAPER: Colour = colour(0xff_ff_ff, 0x17_18_1c);
/// Ink of text and pieces.
pub(super) const INK: Colour = colour(0x2a_2a_2e, 0xe8_e8_ec);
/// Text of less weight.
pub(super) const FAINT: Colour = colour(0x6c_6c_74, 0xa4_a4_ae);
/// Light squares.
pub(super) const LIGHT: Colour = colour(0xf6_f1_e7, 0x5c_55_48);
/// Dark squares.
pub(super) const DARK: Colour = colour(0xdc_cf_b8, 0x3a_36_2e);
/// What is wrong, or to be seen first.
pub(super) const RED: Colour = colour(0xb8_32_2b, 0xff_7a_6c);
/// Shifts to the right.
pub(super) const BLUE: Colour = colour(0x2f_6d_b0, 0x74_ac_e8);
/// Shifts up.
pub(super) const ORANGE: Colour = colour(0xb4_52_1a, 0xee_9a_62);
/// What is free.
pub(super) const GREEN: Colour = colour(0x3d_7a_4b, 0x84_c8_94);

/// How a shape is painted: its inside, or its outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Fill(Colour),
    Stroke { colour: Colour, width: f64, dashed: bool },
}

/// Dashes and the gaps between them.
pub(super) const DASH: f64 = 4.0;

impl From<Colour> for Paint {
    fn from(colour: Colour) -> Self {
        Self::Fill(colour)
    }
}

impl Paint {
    pub(super) fn line(colour: Colour, width: f64) -> Self {
        Self::Stroke { colour, width, dashed: false }
    }
}

/// How a text lies at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Colour {
    /// This colour laid on thinly.
    pub(super) const fn thin(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// Red, green and blue, as 0xRRGGBB.
    pub(super) fn rgb(self, theme: Theme) -> u32 {
        match theme {
            Theme::Light => self.light,
            Theme::Dark => self.dark,
        }
    }
}

impl Picture {
    /// An empty picture.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut picture = Self { width, height, shapes: Vec::new(), theme: Theme::Light };
        picture.rectangle(point(0.0, 0.0), width, height, PAPER);
        picture
    }

    /// The picture as it is drawn on that ground.
    #[must_use]
    pub fn in_theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    pub(super) fn rectangle(&mut self, at: Point, width: f64, height: f64, paint: impl Into<Paint>) {
        self.shapes.push(Shape::Rectangle { at, width, height, paint: paint.into() });
    }

    pub(super) fn squares(&mut self, corners: Vec<Point>, side: f64, colour: Colour) {
        if !corners.is_empty() {
            self.shapes.push(Shape::Squares { corners, side, colour });
        }
    }

    pub(super) fn circle(&mut self, centre: Point, radius: f64, paint: impl Into<Paint>) {
        self.shapes.push(Shape::Circle { centre, radius, paint: paint.into() });
    }

    /// A polygon where it is filled; where only its outline is drawn, lines from each corner to the next.
    pub(super) fn corners(&mut self, points: Vec<Point>, paint: impl Into<Paint>) {
        self.shapes.push(Shape::Corners { points, paint: paint.into() });
    }

    pub(super) fn text(&mut self, at: Point, size: f64, colour: Colour, anchor: Anchor, text: &str) {
        self.shapes.push(Shape::Text { at, size, colour, anchor, text: text.to_owned() });
    }

    pub(super) fn symbol(&mut self, symbol: &'static Symbol, at: Point, size: f64) {
        self.shapes.push(Shape::Symbol { symbol, at, size });
    }
}
