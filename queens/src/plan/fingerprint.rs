//! Fingerprints: two machines compare them to know that their plans are the same.
//!
//! A fingerprint is a hash of canonical bytes: of everything that defines the plan, and of the units that
//! follow. Texts for people are not among them. The bytes of a version never change.
//!
//! ```text
//! name, version, specification;
//! for each part:  summand, number of units;
//!                 of its units, or of a fixed sample where it has many:  index, position
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::plan::part::Part;
use crate::plan::spec::{PlanSpec, Scheme};
use crate::position::Position;
use crate::summand::{Measure, Summand};

/// The hash of a plan (docs/ledger.md), 128 bits, written as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Fingerprint {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Fingerprint {
    /// The fingerprint of the plan of that specification with these parts.
    pub(super) fn of(spec: &PlanSpec, parts: &[Part]) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(&bytes_of_spec(spec));
        let mut bytes = Vec::new();
        for part in parts {
            bytes.clear();
            push_part(&mut bytes, part);
            hash.update(&bytes);
        }
        Self(hash.finalize().to_hex()[..32].to_owned())
    }
}

/// A part with more units than this is sampled.
const FEW: u64 = 16;

/// The number of sampled units, the first and the last among them.
const SAMPLE: u64 = 4;

fn bytes_of_spec(spec: &PlanSpec) -> Vec<u8> {
    let mut bytes = b"diadem plan".to_vec();
    bytes.extend(spec.version.to_le_bytes());
    bytes.push(spec.n.n());
    match spec.scheme {
        Scheme::Constellations { grain } => {
            bytes.push(0);
            bytes.extend(grain.to_le_bytes());
        }
        Scheme::Families { rows, group, sides } => bytes.extend([1, rows, group, sides]),
        Scheme::Centre { columns, group, grain: None } => bytes.extend([2, columns, group]),
        Scheme::Centre { columns, group, grain: Some(grain) } => {
            bytes.extend([3, columns, group]);
            bytes.extend(grain.to_le_bytes());
        }
    }
    bytes
}

fn bytes_of_summand(summand: Summand) -> [u8; 5] {
    let (member, measure) = match summand {
        Summand::Asymmetric => (u32::MAX, 0),
        Summand::Symmetric(member, Measure::Completions) => (member, 1),
        Summand::Symmetric(member, Measure::HalfTurn) => (member, 2),
        Summand::Symmetric(member, Measure::QuarterTurn) => (member, 3),
    };
    let [a, b, c, d] = member.to_le_bytes();
    [a, b, c, d, measure]
}

fn push_part(bytes: &mut Vec<u8>, part: &Part) {
    bytes.extend(bytes_of_summand(part.summand()));
    bytes.extend(part.units().to_le_bytes());
    let indices = sample(part.units());
    for (index, position) in indices.iter().zip(part.positions_of_units(&indices)) {
        bytes.extend(index.to_le_bytes());
        push_position(bytes, &position);
    }
}

/// The sampled numbers below `units`, ascending: all, or one of each of the first three quarters and the last number.
/// Always the same numbers.
fn sample(units: u64) -> Vec<u64> {
    if units <= FEW {
        return (0..units).collect();
    }
    let one_of_stretch = |k: u64| {
        // Where in its stretch: multiples of the golden ratio, as fractions of 2^64.
        let within = k.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = u128::from(k) << 64 | u128::from(within);
        ((place * u128::from(units) / u128::from(SAMPLE)) >> 64) as u64
    };
    (0..SAMPLE - 1).map(one_of_stretch).chain([units - 1]).collect()
}

/// Appends a position: its queens in ascending order, the squares of each row, and the boundary pairs if not all are
/// allowed. Numbers of more than one byte begin with the lowest.
pub(super) fn push_position(bytes: &mut Vec<u8>, position: &Position) {
    let board = position.board();
    let mut queens = position.queens().to_vec();
    queens.sort_unstable();
    bytes.push(queens.len() as u8);
    bytes.extend(queens.iter().flat_map(|queen| [queen.row, queen.col]));
    board.lines().for_each(|row| bytes.extend_from_slice(&position.squares(row).to_le_bytes()));
    bytes.push(position.boundary().is_some().into());
    if let Some(pairs) = position.boundary() {
        board.lines().for_each(|left| bytes.extend_from_slice(&pairs.rights(left).to_le_bytes()));
    }
}
