//! The credit of owners: by days, after disputes and retractions, from a checkpoint, and in a merged run.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use domain::{Credits, Earned};
use queens::UnitId;
use tempfile::TempDir;

use crate::ledger::{Record, Retraction, UnitRecord};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::{OpenOptions, Store};
use crate::testing::known_run::{self, plan, unit_record};

const DAY: u64 = 86_400;

/// The first second of a day in UTC.
const MIDNIGHT: u64 = 20_000 * DAY;

/// A count of the unit by a machine of that owner, this many seconds after midnight.
fn by(owner: &str, unit: u64, lie: u64, after: i64) -> UnitRecord {
    let at = MIDNIGHT.checked_add_signed(after).unwrap();
    let owner = owner.to_owned();
    UnitRecord { owner, at, ..unit_record(unit, lie, "pc") }
}

/// The record as a check of the other owner's count.
fn check(r: UnitRecord, of_owner: &str, of: &str) -> Record {
    Record::Check(UnitRecord { of: Some(of.into()), of_owner: of_owner.into(), ..r })
}

/// The retraction of that count by the operator, or because another count contradicts it.
fn retraction(r: &UnitRecord, reason: Option<&str>, after: i64) -> Record {
    let Record::Retract(retraction) = known_run::retraction(r) else { unreachable!() };
    Record::Retract(Retraction {
        owner: r.owner.clone(),
        reason: reason.map(Into::into),
        at: MIDNIGHT.checked_add_signed(after).unwrap(),
        ..retraction
    })
}

fn standing(records: &[Record]) -> Standing {
    let mut standing = Standing::new(&plan());
    records.iter().for_each(|r| standing.apply(&plan(), Shard::default(), r).unwrap());
    standing
}

/// The credits in the first second of a day after midnight of the first.
fn on_day(standing: &Standing, day: u64) -> Credits {
    standing.sums().credits.status(MIDNIGHT + day * DAY, 100)
}

fn of(credits: &Credits, owner: &str) -> Earned {
    credits
        .owners
        .iter()
        .find(|(other, _)| other.name() == owner)
        .map(|(_, earned)| *earned)
        .unwrap_or_default()
}

/// The units of an owner on each day, and in all.
fn units(credits: &Credits, owner: &str) -> ([i64; 7], i64) {
    let Earned { total, days } = of(credits, owner);
    (days.map(|credit| credit.units), total.units)
}

/// A unit that is no symmetric count.
fn plain(number: u64) -> u64 {
    plan().symmetric_counts() + number
}

#[test]
fn credit_belongs_to_the_utc_day_of_the_record() {
    let standing = standing(&[
        Record::Count(by("ada", plain(0), 0, -1)),
        Record::Count(by("ada", plain(1), 0, 0)),
        check(by("ben", plain(0), 0, 1), "ada", "pc"),
        Record::Count(by("ada", plain(2), 0, DAY.cast_signed())),
    ]);
    let credits = on_day(&standing, 0);
    assert_eq!(units(&credits, "ada"), ([0, 0, 0, 0, 0, 1, 1], 3), "tomorrow's is in the total alone");
    assert_eq!(units(&credits, "ben"), ([0, 0, 0, 0, 0, 0, 1], 1), "a check earns as much as a count");
    assert_eq!(of(&credits, "ben").total.solutions, of(&credits, "ada").days[5].solutions);
    assert_eq!(units(&on_day(&standing, 6), "ada"), ([1, 1, 0, 0, 0, 0, 0], 3));
    assert_eq!(units(&on_day(&standing, 8), "ada"), ([0; 7], 3));
}

#[test]
fn solutions_and_work_of_owners_add_up_to_the_run() {
    let counts =
        (0..plan().units()).map(|unit| Record::Count(by(["ada", "ben", ""][unit as usize % 3], unit, 0, 0)));
    let standing = standing(&counts.collect::<Vec<_>>());
    let all = on_day(&standing, 0).all.total;
    assert_eq!(all.solutions, known_run::totals().solutions().cast_signed());
    assert_eq!(all.units as u64, plan().units());
    assert!((all.work - standing.sums().work as f64 / 1e9).abs() < 1e-9 * all.work);
}

#[test]
fn retraction_takes_credit_away_on_its_own_day() {
    let count = by("ada", plain(0), 0, -9);
    let records = [
        Record::Count(count.clone()),
        check(UnitRecord { mirrored: true, ..by("ada", plain(0), 0, -8) }, "ada", "pc"),
        Record::Count(by("ada", plain(1), 0, -7)),
        retraction(&count, Some("a test"), 5),
    ];
    let credits = on_day(&standing(&records), 0);
    assert_eq!(units(&credits, "ada"), ([0, 0, 0, 0, 0, 3, -2], 1), "the check was of the same owner");
    let other = [Record::Count(by("ada", plain(1), 0, -7))];
    assert_eq!(of(&credits, "ada").total, of(&on_day(&standing(&other), 0), "ada").total);

    let checked = [
        Record::Count(count.clone()),
        check(by("ben", plain(0), 0, -8), "ada", "pc"),
        retraction(&count, Some("a test"), 5),
    ];
    let credits = on_day(&standing(&checked), 0);
    assert_eq!((units(&credits, "ada").1, units(&credits, "ben").1), (0, 1), "checks of others keep theirs");
}

#[test]
fn only_counts_that_win_a_dispute_earn() {
    let (lie, truth) = (by("eve", plain(0), 1, 0), by("ada", plain(0), 0, 1));
    let lost = [
        Record::Count(lie.clone()),
        Record::Conflict(truth.clone()),
        retraction(&lie, None, 1),
        Record::Count(by("ben", plain(0), 0, 2)),
    ];
    let credits = on_day(&standing(&lost), 0);
    let in_all = |credits: &Credits| ["eve", "ada", "ben"].map(|owner| units(credits, owner).1);
    assert_eq!(in_all(&credits), [0, 1, 1]);
    let won = [
        Record::Count(truth.clone()),
        Record::Conflict(lie),
        retraction(&truth, None, 1),
        Record::Count(by("ben", plain(0), 0, 2)),
    ];
    assert_eq!(in_all(&on_day(&standing(&won), 0)), [0, 1, 1]);
    assert_eq!(of(&credits, "ada").total, of(&credits, "ben").total);
}

#[test]
fn seven_latest_days_are_kept_in_any_order() {
    let mut records: Vec<_> =
        (0..20).map(|day| Record::Count(by("ada", plain(day), 0, (day * DAY).cast_signed()))).collect();
    let ordered = standing(&records);
    assert_eq!(units(&on_day(&ordered, 19), "ada"), ([1; 7], 20));
    assert_eq!(units(&on_day(&ordered, 13), "ada").0, [0, 0, 0, 0, 0, 0, 1], "older days are gone");
    records.rotate_left(9);
    assert_eq!(standing(&records).sums().credits, ordered.sums().credits);
}

#[test]
fn credit_is_same_from_checkpoint_and_from_ledger() {
    let folder = TempDir::new().unwrap();
    let options = || known_run::options(folder.path());
    let (mut store, ..) = Store::open(options()).unwrap();
    let count = by("ada/of the hill", plain(0), 0, -9);
    let first = [Record::Count(count.clone()), Record::Count(by("", plain(1), 0, 0))];
    let later = [retraction(&count, Some("a test"), 3), Record::Count(by("ben", plain(2), 0, 0))];
    store.commit(&first, Duration::ZERO, 1).unwrap();
    store.save(&standing(&first)).unwrap();
    store.commit(&later, Duration::ZERO, 1).unwrap();
    drop(store);
    let (store, resumed, notices) = Store::open(options()).unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    drop(store);
    fs::remove_dir_all(folder.path().join("checkpoint")).unwrap();
    let (_, rebuilt, _) = Store::open(options()).unwrap();
    let live = standing(&[first, later].concat());
    for standing in [resumed, rebuilt] {
        assert_eq!(standing.sums().credits, live.sums().credits);
    }
    assert_eq!(on_day(&live, 0).owners_total, 3);
}

#[test]
fn credits_of_merged_shards_add_up() {
    let folder = TempDir::new().unwrap();
    let parts = ["1/2", "2/2"].map(|name| {
        let (path, shard): (_, Shard) = (folder.path().join(&name[..1]), name.parse().unwrap());
        let (mut store, ..) = Store::open(OpenOptions { shard, ..known_run::options(&path) }).unwrap();
        let units = shard.units(plan().units()).map(|UnitId(unit)| unit);
        let counts: Vec<_> = units.map(|unit| Record::Count(by("ada", unit, 0, 0))).collect();
        let checks = counts.iter().take(30).map(|count| {
            let Record::Count(r) = count else { unreachable!() };
            check(UnitRecord { owner: "ben".into(), ..r.clone() }, "ada", "pc")
        });
        let records: Vec<_> = counts.iter().cloned().chain(checks).collect();
        store.commit(&records, Duration::ZERO, 1).unwrap();
        path
    });
    let out = folder.path().join("out");
    crate::merge(&out, &parts).unwrap();
    let read = |path: &PathBuf| {
        let mut standing = Standing::new(&plan());
        replay(&RunDirectory::open(path).unwrap(), Stretch::default(), &mut standing, |_, _| ()).unwrap();
        on_day(&standing, 0)
    };
    let merged = read(&out);
    assert_eq!((units(&merged, "ada").1, units(&merged, "ben").1), (plan().units().cast_signed(), 60));
    let joined = Credits::joined(&parts.each_ref().map(read));
    for owner in ["ada", "ben"] {
        let [merged, joined] = [&merged, &joined].map(|credits| of(credits, owner).total);
        assert_eq!((merged.units, merged.solutions), (joined.units, joined.solutions));
    }
}
