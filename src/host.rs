//! The machine that this runs on.

/// What the machine is called.
pub fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
