//! The log on stderr: what the libraries tell through tracing.

use std::env;
use std::io::{IsTerminal, stderr};

use tracing::Level;
use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts the log. `DIADEM_LOG` sets another level, as in `DIADEM_LOG=debug`, or one for each library, as in
/// `DIADEM_LOG=warn,coordinator=debug`.
pub fn start(level: Level) {
    let usual = Targets::new()
        .with_default(Level::WARN)
        .with_targets(["diadem", "coordinator", "worker"].map(|library| (library, level)));
    let (shown, mistake) = match asked() {
        Ok(asked) => (asked.unwrap_or(usual), None),
        Err(mistake) => (usual, Some(mistake)),
    };
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal()).with_target(false);
    tracing_subscriber::registry().with(shown).with(lines).init();
    if let Some(mistake) = mistake {
        tracing::warn!(
            "DIADEM_LOG is not understood, write it like \"debug\" or \"warn,coordinator=debug\": {mistake}"
        );
    }
}

/// What `DIADEM_LOG` asks for, if anything.
fn asked() -> Result<Option<Targets>, ParseError> {
    let asked = env::var("DIADEM_LOG").unwrap_or_default();
    if asked.is_empty() { Ok(None) } else { asked.parse().map(Some) }
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
