//! Arguments in the commands that messages name.

/// The argument, quoted for a shell where that is needed. No shell takes a NUL: such an argument stays as it is.
pub fn quoted(argument: &str) -> String {
    shlex::try_quote(argument).unwrap_or(argument.into()).into_owned()
}
