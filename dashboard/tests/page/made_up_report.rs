//! A made-up report.

use std::time::Duration;

use dashboard::{Contribution, Intervened, RunReport};
use domain::{MachineStatus, RunStatus};
use test_support::made_up::{DAY, NOW, WORK};

/// The report of a run with this status.
pub fn report(status: &RunStatus) -> RunReport {
    let contribution = |machine: &MachineStatus| Contribution {
        machine: machine.name.clone(),
        is_believed: machine.is_believed,
        standing: machine.counts,
        counts: machine.counts + machine.wrong,
        checks: machine.verified,
        wrong: machine.wrong,
        cpu: Duration::from_secs(machine.counts * 56),
        kernels: vec!["meet/avx512".into(), "search/avx512".into()],
    };
    RunReport {
        board: status.board,
        part: None,
        plan: status.fingerprint.to_string(),
        units: status.units,
        done: status.done,
        totals: status.totals,
        verdict: "complete; it agrees with the published value".into(),
        is_complete: status.done == status.units,
        is_wrong: false,
        begun: NOW - 23 * DAY,
        elapsed: status.elapsed,
        cpu: Duration::from_secs(WORK as u64),
        assurance: status.assurance.clone(),
        disputed: status.disputed,
        checked: vec!["5,950,000 records in 12 ledger files".into(), "one standing count each".into()],
        history: status.history.clone(),
        families: status.families.clone(),
        contributions: status.machines.iter().map(contribution).collect(),
        run: "5b2cf1c26d60a0f9a7c6c1d1f0d9be44".into(),
        records: 5_950_000,
        head: "9f86d081884c7d659a2feaa0c55ad015".into(),
        keys: vec!["d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a".into()],
        interventions: vec![Intervened {
            at: NOW - 3 * DAY,
            what: "stopped trusting machine ben/rack-3".into(),
            reason: Some("its memory is broken".into()),
        }],
        unlisted_interventions: 0,
        commands: vec!["diadem verify diadem-27".into()],
        release: status.release.clone(),
        written: NOW,
    }
}
