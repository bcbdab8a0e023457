//! Rules for text that people read.

use std::borrow::Cow;

/// Whether a character is none that is seen: a terminal or a page obeys it, or a name with it looks like another's. Control
/// characters, those that change the direction of writing, and those without width.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Names longer than this are refused, in bytes.
pub const NAME_BYTES: usize = 200;

/// Whether a worker or a machine may be called so.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= NAME_BYTES && !text.contains(is_unseen)
}

/// The text with every invisible character escaped, except the given ones.
pub fn seen<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_escaped = |c: char| is_unseen(c) && !kept.contains(&c);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if is_escaped(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_unless_kept() {
        assert_eq!(seen("rack-3 größe", &[]), "rack-3 größe");
        assert_eq!(seen("a\nb\u{202e}c", &[]), "a\\u{a}b\\u{202e}c");
        assert_eq!(seen("a\nb\u{202e}c", &['\n']), "a\nb\\u{202e}c");
    }

    #[test]
    fn letters_of_all_scripts_are_visible_text() {
        assert!(!"rack-3 größe Ωμέγα שלום 机器 🚀".contains(is_unseen));
        for unseen in ["ab\u{202e}c", "a\u{200b}b", "\u{feff}a", "a\nb", "\u{1b}[31m", "a\u{2066}b"] {
            assert!(unseen.contains(is_unseen), "{unseen:?}");
        }
    }
}
