//! What may be written where: escape codes to terminals that understand them only, colours not where they are unwanted, and
//! lines of at most 80 columns everywhere.

use std::env;
use std::io::IsTerminal;

/// Lines are not longer, in characters.
pub const COLUMNS: usize = 80;

/// Whether that is a terminal on which lines can be painted over.
pub fn repaints(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && understands_codes(env::var("TERM").ok().as_deref())
}

/// Whether that is a terminal that shows colours, to somebody who wishes them (<https://no-color.org>).
pub fn has_colours(stream: &impl IsTerminal) -> bool {
    repaints(stream) && env::var_os("NO_COLOR").is_none_or(|no_color| no_color.is_empty())
}

/// The columns and rows of the terminal that stdout is.
pub fn size() -> (usize, usize) {
    let is_known = |(columns, rows): &(u16, u16)| *columns > 0 && *rows > 0;
    let known = ratatui::crossterm::terminal::size().ok().filter(is_known);
    known.map_or((COLUMNS, 24), |(columns, rows)| (columns.into(), rows.into()))
}

fn understands_codes(term: Option<&str>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// The text in lines of at most 80 columns, broken between words, and within those that are too long for a line; further lines
/// are indented.
pub fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ').flat_map(|word| broken(word, COLUMNS - INDENT.len())) {
        let line = lines.last_mut().expect("there is one");
        let columns = line.chars().count();
        if columns > 0 && columns + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("{INDENT}{word}"));
        } else {
            let space = if line.is_empty() || line.ends_with(' ') { "" } else { " " };
            *line = format!("{line}{space}{word}");
        }
    }
    lines.join("\n")
}

/// What further lines of a text begin with.
const INDENT: &str = "  ";

/// The word in pieces of so many columns.
fn broken(word: &str, columns: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.is_empty() {
        return vec![" ".to_owned()];
    }
    letters.chunks(columns).map(|piece| piece.iter().collect()).collect()
}

/// The text in so many columns: what is too long is cut, with an ellipsis for what is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_broken_between_words_and_long_names_are_cut() {
        let sentence = "so checked: 1.0 % of units counted twice on different machines, 0 conflicts, at most 0.3 % wrong";
        let text = wrapped(sentence);
        assert_eq!(text.lines().map(str::trim).collect::<Vec<_>>().join(" "), sentence);
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(wrapped("short"), "short");
        let word = "x".repeat(100);
        let broken = wrapped(&format!("a {word} b"));
        assert!(broken.lines().all(|line| line.chars().count() <= COLUMNS), "{broken}");
        assert_eq!(broken.matches('x').count(), 100);
        assert_eq!(wrapped("  indented"), "  indented");
        assert_eq!((cut("äöü", 3), cut("äöüß", 3)), ("äöü".into(), "äö…".into()));
    }

    #[test]
    fn a_terminal_that_is_dumb_or_unknown_gets_no_codes() {
        let terminals =
            [(None, false), (Some(""), false), (Some("dumb"), false), (Some("xterm-256color"), true)];
        for (term, understands) in terminals {
            assert_eq!(understands_codes(term), understands, "{term:?}");
        }
    }
}
