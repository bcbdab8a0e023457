//! The owner of machines and workers.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::text::seen;

/// The owner that a certificate or a token authenticates. Trust is in owners. The unnamed owner stands for every caller
/// of an open coordinator.
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

    /// Its name in commands: `-` is the unnamed owner.
    pub fn typed(&self) -> &str {
        if self.is_unnamed() { "-" } else { self.name() }
    }

    /// Its name in a list of owners.
    pub fn shown(&self) -> Cow<'_, str> {
        if self.is_unnamed() { "(no name)".into() } else { seen(self.name(), &[]) }
    }

    /// Whether it is the unnamed one.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_empty()
    }

    /// The display name of a worker or machine of this owner: `owner/name`, or the name alone without an owner. A name
    /// in a forged ledger may contain line breaks.
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
