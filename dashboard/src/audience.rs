//! Who watches: where all places are taken, whoever has most of them gives one up to somebody who has fewer.

use std::net::IpAddr;

use domain::Owner;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Not more watch at a time.
const MOST_VIEWERS: usize = 64;

/// Those who watch, in the order in which they came.
#[derive(Debug, Default)]
pub struct Audience(Mutex<Vec<Viewer>>);

#[derive(Debug)]
struct Viewer {
    owner: Owner,
    address: IpAddr,
    /// Dropped where he has to go.
    place: oneshot::Sender<()>,
}

impl Audience {
    /// Gives somebody a place. Where there is one viewer too many, the owner with most of them has to do with one less, and of one
    /// owner the address with most: the one who came last. Nothing if that is the newcomer himself.
    pub fn admit(&self, owner: Owner, address: IpAddr) -> Option<Place> {
        let (place, taken) = oneshot::channel();
        let mut viewers = self.0.lock();
        viewers.retain(|viewer| !viewer.place.is_closed());
        viewers.push(Viewer { owner, address, place });
        if viewers.len() > MOST_VIEWERS {
            let places = |one: &Viewer| {
                let of_owner = viewers.iter().filter(|other| other.owner == one.owner);
                let at_address = of_owner.clone().filter(|other| other.address == one.address);
                (of_owner.count(), at_address.count())
            };
            let greedy = (0..viewers.len()).max_by_key(|index| places(&viewers[*index]))?;
            viewers.remove(greedy);
            if greedy == MOST_VIEWERS {
                return None;
            }
        }
        Some(Place(taken))
    }

    /// Waits until those who watch have left.
    pub async fn all_left(&self) {
        let viewers = std::mem::take(&mut *self.0.lock());
        for mut viewer in viewers {
            viewer.place.closed().await;
        }
    }
}

/// The place of somebody who watches; it is free again when this is dropped.
#[derive(Debug)]
pub struct Place(oneshot::Receiver<()>);

impl Place {
    /// Ends when he has to give it up.
    pub async fn given_up(&mut self) {
        (&mut self.0).await.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many ask for a place, with the token of that owner from an address of its own.
    fn ask(audience: &Audience, owner: &str, last_byte: u8, viewers: usize) -> Vec<Place> {
        let admit = |_| audience.admit(Owner::new(owner), [10, 0, 0, last_byte].into());
        (0..viewers).filter_map(admit).collect()
    }

    fn stay(places: &mut [Place]) -> usize {
        let is_kept = |place: &mut Place| place.0.try_recv() == Err(oneshot::error::TryRecvError::Empty);
        places.iter_mut().map(is_kept).filter(|is_kept| *is_kept).count()
    }

    #[test]
    fn whoever_has_most_places_gives_them_up_to_others_and_takes_none_of_theirs() {
        let audience = Audience::default();
        let mut greedy = ask(&audience, "status", 1, 100);
        assert_eq!(greedy.len(), MOST_VIEWERS);
        let mut modest = ask(&audience, "ada", 1, 3);
        assert_eq!((stay(&mut greedy), stay(&mut modest)), (61, 3));
        assert!(ask(&audience, "status", 1, 100).is_empty());
        let mut neighbour = ask(&audience, "status", 2, 3);
        assert_eq!((stay(&mut greedy), stay(&mut neighbour), stay(&mut modest)), (58, 3, 3), "by address");
        drop(greedy);
        assert_eq!(ask(&audience, "status", 1, 100).len(), 58, "what is free is free for all");
        assert_eq!((stay(&mut neighbour), stay(&mut modest)), (3, 3));
    }

    #[test]
    fn an_owner_with_many_addresses_has_no_more_than_others() {
        let audience = Audience::default();
        let mut spread: Vec<_> = (0..200).flat_map(|host| ask(&audience, "status", host, 1)).collect();
        let mut modest = ask(&audience, "ada", 1, 40);
        assert_eq!((stay(&mut spread), stay(&mut modest)), (32, 32));
    }
}
