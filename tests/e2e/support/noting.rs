//! Workers in the test's own process that note down every count that was acknowledged to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use domain::{Report, Verdict};
use queens::kernel::{Isa, Method, kernel};
use queens::{Plan, UnitId};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tonic::async_trait;
use worker::{CoordinatorError, Credentials, Lender, Remote, Summary, WorkerError, fetch_plan};

use crate::client::{Client, Reporter, config};

/// The units that were acknowledged, with their counts.
pub type Notes = Arc<Mutex<BTreeMap<UnitId, u64>>>;

/// Notes the acknowledged counts.
#[derive(Clone, Default)]
struct Noting(Notes);

#[async_trait]
impl Reporter for Noting {
    async fn report(&self, coordinator: &Remote, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        let verdicts = coordinator.report(report.clone()).await?;
        let mut notes = self.0.lock().unwrap();
        for (count, verdict) in report.counts.iter().zip(&verdicts) {
            if matches!(verdict, Verdict::Recorded | Verdict::Known) {
                notes.insert(count.lease.unit, count.completions);
            }
        }
        Ok(verdicts)
    }
}

/// Workers, one thread each.
pub struct Workers {
    runtime: Option<Runtime>,
    tasks: Vec<JoinHandle<Result<Summary, WorkerError>>>,
    notes: Notes,
}

impl Workers {
    /// Starts `workers` workers for the coordinator at these addresses, the first of which answers. They
    /// count slowly with an instruction set, at full speed without.
    pub fn start(addresses: &[&str], workers: usize, isa: Option<Isa>) -> Self {
        let (runtime, noting) = (Runtime::new().unwrap(), Noting::default());
        let urls: Vec<String> = addresses.iter().map(|address| format!("http://{address}")).collect();
        let start = |k: usize| {
            let (urls, reporter) = (urls.clone(), noting.clone());
            runtime.spawn(async move {
                let remote = Remote::new(&urls, &Credentials::default()).unwrap();
                let (spec, _) = fetch_plan(&remote, None).await.unwrap().unwrap();
                let plan = Arc::new(Plan::derive(spec).unwrap());
                let kernel = kernel(Method::Search, isa).unwrap();
                let config = config(&format!("noting-{k}"), kernel);
                let lender = Arc::new(Client { coordinator: remote, reporter });
                worker::run(lender, plan, config, tokio::sync::watch::channel(worker::Wish::Stay).1).await
            })
        };
        let tasks = (0..workers).map(start).collect();
        Self { runtime: Some(runtime), tasks, notes: noting.0 }
    }

    /// The counts acknowledged to them so far.
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
