//! Limits on connections, so that no owner takes all of them. An admitted connection holds a *seat*.
//!
//! A new connection is a *newcomer* until a call admits it to take part or to read. The limits:
//!
//! - If no connection is free, the newcomer that has waited longest is closed.
//! - If all seats of a kind are taken, the owner with the most seats loses one to an owner with fewer. Of this owner,
//!   the address with the most seats loses its latest seat.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use domain::Owner;
use parking_lot::Mutex;
use thiserror::Error;

use super::caller::{Caller, Right};

/// The peer of a connection.
#[derive(Clone, Debug)]
pub struct Peer(Arc<PeerState>);

#[derive(Debug)]
struct PeerState {
    number: u64,
    address: SocketAddr,
    /// The caller named by its certificate, if it has presented one.
    certified: OnceLock<Caller>,
    /// True if a call on the connection was accepted.
    welcome: AtomicBool,
    closed: AtomicBool,
    /// Woken when the connection is closed.
    reader: Mutex<Option<Waker>>,
}

impl Peer {
    fn new(number: u64, address: SocketAddr, welcome: bool) -> Self {
        let (welcome, closed) = (AtomicBool::new(welcome), AtomicBool::new(false));
        let (certified, reader) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(PeerState { number, address, certified, welcome, closed, reader }))
    }

    /// The address of the peer.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Notes that the peer has presented a certificate of this caller.
    pub fn certify(&self, caller: Caller) {
        self.0.certified.set(caller).ok();
    }

    /// The caller named by its certificate, if it has presented one.
    pub fn certified(&self) -> Option<&Caller> {
        self.0.certified.get()
    }

    /// True if a call was accepted, so that the connection may stay.
    pub fn is_welcome(&self) -> bool {
        self.0.welcome.load(Ordering::Relaxed)
    }

    /// Closes the connection for its reader.
    fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        if let Some(reader) = self.0.reader.lock().take() {
            reader.wake();
        }
    }

    /// True if the connection is closed. If not, the reader is woken when it closes.
    pub fn is_closed(&self, context: &Context<'_>) -> bool {
        let mut reader = self.0.reader.lock();
        if reader.as_ref().is_none_or(|reader| !reader.will_wake(context.waker())) {
            *reader = Some(context.waker().clone());
        }
        drop(reader);
        self.0.closed.load(Ordering::Acquire)
    }

    /// Completes when the connection is closed.
    pub async fn closed(&self) {
        poll_fn(|context| if self.is_closed(context) { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// The numbers of seats.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Seats for participants.
    pub participants: usize,
    /// Seats for readers.
    pub readers: usize,
    /// Seats for readers at one address. The oldest of them makes room.
    pub readers_at_an_address: usize,
}

impl Default for Limits {
    /// No limits.
    fn default() -> Self {
        Self { participants: usize::MAX, readers: usize::MAX, readers_at_an_address: usize::MAX }
    }
}

impl Limits {
    /// Limits for this number of connections: three quarters for participants, an eighth for readers, and the rest for
    /// newcomers. Newcomers may also use any free connection.
    pub fn of_workers(connections: usize) -> Self {
        Self {
            participants: (connections / 4 * 3).max(1),
            readers: (connections / 8).max(1),
            readers_at_an_address: 16,
        }
    }
}

/// All seats of this kind are taken, and no owner has more seats than this owner.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("too many connections: {owner} holds {held} of {most}")]
pub struct Crowded {
    owner: Owner,
    held: usize,
    most: usize,
}

/// The seats and their holders.
#[derive(Debug, Default)]
pub struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    limits: Limits,
    /// The number of the last peer.
    last: u64,
    newcomers: BTreeMap<u64, Peer>,
    readers: SeatList,
    participants: SeatList,
}

/// Seats of one kind, in the order in which their holders connected.
#[derive(Debug, Default)]
struct SeatList(BTreeMap<u64, (Peer, Owner)>);

impl Seats {
    /// Seats with these limits.
    pub fn new(limits: Limits) -> Self {
        Self(Mutex::new(Taken { limits, ..Taken::default() }))
    }

    /// Sets the limits. Without limits every connection gets a seat.
    pub fn limit(&self, limits: Limits) {
        self.0.lock().limits = limits;
    }

    /// Adds a new connection. If all are welcome, it is admitted at once.
    pub fn newcomer(&self, address: SocketAddr, all_welcome: bool) -> Peer {
        let mut taken = self.0.lock();
        taken.last += 1;
        let peer = Peer::new(taken.last, address, all_welcome);
        if !all_welcome {
            let number = taken.last;
            taken.newcomers.insert(number, peer.clone());
        }
        peer
    }

    /// Closes the oldest newcomer. Returns false if there is none.
    pub(super) fn close_oldest_newcomer(&self) -> bool {
        let oldest = self.0.lock().newcomers.pop_first();
        oldest.inspect(|(_, peer)| peer.close()).is_some()
    }

    /// Gives a newcomer with an accepted call a seat of its kind.
    ///
    /// # Errors
    /// All seats are taken, and no owner has more seats than this owner.
    pub fn admit(&self, peer: &Peer, caller: &Caller) -> Result<(), Crowded> {
        if peer.is_welcome() {
            return Ok(());
        }
        let mut taken = self.0.lock();
        if !taken.newcomers.contains_key(&peer.0.number) {
            // Another call has admitted it meanwhile, or it is already closed.
            return Ok(());
        }
        let limits = taken.limits;
        if caller.right == Right::Read {
            taken.readers.make_room_at(peer.address().ip(), limits.readers_at_an_address);
            taken.readers.seat(peer, &caller.owner, limits.readers)?;
        } else {
            taken.participants.seat(peer, &caller.owner, limits.participants)?;
        }
        taken.newcomers.remove(&peer.0.number);
        peer.0.welcome.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Turns a reader into a newcomer again.
    pub fn give_up(&self, peer: &Peer) {
        let mut taken = self.0.lock();
        if let Some((peer, _)) = taken.readers.0.remove(&peer.0.number) {
            peer.0.welcome.store(false, Ordering::Relaxed);
            taken.newcomers.insert(peer.0.number, peer);
        }
    }

    /// Removes a connection that has ended.
    pub fn leave(&self, peer: &Peer) {
        let (mut taken, number) = (self.0.lock(), peer.0.number);
        taken.newcomers.remove(&number);
        taken.readers.0.remove(&number);
        taken.participants.0.remove(&number);
    }

    /// Closes all connections of an owner.
    pub fn close_all_of(&self, owner: &Owner) {
        let taken = self.0.lock();
        let seated = taken.participants.0.values().chain(taken.readers.0.values());
        seated.filter(|(_, of)| of == owner).for_each(|(peer, _)| peer.close());
    }
}

impl SeatList {
    /// Closes the oldest connection from an address with this many connections.
    fn make_room_at(&mut self, address: IpAddr, most: usize) {
        let mut there = self.0.iter().filter(|(_, (peer, _))| peer.address().ip() == address);
        let oldest = there.next().map(|(number, _)| *number);
        if let Some(oldest) = oldest.filter(|_| there.count() + 1 >= most) {
            self.close(oldest);
        }
    }

    /// Seats a peer of this owner, in the place of another peer if necessary.
    fn seat(&mut self, peer: &Peer, owner: &Owner, most: usize) -> Result<(), Crowded> {
        self.0.insert(peer.0.number, (peer.clone(), owner.clone()));
        if self.0.len() <= most {
            return Ok(());
        }
        if let Some(greedy) = self.greediest(peer.0.number) {
            self.close(greedy);
            return Ok(());
        }
        self.0.remove(&peer.0.number);
        let held = self.0.values().filter(|(_, of)| of == owner).count();
        Err(Crowded { owner: owner.clone(), held, most })
    }

    /// The latest peer at the address with the most seats, of the owner with the most seats. None if neither has more
    /// than the owner and address of this newcomer.
    fn greediest(&self, newcomer: u64) -> Option<u64> {
        let mut of_owner: HashMap<&Owner, usize> = HashMap::new();
        let mut at_address: HashMap<(&Owner, IpAddr), usize> = HashMap::new();
        for (peer, owner) in self.0.values() {
            *of_owner.entry(owner).or_default() += 1;
            *at_address.entry((owner, peer.address().ip())).or_default() += 1;
        }
        let seats =
            |(peer, owner): &(Peer, Owner)| (of_owner[owner], at_address[&(owner, peer.address().ip())]);
        let (greedy, most) =
            self.0.iter().map(|(number, seat)| (*number, seats(seat))).max_by_key(|(_, seats)| *seats)?;
        (most > seats(&self.0[&newcomer])).then_some(greedy)
    }

    fn close(&mut self, number: u64) {
        if let Some((peer, _)) = self.0.remove(&number) {
            peer.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes seats for this number of connections of an owner, from its own address.
    fn take(seats: &Seats, owner: &str, right: Right, last_byte: u8, connections: usize) -> Vec<Peer> {
        let address = SocketAddr::from(([10, 0, 0, last_byte], 1));
        let caller = Caller { owner: Owner::new(owner), right };
        let take = |_| {
            let peer = seats.newcomer(address, false);
            seats.admit(&peer, &caller).ok();
            peer
        };
        (0..connections).map(take).collect()
    }

    fn are_open(peers: &[Peer]) -> usize {
        peers.iter().filter(|peer| peer.is_welcome() && !peer.0.closed.load(Ordering::Relaxed)).count()
    }

    fn seats(most: usize) -> Seats {
        Seats::new(Limits::of_workers(most))
    }

    #[test]
    fn readers_hold_an_eighth_and_few_from_one_address() {
        let seats = seats(800);
        let workers = take(&seats, "join", Right::Join, 1, 600);
        let one = take(&seats, "status", Right::Read, 2, 50);
        assert_eq!((are_open(&one), are_open(&one[34..])), (16, 16), "the oldest of an address makes room");
        let flood: Vec<_> = (3..23).flat_map(|host| take(&seats, "status", Right::Read, host, 50)).collect();
        assert_eq!(are_open(&one) + are_open(&flood), 100);
        let late = take(&seats, "status", Right::Read, 99, 1);
        assert_eq!((are_open(&late), are_open(&one) + are_open(&flood), are_open(&workers)), (1, 99, 600));
    }

    #[test]
    fn owner_with_most_connections_yields_to_others() {
        let seats = seats(40);
        let greedy = take(&seats, "greedy", Right::Join, 1, 100);
        assert_eq!(are_open(&greedy), 30);
        let modest = take(&seats, "modest", Right::Join, 2, 10);
        assert_eq!((are_open(&greedy), are_open(&modest)), (20, 10));
        let more = take(&seats, "greedy", Right::Join, 3, 100);
        assert_eq!((are_open(&greedy) + are_open(&more), are_open(&modest)), (20, 10));
        let third = take(&seats, "third", Right::Join, 4, 50);
        assert_eq!((are_open(&modest), are_open(&third)), (10, 10), "shares are even");
        modest.iter().for_each(|peer| seats.leave(peer));
        assert_eq!(
            are_open(&take(&seats, "greedy", Right::Join, 5, 100)),
            10,
            "what is free is free for all"
        );
    }

    #[test]
    fn connections_of_revoked_owner_are_closed() {
        let seats = seats(80);
        let address = SocketAddr::from(([10, 0, 0, 1], 1));
        let silent: Vec<_> = (0..3).map(|_| seats.newcomer(address, false)).collect();
        let (a, b) = (take(&seats, "a", Right::Join, 1, 3), take(&seats, "b", Right::Join, 1, 3));
        seats.close_all_of(&Owner::new("a"));
        assert_eq!((are_open(&a), are_open(&b)), (0, 3));
        assert!(seats.close_oldest_newcomer());
        let closed = silent.iter().filter(|peer| peer.0.closed.load(Ordering::Relaxed));
        assert_eq!(closed.map(|peer| peer.0.number).collect::<Vec<_>>(), [1]);
    }
    #[test]
    fn address_with_most_seats_of_an_owner_gives_them_up() {
        let seats = seats(80);
        let spread: Vec<_> = (0..60).flat_map(|host| take(&seats, "ada", Right::Join, host, 1)).collect();
        assert_eq!(are_open(&take(&seats, "ada", Right::Join, 99, 1)), 0, "all have one");
        let ben = take(&seats, "ben", Right::Join, 1, 40);
        assert_eq!((are_open(&spread), are_open(&ben)), (30, 30));
        let elsewhere = take(&seats, "ben", Right::Join, 2, 10);
        assert_eq!((are_open(&ben), are_open(&elsewhere), are_open(&spread)), (20, 10, 30));
    }

    #[test]
    fn seat_given_up_makes_its_holder_a_newcomer() {
        let seats = seats(8);
        let watching = take(&seats, "status", Right::Read, 1, 1);
        assert!(!seats.close_oldest_newcomer());
        seats.give_up(&watching[0]);
        assert!(seats.close_oldest_newcomer() && are_open(&watching) == 0);
        seats.give_up(&watching[0]);
        assert!(!seats.close_oldest_newcomer(), "it was closed");
    }
}
