//! The entries of a checkpoint: how a standing becomes keys and values, and a standing again.
//!
//! | key | value |
//! |---|---|
//! | `head` | JSON: layout, run, plan, position in the ledger, and the sums that have no entry of their own |
//! | `family/TT/BB` | JSON: the partial totals of the family with its queens in columns TT and BB |
//! | `mark/NAME/BLOCK` | 1 KiB of a bitmap: a bit for each of 8,192 units, without the zero bytes at the end |
//! | `machine/NUMBER` | JSON: what the records say of a machine |
//! | `credit/OWNER` | JSON: what the owner gave |
//! | `incident/NUMBER` | JSON: an intervention, start, conflict or quarantine |
//! | `dispute/UNIT` | JSON: the counts of a disputed unit |
//! | `seal` | a hash of all other entries in the order of their keys, keyed with `lease.key` |

use std::collections::BTreeMap;

use queens::plan::{Family, Fingerprint};
use queens::{FamilySums, Plan, Tally, Totals, UnitId};
use serde::{Deserialize, Serialize};

use super::NoCheckpoint;
use crate::ledger::{LedgerPosition, LineHash};
use crate::run_directory::LeaseKey;
use crate::standing::{Account, Incident, Machine, Machines, Marks, Standing, Sums, UnitMark, Vote};

/// All entries, by key.
pub(super) type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// Another number for every change of the entries.
const LAYOUT: u32 = 4;

/// Builds estimate the work of a plan alike up to one part in this many: floating point rounds differently on other machines.
const ROUNDING: u128 = 1_000_000;

const HEAD: &[u8] = b"head";
const SEAL: &[u8] = b"seal";

#[derive(Serialize)]
struct HeadRef<'a> {
    layout: u32,
    run: LineHash,
    plan: &'a Fingerprint,
    /// The estimated work of the plan, in nanoseconds of one core: the work in the sums is a part of it.
    plan_work: u128,
    position: &'a LedgerPosition,
    sums: &'a Sums,
}

#[derive(Deserialize)]
struct Head {
    run: LineHash,
    plan: Fingerprint,
    plan_work: u128,
    position: LedgerPosition,
    sums: Sums,
}

/// The part of a head that every layout has.
#[derive(Deserialize)]
struct Layout {
    layout: u32,
}

/// The partial totals of one family.
#[derive(Serialize)]
struct FamilyRef<'a> {
    /// A, P and R; none while counts contradict each other.
    totals: Option<Totals>,
    /// T: the completions counted so far.
    completions: u128,
    sums: &'a FamilySums,
}

#[derive(Deserialize)]
struct FamilyEntry {
    sums: FamilySums,
}

/// The entries of a standing at that position of the ledger, without the seal.
pub(super) fn entries(run: LineHash, plan: &Plan, position: &LedgerPosition, standing: &Standing) -> Entries {
    let sums = standing.sums();
    let (fingerprint, plan_work) = (plan.fingerprint(), plan.total_weight());
    let head = HeadRef { layout: LAYOUT, run, plan: fingerprint, plan_work, position, sums };
    let mut entries = Entries::from([(HEAD.to_vec(), json(&head))]);
    for (family, sums) in plan.family_list().iter().zip(sums.tally.families()) {
        let entry = FamilyRef { totals: sums.totals().ok(), completions: sums.completions(), sums };
        entries.insert(family_key(*family), json(&entry));
    }
    for mark in UnitMark::ALL {
        let blocks = standing.marks().of(mark).blocks();
        entries.extend(
            blocks.map(|(block, bytes)| (format!("mark/{}/{block:08}", mark.name()).into_bytes(), bytes)),
        );
    }
    let machines = sums.machines.iter().enumerate();
    entries.extend(
        machines.map(|(number, machine)| (format!("machine/{number:08}").into_bytes(), json(machine))),
    );
    let credits = sums.credits.iter();
    entries.extend(credits.map(|(owner, account)| (format!("credit/{owner}").into_bytes(), json(account))));
    let incidents = sums.incidents.iter();
    entries.extend(
        incidents.map(|(number, incident)| (format!("incident/{number:012}").into_bytes(), json(incident))),
    );
    let disputes = sums.disputed.iter();
    entries
        .extend(disputes.map(|(unit, votes)| (format!("dispute/{:012}", unit.0).into_bytes(), json(votes))));
    entries
}

/// Adds the seal, or replaces it.
pub(super) fn seal(entries: &mut Entries, key: &LeaseKey) {
    entries.remove(SEAL);
    let seal = seal_of(entries, key);
    entries.insert(SEAL.to_vec(), seal.to_string().into_bytes());
}

fn seal_of(entries: &Entries, key: &LeaseKey) -> LineHash {
    key.seal(entries.iter().flat_map(|(key, value)| [&key[..], &value[..]]))
}

/// The standing that was saved, and its position in the ledger.
///
/// # Errors
/// The seal does not fit, or the entries are not those of this run.
pub(super) fn restore(
    mut entries: Entries,
    key: &LeaseKey,
    run: LineHash,
    plan: &Plan,
) -> Result<(LedgerPosition, Standing), NoCheckpoint> {
    let sealed = entries.remove(SEAL).ok_or(NoCheckpoint::Damaged)?;
    if sealed != seal_of(&entries, key).to_string().as_bytes() {
        return Err(NoCheckpoint::Damaged);
    }
    let head = entries.remove(HEAD).ok_or(NoCheckpoint::Damaged)?;
    if parsed::<Layout>(&head)?.layout != LAYOUT {
        return Err(NoCheckpoint::OtherBuild);
    }
    let Head { run: of_run, plan: of_plan, plan_work, position, mut sums } = parsed(&head)?;
    if of_run != run || of_plan != *plan.fingerprint() {
        return Err(NoCheckpoint::OtherRun);
    }
    let expected_work = plan.total_weight();
    if plan_work.abs_diff(expected_work) > expected_work / ROUNDING {
        return Err(NoCheckpoint::OtherBuild);
    }
    let (mut families, mut machines, mut marks) = (Vec::new(), Vec::new(), Marks::new(plan.units()));
    for (key, value) in &entries {
        let name = str::from_utf8(key).map_err(|_| NoCheckpoint::Damaged)?;
        match name.split_once('/').ok_or(NoCheckpoint::Damaged)? {
            ("family", _)
                if plan.family_list().get(families.len()).copied().map(family_key).as_ref() == Some(key) =>
            {
                families.push(parsed::<FamilyEntry>(value)?.sums);
            }
            ("mark", place) => add_block(&mut marks, place, value).ok_or(NoCheckpoint::Damaged)?,
            ("machine", number) if number.parse() == Ok(machines.len()) => {
                machines.push(parsed::<Machine>(value)?);
            }
            ("credit", owner) => sums.credits.restore(owner, parsed::<Account>(value)?),
            ("incident", number) => {
                let number = number.parse().map_err(|_| NoCheckpoint::Damaged)?;
                let incident = parsed::<Incident>(value)?;
                sums.incidents.restore(number, incident).ok_or(NoCheckpoint::Damaged)?;
            }
            ("dispute", unit) => {
                let unit = unit.parse().map_err(|_| NoCheckpoint::Damaged)?;
                sums.disputed.insert(UnitId(unit), parsed::<Vec<Vote>>(value)?);
            }
            _ => return Err(NoCheckpoint::Damaged),
        }
    }
    sums.tally = Tally::restored(plan, families).ok_or(NoCheckpoint::Damaged)?;
    sums.machines = Machines::restored(machines, sums.machines);
    if !sums.fits(plan) {
        return Err(NoCheckpoint::Damaged);
    }
    let standing = Standing::restored(plan, marks, sums);
    // A unit that is done but seems open would be recorded a second time.
    let on_record = standing.sums().history.milestones().last().map_or(0, |last| last.done);
    if standing.done() != on_record {
        return Err(NoCheckpoint::Damaged);
    }
    Ok((position, standing))
}

/// Adds a block of the mark and number in `place`, as in `done/00000007`; none if there is no such block.
fn add_block(marks: &mut Marks, place: &str, bytes: &[u8]) -> Option<()> {
    let (name, block) = place.split_once('/')?;
    let mark = UnitMark::ALL.into_iter().find(|mark| mark.name() == name)?;
    marks.of_mut(mark).add_block(block.parse().ok()?, bytes)
}

fn family_key(family: Family) -> Vec<u8> {
    format!("family/{:02}/{:02}", family.top, family.bottom).into_bytes()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("numbers and text can be written as JSON")
}

fn parsed<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, NoCheckpoint> {
    // From text: a `u128` cannot be read from bytes that serde buffers.
    let text = str::from_utf8(bytes).map_err(|_| NoCheckpoint::Damaged)?;
    serde_json::from_str(text).map_err(|_| NoCheckpoint::Damaged)
}
