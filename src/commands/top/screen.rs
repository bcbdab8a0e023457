//! The view that the user has chosen, and the effects of keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::palette::Palette;

/// The table in the lower part of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panel {
    /// The machines.
    #[default]
    Machines,
    /// The workers.
    Workers,
    /// The map of families.
    Families,
    /// The last events.
    Events,
}

impl Panel {
    /// All, in the order of their keys.
    pub const ALL: [Panel; 4] = [Panel::Machines, Panel::Workers, Panel::Families, Panel::Events];

    /// Its title.
    pub fn name(self) -> &'static str {
        match self {
            Panel::Machines => "machines",
            Panel::Workers => "workers",
            Panel::Families => "families",
            Panel::Events => "events",
        }
    }
}

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOutcome {
    /// Paint the screen again.
    Paint,
    /// The user has seen enough.
    Quit,
    /// Ctrl-C, which is no signal here.
    Interrupt,
}

/// The state of the view.
#[derive(Debug)]
pub struct TopScreen {
    pub palette: Palette,
    /// The addresses of the coordinator.
    pub addresses: String,
    pub panel: Panel,
    /// The first line of the panel that is seen.
    pub scroll: usize,
    /// The column that tables are sorted by.
    pub sort: usize,
    pub is_descending: bool,
    pub shows_help: bool,
    /// The lines of the panel that are seen at a time.
    pub page: usize,
}

/// The lines of the help.
pub const HELP: [&str; 8] = [
    "q, Esc       quit",
    "?            this help",
    "1 2 3 4      machines, workers, families, events",
    "Tab          the next of them",
    "arrows, j k  scroll; PgUp, PgDn by pages; Home, End",
    "s            sort by the next column",
    "r            in reverse",
    "speeds are in cores like the one that work was measured on",
];

impl TopScreen {
    /// The machines, by name.
    pub fn new(palette: Palette, addresses: String) -> Self {
        Self {
            palette,
            addresses,
            panel: Panel::default(),
            scroll: 0,
            sort: 0,
            is_descending: false,
            shows_help: false,
            page: 1,
        }
    }

    /// A key has been pressed.
    pub fn press(&mut self, key: KeyEvent) -> KeyOutcome {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if key.kind == KeyEventKind::Release {
            return KeyOutcome::Paint;
        }
        match key.code {
            KeyCode::Char('c') if is_control => return KeyOutcome::Interrupt,
            KeyCode::Char('d') if is_control => return KeyOutcome::Quit,
            KeyCode::Esc if self.shows_help => self.shows_help = false,
            KeyCode::Char('q') | KeyCode::Esc => return KeyOutcome::Quit,
            KeyCode::Char('?' | 'h') => self.shows_help = !self.shows_help,
            KeyCode::Char(digit @ '1'..='4') => self.open(Panel::ALL[digit as usize - '1' as usize]),
            KeyCode::Tab => self.open(self.beside(1)),
            KeyCode::BackTab => self.open(self.beside(Panel::ALL.len() - 1)),
            KeyCode::Char('s') => (self.sort, self.scroll) = (self.sort + 1, 0),
            KeyCode::Char('r') => (self.is_descending, self.scroll) = (!self.is_descending, 0),
            KeyCode::Down | KeyCode::Char('j') => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll = self.scroll.saturating_add(self.page),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(self.page),
            KeyCode::Home => self.scroll = 0,
            KeyCode::End => self.scroll = usize::MAX,
            _ => {}
        }
        KeyOutcome::Paint
    }

    fn open(&mut self, panel: Panel) {
        (self.panel, self.scroll, self.sort, self.is_descending) = (panel, 0, 0, false);
    }

    fn beside(&self, steps: usize) -> Panel {
        let place = Panel::ALL.iter().position(|panel| *panel == self.panel).unwrap_or(0);
        Panel::ALL[(place + steps) % Panel::ALL.len()]
    }

    /// The first visible line of `lines` lines, on a page of `page` lines: never beyond the last page.
    pub fn scrolled(&mut self, lines: usize, page: usize) -> usize {
        self.page = page.max(1);
        self.scroll = self.scroll.min(lines.saturating_sub(page));
        self.scroll
    }
}
