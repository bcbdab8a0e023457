//! A picture in pixels: its SVG, rendered with the embedded font alone, so that it looks the same on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::error::PictureError;
use super::font;
use super::scene::Picture;

/// Pixels beyond which a picture is not drawn.
const MOST: u64 = 1 << 28;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(font::FILE.to_vec());
    Arc::new(fonts)
});

impl Picture {
    /// The picture in pixels, `scale` of them for each unit of the SVG, as the bytes of a PNG file.
    ///
    /// # Errors
    /// [`PictureError::Size`] if that makes no pixel, or more than 2^28.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PictureError> {
        let pixels = |length: f64| (length * f64::from(scale)).ceil() as u32;
        let (width, height) = (pixels(self.width), pixels(self.height));
        let size = PictureError::Size { width, height };
        if u64::from(width) * u64::from(height) > MOST {
            return Err(size);
        }
        let mut pixmap = Pixmap::new(width, height).ok_or(size)?;
        let options = Options { fontdb: FONTS.clone(), ..Options::default() };
        let tree = Tree::from_str(&self.to_svg(), &options).expect("the SVG is valid");
        // The last column and row are whole pixels, even if the paper covers only a part of them.
        let size = tree.size();
        let to_pixels = Transform::from_scale(width as f32 / size.width(), height as f32 / size.height());
        resvg::render(&tree, to_pixels, &mut pixmap.as_mut());
        Ok(pixmap.encode_png().expect("memory has room"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::paint::{INK, PAPER};
    use crate::picture::point::point;
    use crate::picture::scene::Anchor;

    #[test]
    fn picture_without_pixels_or_with_too_many_is_refused() {
        let mut picture = Picture::new(10.0, 10.0);
        picture.circle(point(5.0, 5.0), 3.0, PAPER);
        for scale in [0.0, -1.0, f32::NAN, 1e6, f32::INFINITY] {
            assert!(matches!(picture.to_png(scale), Err(PictureError::Size { .. })), "{scale}");
        }
        assert!(picture.to_png(0.01).is_ok(), "one pixel");
    }

    #[test]
    fn text_is_drawn_with_the_embedded_font() {
        let png = |text| {
            let mut picture = Picture::new(200.0, 40.0);
            picture.text(point(100.0, 30.0), 20.0, INK, Anchor::Middle, text);
            picture.to_png(1.0).unwrap()
        };
        assert_ne!(png("n = 8"), png(""));
        let pixmap = |text| Pixmap::decode_png(&png(text)).unwrap();
        let dark = pixmap("n = 8").pixels().iter().map(|pixel| pixel.red() < 128).collect::<Vec<_>>();
        let columns = || (0..200).filter(|x| (0..40).any(|y| dark[y * 200 + x]));
        let (left, right) = (columns().min().unwrap() as f64, columns().max().unwrap() as f64);
        let width = font::width("n = 8", 20.0);
        assert!((left + right - 200.0).abs() < 3.0, "the text lies around its anchor: {left} to {right}");
        assert!((right - left - width).abs() < 5.0, "{left} to {right} is not {width}");
    }
}
