//! The key with which coordinators of a run sign and recognise their leases.
//!
//! A lease's token is a keyed hash (BLAKE3) over the unit, its variant and the worker. So a report can be judged by its
//! token alone, even after the lease has expired or the coordinator was restarted. A worker cannot report a unit that
//! it never held.

use domain::{CoordinatorId, Lease, Term, Token, Variant, WorkerId};
use queens::UnitId;

use crate::ledger::LineHash;
use crate::standing::Identity;

/// A secret of the run.
#[derive(Clone)]
pub struct LeaseKey([u8; LeaseKey::BYTES]);

impl LeaseKey {
    /// The length of a key.
    pub const BYTES: usize = 32;

    /// The key of these bytes.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// A key drawn at random, for a run that is nowhere on disk.
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The bytes of the key.
    pub fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// A term of the run, with a proof by this key.
    pub fn prove(&self, run: LineHash, number: u64, coordinator: CoordinatorId) -> Term {
        let (number_bytes, coordinator_bytes) = (number.to_le_bytes(), coordinator.0.to_le_bytes());
        let proof = self.hash(b"diadem term", &[&run.bytes(), &number_bytes, &coordinator_bytes]);
        Term { number, coordinator, proof: u128::from_be_bytes(proof) }
    }

    /// True if the term of the run has a valid proof by this key.
    pub fn has_proven(&self, run: LineHash, term: &Term) -> bool {
        self.prove(run, term.number, term.coordinator) == *term
    }

    /// The token of a lease to that worker.
    pub fn token(&self, unit: UnitId, variant: Variant, worker: WorkerId, identity: &Identity) -> Token {
        let mut bytes = Vec::with_capacity(128);
        bytes.extend_from_slice(&unit.0.to_le_bytes());
        bytes.extend_from_slice(&[u8::from(variant.mirrored), u8::from(variant.other_kernel)]);
        bytes.extend_from_slice(&worker.0.to_le_bytes());
        for name in [identity.owner.name(), &identity.machine] {
            bytes.extend_from_slice(&(name.len() as u64).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
        let hash = blake3::keyed_hash(&self.0, &bytes);
        let (token, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
        Token(u64::from_le_bytes(*token))
    }

    /// The seal of these parts. It needs the key.
    pub fn seal<'a>(&self, parts: impl Iterator<Item = &'a [u8]>) -> LineHash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"diadem seal");
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        LineHash::from_bytes(hash)
    }

    /// The keyed hash of the parts, for a purpose that is none of leases: no unit has a number with its bytes.
    fn hash(&self, purpose: &[u8; 11], parts: &[&[u8]]) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(purpose);
        for part in parts {
            hasher.update(part);
        }
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }

    /// Whether the lease was given to that worker.
    pub fn has_given(&self, lease: &Lease, worker: WorkerId, identity: &Identity) -> bool {
        // The time to compare eight bytes reveals nothing.
        self.token(lease.unit, lease.variant, worker, identity) == lease.token
    }
}

impl std::fmt::Debug for LeaseKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseKey")
    }
}
