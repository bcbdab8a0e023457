//! Own checks: a random share of all standing counts that the operator's own machines count once more. Two owners who
//! agree on a lie cannot know which units these are.
//!
//! ```text
//! a draw covers all standing counts that no draw has covered yet
//! its seed is chosen, and recorded, after these counts
//! a unit is drawn if    BLAKE3(seed, unit) / 2^64 < rate
//! rate                  the share; for few units so much that at least 200 of them are drawn
//! ```
//!
//! So the ledger alone shows which units were drawn, and that nobody could have known them before.

use queens::UnitId;
use serde::{Deserialize, Serialize};

use crate::bound::wrong_at_most;
use crate::double_check::DoubleCheck;
use crate::ledger::{Draw, LineHash};
use crate::policy::PolicyError;

/// Units are drawn one by one, so their number varies. With this expected number, fewer than 200 are drawn less than once
/// in a million runs.
const FEWEST_EXPECTED: f64 = 300.0;

/// Which counts the operator's own machines make once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnChecks {
    /// The share of units, drawn at random.
    pub share: DoubleCheck,
    /// The owner of the operator's machines.
    pub owner: String,
}

impl OwnChecks {
    /// The own checks that are in force after these options: the share, and the operator's owner. What is not given stays.
    ///
    /// # Errors
    /// Only one of both is known.
    pub fn changed(
        in_force: Option<&Self>,
        share: Option<DoubleCheck>,
        owner: Option<&str>,
    ) -> Result<Option<Self>, PolicyError> {
        let share = share.or(in_force.map(|own| own.share));
        let owner = owner.or(in_force.map(|own| &*own.owner));
        match (share, owner) {
            (Some(DoubleCheck::None), _) | (None, None) => Ok(None),
            (Some(share), Some(owner)) => Ok(Some(Self { share, owner: owner.to_owned() })),
            (Some(_), None) => Err(PolicyError::NoOperator),
            (None, Some(owner)) => Err(PolicyError::NoOwnShare(owner.to_owned())),
        }
    }

    /// The probability with which each of so many units is drawn.
    fn rate(&self, units: u64) -> f64 {
        self.share.strength().max(FEWEST_EXPECTED / units.max(1) as f64).min(1.0)
    }

    /// Whether the draw hits the unit of a run with so many units.
    pub fn draws(&self, draw: &Draw, unit: UnitId, units: u64) -> bool {
        let hash = LineHash::of(&[&draw.seed.bytes()[..], &unit.0.to_le_bytes()].concat()).bytes();
        let (first, _) = hash.split_first_chunk().expect("a hash has 16 bytes");
        // 2^64 at most: a rate of 1 is above every number.
        u128::from(u64::from_le_bytes(*first)) < (self.rate(units) * 2f64.powi(64)) as u128
    }

    /// At most this share of units is wrong, with 95 % confidence, after so many own checks. `refuted` further checks
    /// contradicted a count, which was then taken back.
    pub fn wrong_at_most(made: u64, refuted: u64, units: u64) -> Option<f64> {
        let is_all = refuted == 0 && units > 0 && made == units;
        if is_all { Some(0.0) } else { wrong_at_most(made.saturating_add(refuted), refuted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(share: &str) -> OwnChecks {
        OwnChecks { share: share.parse().unwrap(), owner: "ada".into() }
    }

    fn drawn(own: &OwnChecks, seed: u8, units: u64) -> Vec<u64> {
        let draw = Draw { seed: LineHash::from_bytes([seed; 16]), units: Vec::new(), at: 0 };
        (0..units).filter(|unit| own.draws(&draw, UnitId(*unit), units)).collect()
    }

    #[test]
    fn at_least_200_units_are_drawn_or_all() {
        for seed in 0..50 {
            assert_eq!(drawn(&own("1%"), seed, 300).len(), 300);
            let few = drawn(&own("1%"), seed, 4000).len();
            assert!((200..400).contains(&few), "{few}");
            let share = drawn(&own("5%"), seed, 20_000).len();
            assert!((850..1150).contains(&share), "{share}");
        }
        assert_eq!(drawn(&own("all"), 1, 5000).len(), 5000);
        assert_ne!(drawn(&own("1%"), 1, 4000), drawn(&own("1%"), 2, 4000));
    }

    /// The second verifier draws the same units.
    #[test]
    fn drawn_units_never_change() {
        assert_eq!(drawn(&own("1%"), 7, 4000)[..5], [17, 28, 36, 42, 60]);
    }

    #[test]
    fn options_change_what_they_name() {
        let changed = |in_force, share: Option<&str>, owner| {
            OwnChecks::changed(in_force, share.map(|share| share.parse().unwrap()), owner)
        };
        let ada = own("1%");
        assert_eq!(changed(None, None, None), Ok(None));
        assert_eq!(changed(None, Some("1%"), Some("ada")), Ok(Some(ada.clone())));
        assert_eq!(changed(Some(&ada), None, None), Ok(Some(ada.clone())));
        assert_eq!(changed(Some(&ada), Some("2%"), None), Ok(Some(own("2%"))));
        assert_eq!(changed(Some(&ada), Some("none"), None), Ok(None));
        assert_eq!(changed(None, Some("1%"), None), Err(PolicyError::NoOperator));
        assert_eq!(changed(None, None, Some("ada")), Err(PolicyError::NoOwnShare("ada".into())));
    }

    #[test]
    fn bound_is_about_three_over_checks() {
        let bound = |made, refuted| OwnChecks::wrong_at_most(made, refuted, 100_000);
        assert!((bound(1000, 0).unwrap() - 0.003).abs() < 1e-4);
        assert!(bound(1000, 1) > bound(1000, 0));
        assert_eq!((bound(0, 0), bound(100_000, 0)), (None, Some(0.0)));
    }
}
