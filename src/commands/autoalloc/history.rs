//! How the jobs so far have fared, and how long the next job must wait after jobs that have failed at once.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::queue::{Job, JobId, Stage};

/// A job that fails sooner did no work.
const SHORTEST_WORK: Duration = Duration::from_mins(1);

/// The pause after a first failure is twice as long.
const DELAY_UNIT: Duration = Duration::from_secs(10);

/// The longest pause between two jobs that fail.
const MAX_DELAY: Duration = Duration::from_mins(15);

/// The judged and the other jobs.
#[derive(Debug, Default)]
pub struct History {
    open: BTreeSet<JobId>,
    judged: BTreeSet<JobId>,
    /// Looks in a row at which a job had failed at once.
    failures: u32,
    not_before: Option<Instant>,
}

/// A job that has failed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedJob {
    pub id: JobId,
    /// For how long it ran, if Slurm still lists it.
    pub used: Option<Duration>,
    /// The pause before the next job.
    pub delay: Duration,
}

impl History {
    /// A job was submitted.
    pub fn submitted(&mut self, id: JobId) {
        self.open.insert(id);
    }

    /// Judges nothing: jobs that have ended failed at an earlier time, or because the run had nothing for them.
    pub fn pass_over(&mut self, jobs: &[Job]) {
        for job in jobs {
            let has_ended = matches!(job.stage, Stage::Done | Stage::Failed);
            if has_ended {
                self.judged.insert(job.id);
            } else if !self.judged.contains(&job.id) {
                self.open.insert(job.id);
            }
        }
        self.forget_unlisted(jobs);
    }

    /// Forgets the jobs that Slurm no longer lists. Returns the last of them that was not judged.
    fn forget_unlisted(&mut self, jobs: &[Job]) -> Option<JobId> {
        let listed: BTreeSet<JobId> = jobs.iter().map(|job| job.id).collect();
        let lost = self.open.difference(&listed).last().copied();
        self.judged.retain(|id| listed.contains(id));
        self.open.retain(|id| listed.contains(id) && !self.judged.contains(id));
        lost
    }

    /// Judges the jobs that Slurm lists now. Returns the last job that has failed at once, if any. A job that has run for
    /// [`SHORTEST_WORK`] ends the row of failures.
    pub fn judge(&mut self, jobs: &[Job], now: Instant) -> Option<FailedJob> {
        let mut failed = None;
        let mut works = false;
        for job in jobs {
            if self.judged.contains(&job.id) {
                continue;
            }
            self.open.insert(job.id);
            match job.stage {
                _ if job.used >= SHORTEST_WORK => works = true,
                Stage::Failed => failed = Some((job.id, Some(job.used))),
                Stage::Done => {}
                Stage::Waiting | Stage::Running => continue,
            }
            self.judged.insert(job.id);
        }
        // Slurm forgets a job some minutes after its end, and sooner on some clusters.
        failed = failed.or(self.forget_unlisted(jobs).map(|id| (id, None)));
        if works {
            (self.failures, self.not_before) = (0, None);
            return None;
        }
        let (id, used) = failed?;
        Some(FailedJob { id, used, delay: self.fail(now) })
    }

    /// Notes a failure, and returns the pause before the next job.
    pub fn fail(&mut self, now: Instant) -> Duration {
        self.failures += 1;
        let delay = DELAY_UNIT.saturating_mul(2u32.saturating_pow(self.failures)).min(MAX_DELAY);
        self.not_before = Some(now + delay);
        delay
    }

    /// How many jobs may wait now: after a failure one at a time.
    pub fn backlog(&self, most: u32, now: Instant) -> u32 {
        match self.not_before {
            Some(time) if now < time => 0,
            Some(_) => 1,
            None => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, stage: Stage, seconds: u64) -> Job {
        Job { id: JobId(id), stage, used: Duration::from_secs(seconds), threads: 1 }
    }

    #[test]
    fn jobs_that_fail_at_once_double_the_delay() {
        let (mut history, now) = (History::default(), Instant::now());
        assert_eq!(history.backlog(10, now), 10);
        let mut delays = Vec::new();
        for id in 1..=8 {
            history.submitted(JobId(id));
            assert_eq!(history.judge(&[job(id, Stage::Running, 1)], now), None);
            let failed = history.judge(&[job(id, Stage::Failed, 2)], now).unwrap();
            assert_eq!(failed.used, Some(Duration::from_secs(2)));
            assert_eq!(history.judge(&[job(id, Stage::Failed, 2)], now), None, "a job fails once");
            assert_eq!((history.backlog(10, now), history.backlog(10, now + failed.delay)), (0, 1));
            delays.push(failed.delay.as_secs());
        }
        assert_eq!(delays, [20, 40, 80, 160, 320, 640, 900, 900]);
    }

    #[test]
    fn job_that_works_ends_the_row_of_failures() {
        let (mut history, now) = (History::default(), Instant::now());
        history.judge(&[job(1, Stage::Failed, 2), job(2, Stage::Running, 59)], now).unwrap();
        assert_eq!(history.judge(&[job(2, Stage::Running, 60)], now), None);
        assert_eq!(history.backlog(10, now), 10);
        // The same job does not excuse later failures.
        assert!(history.judge(&[job(2, Stage::Running, 70), job(3, Stage::Failed, 2)], now).is_some());
    }

    #[test]
    fn forgotten_job_has_failed_and_cancelled_job_has_not() {
        let (mut history, now) = (History::default(), Instant::now());
        history.submitted(JobId(1));
        history.submitted(JobId(2));
        let failed = history.judge(&[job(1, Stage::Done, 0)], now).unwrap();
        assert_eq!((failed.id, failed.used), (JobId(2), None));
        assert_eq!(history.judge(&[], now), None);
    }

    #[test]
    fn failures_of_an_earlier_command_are_passed_over() {
        let (mut history, now) = (History::default(), Instant::now());
        let jobs = [job(1, Stage::Failed, 2), job(2, Stage::Waiting, 0)];
        history.pass_over(&jobs);
        assert_eq!(history.judge(&jobs, now), None);
        assert_eq!(history.judge(&[job(2, Stage::Failed, 3)], now).unwrap().id, JobId(2));
    }
}
