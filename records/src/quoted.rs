//! Arguments in the commands that sentences name.

/// The argument as a shell takes it for one.
pub fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=%+@".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted("./diadem-18"), "./diadem-18");
        assert_eq!(quoted("0.5%"), "0.5%");
        assert_eq!(quoted("my runs"), "'my runs'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
