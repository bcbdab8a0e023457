//! Workers in the test's own process that note down every count that was acknowledged to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proto::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use queens::kernel::{Isa, Method, kernel};
use queens::{Plan, UnitId};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tonic::async_trait;
use worker::{Config, CoordinatorError, Credentials, Lender, Remote, Summary, WorkerError, fetch_plan};

/// The units that were acknowledged, with their counts.
pub type Notes = Arc<Mutex<BTreeMap<UnitId, u64>>>;

/// A coordinator, and what it has acknowledged.
#[derive(Clone)]
struct Noting {
    remote: Remote,
    notes: Notes,
}

#[async_trait]
impl Lender for Noting {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        self.remote.register(registration).await
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        self.remote.lease(worker, want, wait).await
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        self.remote.renew(worker, held).await
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        let verdicts = self.remote.report(report.clone()).await?;
        let mut notes = self.notes.lock().unwrap();
        for (count, verdict) in report.counts.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Recorded | Verdict::Known) {
                notes.insert(count.lease.unit, count.completions);
            }
        }
        Ok(verdicts)
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        self.remote.release(worker, held, leaving).await
    }
}

/// Workers, one thread each.
pub struct Workers {
    runtime: Option<Runtime>,
    tasks: Vec<JoinHandle<Result<Summary, WorkerError>>>,
    notes: Notes,
}

impl Workers {
    /// Starts so many workers for the coordinator at these addresses, the first of which answers; they count slowly, or
    /// as fast as they can.
    pub fn start(addresses: &[&str], workers: usize, isa: Option<Isa>) -> Self {
        let (runtime, notes) = (Runtime::new().unwrap(), Notes::default());
        let urls: Vec<String> = addresses.iter().map(|address| format!("http://{address}")).collect();
        let start = |k: usize| {
            let (urls, notes) = (urls.clone(), Arc::clone(&notes));
            runtime.spawn(async move {
                let remote = Remote::new(&urls, &Credentials::default()).unwrap();
                let (spec, _) = fetch_plan(&remote, None).await.unwrap().unwrap();
                let plan = Arc::new(Plan::derive(spec).unwrap());
                let config = Config {
                    name: format!("noting-{k}"),
                    machine: format!("machine-{k}"),
                    threads: 1,
                    kernel: kernel(Method::Search, isa).unwrap(),
                    give_up_after: None,
                    finishes_when_lost: false,
                    ahead: worker::AHEAD,
                    drain: Duration::ZERO,
                };
                let lender = Arc::new(Noting { remote, notes });
                worker::run(lender, plan, config, tokio::sync::watch::channel(worker::Wish::Stay).1).await
            })
        };
        let tasks = (0..workers).map(start).collect();
        Self { runtime: Some(runtime), tasks, notes }
    }

    /// What has been acknowledged to them so far.
    pub fn acknowledged(&self) -> BTreeMap<UnitId, u64> {
        self.notes.lock().unwrap().clone()
    }

    /// Waits until all have left because everything was counted.
    pub fn end(&mut self) {
        let runtime = self.runtime.as_ref().unwrap();
        for worker in std::mem::take(&mut self.tasks) {
            let summary = runtime.block_on(worker).unwrap().unwrap();
            assert!(summary.finished, "{summary:?}");
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
