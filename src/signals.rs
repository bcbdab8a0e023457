//! Ctrl-C and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

/// The exit code after Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// A flag that the first Ctrl-C or SIGTERM sets, for what runs without tokio.
pub fn flag() -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let set = Arc::clone(&flag);
    std::thread::spawn(move || {
        if runtime.block_on(interrupted()).is_ok() {
            set.store(true, Ordering::Relaxed);
        }
    });
    Ok(flag)
}

/// Completes with the first Ctrl-C or SIGTERM.
pub async fn interrupted() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result,
        _ = terminate.recv() => Ok(()),
    }
}
