//! A picture as SVG text.

use std::fmt::{self, Display, Formatter};

use super::font;
use super::scene::{Anchor, Colour, DASH, INK, Paint, Picture, Point, QUEEN, ROOK, Shape};

impl Picture {
    /// The picture as SVG text. Its font is named, not embedded.
    pub fn to_svg(&self) -> String {
        let (width, height) = (short(self.width), short(self.height));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"'{}', sans-serif\">\n<defs>\n",
            font::FAMILY
        );
        for symbol in [&QUEEN, &ROOK] {
            svg += &format!("<path id=\"{}\" {} d=\"{}\"/>\n", symbol.id, Paint::Fill(INK), symbol.outline);
        }
        svg += "</defs>\n";
        for shape in &self.shapes {
            svg += &format!("{shape}\n");
        }
        svg + "</svg>\n"
    }
}

/// Coordinates to a tenth: files stay small, and nothing is seen of the rest.
fn short(number: f64) -> impl Display {
    (number * 10.0).round() / 10.0
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rectangle { at, width, height, paint } => {
                let (x, y, width, height) = (short(at.x), short(at.y), short(*width), short(*height));
                write!(f, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {paint}/>"#)
            }
            Self::Circle { centre, radius, paint } => {
                let (x, y, r) = (short(centre.x), short(centre.y), short(*radius));
                write!(f, r#"<circle cx="{x}" cy="{y}" r="{r}" {paint}/>"#)
            }
            Self::Corners { points, paint } => {
                let name = if matches!(paint, Paint::Fill(_)) { "polygon" } else { "polyline" };
                let points: Vec<_> = points.iter().map(Point::to_string).collect();
                write!(f, r#"<{name} points="{}" {paint}/>"#, points.join(" "))
            }
            Self::Text { at, size, colour, anchor, text } => {
                let (x, y, size) = (short(at.x), short(at.y), short(*size));
                let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let paint = Paint::Fill(*colour);
                write!(f, r#"<text x="{x}" y="{y}" font-size="{size}" {paint}{anchor}>{text}</text>"#)
            }
            Self::Symbol { symbol, at, size } => {
                let (id, x, y, scale) = (symbol.id, short(at.x), short(at.y), (size * 10.0).round() / 1000.0);
                write!(f, r##"<use href="#{id}" transform="translate({x} {y}) scale({scale})"/>"##)
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

impl Display for Paint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fill(colour) => attributes(f, "fill", *colour),
            Self::Stroke { colour, width, dashed } => {
                f.write_str(r#"fill="none" "#)?;
                attributes(f, "stroke", *colour)?;
                write!(f, r#" stroke-width="{}""#, short(*width))?;
                if *dashed { write!(f, r#" stroke-dasharray="{DASH} {DASH}""#) } else { Ok(()) }
            }
        }
    }
}

fn attributes(f: &mut Formatter<'_>, what: &str, colour: Colour) -> fmt::Result {
    write!(f, r##"{what}="#{:06x}""##, colour.rgb)?;
    if colour.opacity < 1.0 { write!(f, r#" {what}-opacity="{}""#, colour.opacity) } else { Ok(()) }
}
