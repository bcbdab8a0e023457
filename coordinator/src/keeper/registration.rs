//! Workers that come.

use domain::{Registration, Welcome};
use tracing::{Level, info, warn};

use super::Keeper;
use super::inbox::{CallError, ReplyTo};
use crate::event::Event;

impl Keeper {
    /// Lets a worker in, with what it holds, or says why not.
    pub(super) fn register(&mut self, registration: Registration, reply: ReplyTo<Welcome>) {
        if let Err(withheld) = self.is_answered() {
            reply.send(Err(withheld)).ok();
            return;
        }
        self.kernels.insert(registration.kernel.to_string());
        let (name, held) = (registration.name.clone(), registration.held.len());
        let owner = registration.owner.clone();
        if let Some(met) = registration.met {
            self.hear_of(&met);
            if let Some(superseded) = self.superseded() {
                reply.send(Err(CallError::Superseded(superseded))).ok();
                return;
            }
        }
        let welcome = self.core.register(self.now(), registration);
        if let Ok(welcome) = &welcome {
            self.note_awaited();
            let title = self.core.title(welcome.worker);
            let text = format!("worker {title} joined");
            self.list_event(Event::counted_by_name(Level::INFO, "workers joined", &title, text));
        }
        let welcome =
            welcome.map(|welcome| Welcome { term: self.terms.as_ref().map(|terms| terms.own), ..welcome });
        match &welcome {
            _ if !self.may_log(&owner) => {}
            Ok(w) => info!(worker = %w.worker, name, held, again = w.leases.len(), "worker registered"),
            Err(refusal) => warn!(name, %refusal, "worker refused"),
        }
        self.threads = self.threads.max(self.core.threads());
        reply.send(welcome.map_err(CallError::from)).ok();
    }
}
