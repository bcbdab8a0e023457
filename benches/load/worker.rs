//! A simulated worker: it makes all calls of a real worker, but counts nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proto::v1;
use proto::v1::coordinator_client::CoordinatorClient;
use queens::self_test;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

/// As in the real worker, except that a real one gathers counts ten times as long once it has been registered
/// for a while.
const AHEAD: Duration = Duration::from_secs(10);
const GATHER: Duration = Duration::from_millis(25);
const RENEW_EVERY: Duration = Duration::from_millis(2500);
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// A join token.
#[derive(Clone)]
pub struct BearerToken(pub MetadataValue<Ascii>);

impl Interceptor for BearerToken {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert(proto::AUTHORIZATION, self.0.clone());
        Ok(request)
    }
}

/// A way to the coordinator.
pub type Client = CoordinatorClient<InterceptedService<Channel, BearerToken>>;

/// The reports that were acknowledged: how long that took, and how many counts they had.
#[derive(Default)]
pub struct Acknowledgements(Mutex<Vec<(Duration, u32)>>);

impl Acknowledgements {
    /// The reports since the last call.
    pub fn take(&self) -> Vec<(Duration, u32)> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }
}

/// A worker that finishes a unit in each period.
pub struct LoadWorker {
    client: Client,
    number: u32,
    period: Duration,
    /// The number of units to hold, if given.
    leases: usize,
    acknowledged: Arc<Acknowledgements>,
    units: Mutex<LentUnits>,
    /// A unit was counted, or there are fewer left.
    counted: Notify,
}

#[derive(Default)]
struct LentUnits {
    leased: VecDeque<v1::Lease>,
    counted: Vec<v1::Lease>,
    reporting: Vec<v1::Lease>,
}

impl LoadWorker {
    /// With a connection of its own.
    pub fn new(
        client: Client,
        number: u32,
        period: Duration,
        leases: usize,
        acknowledged: Arc<Acknowledgements>,
    ) -> Self {
        let client = client.max_decoding_message_size(16 << 20);
        Self { client, number, period, leases, acknowledged, units: Mutex::default(), counted: Notify::new() }
    }

    /// Registers and works without end.
    pub async fn run(self, fingerprint: String) {
        let worker = self.register(fingerprint, 64).await;
        tokio::join!(self.count(), self.report(worker), self.lease(worker), self.renew(worker));
    }

    /// Registers, leases as much as it may hold, and waits for more without end.
    pub async fn wait(self, fingerprint: String) {
        let worker = self.register(fingerprint, 1).await;
        let (mut client, wait_ms) = (self.client.clone(), LEASE_WAIT.as_millis() as u64);
        let ask = async {
            loop {
                let reply = client.lease(v1::LeaseRequest { worker, want: 100, wait_ms }).await;
                let leases = reply.expect("it is a member").into_inner().leases;
                self.with(|units| units.leased.extend(leases));
            }
        };
        tokio::join!(ask, self.renew(worker));
    }

    async fn register(&self, fingerprint: String, threads: u32) -> u64 {
        let name = format!("simulated-{}", self.number);
        let register = v1::RegisterRequest {
            fingerprint,
            machine: name.clone(),
            name,
            threads,
            kernel: "search/portable".into(),
            self_test: self_test::expected(),
            protocol: 1,
            ..v1::RegisterRequest::default()
        };
        // Renewals are spread as those of workers that came at different times.
        sleep(RENEW_EVERY.mul_f64(f64::from(self.number % 97) / 97.0)).await;
        self.client.clone().register(register).await.expect("it is welcome").into_inner().worker
    }

    fn with<T>(&self, change: impl FnOnce(&mut LentUnits) -> T) -> T {
        change(&mut self.units.lock().expect("no panic"))
    }

    async fn count(&self) {
        let mut period = interval(self.period);
        period.set_missed_tick_behavior(MissedTickBehavior::Burst);
        loop {
            period.tick().await;
            let had_one = self.with(|units| {
                let lease = units.leased.pop_front();
                // A symmetric count stays open: if all of them were made up, P would differ from the published value.
                if let Some(lease) = lease.filter(|lease| lease.unit == 0) {
                    units.leased.push_back(lease);
                    return false;
                }
                units.counted.extend(lease);
                lease.is_some()
            });
            if had_one {
                self.counted.notify_waiters();
            }
        }
    }

    async fn report(&self, worker: u64) {
        let mut client = self.client.clone();
        loop {
            sleep(GATHER).await;
            let counts: Vec<_> = self.with(|units| {
                units.reporting = std::mem::take(&mut units.counted);
                units.reporting.iter().map(count_of).collect()
            });
            if counts.is_empty() {
                self.counted.notified().await;
                continue;
            }
            let (begun, reported) = (Instant::now(), counts.len() as u32);
            let reply = client.report(v1::ReportRequest { worker, counts }).await.expect("it is recorded");
            self.acknowledged.0.lock().expect("no panic").push((begun.elapsed(), reported));
            // A backup lease may have been counted already.
            let good = [v1::Verdict::Recorded, v1::Verdict::Known];
            assert!(reply.into_inner().verdicts().all(|verdict| good.contains(&verdict)));
            self.with(|units| units.reporting.clear());
        }
    }

    async fn lease(&self, worker: u64) {
        let mut client = self.client.clone();
        let ahead = (AHEAD.as_secs_f64() / self.period.as_secs_f64()).max(2.0 * 64.0) as usize;
        let target = if self.leases > 0 { self.leases } else { ahead };
        let wait_ms = LEASE_WAIT.as_millis() as u64;
        loop {
            let held = self.with(|units| units.leased.len() + units.counted.len() + units.reporting.len());
            if held * 4 <= target * 3 {
                let want = (target - held) as u32;
                let reply = client.lease(v1::LeaseRequest { worker, want, wait_ms }).await;
                let leases = reply.expect("there are units").into_inner().leases;
                self.with(|units| units.leased.extend(leases));
            } else {
                self.counted.notified().await;
            }
        }
    }

    async fn renew(&self, worker: u64) {
        let mut client = self.client.clone();
        loop {
            sleep(RENEW_EVERY).await;
            let leases: Vec<_> = self.with(|units| {
                let held = units.leased.iter().chain(&units.counted).chain(&units.reporting);
                held.copied().collect()
            });
            let reply = client.renew(v1::RenewRequest { worker, leases }).await.expect("it is a member");
            assert!(reply.into_inner().lost.is_empty(), "no lease is lost");
        }
    }
}

/// A made-up count, a function of the lease alone. It is always zero: in a constellation with symmetry other
/// made-up counts contradict each other and would be retracted, and the worker that reported them would find
/// them missing.
fn count_of(lease: &v1::Lease) -> v1::UnitCount {
    let v1::Lease { unit, token, mirrored, other_kernel } = *lease;
    let (completions, nodes) = (0, 1_000_000 + unit);
    v1::UnitCount { unit, token, completions, nodes, cpu_us: 60_000_000, mirrored, other_kernel }
}
