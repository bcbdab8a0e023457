//! The rows of a table by constellation. The ledger has sums of whole families where the plan counts constellations together. Then the
//! constellations must be counted again, one by one, and their sum is compared with the ledger's.

use std::collections::{BTreeMap, BTreeSet};

use queens::plan::{Border, Family};
use queens::{Board, Constellation, Plan, SymmetryClass};

use super::error::ExportError;
use crate::groups::{GroupSums, by_constellation, by_family};
use crate::shard::Shard;
use crate::standing::Standing;

/// The rows of a table by constellation.
#[derive(Clone, Debug)]
pub struct ConstellationRows {
    board: Board,
    /// The constellations and families that were chosen; empty for all.
    chosen: Vec<Border>,
    /// The constellations of the plan that must be counted again, by family.
    to_recount: Vec<(Constellation, Family)>,
    /// Their completions, as far as they are counted.
    counts: Vec<u128>,
    /// The completions of each family by the ledger, if all its constellations are counted again.
    in_ledger: BTreeMap<Family, u128>,
}

impl ConstellationRows {
    /// The rows of the chosen constellations and families, or of all if none is chosen.
    ///
    /// # Errors
    /// The board has no such constellation or family, or the ledger does not have all units of a family that must be counted again.
    pub fn new(
        plan: &Plan,
        shard: Shard,
        standing: &Standing,
        chosen: &[Border],
    ) -> Result<Self, ExportError> {
        let board = plan.board();
        let chosen: Vec<Border> =
            chosen.iter().map(|border| in_plan(plan, *border)).collect::<Result<_, _>>()?;
        let bundled = bundled(plan);
        let is_chosen =
            |x: Constellation| chosen.is_empty() || chosen.iter().any(|border| includes(board, *border, x));
        let (to_recount, others): (Vec<_>, Vec<_>) =
            bundled.iter().copied().partition(|(x, _)| is_chosen(*x));
        let incomplete: BTreeSet<Family> = others.into_iter().map(|(_, family)| family).collect();
        let (sums, whole) = (by_family(plan, shard, standing), units(plan));
        let mut in_ledger = BTreeMap::new();
        for (_, family) in &to_recount {
            let (sums, units) = (sums.get(family).copied().unwrap_or_default(), whole[family]);
            if sums.counted < units {
                return Err(ExportError::Uncounted { family: *family, counted: sums.counted, units });
            }
            if !incomplete.contains(family) {
                in_ledger.insert(*family, sums.asymmetric);
            }
        }
        Ok(Self { board, chosen, to_recount, counts: Vec::new(), in_ledger })
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The constellations to count again, in this order.
    pub fn to_recount(&self) -> impl ExactSizeIterator<Item = Constellation> + Clone + Send + '_ {
        self.to_recount.iter().map(|(constellation, _)| *constellation)
    }

    /// Adds the completions of the next constellation to count again.
    ///
    /// # Errors
    /// It is the last one of its family, and the sum is not the ledger's.
    pub fn add(&mut self, completions: u128) -> Result<(), ExportError> {
        self.counts.push(completions);
        let (family, next) =
            (self.to_recount[self.counts.len() - 1].1, self.to_recount.get(self.counts.len()));
        if next.is_some_and(|(_, next)| *next == family) {
            return Ok(());
        }
        let counted = self.to_recount.iter().zip(&self.counts);
        let found = counted.filter(|((_, other), _)| *other == family).map(|(_, count)| count).sum();
        match self.in_ledger.get(&family) {
            Some(recorded) if *recorded != found => {
                Err(ExportError::Contradiction { family, recorded: *recorded, found })
            }
            _ => Ok(()),
        }
    }

    /// The families whose constellations are all counted again.
    pub fn compared_families(&self) -> u64 {
        self.in_ledger.len() as u64
    }

    /// The families of which some constellations are counted again.
    pub fn other_families(&self) -> u64 {
        let families: BTreeSet<Family> = self.to_recount.iter().map(|(_, family)| *family).collect();
        (families.len() - self.in_ledger.len()) as u64
    }

    /// The choice as the head of the table has it, if there is one.
    pub(super) fn choice(&self) -> Option<String> {
        let name = |border: &Border| match *border {
            Border::Family(Family { top, bottom }) => format!("{top},{bottom}"),
            Border::Constellation(Constellation { top, bottom, left, right }) => {
                format!("{top},{bottom},{left},{right}")
            }
        };
        let names: Vec<String> = self.chosen.iter().map(name).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }

    /// The rows, ascending. Those that were counted again have no units of their own.
    pub(super) fn sums(
        &self,
        plan: &Plan,
        shard: Shard,
        standing: &Standing,
    ) -> BTreeMap<Constellation, GroupSums> {
        let mut rows = by_constellation(plan, shard, standing);
        rows.retain(|x, _| {
            self.chosen.is_empty() || self.chosen.iter().any(|border| includes(self.board, *border, *x))
        });
        let recounted = self.to_recount().zip(&self.counts);
        rows.extend(
            recounted.map(|(x, count)| (x, GroupSums { asymmetric: *count, ..GroupSums::default() })),
        );
        rows
    }
}

/// True if the plan counts constellations together.
pub(super) fn bundles(plan: &Plan) -> bool {
    plan.unit_ranges().any(|range| matches!(range.border, Border::Family(_)))
}

/// The constellations that the plan counts together, by family.
fn bundled(plan: &Plan) -> Vec<(Constellation, Family)> {
    if !bundles(plan) {
        return Vec::new();
    }
    let board = plan.board();
    let orbits = Constellation::orbits(board).filter(|orbit| orbit.class == SymmetryClass::Asymmetric);
    let representatives = orbits.map(|orbit| orbit.representative);
    let mut bundled: Vec<_> = representatives.map(|x| (x, Border::Constellation(x).family(board))).collect();
    bundled.sort_by_key(|(x, family)| (*family, *x));
    bundled
}

/// The number of units of each family in the whole plan.
fn units(plan: &Plan) -> BTreeMap<Family, u64> {
    let mut units = BTreeMap::new();
    for (family, range) in plan.families() {
        *units.entry(family).or_default() += range.end - range.start;
    }
    units
}

/// Whether the constellation is the chosen one, or of the chosen family.
fn includes(board: Board, border: Border, constellation: Constellation) -> bool {
    match border {
        Border::Constellation(chosen) => chosen == constellation,
        Border::Family(family) => Border::Constellation(constellation).family(board) == family,
    }
}

/// The choice as the plan has it: of a constellation the representative of its orbit.
fn in_plan(plan: &Plan, border: Border) -> Result<Border, ExportError> {
    let board = plan.board();
    match border {
        Border::Constellation(x)
            if [x.top, x.bottom, x.left, x.right].iter().all(|place| *place < board.n())
                && x.is_valid(board) =>
        {
            Ok(Border::Constellation(x.smallest_image(board)))
        }
        Border::Family(family) if plan.family_list().binary_search(&family).is_ok() => Ok(border),
        _ => Err(ExportError::NoSuchRow { border, board }),
    }
}
