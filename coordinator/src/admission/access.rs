//! Who may do what: by token, by certificate, or everybody.

use std::sync::Arc;

use domain::Owner;
use tokio::sync::watch;

use super::bearers::{Bearers, TokenHash};
use super::caller::Right;
use super::seats::Seats;

/// Who may do what. Clones share it, so that it can be changed while calls are served.
#[derive(Clone, Debug)]
pub struct Access {
    /// Whether there is nothing to present: everybody who can connect may do everything.
    open: bool,
    bearers: watch::Sender<Arc<Bearers>>,
    seats: Arc<Seats>,
}

impl Access {
    /// Everybody who can connect may do everything.
    pub fn open() -> Self {
        Self { open: true, ..Self::guarded(Bearers::default()) }
    }

    /// The bearers of these tokens may do what those let do, holders of a verified client certificate may take part;
    /// owners that are revoked may nothing.
    pub fn guarded(bearers: Bearers) -> Self {
        Self { open: false, bearers: watch::Sender::new(Arc::new(bearers)), seats: Arc::default() }
    }

    /// Whether callers have to present something.
    pub fn is_guarded(&self) -> bool {
        !self.open
    }

    /// Lets in others from now on, and ends the calls of those that would not be let in any more. The connections of owners
    /// that are revoked are closed; their workers are the caller's to strike off.
    pub fn replace(&self, bearers: Bearers) {
        let bearers = Arc::new(bearers);
        self.bearers.send_replace(Arc::clone(&bearers));
        bearers.revoked().for_each(|owner| self.seats.close_all_of(owner));
    }

    /// The owners that are let in no more.
    pub fn revoked(&self) -> Vec<Owner> {
        self.bearers().revoked().cloned().collect()
    }

    /// As whom the bearer of the token may read where the run stands, if he may.
    pub(super) fn reader(&self, token: TokenHash) -> Option<Owner> {
        if self.open {
            return Some(Owner::default());
        }
        let bearers = self.bearers();
        let caller = bearers.of(token).filter(|caller| caller.right.allows(Right::Read))?;
        (!bearers.is_revoked(&caller.owner)).then(|| caller.owner.clone())
    }

    /// The tokens that are let in now.
    pub(crate) fn bearers(&self) -> Arc<Bearers> {
        Arc::clone(&self.bearers.borrow())
    }

    /// Hears of each change of the tokens.
    pub(crate) fn changes(&self) -> watch::Receiver<Arc<Bearers>> {
        self.bearers.subscribe()
    }

    /// Where the connections of workers have their seats.
    pub(crate) fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_can_be_read_from_what_is_printed() {
        let mut bearers = Bearers::default();
        bearers.admit(&"7".repeat(64).parse().unwrap(), Owner::new("join"), Right::Join);
        assert!(!format!("{:?}", Access::guarded(bearers)).contains("7777"));
    }
}
