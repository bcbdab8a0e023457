//! The other ends of connections, and their seats: nobody takes them all.
//!
//! Of all connections that can be held, three quarters are for those who take part, an eighth for those who only read;
//! the last eighth is left to newcomers, who may have what else is free besides. Where seats are taken, the oldest
//! reader makes room for another, and of those who take part the owner with the most for one with fewer. Where nothing
//! is free, the newcomer that has shown nothing for the longest is closed.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Waker};

use domain::Owner;
use parking_lot::Mutex;
use tonic::Status;

use crate::grpc::access::caller::{Caller, Right};

/// Those who only read have at most so many connections from one address; the oldest makes room.
const READERS_AT_AN_ADDRESS: usize = 16;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer(Arc<PeerState>);

#[derive(Debug)]
struct PeerState {
    number: u64,
    address: SocketAddr,
    /// As whom it was let in by its certificate, if it has shown one.
    certified: OnceLock<Caller>,
    /// Whether a call of it was let pass.
    welcome: AtomicBool,
    closed: AtomicBool,
    /// Woken when it is closed.
    reader: Mutex<Option<Waker>>,
}

impl Peer {
    fn new(number: u64, address: SocketAddr, welcome: bool) -> Self {
        let (welcome, closed) = (AtomicBool::new(welcome), AtomicBool::new(false));
        let (certified, reader) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(PeerState { number, address, certified, welcome, closed, reader }))
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// It has shown a certificate of that caller's.
    pub fn certify(&self, caller: Caller) {
        self.0.certified.set(caller).ok();
    }

    /// Who it is by its certificate, if it has shown one.
    pub fn certified(&self) -> Option<&Caller> {
        self.0.certified.get()
    }

    /// Whether a call of it was let pass, so that the connection may stay.
    pub fn is_welcome(&self) -> bool {
        self.0.welcome.load(Ordering::Relaxed)
    }

    /// Has whoever reads from the connection find it closed.
    fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        if let Some(reader) = self.0.reader.lock().take() {
            reader.wake();
        }
    }

    /// Whether it is closed; if not, the reader is woken when it is.
    pub fn is_closed(&self, context: &Context<'_>) -> bool {
        let mut reader = self.0.reader.lock();
        if reader.as_ref().is_none_or(|reader| !reader.will_wake(context.waker())) {
            *reader = Some(context.waker().clone());
        }
        drop(reader);
        self.0.closed.load(Ordering::Acquire)
    }
}

/// Who sits where.
#[derive(Debug, Default)]
pub struct Seats {
    /// How many connections can be held.
    most: AtomicUsize,
    taken: Mutex<Taken>,
}

/// The connections in the order in which they came.
type InOrder = BTreeMap<u64, Peer>;

#[derive(Debug, Default)]
struct Taken {
    /// The number of the last one that came.
    last: u64,
    newcomers: InOrder,
    readers: BTreeMap<u64, (Peer, Owner)>,
    participants: HashMap<Owner, InOrder>,
}

impl Seats {
    /// Sets how many connections can be held.
    pub fn set_most(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Somebody has connected. Where all are welcome, there is nothing to wait for.
    pub fn newcomer(&self, address: SocketAddr, all_welcome: bool) -> Peer {
        let mut taken = self.taken.lock();
        taken.last += 1;
        let peer = Peer::new(taken.last, address, all_welcome);
        if !all_welcome {
            let number = taken.last;
            taken.newcomers.insert(number, peer.clone());
        }
        peer
    }

    /// Closes the newcomer that has shown nothing for the longest; says whether there is one.
    pub fn close_oldest_newcomer(&self) -> bool {
        let oldest = self.taken.lock().newcomers.pop_first();
        oldest.inspect(|(_, peer)| peer.close()).is_some()
    }

    /// Gives a newcomer, of which a call was let pass, a seat with its like.
    ///
    /// # Errors
    /// All are taken by owners that have no more than its own.
    pub fn admit(&self, peer: &Peer, caller: &Caller) -> Result<(), Status> {
        if peer.is_welcome() {
            return Ok(());
        }
        let most = self.most.load(Ordering::Relaxed);
        let mut taken = self.taken.lock();
        if !taken.newcomers.contains_key(&peer.0.number) {
            // It was admitted by another call meanwhile, or it is closed already.
            return Ok(());
        }
        if caller.right == Right::Read {
            taken.seat_reader(peer, &caller.owner, (most / 8).max(1));
        } else {
            taken.seat_participant(peer, &caller.owner, (most / 4 * 3).max(1))?;
        }
        taken.newcomers.remove(&peer.0.number);
        peer.0.welcome.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// A connection has ended.
    pub fn leave(&self, peer: &Peer) {
        let mut taken = self.taken.lock();
        let number = peer.0.number;
        if taken.newcomers.remove(&number).is_none() && taken.readers.remove(&number).is_none() {
            taken.participants.retain(|_, seats| {
                seats.remove(&number);
                !seats.is_empty()
            });
        }
    }

    /// Closes all connections of an owner.
    pub fn close_all_of(&self, owner: &Owner) {
        let taken = self.taken.lock();
        taken.participants.get(owner).into_iter().flat_map(BTreeMap::values).for_each(Peer::close);
        taken.readers.values().filter(|(_, of)| of == owner).for_each(|(peer, _)| peer.close());
    }
}

impl Taken {
    fn seat_reader(&mut self, peer: &Peer, owner: &Owner, most: usize) {
        let ip = peer.address().ip();
        let mut neighbours = self.readers.iter().filter(|(_, (other, _))| other.address().ip() == ip);
        let oldest_neighbour = neighbours.next().map(|(number, _)| *number);
        let to_close = if neighbours.count() + 1 >= READERS_AT_AN_ADDRESS {
            oldest_neighbour
        } else if self.readers.len() >= most {
            self.readers.keys().next().copied()
        } else {
            None
        };
        if let Some((oldest, _)) = to_close.and_then(|number| self.readers.remove(&number)) {
            oldest.close();
        }
        self.readers.insert(peer.0.number, (peer.clone(), owner.clone()));
    }

    fn seat_participant(&mut self, peer: &Peer, owner: &Owner, most: usize) -> Result<(), Status> {
        let seats = |taken: &Self, owner| taken.participants.get(owner).map_or(0, BTreeMap::len);
        if self.participants.values().map(BTreeMap::len).sum::<usize>() >= most {
            let greatest = self.participants.iter().max_by_key(|(_, seats)| seats.len());
            let greatest = greatest.map(|(owner, seats)| (owner.clone(), seats.len()));
            let greedy = greatest.filter(|(_, held)| *held > seats(self, owner) + 1);
            let Some((greedy, _)) = greedy else {
                let text = format!("too many connections: {owner} holds {} of {most}", seats(self, owner));
                return Err(Status::resource_exhausted(text));
            };
            let of_greedy = self.participants.get_mut(&greedy);
            if let Some((_, oldest)) = of_greedy.and_then(BTreeMap::pop_first) {
                oldest.close();
            }
        }
        self.participants.entry(owner.clone()).or_default().insert(peer.0.number, peer.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seats of which so many are taken in turn, by connections of that owner from an address of its own.
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
        let seats = Seats::default();
        seats.set_most(most);
        seats
    }

    #[test]
    fn readers_hold_an_eighth_and_few_from_one_address_and_the_oldest_makes_room() {
        let seats = seats(800);
        let workers = take(&seats, "join", Right::Join, 1, 600);
        let flood: Vec<_> = (2..22).flat_map(|host| take(&seats, "status", Right::Read, host, 50)).collect();
        assert_eq!(are_open(&flood), 100);
        assert_eq!(are_open(&flood[..50]) + are_open(&flood[900..]), 32, "16 from one address");
        let late = take(&seats, "status", Right::Read, 99, 1);
        assert_eq!((are_open(&late), are_open(&flood), are_open(&workers)), (1, 99, 600));
    }

    #[test]
    fn an_owner_that_has_most_gives_up_seats_to_others_and_never_takes_theirs() {
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
    fn connections_of_a_revoked_owner_are_closed_and_the_oldest_newcomer_when_asked() {
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
}
