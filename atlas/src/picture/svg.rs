//! A picture as SVG text.

use std::fmt::{self, Display, Formatter};

use super::font;
use super::scene::{Anchor, Colour, DASH, INK, Paint, Picture, Point, Shape, Theme};
use super::symbol::{QUEEN, ROOK};

impl Picture {
    /// The picture as SVG text. Its font is named, not embedded.
    pub fn to_svg(&self) -> String {
        let shapes: String = self.shapes.iter().map(|shape| shape.svg(self.theme) + "\n").collect();
        self.head() + &shapes + "</svg>\n"
    }

    /// What stands before the shapes: the size, the font, the colour of the pieces, and these themselves.
    pub(super) fn head(&self) -> String {
        let (width, height, ink) = (short(self.width), short(self.height), INK.rgb(self.theme));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"'{}', sans-serif\" fill=\"#{ink:06x}\">\n<defs>\n",
            font::FAMILY
        );
        for symbol in [&QUEEN, &ROOK] {
            svg += &format!("<path id=\"{}\" d=\"{}\"/>\n", symbol.id, symbol.outline);
        }
        svg + "</defs>\n"
    }
}

/// Coordinates to a tenth: files stay small, and nothing is seen of the rest.
pub(super) fn short(number: f64) -> impl Display {
    (number * 10.0).round() / 10.0
}

impl Shape {
    /// The element that draws it.
    pub(super) fn svg(&self, theme: Theme) -> String {
        match self {
            Self::Rectangle { at, width, height, paint } => {
                let (x, y, width, height) = (short(at.x), short(at.y), short(*width), short(*height));
                let paint = paint.svg(theme);
                format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {paint}/>"#)
            }
            Self::Squares { corners, side, colour } => {
                let side = short(*side);
                let square = |at: &Point| format!("M{at}h{side}v{side}h-{side}z");
                let squares: String = corners.iter().map(square).collect();
                format!(r#"<path d="{squares}" {}/>"#, attributes("fill", *colour, theme))
            }
            Self::Circle { centre, radius, paint } => {
                let (x, y, r) = (short(centre.x), short(centre.y), short(*radius));
                format!(r#"<circle cx="{x}" cy="{y}" r="{r}" {}/>"#, paint.svg(theme))
            }
            Self::Corners { points, paint } => {
                let name = if matches!(paint, Paint::Fill(_)) { "polygon" } else { "polyline" };
                let points: Vec<_> = points.iter().map(Point::to_string).collect();
                format!(r#"<{name} points="{}" {}/>"#, points.join(" "), paint.svg(theme))
            }
            Self::Text { at, size, colour, anchor, text } => {
                let (x, y, size) = (short(at.x), short(at.y), short(*size));
                let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let paint = attributes("fill", *colour, theme);
                format!(r#"<text x="{x}" y="{y}" font-size="{size}" {paint}{anchor}>{text}</text>"#)
            }
            Self::Symbol { symbol, at, size } => {
                let (id, x, y, scale) = (symbol.id, short(at.x), short(at.y), (size * 10.0).round() / 1000.0);
                format!(r##"<use href="#{id}" transform="translate({x} {y}) scale({scale})"/>"##)
            }
        }
    }
}

impl Display for Point {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", short(self.x), short(self.y))
    }
}

impl Display for Anchor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "",
            Self::Middle => r#" text-anchor="middle""#,
            Self::End => r#" text-anchor="end""#,
        })
    }
}

impl Paint {
    fn svg(self, theme: Theme) -> String {
        match self {
            Self::Fill(colour) => attributes("fill", colour, theme),
            Self::Stroke { colour, width, dashed } => {
                let dashes =
                    if dashed { format!(r#" stroke-dasharray="{DASH} {DASH}""#) } else { String::new() };
                let (stroke, width) = (attributes("stroke", colour, theme), short(width));
                format!(r#"fill="none" {stroke} stroke-width="{width}"{dashes}"#)
            }
        }
    }
}

fn attributes(what: &str, colour: Colour, theme: Theme) -> String {
    let opacity =
        if colour.opacity < 1.0 { format!(r#" {what}-opacity="{}""#, colour.opacity) } else { String::new() };
    format!(r##"{what}="#{:06x}"{opacity}"##, colour.rgb(theme))
}
