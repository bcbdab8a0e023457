//! A text wrapped to its width: titles and legends never determine the width of a picture.

use super::font;
use super::paint::Colour;
use super::point::{Point, point};
use super::scene::{Anchor, Picture};

/// From a base line to the next, in sizes of the text.
const LEADING: f64 = 1.35;

/// The title of a page, with its number if there are several.
pub(super) fn page_title(title: &str, number: usize, pages: usize) -> String {
    if pages == 1 { title.to_owned() } else { format!("{title}, page\u{a0}{number}\u{a0}of\u{a0}{pages}") }
}

/// A text that is broken into lines.
#[derive(Clone, Debug)]
pub(super) struct Paragraph {
    lines: Vec<String>,
    size: f64,
}

impl Paragraph {
    /// Breaks the text after spaces and commas, so that no line is wider, unless a single word is.
    pub(super) fn new(text: &str, size: f64, width: f64) -> Self {
        let mut lines: Vec<String> = vec![String::new()];
        for word in text.split_inclusive([' ', ',']) {
            let line = lines.last_mut().expect("there is always a line");
            if !line.is_empty() && font::width(&format!("{line}{}", word.trim_end()), size) > width {
                lines.push(word.to_owned());
            } else {
                *line += word;
            }
        }
        Self { lines: lines.iter().map(|line| line.trim_end().to_owned()).collect(), size }
    }

    pub(super) fn height(&self) -> f64 {
        self.lines.len() as f64 * LEADING * self.size
    }

    /// How wide the widest line is.
    pub(super) fn width(&self) -> f64 {
        self.lines.iter().map(|line| font::width(line, self.size)).fold(0.0, f64::max)
    }

    /// Draws it below the point.
    pub(super) fn draw(&self, picture: &mut Picture, at: Point, colour: Colour, anchor: Anchor) {
        for (below, line) in self.lines.iter().enumerate() {
            let y = at.y + (below as f64 * LEADING + 1.0) * self.size;
            picture.text(point(at.x, y), self.size, colour, anchor, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraph_lines_fit_width_and_keep_all_words() {
        let text = "8 queens on the torus: 1,5,8,6,3,7,2,4 and more";
        for width in [60.0, 100.0, 150.0, 1_000.0] {
            let paragraph = Paragraph::new(text, 12.0, width);
            assert!(
                paragraph.lines.iter().all(|line| font::width(line, 12.0) <= width),
                "{width}: {paragraph:?}"
            );
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&paragraph.lines.concat()), letters(text), "{width}");
        }
        assert_eq!(Paragraph::new(text, 12.0, 1_000.0).lines.len(), 1);
        assert_eq!(Paragraph::new("constellation", 12.0, 1.0).lines, ["constellation"]);
    }
}
