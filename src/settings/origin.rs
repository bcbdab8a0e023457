//! Whence an option has its value.

use std::fmt;
use std::path::PathBuf;

/// Whence an option has its value, if it was not typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingOrigin {
    /// From this variable of the environment.
    Variable(String),
    /// From this file, in a command's section or for all commands.
    File { path: PathBuf, section: Option<String> },
    /// It is so unless told otherwise.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File { path, section: None } => path.display().fmt(f),
            Self::File { path, section: Some(section) } => write!(f, "{} [{section}]", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}
