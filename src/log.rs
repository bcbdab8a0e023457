//! The log on stderr: what the libraries tell through tracing.

use tracing::Level;
use tracing_subscriber::EnvFilter;

/// Starts the log. `DIADEM_LOG` sets another level, as in `DIADEM_LOG=debug`.
pub fn start(level: Level) {
    let default = format!("warn,diadem={level},coordinator={level},worker={level}");
    let filter = EnvFilter::try_from_env("DIADEM_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .init();
}

/// Has a panic say one sentence. Those of sled over a damaged checkpoint are caught and say nothing here.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        if !place.contains("sled") {
            let what = panic.payload_as_str().unwrap_or("something impossible");
            eprintln!("diadem: internal error at {place}: {what}; please report this");
        }
    }));
}
