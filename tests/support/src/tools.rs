//! Tools that a test needs and that not every machine has.

use std::env;
use std::process::{Command, Stdio};

/// If this variable is set, a missing tool fails the test.
const DEMANDED: &str = "DIADEM_TEST_TOOLS";

/// Whether the tool is installed. Without it the test is skipped with a message, or fails if all tools are
/// required.
pub fn is_there(tool: &str) -> bool {
    answers(tool, "--version")
}

/// The same for a tool that has another word for its version.
pub fn answers(tool: &str, question: &str) -> bool {
    let version = Command::new(tool).arg(question).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = version.is_ok_and(|status| status.success());
    assert!(is_there || env::var_os(DEMANDED).is_none(), "{tool} is missing, and {DEMANDED} demands it");
    if !is_there {
        eprintln!("skipped: there is no {tool}");
    }
    is_there
}
