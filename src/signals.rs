//! Ctrl-C and SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

/// Completes with the first Ctrl-C or SIGTERM.
pub async fn interrupted() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result,
        _ = terminate.recv() => Ok(()),
    }
}
