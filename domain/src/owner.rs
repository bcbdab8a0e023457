//! Whose machines and workers these are.

use std::fmt;
use std::sync::Arc;

use crate::text::seen;

/// Who is authenticated by a certificate or a token: trust is in owners. The unnamed one is everybody where nothing is
/// asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The owner of that name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name; empty for the unnamed one.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// What it is called in commands: `-` is the unnamed one.
    pub fn typed(&self) -> &str {
        if self.is_unnamed() { "-" } else { self.name() }
    }

    /// Whether it is the unnamed one.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_empty()
    }

    /// What people are told that something of the owner's is called: `owner/name`, or the name where there are no owners. A name
    /// in a forged ledger may have whole lines after it.
    pub fn title(&self, name: &str) -> String {
        let title = if self.is_unnamed() { name.to_owned() } else { format!("{self}/{name}") };
        seen(&title, &[]).into_owned()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
