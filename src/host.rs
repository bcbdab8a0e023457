//! The machine that this runs on.

/// What the machine is called.
pub fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Sees that the process may have so many files open at a time.
pub fn ensure_open_files(needed: u64) -> anyhow::Result<()> {
    let most = rlimit::increase_nofile_limit(needed)?;
    if most < needed {
        anyhow::bail!(
            "only {most} files may be open at a time and {needed} are needed: say ulimit -n {needed}"
        );
    }
    Ok(())
}
