//! The version of diadem, with the details that distinguish builds.

use queens::kernel::Isa;

/// Release, commit, compiled features, and which of them this machine supports.
pub fn text() -> String {
    let features = if cfg!(feature = "atlas") { "atlas" } else { "none" };
    let here: Vec<String> = Isa::available().iter().map(ToString::to_string).collect();
    format!(
        "diadem {} ({})\ntarget {}, features: {features}\ninstruction sets here: {}",
        env!("CARGO_PKG_VERSION"),
        env!("DIADEM_COMMIT"),
        env!("DIADEM_TARGET"),
        here.join(", ")
    )
}
