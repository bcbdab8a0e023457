//! The capabilities of the terminal. Escape codes go only to terminals that understand them, and colours only
//! where they are wanted. Lines have at most 80 columns everywhere.

use std::borrow::Cow;
use std::env;
use std::io::IsTerminal;

use console::{Alignment, measure_text_width, pad_str, truncate_str};
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::host;

/// Lines are not longer, in characters.
pub const COLUMNS: usize = 80;

/// Whether that is a terminal on which lines can be painted over.
pub fn repaints(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && host::understands_codes()
}

/// Whether the stream is a terminal that shows colours, and colours are wanted (<https://no-color.org>).
pub fn has_colours(stream: &impl IsTerminal) -> bool {
    repaints(stream) && env::var_os("NO_COLOR").is_none_or(|no_color| no_color.is_empty())
}

/// The text in lines of at most 80 columns, broken between words, and within those that are too long for a line; further lines
/// are indented.
pub fn wrapped(text: &str) -> String {
    textwrap::fill(text, options())
}

/// The sentences, one a line, wrapped for that terminal at 80 columns. Longer words, such as paths, stay
/// whole so that they can be copied. If the stream is no terminal the lines are returned unchanged.
pub fn told<'a>(sentences: &'a str, stream: &impl IsTerminal) -> Cow<'a, str> {
    if !stream.is_terminal() {
        return sentences.into();
    }
    let lines = sentences.split('\n').map(|line| textwrap::fill(line, options().break_words(false)));
    lines.collect::<Vec<_>>().join("\n").into()
}

/// Codes that set colours take no columns.
fn options() -> Options<'static> {
    let options = Options::new(COLUMNS).subsequent_indent("  ");
    options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation)
}

/// The text in at most `columns` columns, with an ellipsis if it is cut.
pub fn cut(text: &str, columns: usize) -> String {
    truncate_str(text, columns, "…").into_owned()
}

/// The text in exactly `columns` columns: cut, or padded with spaces.
pub fn filled(text: &str, columns: usize) -> String {
    pad_str(text, columns, Alignment::Left, Some("…")).into_owned()
}

/// How many columns the text takes: letters of some scripts take two.
pub fn columns_of(text: &str) -> usize {
    measure_text_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_wrap_at_words_and_long_names_are_cut() {
        let sentence =
            "so checked: 1000 of 100000 units were counted twice on different machines; no difference";
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
        assert_eq!(
            (cut("日本語", 6), cut("日本語", 5), filled("日本語", 8)),
            ("日本語".into(), "日本…".into(), "日本語  ".into())
        );
    }
}
