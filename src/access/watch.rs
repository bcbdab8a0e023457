//! Keeps the tokens and the certificate of a running coordinator up to date with the files. An added token, a
//! revoked token and a new certificate take effect within a second.

use std::time::Duration;

use coordinator::Handle;
use coordinator::admission::{Access, Encryption};
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::KeyTexts;

/// The time between two reads of the files. A change counts when two reads agree, because a file may be half copied.
const READ_INTERVAL: Duration = Duration::from_millis(300);

/// A folder that has not been read in this time may lie where nothing answers.
const SLOW_READ_TIME: Duration = Duration::from_secs(10);

/// The result of reading a folder of keys. After ten seconds logs a warning and returns `None`; the reading
/// continues.
pub(super) async fn await_reading<T>(reading: &mut JoinHandle<T>) -> Option<Result<T, JoinError>> {
    let look = timeout(SLOW_READ_TIME, reading).await;
    if look.is_err() {
        warn!("cannot read the whole folder of keys; the old ones stay in use");
    }
    look.ok()
}

/// Stores a result in `known` once two readings in a row agree on it, and returns whether `known` has
/// changed. A failure is logged once.
pub(super) fn accept_if_stable<T: Clone + PartialEq>(
    look: Result<T, String>,
    last_look: &mut Result<T, String>,
    known: &mut T,
) -> bool {
    let is_settled = look == *last_look;
    *last_look = look;
    match last_look {
        Ok(found) if is_settled && *found != *known => {
            *known = found.clone();
            return true;
        }
        Err(why) if !is_settled => warn!("cannot use the new keys; the old ones stay in use: {why}"),
        _ => {}
    }
    false
}

/// The guard of a service, and the text of the key files at the last reading.
pub struct KeyWatch {
    access: Access,
    encryption: Option<Encryption>,
    known: KeyTexts,
}

impl KeyWatch {
    pub(super) fn new(access: Access, encryption: Option<Encryption>, known: KeyTexts) -> Self {
        Self { access, encryption, known }
    }

    /// Reads the files repeatedly, if there are any. Workers of revoked owners are struck off.
    pub async fn watch(mut self, handle: Handle) {
        if self.known.keys.is_none() {
            return;
        }
        let mut last_look = Ok(self.known.clone());
        loop {
            sleep(READ_INTERVAL).await;
            let keys = self.known.keys.clone();
            let mut reading =
                spawn_blocking(move || KeyTexts::read(keys.as_deref()).map_err(|error| format!("{error:#}")));
            let mut look = await_reading(&mut reading).await;
            while look.is_none() {
                self.strike_off(&handle).await;
                look = timeout(SLOW_READ_TIME, &mut reading).await.ok();
            }
            let Some(Ok(look)) = look else { return };
            if accept_if_stable(look, &mut last_look, &mut self.known) {
                self.apply_keys();
            }
            self.strike_off(&handle).await;
        }
    }

    /// Done after each reading: an owner accepted just before may have registered just after.
    async fn strike_off(&self, handle: &Handle) {
        for owner in self.access.revoked() {
            handle.strike_off(owner).await;
        }
    }

    /// Applies the new keys. Invalid keys are logged, and the old keys remain.
    fn apply_keys(&self) {
        match self.replace() {
            Ok(()) => {
                let revoked = self.access.revoked().len();
                info!(revoked, "the keys have changed; the new ones are in use");
            }
            Err(error) => warn!("cannot use the new keys; the old ones stay in use: {error:#}"),
        }
    }

    fn replace(&self) -> anyhow::Result<()> {
        let bearers = self.known.bearers()?;
        if let (Some(encryption), Some(keys)) = (&self.encryption, &self.known.server) {
            encryption.replace(keys)?;
        }
        self.access.replace(bearers);
        Ok(())
    }
}
