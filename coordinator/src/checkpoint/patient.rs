//! What is asked of sled: it may panic over files that are not its own, and may wait for ever for a disk that has failed. So
//! all of it runs in a thread of its own, and is waited for with patience, but not for ever.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::error::CheckpointError;

/// Has a thread of its own do it, which may panic or take for ever.
pub(super) fn begin<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CheckpointError> + Send + 'static,
) -> Result<Receiver<Result<T, CheckpointError>>, CheckpointError> {
    let (done, result) = channel();
    thread::Builder::new().name("checkpoint".into()).spawn(move || done.send(work()).ok())?;
    Ok(result)
}

/// What the thread makes of it, unless that panics or takes too long.
pub(super) fn answer<T>(
    result: &Receiver<Result<T, CheckpointError>>,
    patience: Duration,
) -> Result<T, CheckpointError> {
    result.recv_timeout(patience).unwrap_or_else(|error| {
        Err(match error {
            RecvTimeoutError::Timeout => CheckpointError::Silent(patience),
            RecvTimeoutError::Disconnected => CheckpointError::Panicked,
        })
    })
}
