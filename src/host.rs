//! The machine that this runs on.

pub mod memory;

use anyhow::Context;

/// The host name of the machine.
pub fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Raises the limit of open files to at least `needed`, or fails. Fails also if the address space is too small.
pub fn ensure_limits(needed: u64) -> anyhow::Result<()> {
    memory::ensure_address_space()?;
    let most = rlimit::increase_nofile_limit(needed)?;
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
    if let Some(nice) = nice {
        rustix::process::nice(nice.into()).context("the system refuses --nice; leave it out")?;
    }
    Ok(())
}
