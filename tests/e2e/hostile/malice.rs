//! Malicious owners among honest ones, over real sockets: a single one, and two that collude.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use domain::{Phase, Report, RunStatus, Verdict};
use queens::kernel::{Count, Kernel, KernelName, Method, Stop, kernel};
use queens::{Plan, Position, UnitId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use tokio::runtime::Runtime;
use tonic::async_trait;
use worker::{CoordinatorError, Credentials, Lender, Remote, WorkerError, fetch_plan};

use crate::check::check;
use crate::client::{Client, Reporter, config};
use crate::harness::{Completed, Folder, published, repetitions, until};

const N: u8 = 13;

/// The time of a unit, so that each worker is as fast as on its own machine.
const PACE: Duration = Duration::from_millis(8);

/// A run that has no answer by then has none at all.
const LONG: Duration = Duration::from_mins(1);

/// Concurrent runs; their workers mostly wait.
const LANES: u32 = 4;

const STATUS: &str = "22222222222222222222222222222222";
const OWNERS: [&str; 5] = ["ada", "ben", "cho", "mallory", "oscar"];

/// A token of that owner's own.
fn token(owner: &str) -> String {
    format!("{owner:x<32}")
}

fn credentials(token: &str) -> Credentials {
    Credentials { token: Some(token.parse().unwrap()), ..Credentials::default() }
}

/// How a worker reports its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// The truth.
    Honest,
    /// A wrong value in one of this many counts, drawn each time.
    LiesOneIn(u32),
    /// A wrong value in one of this many units, always the same value for a unit.
    LiesAlikeOneIn(u64),
    /// Never reports; renews its leases.
    Hoards,
}

#[derive(Clone)]
struct Saying {
    habit: Habit,
    random: Arc<Mutex<StdRng>>,
}

impl Saying {
    fn lies_about(&self, unit: UnitId) -> bool {
        match self.habit {
            Habit::LiesOneIn(k) => self.random.lock().unwrap().random_ratio(1, k),
            Habit::LiesAlikeOneIn(k) => (unit.0 + 1).is_multiple_of(k),
            Habit::Honest | Habit::Hoards => false,
        }
    }
}

#[async_trait]
impl Reporter for Saying {
    async fn report(
        &self,
        coordinator: &Remote,
        mut report: Report,
    ) -> Result<Vec<Verdict>, CoordinatorError> {
        if self.habit == Habit::Hoards {
            std::future::pending::<()>().await;
        }
        for told in report.counts.iter_mut().filter(|told| self.lies_about(told.lease.unit)) {
            told.completions += 7;
        }
        coordinator.report(report).await
    }
}

/// Takes its time.
struct Paced(Arc<dyn Kernel>);

impl Kernel for Paced {
    fn name(&self) -> KernelName {
        self.0.name()
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        let (begun, count) = (Instant::now(), self.0.count(position, stop));
        if position.board().n() == N {
            std::thread::sleep(PACE.saturating_sub(begun.elapsed()));
        }
        count
    }
}

/// A machine of an owner. A lying machine takes a new name whenever it is refused.
async fn take_part(address: String, owner: &str, machine: usize, saying: Saying) {
    let coordinator = Remote::new(&[format!("http://{address}")], &credentials(&token(owner))).unwrap();
    let (spec, _) = fetch_plan(&coordinator, None).await.unwrap().unwrap();
    let plan = Arc::new(Plan::derive(spec).unwrap());
    let kernel: Arc<dyn Kernel> = Arc::new(Paced(kernel(Method::Search, None).unwrap()));
    for name in 0.. {
        let config = config(&format!("{owner}-{machine}-{name}"), Arc::clone(&kernel));
        let client = Client { coordinator: coordinator.clone(), reporter: saying.clone() };
        let stays = tokio::sync::watch::channel(worker::Wish::Stay).1;
        let left = worker::run(Arc::new(client), Arc::clone(&plan), config, stays).await;
        if saying.habit == Habit::Honest || !matches!(left, Err(WorkerError::Refused(_))) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A run that has ended.
struct Outcome {
    folder: Folder,
    taken: Duration,
    /// Null without an answer.
    answer: Value,
    log: String,
}

impl Outcome {
    fn is_exact(&self) -> bool {
        self.answer["total"] == published(N)
    }

    fn is_proven(&self) -> bool {
        self.answer["worth"]["proven"] == true
    }

    /// The machines of honest owners that are not believed.
    fn wronged(&self) -> Vec<&str> {
        let quarantined = self.answer["worth"]["quarantined"].as_array().into_iter().flatten();
        let machines = quarantined.map(|machine| machine.as_str().unwrap());
        machines.filter(|machine| OWNERS[..3].iter().any(|owner| machine.starts_with(owner))).collect()
    }
}

/// A run with three honest owners, each with a machine, and these others.
fn run(others: &[(&'static str, Habit)], seed: u64) -> Outcome {
    let folder = Folder::new();
    let serve = format!(
        "coordinator --n {N} --method search --run run --listen 127.0.0.1:0 --json --stay --double-check all"
    );
    let tokens = OWNERS.map(|owner| format!("{} {owner}", token(owner))).join("\n");
    let mut serve = folder.diadem(&serve);
    serve.env("DIADEM_JOIN_TOKEN", tokens).env("DIADEM_STATUS_TOKEN", STATUS);
    let (mut coordinator, address) = folder.serve_command(&mut serve, "log");
    let (runtime, begun) = (Runtime::new().unwrap(), Instant::now());
    let honest = OWNERS[..3].iter().map(|owner| (*owner, Habit::Honest));
    for (machine, (owner, habit)) in honest.chain(others.iter().copied()).enumerate() {
        let random = Arc::new(Mutex::new(StdRng::seed_from_u64(seed << 8 | machine as u64)));
        runtime.spawn(take_part(address.clone(), owner, machine, Saying { habit, random }));
    }
    let _within = runtime.enter();
    let status = Remote::new(&[format!("http://{address}")], &credentials(STATUS)).unwrap();
    let is_complete = |status: Result<RunStatus, _>| status.is_ok_and(|s| s.phase == Phase::Complete);
    while begun.elapsed() < LONG
        && !coordinator.has_ended()
        && !is_complete(runtime.block_on(status.status()))
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    let taken = begun.elapsed();
    runtime.shutdown_background();
    if !coordinator.has_ended() {
        coordinator.terminate();
    }
    let Completed { stdout, stderr, .. } = coordinator.end();
    let answer = serde_json::from_str(&stdout).unwrap_or_default();
    Outcome { folder, taken, answer, log: stderr }
}

/// Does it with each seed up to that one.
fn with_seeds(seeds: u32, it: impl Fn(u32) + Sync) {
    let next = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..LANES.min(seeds) {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds)
                {
                    it(seed);
                }
            });
        }
    });
}

#[test]
fn malicious_owner_spoils_nothing_and_delays_little() {
    let kinds: [&[Habit]; 5] = [
        &[Habit::Hoards, Habit::LiesAlikeOneIn(2), Habit::LiesOneIn(2), Habit::Hoards, Habit::LiesOneIn(20)],
        &[Habit::LiesOneIn(1); 4],
        &[Habit::LiesOneIn(5); 8],
        &[Habit::LiesAlikeOneIn(3); 6],
        &[Habit::Hoards; 6],
    ];
    with_seeds(repetitions("DIADEM_MALICE", 1), |seed| {
        let malice: Vec<_> =
            kinds[seed as usize % kinds.len()].iter().map(|habit| ("mallory", *habit)).collect();
        // Other programs use the machine: a delay that they cause once does not occur three times.
        let [mut without, mut with] = [Duration::MAX; 2];
        for _ in 0..3 {
            let alone = run(&[], seed.into());
            let disturbed = run(&malice, seed.into());
            assert!(alone.is_exact(), "seed {seed}: {}", alone.log);
            let told = format!("seed {seed}, {malice:?}: {} {}", disturbed.answer, disturbed.log);
            assert!(disturbed.is_exact() && disturbed.is_proven(), "{told}");
            assert_eq!(disturbed.wronged(), [""; 0], "{told}");
            [without, with] = [without.min(alone.taken), with.min(disturbed.taken)];
            let told = format!("seed {seed}, {malice:?}: {with:?} instead of {without:?}");
            println!("{told}, {:.2} times as long", with.as_secs_f64() / without.as_secs_f64());
            if with <= 2 * without {
                return;
            }
        }
        panic!("seed {seed}, {malice:?}: {with:?} instead of {without:?}");
    });
}

#[test]
fn wrong_counts_of_colluding_owners_fail_a_recount() {
    with_seeds(repetitions("DIADEM_COLLUSIONS", 1), |seed| {
        let lies = Habit::LiesAlikeOneIn([3, 20, 200][seed as usize % 3]);
        let colluders = ["mallory", "oscar", "mallory", "oscar"].map(|owner| (owner, lies));
        let ended = run(&colluders, seed.into());
        let what = if ended.is_exact() {
            "exact"
        } else if ended.answer.is_null() {
            "no answer"
        } else {
            "wrong"
        };
        println!(
            "seed {seed}, {lies:?}: {what}, called proven: {}, honest machines quarantined: {}",
            ended.is_proven(),
            ended.wronged().len(),
        );
        let verified = ended.folder.run("verify run --recount all");
        assert_eq!(verified.code == Some(0), ended.is_exact(), "seed {seed}: {verified:?}");
        assert!(
            what != "wrong" || verified.stderr.contains("diadem retract"),
            "seed {seed}: {verified:?}, {}",
            ended.log
        );
    });
}

const ADMIN: &str = "33333333333333333333333333333333";

#[test]
fn operator_decides_about_colluding_owners() {
    let folder = Folder::new();
    // So many that one of the lies is surely found.
    let own = "--double-check all --own-checks 50% --own ada";
    let serve = format!("coordinator --n {N} --method search --run run --listen 127.0.0.1:0 --json {own}");
    let tokens = OWNERS.map(|owner| format!("{} {owner}", token(owner))).join("\n");
    let mut serve = folder.diadem(&serve);
    serve
        .env("DIADEM_JOIN_TOKEN", tokens)
        .env("DIADEM_ADMIN_TOKEN", ADMIN)
        .env("DIADEM_STATUS_TOKEN", STATUS);
    let (coordinator, address) = folder.serve_command(&mut serve, "log");
    let runtime = Runtime::new().unwrap();
    let start = |owner: &'static str, machine, habit| {
        let saying = Saying { habit, random: Arc::new(Mutex::new(StdRng::seed_from_u64(1))) };
        runtime.spawn(take_part(address.clone(), owner, machine, saying));
    };
    start("ada", 0, Habit::Honest);
    // The first 36 units are the symmetric counts: a lie about one of them would stop the run at once.
    let lies = Habit::LiesAlikeOneIn(37);
    [("mallory", 1), ("oscar", 2)].into_iter().for_each(|(owner, machine)| start(owner, machine, lies));
    let admin = |args: &str| {
        let mut command = folder.diadem(&format!("{args} --coordinator http://{address}"));
        let command = command.env("DIADEM_ADMIN_TOKEN", ADMIN).env("DIADEM_STATUS_TOKEN", STATUS);
        Completed::of(command.output().unwrap())
    };
    let trouble = || admin("status --json").json()["trouble"].as_str().unwrap().to_owned();
    until("both are suspended", || {
        let trouble = trouble();
        trouble.contains("mallory, oscar") && trouble.contains("diadem retract --owner")
    });
    let ledger = folder.ledger("run");
    let suspensions = ledger.lines().filter(|line| line.contains("\"suspended\":true")).count();
    assert!(suspensions >= 2, "{suspensions}");
    for owner in ["mallory", "oscar"] {
        let retracted = admin(&format!("retract --owner {owner} --reason lies --yes"));
        assert_eq!(retracted.code, Some(0), "{retracted:?}");
    }
    start("ben", 3, Habit::Honest);
    let ended = coordinator.end();
    let answer = ended.json();
    let told = format!("{answer} {}", ended.stderr);
    assert_eq!(answer["total"], published(N), "{told}");
    let own = &answer["worth"]["own_checks"];
    assert!(own["owner"] == "ada" && own["made"].as_u64() >= Some(200) && own["to_be_made"] == 0, "{told}");
    runtime.shutdown_background();
    let verified = folder.run("verify run");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let verified = check(&folder, "run --recount 5 --seed 7");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let certificate = folder.run("certify run");
    assert!(certificate.code == Some(0) && certificate.stdout.contains("\"own_checks\""), "{certificate:?}");
}

#[test]
fn own_checks_need_an_owner_with_keys() {
    let folder = Folder::new();
    let refused = |more: &str| {
        let refused = folder.run(&format!("coordinator --n 8 --run run --listen 127.0.0.1:0 {more}"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        refused.stderr
    };
    assert!(refused("--own-checks 1%").contains("--own NAME"));
    assert!(refused("--own-checks 1% --own ada").contains("--keys DIR"));
    assert!(refused("--own-checks 0% --own ada").contains("0%"));
}
