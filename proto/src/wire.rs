//! Between protobuf and domain types. What comes over the wire is checked here, once.

mod follow;
#[cfg(test)]
mod tests;

use std::time::Duration;

use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use queens::{Board, PlanSpec, Totals, UnitId};
use thiserror::Error;

use crate::domain::{
    Assurance, Lease, LeaseReply, Owner, Phase, Registration, Renewal, Report, RunStatus, Token, UnitCount,
    Variant, Verdict, Welcome, WorkerId, WorkerStatus,
};
use crate::v1;

/// A message that cannot be what it claims to be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} cannot be {value}; it must be {wanted}")]
pub struct WireError {
    field: &'static str,
    value: String,
    wanted: &'static str,
}

impl WireError {
    fn new(field: &'static str, value: impl ToString, wanted: &'static str) -> Self {
        let mut value = value.to_string();
        // What is refused for its length is not sent back in full.
        if let Some((end, _)) = value.char_indices().nth(LONGEST_SHOWN) {
            value.truncate(end);
            value.push_str(" ...");
        }
        Self { field, value, wanted }
    }
}

/// The gRPC status for a malformed message.
pub fn malformed(error: &WireError) -> tonic::Status {
    tonic::Status::invalid_argument(error.to_string())
}

/// Of a wrong value so many characters are shown.
const LONGEST_SHOWN: usize = 100;

/// Names longer than this are refused.
const LONGEST_NAME: usize = 200;

/// Fingerprints have 32 digits.
const LONGEST_FINGERPRINT: usize = 64;

/// More threads than any machine has are refused.
const MOST_THREADS: u32 = 65_536;

/// Larger totals are refused: no board of 32 has as many solutions, and sums of these still fit.
const LARGEST_TOTAL: u128 = 10_u128.pow(36);

/// The plan as the coordinator announces it.
pub fn plan_reply(spec: PlanSpec, fingerprint: &Fingerprint) -> v1::PlanReply {
    let spec = serde_json::to_string(&spec).expect("a specification is plain data");
    v1::PlanReply { spec, fingerprint: fingerprint.to_string() }
}

/// The plan as a worker understands it.
pub fn plan_from_reply(reply: v1::PlanReply) -> Result<(PlanSpec, Fingerprint), WireError> {
    let spec = serde_json::from_str(&reply.spec)
        .map_err(|_| WireError::new("the plan", reply.spec, "one that this release of diadem knows"))?;
    Ok((spec, parse_fingerprint(reply.fingerprint)?))
}

impl From<Lease> for v1::Lease {
    fn from(lease: Lease) -> Self {
        let Variant { mirrored, other_kernel } = lease.variant;
        Self { unit: lease.unit.0, token: lease.token.0, mirrored, other_kernel }
    }
}

impl From<v1::Lease> for Lease {
    fn from(lease: v1::Lease) -> Self {
        let v1::Lease { unit, token, mirrored, other_kernel } = lease;
        Self { unit: UnitId(unit), token: Token(token), variant: Variant { mirrored, other_kernel } }
    }
}

impl From<Registration> for v1::RegisterRequest {
    fn from(registration: Registration) -> Self {
        Self {
            fingerprint: registration.fingerprint.to_string(),
            name: registration.name,
            threads: registration.threads,
            kernel: registration.kernel.to_string(),
            machine: registration.machine,
            self_test: registration.self_test,
            held: registration.held.into_iter().map(|unit| unit.0).collect(),
            former: registration.former.map(|worker| worker.0),
            leases: registration.leases.into_iter().map(Into::into).collect(),
            term: registration.met.map(Into::into),
        }
    }
}

impl TryFrom<v1::RegisterRequest> for Registration {
    type Error = WireError;
    fn try_from(request: v1::RegisterRequest) -> Result<Self, WireError> {
        let v1::RegisterRequest {
            fingerprint,
            name,
            threads,
            kernel,
            held,
            machine,
            self_test,
            former,
            leases,
            term,
        } = request;
        for (field, text) in [("a worker's name", &name), ("a machine's name", &machine)] {
            if text.is_empty() || text.len() > LONGEST_NAME || text.chars().any(char::is_control) {
                return Err(WireError::new(field, format!("{text:?}"), "1 to 200 bytes of plain text"));
            }
        }
        if threads == 0 || threads > MOST_THREADS {
            return Err(WireError::new("the number of threads", threads, "from 1 to 65536"));
        }
        Ok(Self {
            owner: Owner::default(),
            fingerprint: parse_fingerprint(fingerprint)?,
            name,
            machine,
            threads,
            kernel: parse_kernel(&kernel)?,
            self_test,
            held: held.into_iter().map(UnitId).collect(),
            former: former.map(WorkerId),
            leases: leases.into_iter().map(Into::into).collect(),
            met: term.map(TryInto::try_into).transpose()?,
        })
    }
}

fn parse_fingerprint(text: String) -> Result<Fingerprint, WireError> {
    if text.len() > LONGEST_FINGERPRINT || text.chars().any(char::is_control) {
        return Err(WireError::new("a fingerprint", format!("{text:?}"), "32 digits"));
    }
    Ok(Fingerprint::from(text))
}

fn parse_kernel(text: &str) -> Result<KernelName, WireError> {
    text.parse()
        .map_err(|_| WireError::new("the kernel", format!("{text:?}"), "one like \"search/portable\""))
}

impl From<Welcome> for v1::RegisterReply {
    fn from(welcome: Welcome) -> Self {
        Self {
            worker: welcome.worker.0,
            lease_ms: millis(welcome.lease_time),
            leases: welcome.leases.into_iter().map(Into::into).collect(),
            term: welcome.term.map(Into::into),
        }
    }
}

impl TryFrom<v1::RegisterReply> for Welcome {
    type Error = WireError;
    fn try_from(reply: v1::RegisterReply) -> Result<Self, WireError> {
        if reply.lease_ms == 0 {
            return Err(WireError::new("the time of a lease", "0 ms", "longer"));
        }
        Ok(Self {
            worker: WorkerId(reply.worker),
            lease_time: Duration::from_millis(reply.lease_ms),
            leases: reply.leases.into_iter().map(Into::into).collect(),
            term: reply.term.map(TryInto::try_into).transpose()?,
        })
    }
}

impl From<LeaseReply> for v1::LeaseReply {
    fn from(reply: LeaseReply) -> Self {
        match reply {
            LeaseReply::Granted(leases) => {
                Self { leases: leases.into_iter().map(Into::into).collect(), finished: false }
            }
            LeaseReply::Finished => Self { leases: Vec::new(), finished: true },
        }
    }
}

impl From<v1::LeaseReply> for LeaseReply {
    fn from(reply: v1::LeaseReply) -> Self {
        if reply.finished {
            LeaseReply::Finished
        } else {
            LeaseReply::Granted(reply.leases.into_iter().map(Into::into).collect())
        }
    }
}

impl From<Renewal> for v1::RenewReply {
    fn from(renewal: Renewal) -> Self {
        Self { lost: renewal.lost.into_iter().map(|unit| unit.0).collect(), finished: renewal.finished }
    }
}

impl From<v1::RenewReply> for Renewal {
    fn from(reply: v1::RenewReply) -> Self {
        Self { lost: reply.lost.into_iter().map(UnitId).collect(), finished: reply.finished }
    }
}

impl From<UnitCount> for v1::UnitCount {
    fn from(count: UnitCount) -> Self {
        let Variant { mirrored, other_kernel } = count.lease.variant;
        Self {
            mirrored,
            other_kernel,
            unit: count.lease.unit.0,
            token: count.lease.token.0,
            completions: count.completions,
            nodes: count.nodes,
            cpu_us: count.cpu.as_micros().try_into().unwrap_or(u64::MAX),
        }
    }
}

impl From<v1::UnitCount> for UnitCount {
    fn from(count: v1::UnitCount) -> Self {
        let variant = Variant { mirrored: count.mirrored, other_kernel: count.other_kernel };
        Self {
            lease: Lease { unit: UnitId(count.unit), token: Token(count.token), variant },
            completions: count.completions,
            nodes: count.nodes,
            cpu: Duration::from_micros(count.cpu_us),
        }
    }
}

impl From<Report> for v1::ReportRequest {
    fn from(report: Report) -> Self {
        Self { worker: report.worker.0, counts: report.counts.into_iter().map(Into::into).collect() }
    }
}

impl From<v1::ReportRequest> for Report {
    fn from(request: v1::ReportRequest) -> Self {
        Self {
            worker: WorkerId(request.worker),
            counts: request.counts.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Verdict> for v1::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Recorded => v1::Verdict::Recorded,
            Verdict::Known => v1::Verdict::Known,
            Verdict::Conflict => v1::Verdict::Conflict,
            Verdict::Later => v1::Verdict::Later,
            Verdict::Unwanted => v1::Verdict::Unwanted,
        }
    }
}

impl TryFrom<v1::Verdict> for Verdict {
    type Error = WireError;
    fn try_from(verdict: v1::Verdict) -> Result<Self, WireError> {
        match verdict {
            v1::Verdict::Recorded => Ok(Verdict::Recorded),
            v1::Verdict::Known => Ok(Verdict::Known),
            v1::Verdict::Conflict => Ok(Verdict::Conflict),
            v1::Verdict::Later => Ok(Verdict::Later),
            v1::Verdict::Unwanted => Ok(Verdict::Unwanted),
            v1::Verdict::Unspecified => Err(WireError::new("a verdict", "unspecified", "one of the five")),
        }
    }
}

impl From<Phase> for v1::Phase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Counting => v1::Phase::Counting,
            Phase::Auditing => v1::Phase::Auditing,
            Phase::Complete => v1::Phase::Complete,
            Phase::Withheld => v1::Phase::Withheld,
        }
    }
}

impl TryFrom<v1::Phase> for Phase {
    type Error = WireError;
    fn try_from(phase: v1::Phase) -> Result<Self, WireError> {
        match phase {
            v1::Phase::Counting => Ok(Phase::Counting),
            v1::Phase::Auditing => Ok(Phase::Auditing),
            v1::Phase::Complete => Ok(Phase::Complete),
            v1::Phase::Withheld => Ok(Phase::Withheld),
            v1::Phase::Unspecified => Err(WireError::new("the phase", "unspecified", "one of the four")),
        }
    }
}

impl From<RunStatus> for v1::StatusReply {
    fn from(status: RunStatus) -> Self {
        Self {
            n: u32::from(status.board.n()),
            fingerprint: status.fingerprint.to_string(),
            units: status.units,
            done: status.done,
            leased: status.leased,
            progress: status.progress,
            solutions: status.totals.solutions().to_string(),
            a: status.totals.a.to_string(),
            p: status.totals.p.to_string(),
            r: status.totals.r.to_string(),
            seconds: status.elapsed.as_secs_f64(),
            seconds_left: status.left.map(|left| left.as_secs_f64()),
            rate: status.rate,
            phase: v1::Phase::from(status.phase).into(),
            trouble: status.trouble,
            workers: status.workers.into_iter().map(Into::into).collect(),
            workers_total: status.workers_total,
            term: status.term.map(Into::into),
            replicas: status.replicas,
            followers: status.followers,
            disputed: status.disputed,
            worth: Some(status.assurance.into()),
            set_aside: status.set_aside.into_iter().map(|unit| unit.0).collect(),
        }
    }
}

impl TryFrom<v1::StatusReply> for RunStatus {
    type Error = WireError;
    fn try_from(reply: v1::StatusReply) -> Result<Self, WireError> {
        let board = u8::try_from(reply.n).ok().and_then(|n| Board::new(n).ok());
        let board = board.ok_or_else(|| WireError::new("the board size", reply.n, "from 1 to 32"))?;
        let [a, p, r] = [&reply.a, &reply.p, &reply.r].map(|text| wide(text));
        let mut totals = Totals { a: a?, p: p?, r: r?, full: 0 };
        totals.full = wide(&reply.solutions)?.saturating_sub(totals.solutions());
        Ok(Self {
            board,
            phase: reply.phase().try_into()?,
            fingerprint: parse_fingerprint(reply.fingerprint)?,
            units: reply.units,
            done: reply.done,
            leased: reply.leased,
            disputed: reply.disputed,
            progress: reply.progress,
            totals,
            elapsed: seconds(reply.seconds)?,
            left: reply.seconds_left.map(seconds).transpose()?,
            rate: reply.rate,
            trouble: reply.trouble,
            // Older coordinators list all and say no number.
            workers_total: reply.workers_total.max(reply.workers.len() as u64),
            workers: reply.workers.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            term: reply.term.map(TryInto::try_into).transpose()?,
            replicas: reply.replicas,
            followers: reply.followers,
            assurance: reply.worth.map(Assurance::from).unwrap_or_default(),
            set_aside: reply.set_aside.into_iter().map(UnitId).collect(),
        })
    }
}

impl From<Assurance> for v1::Worth {
    fn from(assurance: Assurance) -> Self {
        Self {
            on_two_machines: assurance.on_two_machines,
            on_one_machine: assurance.on_one_machine,
            pending: assurance.pending,
            sampled: assurance.sampled,
            conflicts: assurance.conflicts,
            quarantined: assurance.quarantined,
            wrong_at_most: assurance.wrong_at_most,
            on_two_owners: assurance.on_two_owners,
            expelled: assurance.expelled,
        }
    }
}

impl From<v1::Worth> for Assurance {
    fn from(assurance: v1::Worth) -> Self {
        Self {
            on_two_machines: assurance.on_two_machines,
            on_one_machine: assurance.on_one_machine,
            pending: assurance.pending,
            sampled: assurance.sampled,
            conflicts: assurance.conflicts,
            quarantined: assurance.quarantined,
            wrong_at_most: assurance.wrong_at_most,
            on_two_owners: assurance.on_two_owners,
            expelled: assurance.expelled,
        }
    }
}

impl From<WorkerStatus> for v1::WorkerStatus {
    fn from(status: WorkerStatus) -> Self {
        Self {
            owner: status.owner.name().to_owned(),
            name: status.name,
            machine: status.machine,
            threads: status.threads,
            kernel: status.kernel.to_string(),
            leased: status.leased,
            done: status.done,
            rate: status.rate,
            last_word: status.last_word.as_secs_f64(),
        }
    }
}

impl TryFrom<v1::WorkerStatus> for WorkerStatus {
    type Error = WireError;
    fn try_from(status: v1::WorkerStatus) -> Result<Self, WireError> {
        Ok(Self {
            owner: Owner::new(&status.owner),
            name: status.name,
            machine: status.machine,
            threads: status.threads,
            kernel: parse_kernel(&status.kernel)?,
            leased: status.leased,
            done: status.done,
            rate: status.rate,
            last_word: seconds(status.last_word)?,
        })
    }
}

fn wide(text: &str) -> Result<u128, WireError> {
    let total = text.parse().ok().filter(|total| *total <= LARGEST_TOTAL);
    total.ok_or_else(|| WireError::new("a total", format!("{text:?}"), "a whole number up to 10^36"))
}

fn seconds(seconds: f64) -> Result<Duration, WireError> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| WireError::new("a time", seconds, "a number of seconds from 0 on"))
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
