//! What a follower knows besides its copy: the file `follower.json` in the run directory.
//!
//! It stays when the copy is started as the coordinator: the run's next term is far above the last one that the follower
//! has heard of.

use std::io;
use std::path::Path;

use proto::Term;
use serde::{Deserialize, Serialize};

use crate::regular_file;

/// The file in the run directory.
pub const NAME: &str = "follower.json";

/// Who follows, and the highest term that it has met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowerFile {
    /// Tells this copy from others, wherever it calls from.
    pub follower: u64,
    /// The highest term that it has met.
    pub term: u64,
    /// Who opened that.
    pub coordinator: String,
}

impl FollowerFile {
    /// The one in that run directory, if it is a follower's, or was.
    ///
    /// # Errors
    /// It cannot be read, or has a term that nobody opens.
    pub fn read(directory: &Path) -> io::Result<Option<Self>> {
        let text = match regular_file::read_to_string(&directory.join(NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let file: Self = serde_json::from_str(&text)?;
        if file.term >= Term::END {
            return Err(io::Error::other(format!("no coordinator opens the term {}", file.term)));
        }
        Ok(Some(file))
    }

    /// Puts it on disk, in place of the one before.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).expect("it is plain data") + "\n";
        regular_file::replace(&directory.join(NAME), text.as_bytes(), 0o644)
    }
}
