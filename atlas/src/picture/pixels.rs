//! A picture in pixels. Nothing of the system is needed, so it looks the same on every machine.

use zeno::{Command, Mask, PathBuilder as _, PathData, Placement, Stroke, Style, Transform};

use super::error::PictureError;
use super::scene::{Anchor, Colour, DASH, INK, PAPER, Paint, Picture, Point, Shape, Theme};
use super::{font, png};

/// Pixels beyond which a picture is not drawn.
const MOST: u64 = 1 << 28;

/// A colour that hides all below: wholly opaque where it wholly covers.
const WHOLE: u32 = 255 * 255;

impl Picture {
    /// The picture in pixels, `scale` of them for each unit of the SVG, as the bytes of a PNG file.
    ///
    /// # Errors
    /// [`PictureError::Size`] if that makes no pixel, or more than 2^28.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PictureError> {
        let pixels = |length: f64| (length * f64::from(scale)).ceil() as u32;
        let (width, height) = (pixels(self.width), pixels(self.height));
        if !(1..=MOST).contains(&(u64::from(width) * u64::from(height))) {
            return Err(PictureError::Size { width, height });
        }
        let mut canvas = Canvas::new(width, height, scale, self.theme);
        self.shapes.iter().for_each(|shape| canvas.draw(shape));
        Ok(png::encode(width, height, &canvas.rgb))
    }
}

/// Pixels, row by row from the top, three bytes for each.
struct Canvas {
    width: u32,
    rgb: Vec<u8>,
    scale: f32,
    theme: Theme,
}

fn vector(point: Point) -> (f32, f32) {
    (point.x as f32, point.y as f32)
}

impl Canvas {
    /// Paper.
    fn new(width: u32, height: u32, scale: f32, theme: Theme) -> Self {
        let [_, red, green, blue] = PAPER.rgb(theme).to_be_bytes();
        Self { width, rgb: [red, green, blue].repeat(width as usize * height as usize), scale, theme }
    }

    fn draw(&mut self, shape: &Shape) {
        let scaled = Transform::scale(self.scale, self.scale);
        let mut path: Vec<Command> = Vec::new();
        let paint = match shape {
            Shape::Rectangle { at, width, height, paint } => {
                path.add_rect(vector(*at), *width as f32, *height as f32);
                *paint
            }
            Shape::Squares { corners, side, colour } => {
                let side = *side as f32;
                corners.iter().for_each(|corner| _ = path.add_rect(vector(*corner), side, side));
                Paint::Fill(*colour)
            }
            Shape::Circle { centre, radius, paint } => {
                path.add_circle(vector(*centre), *radius as f32);
                *paint
            }
            Shape::Corners { points, paint } => {
                let Some((first, rest)) = points.split_first() else { return };
                path.move_to(vector(*first));
                rest.iter().for_each(|corner| _ = path.line_to(vector(*corner)));
                *paint
            }
            Shape::Text { at, size, colour, anchor, text } => {
                let x = match anchor {
                    Anchor::Start => at.x,
                    Anchor::Middle => at.x - font::width(text, *size) / 2.0,
                    Anchor::End => at.x - font::width(text, *size),
                };
                path = font::outline(text, *size, (x, at.y));
                Paint::Fill(*colour)
            }
            Shape::Symbol { symbol, at, size } => {
                let size = *size as f32 / 100.0;
                let (x, y) = vector(*at);
                let placed = Transform::scale(size, size).then_translate(x, y).then(&scaled);
                path.extend(symbol.outline.commands());
                return self.paint(&path, placed, Paint::Fill(INK));
            }
        };
        self.paint(&path, scaled, paint);
    }

    /// Lays a colour on the inside of the path, or along it.
    fn paint(&mut self, path: &[Command], transform: Transform, paint: Paint) {
        let mut mask = Mask::new(path);
        mask.transform(Some(transform));
        match paint {
            Paint::Fill(colour) => {
                let (coverage, place) = mask.style(Style::default()).render();
                self.blend(&coverage, place, colour);
            }
            Paint::Stroke { colour, width, dashed } => {
                let mut stroke = Stroke::new(width as f32);
                if dashed {
                    stroke.dash(&[DASH as f32, DASH as f32], 0.0);
                }
                let (coverage, place) = mask.style(stroke).render();
                self.blend(&coverage, place, colour);
            }
        }
    }

    /// Mixes the colour into the pixels of a place, each as far as it is covered: 0 not at all, 255 wholly.
    fn blend(&mut self, coverage: &[u8], place: Placement, colour: Colour) {
        let rgb = colour.rgb(self.theme);
        let opacity = (colour.opacity * 255.0).round() as u32;
        for (y, row) in (place.top..).zip(coverage.chunks(place.width.max(1) as usize)) {
            for (x, covered) in (place.left..).zip(row).filter(|(_, covered)| **covered > 0) {
                if let Some(pixel) = self.pixel(x, y) {
                    mix(pixel, rgb, u32::from(*covered) * opacity);
                }
            }
        }
    }

    /// A pixel's red, green and blue, if it lies on the canvas.
    fn pixel(&mut self, x: i32, y: i32) -> Option<&mut [u8]> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        let first = 3 * (y as usize * self.width as usize + x as usize);
        if x < self.width { self.rgb.get_mut(first..first + 3) } else { None }
    }
}

/// Mixes a share of the colour, of [`WHOLE`], into a pixel.
fn mix(pixel: &mut [u8], rgb: u32, share: u32) {
    let [_, red, green, blue] = rgb.to_be_bytes();
    for (old, new) in pixel.iter_mut().zip([red, green, blue]) {
        let mixed = u32::from(*old) * (WHOLE - share) + u32::from(new) * share;
        *old = ((mixed + WHOLE / 2) / WHOLE) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::scene::{colour, point};
    use crate::picture::symbol::QUEEN;

    const RED: Colour = colour(0xff_00_00, 0x00_ff_00);

    /// The pixels of one shape on a canvas of 20 x 10, as one letter each: red, half red, white, anything else.
    fn drawn(shape: &Shape) -> Vec<String> {
        let mut canvas = Canvas::new(20, 10, 2.0, Theme::Light);
        canvas.draw(shape);
        let letter = |pixel: &[u8]| match *pixel {
            [255, 0, 0] => 'r',
            [255, 127 | 128, 127 | 128] => 'h',
            [255, 255, 255] => '.',
            _ => '?',
        };
        canvas.rgb.chunks(60).map(|row| row.chunks(3).map(letter).collect()).collect()
    }

    #[test]
    fn a_rectangle_fills_its_pixels_scaled_and_is_cut_at_the_edge() {
        let paint = Paint::Fill(RED);
        let rows = drawn(&Shape::Rectangle { at: point(8.0, 3.0), width: 40.0, height: 1.25, paint });
        assert_eq!(rows[5], ".".repeat(20));
        assert_eq!(rows[6], ".".repeat(16) + "rrrr");
        assert_eq!(rows[7], rows[6]);
        assert_eq!(rows[8], ".".repeat(16) + "hhhh", "half covered");
        assert_eq!(rows[9], rows[5]);
        let at = point(-3.0, -3.0);
        let rows =
            drawn(&Shape::Rectangle { at, width: 4.0, height: 3.5, paint: Paint::Fill(RED.thin(0.5)) });
        assert_eq!(rows[0], "hh".to_owned() + &".".repeat(18), "half opaque");
        assert_eq!(rows[1..], vec![".".repeat(20); 9]);
    }

    #[test]
    fn lines_have_their_width_and_dashes_their_gaps() {
        let line = |dashed| Shape::Corners {
            points: vec![point(0.0, 2.0), point(10.0, 2.0)],
            paint: Paint::Stroke { colour: RED, width: 1.0, dashed },
        };
        let rows = drawn(&line(false));
        assert_eq!(rows[2], ".".repeat(20));
        assert_eq!(rows[3..5], vec!["r".repeat(20); 2]);
        assert_eq!(rows[5], rows[2]);
        assert_eq!(drawn(&line(true))[3], "rrrrrrrr........rrrr");
    }

    #[test]
    fn a_text_lies_around_its_anchor_and_a_symbol_fills_its_square() {
        let text = |anchor, x| {
            let mut canvas = Canvas::new(200, 40, 1.0, Theme::Light);
            let (at, text) = (point(x, 30.0), "n = 8".to_owned());
            canvas.draw(&Shape::Text { at, size: 20.0, colour: INK, anchor, text });
            canvas.rgb
        };
        let wide = font::width("n = 8", 20.0);
        assert!((50.0..60.0).contains(&wide), "{wide}");
        assert_eq!(text(Anchor::Start, 100.0), text(Anchor::End, 100.0 + wide));
        assert_eq!(text(Anchor::Start, 100.0), text(Anchor::Middle, 100.0 + wide / 2.0));
        let rows = drawn(&Shape::Symbol { symbol: &QUEEN, at: point(0.0, 0.0), size: 5.0 });
        assert!(rows[8].contains('?') && rows.iter().all(|row| row.ends_with(&".".repeat(10))), "{rows:#?}");
    }

    #[test]
    fn no_pixels_and_too_many_are_no_picture() {
        let mut picture = Picture::new(10.0, 10.0);
        picture.circle(point(5.0, 5.0), 3.0, PAPER);
        for scale in [0.0, -1.0, f32::NAN, 1e6, f32::INFINITY] {
            assert!(matches!(picture.to_png(scale), Err(PictureError::Size { .. })), "{scale}");
        }
        assert!(picture.to_png(0.01).is_ok(), "one pixel");
    }
}
