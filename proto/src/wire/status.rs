//! Between protobuf and domain types: where a run stands.

use domain::{
    Assurance, Event, FamilyStatus, Incident, MachineStatus, OwnCheckStatus, Owner, Phase, RunStatus, Sample,
    TimeLeft, Work, WorkerStatus,
};
use queens::{Board, Totals, UnitId};

use super::{WireError, parse_fingerprint, parse_kernel, run_bytes, run_from_bytes, seconds, wide};
use crate::v1;

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
            run: run_bytes(status.run),
            units: status.units,
            done: status.done,
            leased: status.leased,
            progress: status.progress,
            solutions: status.totals.solutions().to_string(),
            a: status.totals.a.to_string(),
            p: status.totals.p.to_string(),
            r: status.totals.r.to_string(),
            seconds: status.elapsed.as_secs_f64(),
            seconds_left: status.left.map(|left| left.expected.as_secs_f64()),
            seconds_left_low: status.left.map(|left| left.low.as_secs_f64()),
            seconds_left_high: status.left.map(|left| left.high.as_secs_f64()),
            rate: status.rate,
            phase: v1::Phase::from(status.phase).into(),
            trouble: status.trouble,
            workers: status.workers.into_iter().map(Into::into).collect(),
            workers_total: status.workers_total,
            threads_total: status.threads_total,
            term: status.term.map(Into::into),
            replicas: status.replicas,
            followers: status.followers,
            disputed: status.disputed,
            worth: Some(status.assurance.into()),
            set_aside: status.set_aside.into_iter().map(|unit| unit.0).collect(),
            set_aside_total: status.set_aside_total,
            work: status.work.total,
            work_done: status.work.done,
            families: status.families.into_iter().map(Into::into).collect(),
            history: status.history.into_iter().map(Into::into).collect(),
            events: status.events.into_iter().map(Into::into).collect(),
            incidents: status.incidents.into_iter().map(Into::into).collect(),
            incidents_total: status.incidents_total,
            head: status.head,
            machines: status.machines.into_iter().map(Into::into).collect(),
            machines_total: status.machines_total,
            machines_there: status.machines_there,
            credits: Some(status.credits.into()),
            paused: status.paused,
            double_check: status.double_check,
            require_owners: status.require_owners,
            release: status.release,
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
        let left = time_left(&reply)?;
        let threads = reply.workers.iter().map(|worker| u64::from(worker.threads)).sum();
        let there = reply.machines.iter().filter(|machine| machine.workers > 0).count();
        Ok(Self {
            board,
            phase: reply.phase().try_into()?,
            fingerprint: parse_fingerprint(reply.fingerprint)?,
            run: run_from_bytes(&reply.run)?,
            units: reply.units,
            done: reply.done,
            leased: reply.leased,
            disputed: reply.disputed,
            progress: reply.progress,
            totals,
            elapsed: seconds(reply.seconds)?,
            left,
            rate: reply.rate,
            trouble: reply.trouble,
            // The total is at least the length of the list.
            workers_total: reply.workers_total.max(reply.workers.len() as u64),
            threads_total: reply.threads_total.max(threads),
            workers: reply.workers.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            term: reply.term.map(TryInto::try_into).transpose()?,
            replicas: reply.replicas,
            followers: reply.followers,
            assurance: reply.worth.map(Assurance::from).unwrap_or_default(),
            set_aside_total: reply.set_aside_total.max(reply.set_aside.len() as u64),
            set_aside: reply.set_aside.into_iter().map(UnitId).collect(),
            work: Work { total: reply.work, done: reply.work_done },
            families: reply.families.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            history: reply.history.into_iter().map(Into::into).collect(),
            events: reply.events.into_iter().map(Into::into).collect(),
            incidents_total: reply.incidents_total.max(reply.incidents.len() as u64),
            incidents: reply.incidents.into_iter().map(Into::into).collect(),
            head: reply.head,
            machines_total: reply.machines_total.max(reply.machines.len() as u64),
            machines_there: reply.machines_there.max(there as u64),
            machines: reply.machines.into_iter().map(Into::into).collect(),
            credits: reply.credits.map(TryInto::try_into).transpose()?.unwrap_or_default(),
            paused: reply.paused,
            double_check: reply.double_check,
            require_owners: reply.require_owners,
            release: reply.release,
        })
    }
}

/// Without a range the expected time alone is known.
fn time_left(reply: &v1::StatusReply) -> Result<Option<TimeLeft>, WireError> {
    let Some(expected) = reply.seconds_left.map(seconds).transpose()? else { return Ok(None) };
    let low = reply.seconds_left_low.map_or(Ok(expected), seconds)?;
    let high = reply.seconds_left_high.map_or(Ok(expected), seconds)?;
    Ok(Some(TimeLeft { expected, low, high }))
}

impl From<FamilyStatus> for v1::FamilyStatus {
    fn from(FamilyStatus { top, bottom, units, done }: FamilyStatus) -> Self {
        Self { top: u32::from(top), bottom: u32::from(bottom), units, done }
    }
}

impl TryFrom<v1::FamilyStatus> for FamilyStatus {
    type Error = WireError;
    fn try_from(v1::FamilyStatus { top, bottom, units, done }: v1::FamilyStatus) -> Result<Self, WireError> {
        let column = |column: u32| {
            let found = u8::try_from(column).ok().filter(|column| *column < 32);
            found.ok_or_else(|| WireError::new("a column", column, "from 0 to 31"))
        };
        Ok(Self { top: column(top)?, bottom: column(bottom)?, units, done })
    }
}

impl From<Sample> for v1::Sample {
    fn from(Sample { at, done, progress }: Sample) -> Self {
        Self { at, done, progress }
    }
}

impl From<v1::Sample> for Sample {
    fn from(v1::Sample { at, done, progress }: v1::Sample) -> Self {
        Self { at, done, progress }
    }
}

impl From<Event> for v1::Event {
    fn from(Event { at, text }: Event) -> Self {
        Self { at, text }
    }
}

impl From<v1::Event> for Event {
    fn from(v1::Event { at, text }: v1::Event) -> Self {
        Self { at, text }
    }
}

impl From<Incident> for v1::Incident {
    fn from(Incident { at, kind, times, text, reason }: Incident) -> Self {
        Self { at, kind, times, text, reason }
    }
}

impl From<v1::Incident> for Incident {
    fn from(v1::Incident { at, kind, times, text, reason }: v1::Incident) -> Self {
        Self { at, kind, times, text, reason }
    }
}

impl From<MachineStatus> for v1::MachineStatus {
    fn from(status: MachineStatus) -> Self {
        Self {
            owner: status.owner.name().to_owned(),
            name: status.name,
            workers: status.workers,
            threads: status.threads,
            counts: status.counts,
            verified: status.verified,
            wrong: status.wrong,
            is_believed: status.is_believed,
            speed: status.speed,
        }
    }
}

impl From<v1::MachineStatus> for MachineStatus {
    fn from(status: v1::MachineStatus) -> Self {
        Self {
            owner: Owner::new(&status.owner),
            name: status.name,
            workers: status.workers,
            threads: status.threads,
            counts: status.counts,
            verified: status.verified,
            wrong: status.wrong,
            is_believed: status.is_believed,
            speed: status.speed,
        }
    }
}

impl From<Assurance> for v1::Worth {
    fn from(assurance: Assurance) -> Self {
        Self {
            on_two_machines: assurance.on_two_machines,
            on_one_machine: assurance.on_one_machine,
            on_two_kinds: assurance.on_two_kinds,
            by_external: assurance.by_external,
            pending: assurance.pending,
            sampled: assurance.sampled,
            conflicts: assurance.conflicts,
            quarantined: assurance.quarantined,
            wrong_at_most: assurance.wrong_at_most,
            on_two_owners: assurance.on_two_owners,
            expelled: assurance.expelled,
            own_checks: assurance.own_checks.map(Into::into),
        }
    }
}

impl From<v1::Worth> for Assurance {
    fn from(assurance: v1::Worth) -> Self {
        Self {
            on_two_machines: assurance.on_two_machines,
            on_one_machine: assurance.on_one_machine,
            on_two_kinds: assurance.on_two_kinds,
            by_external: assurance.by_external,
            pending: assurance.pending,
            sampled: assurance.sampled,
            conflicts: assurance.conflicts,
            quarantined: assurance.quarantined,
            wrong_at_most: assurance.wrong_at_most,
            on_two_owners: assurance.on_two_owners,
            expelled: assurance.expelled,
            own_checks: assurance.own_checks.map(Into::into),
        }
    }
}

impl From<OwnCheckStatus> for v1::OwnChecks {
    fn from(own: OwnCheckStatus) -> Self {
        let OwnCheckStatus { share, owner, made, pending, wrong_at_most } = own;
        Self { share, owner, made, pending, wrong_at_most }
    }
}

impl From<v1::OwnChecks> for OwnCheckStatus {
    fn from(own: v1::OwnChecks) -> Self {
        let v1::OwnChecks { share, owner, made, pending, wrong_at_most } = own;
        Self { share, owner, made, pending, wrong_at_most }
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
            drains: status.drains,
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
            drains: status.drains,
        })
    }
}
