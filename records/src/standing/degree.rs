//! How far one count confirms another.

/// How far a count has been confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degree {
    /// Not at all.
    Once,
    /// By its own machine, in another way.
    SameMachine,
    /// By another machine of its owner.
    OtherMachine,
    /// By another owner.
    OtherOwner,
}

impl Degree {
    /// The degree at which a count by one machine (owner and name) confirms a count by another machine.
    pub fn between(a: (&str, &str), b: (&str, &str)) -> Self {
        match () {
            () if are_several_owners([a.0, b.0]) => Self::OtherOwner,
            () if a.1 != b.1 => Self::OtherMachine,
            () => Self::SameMachine,
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
        for (a, b, degree) in [
            (("", "m"), ("", "m"), Degree::SameMachine),
            (("", "m"), ("", "k"), Degree::OtherMachine),
            (("ada", "m"), ("ada", "m"), Degree::SameMachine),
            (("ada", "m"), ("ada", "k"), Degree::OtherMachine),
            (("ada", "m"), ("bob", "m"), Degree::OtherOwner),
            (("", "m"), ("ada", "m"), Degree::SameMachine),
            (("", "m"), ("ada", "k"), Degree::OtherMachine),
        ] {
            assert_eq!((Degree::between(a, b), Degree::between(b, a)), (degree, degree), "{a:?} {b:?}");
        }
        assert!(!are_several_owners(["", "ada", "", "ada"]));
        assert!(are_several_owners(["", "ada", "", "bob"]));
    }
}
