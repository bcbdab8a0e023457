//! Quotas of each owner, so that an owner can overload neither the coordinator nor other owners.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::token_bucket::TokenBucket;
use domain::Owner;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

/// Maximum bytes of running calls of one owner: received requests and replies being sent.
const OWNER_BYTES: usize = 64 << 20;

/// Maximum bytes of running calls of all owners.
const ALL_BYTES: usize = 256 << 20;

/// Bytes that an owner always has, so that its report is accepted with any number of other owners.
const RESERVED_BYTES: usize = 12 << 20;

/// Maximum burst of registrations of an owner, for a coordinator that returns to all its workers. Then one more is
/// accepted in each interval.
const REGISTRATIONS_AT_ONCE: u32 = 2000;
const REGISTRATIONS_EVERY: Duration = Duration::from_millis(10);

/// Maximum burst of status requests of an owner.
const STATUS_AT_ONCE: u32 = 1000;
const STATUS_EVERY: Duration = Duration::from_millis(10);

/// Maximum number of status streams of an owner.
const MAX_STATUS_STREAMS: usize = 64;

/// The quotas of all owners.
#[derive(Debug, Default)]
pub struct Quotas {
    /// The number of entries is bounded by the number of tokens and certificates.
    owners: Mutex<HashMap<Owner, Arc<Quota>>>,
    bytes: AtomicUsize,
}

/// The remaining quota of an owner.
#[derive(Debug)]
pub struct Quota {
    bytes: AtomicUsize,
    registrations: Mutex<TokenBucket>,
    statuses: Mutex<TokenBucket>,
    watching: Arc<Semaphore>,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            bytes: AtomicUsize::new(0),
            registrations: Mutex::new(TokenBucket::new(REGISTRATIONS_AT_ONCE, REGISTRATIONS_EVERY)),
            statuses: Mutex::new(TokenBucket::new(STATUS_AT_ONCE, STATUS_EVERY)),
            watching: Arc::new(Semaphore::new(MAX_STATUS_STREAMS)),
        }
    }
}

impl Quotas {
    /// Starts a call of the owner.
    pub fn call(self: &Arc<Self>, owner: &Owner) -> Arc<CallUnderWay> {
        let mut owners = self.owners.lock();
        let quota = Arc::clone(owners.entry(owner.clone()).or_default());
        Arc::new(CallUnderWay { quota, quotas: Arc::clone(self), bytes: AtomicUsize::new(0) })
    }
}

/// A call, from its headers until its reply has been sent or dropped, which frees its bytes.
#[derive(Debug)]
pub struct CallUnderWay {
    quota: Arc<Quota>,
    quotas: Arc<Quotas>,
    bytes: AtomicUsize,
}

impl CallUnderWay {
    /// Charges this number of bytes to the call.
    ///
    /// # Errors
    /// The bytes of the owner, or of all owners, are exhausted.
    pub fn hold(&self, bytes: usize) -> Result<(), Status> {
        let of_owner = self.quota.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let of_all = self.quotas.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if of_owner > OWNER_BYTES || (of_all > ALL_BYTES && of_owner > RESERVED_BYTES) {
            return Err(Status::resource_exhausted("too many bytes are under way; try again in a second"));
        }
        Ok(())
    }

    /// Counts a registration.
    ///
    /// # Errors
    /// The owner has registered too many workers recently.
    pub fn register(&self, now: Duration) -> Result<(), Status> {
        let text = "too many workers register at once; try again in a second";
        take(&self.quota.registrations, now, text)
    }

    /// Counts a status request.
    ///
    /// # Errors
    /// The owner has sent too many status requests.
    pub fn ask_status(&self, now: Duration) -> Result<(), Status> {
        take(&self.quota.statuses, now, "too many requests for the status; try again in a second")
    }

    /// Counts a status stream, for as long as the permit is held.
    ///
    /// # Errors
    /// The owner has too many status streams.
    pub fn watch(&self) -> Result<OwnedSemaphorePermit, Status> {
        Arc::clone(&self.quota.watching).try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "at most {MAX_STATUS_STREAMS} streams of the status may \
                                                use the same token"
            ))
        })
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.quota.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.quotas.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn take(bucket: &Mutex<TokenBucket>, now: Duration, refusal: &str) -> Result<(), Status> {
    if bucket.lock().take(now) { Ok(()) } else { Err(Status::resource_exhausted(refusal)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_bounds_bytes_per_owner_and_in_total() {
        let quotas = Arc::new(Quotas::default());
        let owner = |k: usize| Owner::new(&format!("owner-{k}"));
        let greedy: Vec<_> = (0..4).map(|k| quotas.call(&owner(k))).collect();
        for call in &greedy {
            call.hold(OWNER_BYTES).unwrap();
            assert!(quotas.call(&owner(0)).hold(1).is_err());
        }
        let modest = quotas.call(&owner(4));
        modest.hold(RESERVED_BYTES).unwrap();
        assert!(modest.hold(1).is_err(), "all is taken but for what each has in any case");
        drop((greedy, modest));
        quotas.call(&owner(4)).hold(OWNER_BYTES).unwrap();
        assert_eq!(quotas.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn quotas_of_owners_are_independent() {
        let quotas = Arc::new(Quotas::default());
        let (greedy, modest) = (quotas.call(&Owner::new("greedy")), quotas.call(&Owner::new("modest")));
        let registered = (0..10_000).filter(|_| greedy.register(Duration::ZERO).is_ok()).count();
        let asked = (0..10_000).filter(|_| greedy.ask_status(Duration::ZERO).is_ok()).count();
        let watching: Vec<_> = (0..1000).filter_map(|_| greedy.watch().ok()).collect();
        assert_eq!((registered, asked, watching.len()), (2000, 1000, MAX_STATUS_STREAMS));
        assert!(modest.register(Duration::ZERO).is_ok() && modest.ask_status(Duration::ZERO).is_ok());
        assert!(modest.watch().is_ok());
        drop(watching);
        assert!(greedy.watch().is_ok());
    }
}
