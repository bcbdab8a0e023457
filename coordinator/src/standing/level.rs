//! How far one count confirms another.

/// How far a count has been confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
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
    /// How far the count of one maker (a machine with its owner) confirms that of another by the rules of the ledger: the
    /// owner without a name is one like all others.
    pub fn between(a: (&str, &str), b: (&str, &str)) -> Self {
        match () {
            () if a.0 != b.0 => Level::AnotherOwner,
            () if a.1 != b.1 => Level::AnotherMachine,
            () => Level::AnotherWay,
        }
    }

    /// How far it surely does. The owner without a name may be the same people as any other, and what is one machine to both
    /// has one name.
    pub fn surely_between(a: (&str, &str), b: (&str, &str)) -> Self {
        let is_nameless = a.0.is_empty() || b.0.is_empty();
        if is_nameless { Self::between(("", a.1), ("", b.1)) } else { Self::between(a, b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_without_a_name_is_surely_nobody_else() {
        for (a, b, level, surely) in [
            (("", "m"), ("", "m"), Level::AnotherWay, Level::AnotherWay),
            (("", "m"), ("", "k"), Level::AnotherMachine, Level::AnotherMachine),
            (("ada", "m"), ("ada", "m"), Level::AnotherWay, Level::AnotherWay),
            (("ada", "m"), ("ada", "k"), Level::AnotherMachine, Level::AnotherMachine),
            (("ada", "m"), ("bob", "m"), Level::AnotherOwner, Level::AnotherOwner),
            (("", "m"), ("ada", "m"), Level::AnotherOwner, Level::AnotherWay),
            (("", "m"), ("ada", "k"), Level::AnotherOwner, Level::AnotherMachine),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                assert_eq!(
                    (Level::between(a, b), Level::surely_between(a, b)),
                    (level, surely),
                    "{a:?} {b:?}"
                );
            }
        }
    }
}
