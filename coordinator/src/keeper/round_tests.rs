//! The keeper's rounds, step by step.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Owner, Registration, Report, UnitCount, Verdict, WorkerId};
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec, UnitId};
use records::ledger::{Record, UnitRecord};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;
use records::store::{OpenOptions, Store};
use records::testing::{SetClock, known_run};
use records::{AuditError, DoubleCheck};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::ending::Stage;
use super::inbox::{CallError, FollowCall, LeaseCall, Request};
use super::lending::MAX_LEASES_PER_ROUND;
use super::{Channels, Keeper, MAX_COUNTS_PER_ROUND, TICK, TurnedAway, keeper};
use crate::core::{Core, LEASE_TIME};
use crate::tests::known_worker::{registration, report};

/// A keeper of this plan in memory with this clock.
fn of(plan: Arc<Plan>, clock: &SetClock) -> (Keeper, Channels) {
    let standing = Standing::new(&plan);
    let core =
        Core::new(plan, Shard::default(), standing, DoubleCheck::None.into(), LeaseKey::new([7; 32]), 7);
    keeper(core, None, Arc::new(clock.clone()), None).unwrap()
}

impl Keeper {
    /// Registers a worker of this machine with this number of threads.
    fn join(&mut self, machine: &str, threads: u32) -> WorkerId {
        let fingerprint = self.core.plan().fingerprint().clone();
        let registration = Registration { fingerprint, threads, ..registration(machine) };
        self.core.register(self.clock.now(), registration).unwrap().worker
    }

    fn lend(&mut self, worker: WorkerId, want: u32) -> Vec<Lease> {
        self.core.lease(self.clock.now(), worker, want).unwrap()
    }

    /// The verdicts on a report after its commit.
    fn hear(&mut self, report: Report) -> Vec<Verdict> {
        let (reply, mut answer) = oneshot::channel();
        self.judge(&Owner::default(), report, reply);
        self.commit();
        self.followers.answer(self.clock.elapsed());
        answer.try_recv().unwrap().unwrap()
    }
}

#[test]
fn round_is_bounded_and_next_round_follows_at_once() {
    let scheme = Scheme::Constellations { grain: 1 };
    let plan = Plan::derive(PlanSpec { scheme, ..PlanSpec::new(Board::new(16).unwrap()) }).unwrap();
    let (each, workers) = (4096, 8);
    assert!(plan.units() > each * workers, "{}", plan.units());
    let (mut keeper, _channels) = of(Arc::new(plan), &SetClock::default());
    let ids: Vec<_> = (0..workers).map(|k| keeper.join(&format!("m{k}"), each as u32)).collect();
    let ask = |worker: &WorkerId| {
        let (reply, answer) = oneshot::channel();
        let (owner, wait) = (Owner::default(), Duration::from_secs(5));
        keeper.ask(LeaseCall { owner, worker: *worker, want: 100_000, wait, reply });
        answer
    };
    let mut answers: Vec<_> = ids.iter().map(ask).collect();
    let mut served = || {
        let lent =
            answers.iter_mut().filter_map(|answer| answer.try_recv().ok()).map(|answer| match answer {
                Ok(LeaseReply::Granted(leases)) => leases.len() as u64,
                other => panic!("{other:?}"),
            });
        lent.collect::<Vec<_>>()
    };
    keeper.serve_waiting();
    let in_first = (MAX_LEASES_PER_ROUND as u64).div_ceil(each);
    assert_eq!(served(), vec![each; in_first as usize]);
    assert_eq!(keeper.waiting.rest(), Duration::ZERO, "it hears what has come meanwhile, and goes on");
    keeper.serve_waiting();
    assert_eq!(served(), vec![each; (workers - in_first) as usize]);
    assert_eq!(keeper.waiting.rest(), TICK);
}

#[test]
fn flood_of_counts_delays_no_lease() {
    let (mut keeper, channels) = of(known_run::plan(), &SetClock::default());
    let [busy, greedy] = ["a", "b"].map(|machine| keeper.join(machine, 2));
    keeper.publisher.watch_keeper().unwrap();
    let pulse = keeper.publisher.pulse();
    let owner = Owner::default;
    let (reply, mut lent) = oneshot::channel();
    channels.requests.post(Request::Lease(LeaseCall {
        owner: owner(),
        worker: busy,
        want: 1,
        wait: Duration::from_secs(5),
        reply,
    }));
    let nothing = Lease { unit: UnitId(0), variant: domain::Variant::ALL[0], token: domain::Token(0) };
    let count = UnitCount { lease: nothing, completions: 0, nodes: 0, cpu: Duration::ZERO };
    let mut floods: Vec<_> = (0..2)
        .map(|_| {
            let (reply, answer) = oneshot::channel();
            let report = Report { worker: greedy, counts: vec![count; MAX_COUNTS_PER_ROUND] };
            channels.requests.post(Request::Report { owner: owner(), report, reply });
            let (reply, status) = oneshot::channel();
            channels.requests.post(Request::Status(reply));
            (answer, status)
        })
        .collect();
    drop(channels);
    keeper.run();
    assert!(matches!(lent.try_recv().unwrap(), Ok(LeaseReply::Granted(leases)) if leases.len() == 1));
    for (answer, status) in &mut floods {
        let verdicts = answer.try_recv().unwrap().unwrap();
        assert!(verdicts.len() == MAX_COUNTS_PER_ROUND && verdicts.iter().all(|v| *v == Verdict::Unwanted));
        assert_eq!(status.try_recv().unwrap().leased, 1, "it was lent before the rest was heard");
    }
    assert!(pulse.beats() > 5, "with each request");
}

#[test]
fn final_audit_records_conflicts_but_no_extra_checks() {
    let clock = SetClock::default();
    let (mut keeper, _channels) = of(known_run::plan(), &clock);
    let [a, b, c] = ["a", "b", "c"].map(|machine| keeper.join(machine, 2));
    let is_symmetric = |lease: &Lease| known_run::plan().summand(lease.unit).is_symmetric_count();
    let next_of = |keeper: &mut Keeper, worker| loop {
        let leases = keeper.lend(worker, 1);
        if !is_symmetric(&leases[0]) {
            break leases;
        }
        keeper.hear(report(worker, &leases));
    };
    let of_a = [next_of(&mut keeper, a), next_of(&mut keeper, a)].concat();
    let count_all = |keeper: &mut Keeper, worker| loop {
        let leases = keeper.lend(worker, 100);
        if leases.is_empty() {
            break;
        }
        keeper.hear(report(worker, &leases));
    };
    count_all(&mut keeper, b);
    count_all(&mut keeper, c);
    // The leases of the first worker have expired, and another worker has counted its units.
    clock.advance(LEASE_TIME);
    count_all(&mut keeper, b);
    count_all(&mut keeper, c);
    assert!(keeper.core.is_complete());
    let checks = |keeper: &mut Keeper| keeper.core.standing().sums().checks;
    let before = checks(&mut keeper);
    keeper.stage = Stage::Auditing;
    assert_eq!(keeper.hear(report(a, &of_a)), vec![Verdict::Known; 2]);
    assert_eq!(checks(&mut keeper), before, "the answer need not wait for another audit");
    let mut otherwise = report(a, &of_a[..1]);
    otherwise.counts[0].completions += 1;
    assert_eq!(keeper.hear(otherwise), [Verdict::Conflict]);
    assert_eq!(keeper.core.standing().sums().disputed.len(), 1);
    keeper.stage = Stage::Counting;
    assert_eq!(keeper.hear(report(a, &of_a[1..])), [Verdict::Recorded]);
    assert_eq!(checks(&mut keeper), before + 1);
}

/// True if the reply is that the answer is withheld.
fn is_withheld<T>(mut answer: oneshot::Receiver<Result<T, CallError>>) -> bool {
    matches!(answer.try_recv().unwrap(), Err(CallError::Withheld(why)) if why == AuditError::Short.to_string())
}

#[test]
fn worker_of_withheld_run_is_refused_and_may_leave() {
    let (mut keeper, _channels) = of(known_run::plan(), &SetClock::default());
    let worker = keeper.join("a", 2);
    let held = keeper.lend(worker, 2);
    let owner = Owner::default;
    let (reply, waits) = oneshot::channel();
    let wait = Duration::from_secs(5);
    keeper.ask(LeaseCall { owner: owner(), worker, want: 1, wait, reply });
    keeper.withhold(AuditError::Short);
    keeper.serve_waiting();
    assert!(is_withheld(waits) && keeper.waiting.rest() == TICK);
    let (reply, reported) = oneshot::channel();
    keeper.handle(Request::Report { owner: owner(), report: report(worker, &held), reply });
    let (reply, renewed) = oneshot::channel();
    keeper.handle(Request::Renew { owner: owner(), worker, held: held.clone(), reply });
    let (reply, registered) = oneshot::channel();
    keeper.handle(Request::Register(registration("b"), reply));
    assert!(is_withheld(reported) && is_withheld(renewed) && is_withheld(registered));
    let (reply, mut released) = oneshot::channel();
    keeper.handle(Request::Release { owner: owner(), worker, held, leaving: true, reply });
    assert_eq!(released.try_recv().unwrap(), Ok(()));
    assert_eq!(keeper.status().workers_total, 0);
}

#[test]
fn log_lines_are_charged_to_their_owner() {
    let clock = SetClock::default();
    let (mut keeper, _channels) = of(known_run::plan(), &clock);
    keeper.join("a", 2);
    let (loud, other) = (Owner::default(), Owner::new("other"));
    let lines_left = |keeper: &mut Keeper| {
        [&loud, &other].map(|owner| (0..5000).filter(|_| keeper.news.may_log(owner)).count())
    };
    let [before, of_other] = lines_left(&mut keeper);
    assert_eq!(before, of_other);
    clock.advance(Duration::from_hours(24));
    keeper.round(false);
    assert_eq!(keeper.status().workers_total, 0);
    let (reply, _answer) = oneshot::channel();
    keeper.follow(FollowCall { owner: loud.clone(), follower: 7, call: 1, records: 0, reply });
    let why = "refused a follower: it is another run's".to_owned();
    keeper.handle(Request::TurnedAway(TurnedAway { owner: loud.clone(), host: None, why }));
    keeper.handle(Request::Unfollowed { owner: loud.clone(), follower: 7, call: 1 });
    let [after, of_other] = lines_left(&mut keeper);
    assert_eq!(of_other - after, 4, "one worker, one follower that came and left, one refused");
}

/// Saves the checkpoint of a run of this plan while a count arrives every five seconds. Returns the number of saves and
/// their bytes.
fn checkpoints_of(plan: Plan, counts: u64) -> (u64, u64) {
    let folder = TempDir::new().unwrap();
    let options = OpenOptions { begin: Some(plan), ..known_run::options(folder.path()) };
    let (store, standing, _) = Store::open(options).unwrap();
    let plan = store.directory().plan().clone();
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let core = Core::new(plan, Shard::default(), standing, DoubleCheck::None.into(), key, 7);
    let clock = SetClock::default();
    let (mut keeper, _channels) = keeper(core, Some(store), Arc::new(clock.clone()), None).unwrap();
    let (mut saved, mut next) = (0, keeper.journal.next_save());
    // Unit 0, a symmetric count, stays open: with all of them made up, P would differ from the published value.
    for unit in 1..=counts {
        clock.advance(Duration::from_secs(5));
        let count = UnitRecord { unit: UnitId(unit), ..known_run::unit_record(0, 0, "machine") };
        keeper.record(&[Record::Count(count)]).unwrap();
        keeper.round(false);
        saved += u64::from(keeper.journal.next_save() != next);
        next = keeper.journal.next_save();
    }
    drop(keeper);
    let files = std::fs::read_dir(folder.path().join("checkpoint")).unwrap();
    (saved, files.map(|file| file.unwrap().metadata().unwrap().len()).sum())
}

#[test]
fn checkpoint_is_saved_often_and_stays_small() {
    let plan = |n| Plan::derive(PlanSpec::new(Board::new(n).unwrap())).unwrap();
    for (n, counts) in [(15, 720), (28, 100)] {
        let (saved, bytes) = checkpoints_of(plan(n), counts);
        println!("n = {n}: {saved} checkpoints, {bytes} bytes");
        assert!(saved > counts / 10 && bytes < 64 << 20, "{saved} checkpoints of {bytes} bytes");
    }
}
