//! The machine that this runs on.

pub mod memory;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    STDOUT_ADVICE, ThreadClock, create_private_folder, exit, group_apart, is_broken_pipe, is_open_descriptor,
    mode_for_others, open_stream, understands_codes, uptime,
};

use std::process::Child;

/// The host name of the machine.
pub fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Raises the limit of open files to at least `needed`, or fails. Fails also if the address space is too small.
pub fn ensure_limits(needed: u64) -> anyhow::Result<()> {
    memory::ensure_address_space()?;
    let most = system::raise_open_files(needed)?;
    if most < needed {
        anyhow::bail!(
            "only {most} files may be open at a time and {needed} are needed: say ulimit -n {needed}"
        );
    }
    Ok(())
}

/// Leaves the processor to other programs first, from 0 to 19, the nicest; threads that are started from now on do so too.
///
/// # Errors
/// The system refuses.
pub fn be_nice(nice: Option<u8>) -> anyhow::Result<()> {
    nice.map_or(Ok(()), system::set_niceness)
}

/// Ends a running program with all that it has started, if [`group_apart`] was called before its start.
pub fn kill(child: &mut Child) {
    // A process that has ended gives its number to others.
    if matches!(child.try_wait(), Ok(None)) {
        system::kill_group(child);
        child.kill().ok();
        child.wait().ok();
    }
}

/// True if a terminal of this type understands escape codes.
fn is_capable_terminal(term: Option<&str>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_is_dumb_or_unknown_gets_no_codes() {
        let terminals =
            [(None, false), (Some(""), false), (Some("dumb"), false), (Some("xterm-256color"), true)];
        for (term, understands) in terminals {
            assert_eq!(is_capable_terminal(term), understands, "{term:?}");
        }
    }
}
