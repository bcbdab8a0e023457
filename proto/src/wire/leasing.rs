//! Between protobuf and domain types: workers, their leases and their counts.

use std::time::Duration;

use domain::{
    Lease, LeaseReply, Owner, Registration, Renewal, Report, Token, UnitCount, Variant, Verdict, Welcome,
    WorkerId, is_name,
};
use queens::UnitId;

use super::{MOST_THREADS, WireError, millis, parse_fingerprint, parse_kernel};
use crate::v1;

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
            // The sender adds its protocol versions.
            ..Self::default()
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
            protocol: _,
            release: _,
        } = request;
        for (field, text) in [("a worker's name", &name), ("a machine's name", &machine)] {
            if !is_name(text) {
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
        let Renewal { lost, finished, drain } = renewal;
        Self { lost: lost.into_iter().map(|unit| unit.0).collect(), finished, drain }
    }
}

impl From<v1::RenewReply> for Renewal {
    fn from(reply: v1::RenewReply) -> Self {
        let v1::RenewReply { lost, finished, drain } = reply;
        Self { lost: lost.into_iter().map(UnitId).collect(), finished, drain }
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

/// The verdicts of a reply: one for each count, in the order of the report. The generated list would skip unknown
/// verdicts and so shift the others to wrong counts.
///
/// # Errors
/// This release does not know one of the verdicts.
pub fn verdicts_from_reply(reply: &v1::ReportReply) -> Result<Vec<Verdict>, WireError> {
    let known = |number: &i32| {
        v1::Verdict::try_from(*number).map_err(|_| WireError::new("a verdict", number, "one of the five"))
    };
    reply.verdicts.iter().map(|number| known(number)?.try_into()).collect()
}
