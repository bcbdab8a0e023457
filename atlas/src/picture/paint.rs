//! Colours, each for white paper and for a dark ground, and how a shape is painted with them.

use svg::Node;
use svg::node::element::Element;

use super::point::short;

/// On what a picture is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// White paper.
    #[default]
    Light,
    /// A dark screen.
    Dark,
}

/// Red, green and blue on white paper and on a dark ground, and how much of the colour hides what lies below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    light: u32,
    dark: u32,
    opacity: f64,
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
/// Errors, and the most important elements.
pub(super) const RED: Colour = colour(0xb8_32_2b, 0xff_7a_6c);
/// Shifts to the right.
pub(super) const BLUE: Colour = colour(0x2f_6d_b0, 0x74_ac_e8);
/// Shifts up.
pub(super) const ORANGE: Colour = colour(0xb4_52_1a, 0xee_9a_62);
/// Free squares.
pub(super) const GREEN: Colour = colour(0x3d_7a_4b, 0x84_c8_94);

impl Colour {
    /// This colour laid on thinly.
    pub(super) const fn thin(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// Red, green and blue as SVG writes them.
    pub(super) fn rgb(self, theme: Theme) -> String {
        let rgb = match theme {
            Theme::Light => self.light,
            Theme::Dark => self.dark,
        };
        format!("#{rgb:06x}")
    }
}

/// How a shape is painted: its inside, or its outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Fill(Colour),
    Stroke { colour: Colour, width: f64, dashed: bool },
}

impl From<Colour> for Paint {
    fn from(colour: Colour) -> Self {
        Self::Fill(colour)
    }
}

impl Paint {
    pub(super) fn line(colour: Colour, width: f64) -> Self {
        Self::Stroke { colour, width, dashed: false }
    }

    /// The shape, painted.
    pub(super) fn on(self, shape: &Element, theme: Theme) -> Element {
        let mut shape = shape.clone();
        let (what, colour) = match self {
            Self::Fill(colour) => ("fill", colour),
            Self::Stroke { colour, width, dashed } => {
                shape.assign("fill", "none");
                shape.assign("stroke-width", short(width));
                if dashed {
                    shape.assign("stroke-dasharray", "4 4");
                }
                ("stroke", colour)
            }
        };
        shape.assign(what, colour.rgb(theme));
        if colour.opacity < 1.0 {
            shape.assign(format!("{what}-opacity"), colour.opacity);
        }
        shape
    }
}
