//! The jobs of Slurm's queue, as squeue lists them.

use std::time::Duration;

/// The number of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits for a node.
    Waiting,
    /// It has a node.
    Running,
    /// It has ended without an error: as a worker that has drained, or cancelled, or pre-empted.
    Done,
    /// It has ended by an error or a limit.
    Failed,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub stage: Stage,
    /// For how long it has run.
    pub used: Duration,
    /// The processors that it has or wants.
    pub threads: u32,
}

/// The columns by which a [`Job`] is read: number, state, time and processors.
pub const FORMAT: &str = "%i|%T|%M|%C";

impl Job {
    /// The job in a line of squeue.
    pub fn read(line: &str) -> Option<Self> {
        let mut fields = line.trim().split('|');
        let id = JobId(fields.next()?.parse().ok()?);
        let stage = match fields.next()? {
            "PENDING" => Stage::Waiting,
            "COMPLETED" | "CANCELLED" | "PREEMPTED" | "REVOKED" => Stage::Done,
            "FAILED" | "TIMEOUT" | "NODE_FAIL" | "BOOT_FAIL" | "DEADLINE" | "OUT_OF_MEMORY"
            | "SPECIAL_EXIT" => Stage::Failed,
            // Running, and before or after it: configuring, suspended, completing.
            _ => Stage::Running,
        };
        // A job that does not run yet may have no valid time.
        let used = time_used(fields.next()?).unwrap_or_default();
        let threads = fields.next()?.parse().ok()?;
        Some(Self { id, stage, used, threads })
    }
}

/// The time in the form days-hours:minutes:seconds, without what is zero in front.
fn time_used(text: &str) -> Option<Duration> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<u64>().ok()?;
    }
    Some(Duration::from_secs(seconds + days.parse::<u64>().ok()? * 24 * 60 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_squeue_is_a_job() {
        let job = |stage, used| Job { id: JobId(12), stage, used: Duration::from_secs(used), threads: 4 };
        let read = |line: &str| Job::read(line).unwrap();
        assert_eq!(read("12|PENDING|0:00|4"), job(Stage::Waiting, 0));
        assert_eq!(read("12|PENDING|INVALID|4"), job(Stage::Waiting, 0));
        assert_eq!(read("12|RUNNING|1-02:03:04|4"), job(Stage::Running, 93784));
        assert_eq!(read("12|COMPLETING|3:04|4\n"), job(Stage::Running, 184));
        assert_eq!(read("12|FAILED|0:02|4"), job(Stage::Failed, 2));
        assert_eq!(read("12|COMPLETED|0:00|4"), job(Stage::Done, 0));
        for wrong in ["", "slurm_load_jobs error", "12_3|RUNNING|0:01|4", "12|RUNNING|0:01"] {
            assert_eq!(Job::read(wrong), None, "{wrong}");
        }
    }
}
