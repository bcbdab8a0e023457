//! What the operator wishes of the run while it is served: a pause, its end, or that a machine's workers leave.

use domain::Steering;
use records::counted;
use records::standing::Identity;
use tracing::Level;

use super::inbox::CallError;
use super::{Keeper, Stage};
use crate::event::Event;

impl Keeper {
    /// Does as the operator wishes; gives how many workers it concerns.
    pub(super) fn steer(&mut self, steering: Steering) -> Result<u64, CallError> {
        match steering {
            Steering::Pause { .. } | Steering::Resume if matches!(self.stage, Stage::Ended(_)) => {
                Err(CallError::Ended)
            }
            Steering::Pause { reason } => {
                let workers = self.pause(Some(reason.clone()))?;
                let text = format!("the operator pauses the run: {reason}");
                self.happened(Event::new(Level::WARN, "paused", text));
                Ok(workers)
            }
            Steering::Resume => {
                let workers = self.pause(None)?;
                self.happened(Event::new(Level::INFO, "resumed", "the operator resumes the run"));
                Ok(workers)
            }
            Steering::Drain { owner, machine } => {
                let (workers, machine) = self.core.drain(&Identity { owner, machine })?;
                let text = format!("the operator asks {} of {machine} to leave", counted(workers, "worker"));
                self.happened(Event::new(Level::INFO, "draining", text));
                Ok(workers)
            }
        }
    }

    fn pause(&mut self, reason: Option<String>) -> Result<u64, CallError> {
        if let Some(store) = &mut self.store {
            let noted = store.change_notes(|notes| notes.paused.clone_from(&reason));
            noted.map_err(|error| {
                let directory = store.directory().path().display();
                CallError::NotRecorded(format!("cannot note it in {directory}: {error}"))
            })?;
        }
        self.core.pause(self.now(), reason);
        self.look_next = self.clock.now();
        Ok(self.core.worker_count())
    }
}
