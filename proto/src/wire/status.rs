//! Between protobuf and domain types: where a run stands.

use queens::{Board, Totals, UnitId};

use super::{WireError, parse_fingerprint, parse_kernel, seconds, wide};
use crate::domain::{Assurance, Owner, Phase, RunStatus, WorkerStatus};
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
