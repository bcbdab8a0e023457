//! Why a unit is open, and what a machine or a worker holds.

use domain::{Explained, Subject};

use super::*;
use crate::core::LEASE_TIME;

fn unit(core: &Core, unit: UnitId) -> Explained {
    core.explain(Duration::from_secs(3), &Subject::Unit(unit))
}

fn because(core: &Core, of: UnitId) -> String {
    unit(core, of).open_because.unwrap_or_default()
}

fn machine(core: &Core, name: &str, worker: Option<&str>) -> Explained {
    let worker = worker.map(str::to_owned);
    core.explain(T0, &Subject::Machine { owner: Owner::default(), machine: name.to_owned(), worker })
}

#[test]
fn open_unit_waits_for_worker_turn_or_resumption() {
    let mut core = core();
    let last = UnitId(89);
    assert_eq!(because(&core, last), "it has no standing count, and no worker is connected");
    let a = join(&mut core, "a");
    assert_eq!(because(&core, last), "it has no standing count, and it waits for its turn: 90 units open");
    core.pause(T0, Some("night".into()));
    assert!(because(&core, last).contains("the run is paused (night)"));
    core.pause(T0, None);
    let lease = core.lease(T0, a, 1).unwrap()[0];
    let held = unit(&core, lease.unit);
    assert_eq!(held.open_because.as_deref(), Some("it has no standing count, and a worker counts it now"));
    let (holder, seconds) = (&held.held[0], Duration::from_secs);
    assert_eq!((&*holder.worker, holder.held), ("a", seconds(3)));
    assert_eq!(holder.held + holder.left, LEASE_TIME);
    assert!(!holder.is_check && held.held_total == 1);
    let other = any_lease(&core);
    report(&mut core, T0, a, other, 0);
    assert_eq!(unit(&core, other.unit), Explained::default(), "it is counted, and nothing is checked");
    assert_eq!(unit(&core, UnitId(90)), Explained::default(), "the plan has no such unit");
}

#[test]
fn disputed_unit_names_its_counts_and_the_way_out() {
    let mut core = core();
    let [a, b] = ["a", "b"].map(|machine| join(&mut core, machine));
    let lease = any_lease(&core);
    report(&mut core, T0, a, lease, 5);
    report(&mut core, T0, b, lease, 7);
    assert_eq!(
        because(&core, lease.unit),
        "its counts differ: a says 5, b says 7; a worker that can help to decide is asked next"
    );
    assert_eq!(machine(&core, "b", None).disputed, [lease.unit]);
    // Nobody is left who can decide.
    core.release(T0, a, &[], true).unwrap();
    core.release(T0, b, &[], true).unwrap();
    assert_eq!(because(&core, lease.unit), "its counts differ, and no worker is connected");
    assert_eq!(machine(&core, "c", None), Explained::default());
}

#[test]
fn due_check_names_whom_it_waits_for() {
    let mut core = core_with(DoubleCheck::All);
    let a = join_of(&mut core, "ada", "a");
    join_of(&mut core, "ben", "b");
    count_all(&mut core, a);
    let lease = any_lease(&core);
    let said = because(&core, lease.unit);
    assert_eq!(said, "its count is to be checked: the next worker that may check it gets it");
    let b = join_of(&mut core, "ben", "b");
    let check = core.lease(T0, b, 1).unwrap()[0];
    let held = unit(&core, check.unit);
    assert!(held.held[0].is_check && held.held[0].owner == Owner::new("ben"), "{held:?}");
}

#[test]
fn leases_of_one_worker_are_told_apart() {
    let mut core = core();
    let named = |core: &mut Core, name: &str| {
        let registration = Registration { machine: "m".into(), ..registration(core, name, &[]) };
        core.register(T0, registration).unwrap().worker
    };
    let [one, two] = ["one", "two"].map(|name| named(&mut core, name));
    let first = core.lease(T0, one, 2).unwrap();
    let second = core.lease(T0, two, 3).unwrap();
    let units = |explained: Explained| explained.held.iter().map(|held| held.unit).collect::<Vec<_>>();
    let of = |leases: &[Lease]| leases.iter().map(|lease| lease.unit).collect::<Vec<_>>();
    assert_eq!(units(machine(&core, "m", Some("one"))), of(&first));
    assert_eq!(units(machine(&core, "m", Some("two"))), of(&second));
    assert_eq!(units(machine(&core, "m", None)), [of(&first), of(&second)].concat());
}
