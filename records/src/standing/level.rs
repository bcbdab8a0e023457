//! How far one count confirms another.

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

impl Level {
    /// The degree at which a count by one machine (owner and name) confirms a count by another machine.
    pub fn between(a: (&str, &str), b: (&str, &str)) -> Self {
        match () {
            () if are_several_owners([a.0, b.0]) => Self::AnotherOwner,
            () if a.1 != b.1 => Self::AnotherMachine,
            () => Self::AnotherWay,
        }
    }
}

/// True if two different owners are among these. The owner without a name may be any of the others: a run may begin without
/// keys and continue with them.
pub fn are_several_owners<'a>(owners: impl IntoIterator<Item = &'a str>) -> bool {
    let mut named = owners.into_iter().filter(|owner| !owner.is_empty());
    let first = named.next();
    named.any(|owner| Some(owner) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_without_name_is_not_another_owner() {
        for (a, b, level) in [
            (("", "m"), ("", "m"), Level::AnotherWay),
            (("", "m"), ("", "k"), Level::AnotherMachine),
            (("ada", "m"), ("ada", "m"), Level::AnotherWay),
            (("ada", "m"), ("ada", "k"), Level::AnotherMachine),
            (("ada", "m"), ("bob", "m"), Level::AnotherOwner),
            (("", "m"), ("ada", "m"), Level::AnotherWay),
            (("", "m"), ("ada", "k"), Level::AnotherMachine),
        ] {
            assert_eq!((Level::between(a, b), Level::between(b, a)), (level, level), "{a:?} {b:?}");
        }
        assert!(!are_several_owners(["", "ada", "", "ada"]));
        assert!(are_several_owners(["", "ada", "", "bob"]));
    }
}
