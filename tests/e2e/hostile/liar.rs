//! A worker whose kernel lies, with a real pool and over real sockets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coordinator::admission::{Access, Guard};
use coordinator::grpc::serve;
use coordinator::{Ending, Handle};
use domain::Steering;
use queens::kernel::{Count, Isa, Kernel, KernelName, Method, Stop, kernel};
use queens::{Board, Plan, PlanSpec, Position, known};
use records::DoubleCheck;
use records::shard::Shard;
use records::store::{OpenOptions, Store};
use records::testing::known_run;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use worker::{Credentials, Remote};

use crate::client::config;
use crate::harness::Folder;

/// Wrong in every twentieth position, except of the board that workers test themselves on.
struct Lying {
    honest: Arc<dyn Kernel>,
    counted: AtomicU64,
}

impl Kernel for Lying {
    fn name(&self) -> KernelName {
        self.honest.name()
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        let count = self.honest.count(position, stop)?;
        if position.board().n() == 12 || self.counted.fetch_add(1, Ordering::Relaxed) % 20 != 7 {
            return Some(count);
        }
        Some(Count { completions: count.completions + 1, ..count })
    }
}

#[test]
fn lying_worker_is_quarantined_and_total_is_exact() {
    let honest = kernel(Method::Search, Some(Isa::Portable)).unwrap();
    let lying = Arc::new(Lying { honest: Arc::clone(&honest), counted: AtomicU64::new(0) });
    let board = Board::new(14).unwrap();
    let plan = Arc::new(Plan::derive(PlanSpec::new(board)).unwrap());
    let folder = Folder::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ending = runtime.block_on(async {
        let options = OpenOptions { begin: Some((*plan).clone()), ..known_run::options(folder.path()) };
        let (store, standing, _) = Store::open(options).unwrap();
        let policy = Some(DoubleCheck::All);
        let handle =
            Handle::start(Arc::clone(&plan), Shard::default(), standing, policy, Some(store)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let guard = Guard::new(Access::open(), None);
        tokio::spawn(serve(listener, handle.clone(), guard, std::future::pending()));
        // Counting starts when all are connected, because a worker alone would check its own counts.
        handle.steer(Steering::Pause { reason: "a test".into() }).await.unwrap();
        for config in [config("liar", lying), config("a", Arc::clone(&honest)), config("b", honest)] {
            let remote = Remote::new(&[&url], &Credentials::default()).unwrap();
            tokio::spawn(worker::run(
                Arc::new(remote),
                Arc::clone(&plan),
                config,
                tokio::sync::watch::channel(worker::Wish::Stay).1,
            ));
        }
        let all_are_there = async {
            while handle.status().await.unwrap().workers.len() < 3 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_mins(1), all_are_there).await.unwrap();
        handle.steer(Steering::Resume).await.unwrap();
        let mut snapshots = handle.snapshots();
        let snapshot = snapshots.wait_for(|snapshot| snapshot.ending.is_some()).await.unwrap();
        snapshot.ending.clone().unwrap()
    });
    runtime.shutdown_background();
    let Ending::Answered(answer) = ending else { panic!("{ending:?}") };
    assert_eq!(Some(answer.totals), known::totals(board));
    assert_eq!(answer.assurance.quarantined, ["liar"]);
    assert_eq!(answer.assurance.on_two_machines, plan.units(), "{:?}", answer.assurance);
}
