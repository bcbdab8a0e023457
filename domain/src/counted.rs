//! Numbers of things in sentences.

use std::fmt::Display;

/// A number with its noun: `1 unit`, `2 units`.
pub fn counted(number: impl Display + Into<u128> + Copy, thing: &str) -> String {
    let plural = if number.into() == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Maximum number of names in a sentence.
const NAMED: usize = 8;

/// The names in a sentence, the first ones where they are many.
pub fn named(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.take(NAMED + 1).collect();
    if names.len() > NAMED {
        "others".clone_into(&mut names[NAMED]);
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_cut_to_eight_and_others() {
        let names = |many: u8| named((0..many).map(|number| number.to_string()));
        assert_eq!([names(0), names(2)], ["", "0, 1"]);
        assert_eq!(names(8), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(names(200), "0, 1, 2, 3, 4, 5, 6, 7, others");
    }

    #[test]
    fn noun_is_singular_only_after_one() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "unit")), ["0 units", "1 unit", "2 units"]);
    }
}
