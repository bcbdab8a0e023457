//! Who is connected: where all seats are taken, somebody who does not watch makes room for the next.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Not more connections are held at a time.
const MOST_CONNECTIONS: usize = 256;

/// The seats.
#[derive(Debug)]
pub struct Seats {
    free: Arc<Semaphore>,
    /// Those who would have to go, in the order in which they came.
    passers_by: Mutex<PassersBy>,
}

#[derive(Debug, Default)]
struct PassersBy {
    /// The number of the last one that came.
    last: u64,
    present: BTreeMap<u64, Arc<Notify>>,
}

impl Default for Seats {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(MOST_CONNECTIONS)), passers_by: Mutex::default() }
    }
}

impl Seats {
    /// Gives somebody who has connected from there a seat. Where there is none, the one who has been there longest without watching is
    /// shown out; where all watch, this waits.
    pub async fn take(self: &Arc<Self>, address: IpAddr) -> Visitor {
        if self.free.available_permits() == 0
            && let Some((_, oldest)) = self.passers_by.lock().present.pop_first()
        {
            oldest.notify_one();
        }
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let shown_out = Arc::new(Notify::new());
        let mut passers_by = self.passers_by.lock();
        passers_by.last += 1;
        let number = passers_by.last;
        passers_by.present.insert(number, Arc::clone(&shown_out));
        drop(passers_by);
        let seat = Seat { number, seats: Arc::clone(self), _permit: permit };
        Visitor { address, shown_out, seat: Arc::new(seat) }
    }
}

/// Somebody who is connected; the seat is free again when nothing speaks of him any more.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// Where he has connected from.
    pub address: IpAddr,
    shown_out: Arc<Notify>,
    seat: Arc<Seat>,
}

impl Visitor {
    /// He watches, and is not shown out before he has watched.
    pub fn watches(self) -> Watching {
        self.seat.seats.passers_by.lock().present.remove(&self.seat.number);
        Watching(self)
    }

    /// Ends when he is shown out.
    pub async fn is_shown_out(&self) {
        self.shown_out.notified().await;
    }
}

/// Somebody who watches; when this ends he is a passer-by again, in his old place.
#[derive(Debug)]
pub struct Watching(Visitor);

impl Drop for Watching {
    fn drop(&mut self) {
        let Visitor { shown_out, seat, .. } = &self.0;
        seat.seats.passers_by.lock().present.insert(seat.number, Arc::clone(shown_out));
    }
}

#[derive(Debug)]
struct Seat {
    number: u64,
    seats: Arc<Seats>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.passers_by.lock().present.remove(&self.number);
    }
}
