//! What is text, to be read by people.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_scripts_are_text_and_what_turns_them_round_is_not() {
        assert!(!"rack-3 größe Ωμέγα שלום 机器 🚀".contains(is_unseen));
        for unseen in ["ab\u{202e}c", "a\u{200b}b", "\u{feff}a", "a\nb", "\u{1b}[31m", "a\u{2066}b"] {
            assert!(unseen.contains(is_unseen), "{unseen:?}");
        }
    }
}
