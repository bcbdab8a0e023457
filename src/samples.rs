//! Made-up runs, as for the tests of the dashboard, for tests of their display.

use std::time::Duration;

use domain::RunStatus;
use test_support::made_up;

pub use test_support::made_up::{empty, finished};

/// All that differ.
pub fn all() -> [RunStatus; 6] {
    [empty(), running(), disputed(), made_up::huge(), crowded(), finished()]
}

/// In the middle of it, with two machines of three, and nothing unusual.
pub fn running() -> RunStatus {
    let mut status = made_up::running();
    status.machines.truncate(3);
    let away = &mut status.machines[2];
    (away.workers, away.threads, away.speed) = (0, 0, 0.0);
    (status.machines_total, status.machines_there) = (3, 2);
    RunStatus { replicas: 0, followers: 0, elapsed: status.elapsed + Duration::from_hours(4), ..status }
}

/// With all that can go wrong.
pub fn disputed() -> RunStatus {
    let mut status = made_up::disputed();
    status.assurance.expelled = vec!["mallory".into()];
    RunStatus { paused: Some("the night is over".into()), ..status }
}

/// A thousand workers, with names as long as they may be and of all kinds.
pub fn crowded() -> RunStatus {
    let name = |k: usize| {
        ["x".repeat(200), format!("rack-{k}"), format!("日本語-{k}"), format!("<script>{k}")][k % 4].clone()
    };
    let mut status = made_up::huge();
    for (k, (worker, machine)) in status.workers.iter_mut().zip(&mut status.machines).enumerate() {
        (worker.name, worker.machine, machine.name) = (name(k), name(k), name(k));
        worker.last_word = Duration::from_millis(k as u64);
    }
    status.totals = queens::Totals { a: 10u128.pow(35), p: 10u128.pow(18), r: 10u128.pow(9), full: 0 };
    status
}
