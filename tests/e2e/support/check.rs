//! The second verifier.

use std::path::Path;
use std::process::Command;

use crate::harness::{Completed, Folder};

/// `tools/check.py` in that folder.
pub fn check(folder: &Folder, args: &str) -> Completed {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/check.py");
    let mut command = Command::new("python3");
    command.arg(script).args(args.split_whitespace()).current_dir(folder.path());
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output();
    Completed::of(output.expect("tools/check.py needs Python 3.9 or later"))
}
