//! How far one count confirms another.

use crate::rules::Rules;

/// How far a count has been confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not at all.
    Once,
    /// By its own machine, in another way.
    AnotherWay,
    /// By another machine of its owner.
    AnotherMachine,
    /// By another owner.
    AnotherOwner,
}

impl Rules {
    /// How far the count of one maker (a machine with its owner) confirms that of another.
    pub fn level(self, a: (&str, &str), b: (&str, &str)) -> Level {
        match () {
            () if self.are_several([a.0, b.0]) => Level::AnotherOwner,
            () if a.1 != b.1 => Level::AnotherMachine,
            () => Level::AnotherWay,
        }
    }

    /// Whether these are surely not all the same owner.
    pub fn are_several<'a>(self, owners: impl IntoIterator<Item = &'a str>) -> bool {
        let mut told_apart = owners.into_iter().filter(|owner| self == Rules::First || !owner.is_empty());
        let first = told_apart.next();
        told_apart.any(|owner| Some(owner) != first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_without_a_name_is_surely_nobody_else() {
        for (a, b, first, second) in [
            (("", "m"), ("", "m"), Level::AnotherWay, Level::AnotherWay),
            (("", "m"), ("", "k"), Level::AnotherMachine, Level::AnotherMachine),
            (("ada", "m"), ("ada", "m"), Level::AnotherWay, Level::AnotherWay),
            (("ada", "m"), ("ada", "k"), Level::AnotherMachine, Level::AnotherMachine),
            (("ada", "m"), ("bob", "m"), Level::AnotherOwner, Level::AnotherOwner),
            (("", "m"), ("ada", "m"), Level::AnotherOwner, Level::AnotherWay),
            (("", "m"), ("ada", "k"), Level::AnotherOwner, Level::AnotherMachine),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let levels = (Rules::First.level(a, b), Rules::Second.level(a, b));
                assert_eq!(levels, (first, second), "{a:?} {b:?}");
            }
        }
        assert!(!Rules::Second.are_several(["", "ada", "", "ada"]));
        assert!(Rules::Second.are_several(["", "ada", "", "bob"]));
    }
}
