//! What an error says about what was asked for: the exit code of a command follows from it.

/// What another try would bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The run may be sound: another attempt may succeed.
    Failed,
    /// What was asked for is impossible, here or for this run.
    Usage,
    /// The run was examined and is not sound or not complete: another try does not help.
    Unsound,
}

/// An error that is not always a mere failure.
pub trait Classified {
    /// The class. Most of these errors are about what was asked for.
    fn class(&self) -> Class {
        Class::Usage
    }
}
