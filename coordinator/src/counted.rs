//! Numbers of things in sentences.

use std::fmt::Display;

/// So many of a thing: `1 unit`, `2 units`.
pub fn counted(number: impl Display + Into<u128> + Copy, thing: &str) -> String {
    let plural = if number.into() == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_things() {
        assert_eq!([0_u64, 1, 2].map(|number| counted(number, "unit")), ["0 units", "1 unit", "2 units"]);
    }
}
