//! The class of an error, from which the exit code of a command follows.

/// Whether another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The run may be sound: another attempt may succeed.
    Failed,
    /// The request is impossible, here or for this run.
    Usage,
    /// The run was examined and is not sound or not complete: another try does not help.
    Unsound,
}

/// An error that is not always a mere failure.
pub trait Classified {
    /// The class; most of these errors are errors of the request.
    fn class(&self) -> Class {
        Class::Usage
    }
}
