//! Access rights: by token, by certificate, or open to everybody.

use std::sync::Arc;

use domain::Owner;
use tokio::sync::watch;

use super::bearers::{Bearers, TokenHash};
use super::caller::Right;
use super::seats::Seats;

/// Access rights. Clones share them, so that they can change while calls are served.
#[derive(Clone, Debug)]
pub struct Access {
    /// True if no credentials are needed: every caller may do everything.
    open: bool,
    bearers: watch::Sender<Arc<Bearers>>,
    seats: Arc<Seats>,
}

impl Access {
    /// Open access: every caller may do everything.
    pub fn open() -> Self {
        Self { open: true, ..Self::guarded(Bearers::default()) }
    }

    /// Guarded access. Bearers of these tokens have the rights of their tokens. Holders of a verified client
    /// certificate may take part. Revoked owners have no rights.
    pub fn guarded(bearers: Bearers) -> Self {
        Self { open: false, bearers: watch::Sender::new(Arc::new(bearers)), seats: Arc::default() }
    }

    /// True if callers need credentials.
    pub fn is_guarded(&self) -> bool {
        !self.open
    }

    /// Replaces the tokens, and ends the calls of callers that would now be refused. Connections of revoked owners are
    /// closed. The caller must remove their workers.
    pub fn replace(&self, bearers: Bearers) {
        let bearers = Arc::new(bearers);
        self.bearers.send_replace(Arc::clone(&bearers));
        bearers.revoked().for_each(|owner| self.seats.close_all_of(owner));
    }

    /// The revoked owners.
    pub fn revoked(&self) -> Vec<Owner> {
        self.bearers().revoked().cloned().collect()
    }

    /// The owner as which the bearer of this token may read the status; none without that right.
    pub(super) fn reader(&self, token: TokenHash) -> Option<Owner> {
        if self.open {
            return Some(Owner::default());
        }
        let bearers = self.bearers();
        let caller = bearers.of(token).filter(|caller| caller.right.allows(Right::Read))?;
        (!bearers.is_revoked(&caller.owner)).then(|| caller.owner.clone())
    }

    /// The accepted tokens.
    pub(crate) fn bearers(&self) -> Arc<Bearers> {
        Arc::clone(&self.bearers.borrow())
    }

    /// A channel with each change of the tokens.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<Bearers>> {
        self.bearers.subscribe()
    }

    /// The limits on connections of workers.
    pub(crate) fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_token() {
        let mut bearers = Bearers::default();
        bearers.admit(&"7".repeat(64).parse().unwrap(), Owner::new("join"), Right::Join);
        assert!(!format!("{:?}", Access::guarded(bearers)).contains("7777"));
    }
}
