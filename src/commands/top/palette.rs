//! The colours of the terminal, or what stands for them where they are unwanted.

use ratatui::style::{Color, Modifier, Style};

/// The styles of the screen.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    has_colours: bool,
}

/// Titles and the selection.
pub const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);

/// The line on top.
pub const FRAME: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Less important text.
pub const FAINT: Style = Style::new().add_modifier(Modifier::DIM);

impl Palette {
    /// With colours, or without.
    pub fn new(has_colours: bool) -> Self {
        Self { has_colours }
    }

    fn colour(self, colour: Color, otherwise: Modifier) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new().add_modifier(otherwise) }
    }

    /// Finished work.
    pub fn done(self) -> Style {
        self.colour(Color::Green, Modifier::empty())
    }

    /// Work in progress.
    pub fn begun(self) -> Style {
        self.colour(Color::Yellow, Modifier::empty())
    }

    /// Problems.
    pub fn wrong(self) -> Style {
        self.colour(Color::Red, Modifier::BOLD)
    }
}
