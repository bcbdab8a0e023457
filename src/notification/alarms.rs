//! Finds what an operator must know, by comparing each snapshot of a run with the snapshots before it.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Assurance, Phase, RunStatus};

/// A trouble that ends by itself within this time is no event: a follower connects again, and waiting checks are relaxed.
const LASTING: Duration = Duration::from_secs(30);

/// Minimum time between two events of one kind, except at the end of the run. What happens meanwhile is told later, in one event.
const EVENT_INTERVAL: Duration = Duration::from_mins(10);

/// The most names in a sentence.
const MAX_NAMES: usize = 5;

/// The longest sentence, in characters.
const MAX_TEXT_LENGTH: usize = 1000;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    Conflict,
    Quarantine,
    Disk,
    FollowerLost,
    Stalled,
    Done,
}

impl Alarm {
    const ALL: [Self; 6] =
        [Self::Conflict, Self::Quarantine, Self::Disk, Self::FollowerLost, Self::Stalled, Self::Done];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Quarantine => "quarantine",
            Self::Disk => "disk",
            Self::FollowerLost => "follower-lost",
            Self::Stalled => "stalled",
            Self::Done => "done",
        }
    }

    /// How long its cause must last.
    fn lasting(self) -> Duration {
        match self {
            Self::Disk | Self::FollowerLost | Self::Stalled => LASTING,
            Self::Conflict | Self::Quarantine | Self::Done => Duration::ZERO,
        }
    }
}

/// One event, with a sentence about what happened and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub alarm: Alarm,
    pub text: String,
}

/// The state of one kind of event.
#[derive(Clone, Copy, Debug, Default)]
struct Timer {
    /// Since when its cause lasts.
    since: Option<Duration>,
    /// Whether this cause was told. Conflicts and quarantines are told apart by their number instead.
    is_told: bool,
    /// When an event of this kind was last told.
    last: Option<Duration>,
}

/// What the operator knows about a run.
#[derive(Debug)]
pub struct Alarms {
    timers: [Timer; Alarm::ALL.len()],
    /// The number of contradicting counts.
    conflicts: u64,
    /// The machines and owners that are not believed.
    distrusted: BTreeSet<String>,
    /// The number of followers.
    followers: u32,
}

impl Alarms {
    /// What the status shows at the start is known.
    pub fn new(status: &RunStatus) -> Self {
        Self {
            timers: Default::default(),
            conflicts: status.assurance.conflicts,
            distrusted: distrusted(&status.assurance),
            followers: status.followers,
        }
    }

    /// The events to tell now.
    pub fn look(&mut self, status: &RunStatus, is_disk_trouble: bool, now: Duration) -> Vec<Notice> {
        let distrusted = distrusted(&status.assurance);
        self.distrusted.retain(|name| distrusted.contains(name));
        self.followers = self.followers.max(status.followers);
        let mut notices = Vec::new();
        for (place, alarm) in Alarm::ALL.into_iter().enumerate() {
            let cause = self.cause(alarm, status, is_disk_trouble, &distrusted);
            let timer = &mut self.timers[place];
            let Some(text) = cause else {
                (timer.since, timer.is_told) = (None, false);
                continue;
            };
            let lasts = now.saturating_sub(*timer.since.get_or_insert(now)) >= alarm.lasting();
            let may_tell = timer.last.is_none_or(|last| now.saturating_sub(last) >= EVENT_INTERVAL);
            if !timer.is_told && (has_ended(status) || lasts && may_tell) {
                timer.last = Some(now);
                timer.is_told = !matches!(alarm, Alarm::Conflict | Alarm::Quarantine);
                match alarm {
                    Alarm::Conflict => self.conflicts = status.assurance.conflicts,
                    Alarm::Quarantine => self.distrusted.clone_from(&distrusted),
                    Alarm::FollowerLost => self.followers = status.followers,
                    Alarm::Disk | Alarm::Stalled | Alarm::Done => {}
                }
                notices.push(Notice { alarm, text: text.chars().take(MAX_TEXT_LENGTH).collect() });
            }
        }
        notices
    }

    /// The sentence about the cause of such an event, if there is one.
    fn cause(
        &self,
        alarm: Alarm,
        status: &RunStatus,
        is_disk_trouble: bool,
        distrusted: &BTreeSet<String>,
    ) -> Option<String> {
        let trouble = Some(&status.trouble).filter(|trouble| !trouble.is_empty()).cloned();
        let (has_ended, followers) = (has_ended(status), status.followers);
        let lacks_followers = followers < status.replicas && !has_ended;
        match alarm {
            Alarm::Conflict => {
                let more = status.assurance.conflicts.saturating_sub(self.conflicts);
                (more > 0).then(|| conflicts(more, status.disputed))
            }
            Alarm::Quarantine => {
                let names: Vec<&String> = distrusted.difference(&self.distrusted).collect();
                (!names.is_empty()).then(|| quarantine(&names))
            }
            Alarm::Disk => trouble.filter(|_| is_disk_trouble),
            Alarm::FollowerLost if has_ended => None,
            Alarm::FollowerLost if lacks_followers => trouble.filter(|_| !is_disk_trouble),
            Alarm::FollowerLost => {
                (followers < self.followers).then(|| lost_followers(self.followers - followers, followers))
            }
            Alarm::Stalled => {
                trouble.filter(|_| !is_disk_trouble && !lacks_followers).or_else(|| no_worker(status))
            }
            Alarm::Done => (status.phase == Phase::Complete).then(|| {
                let (n, solutions) = (status.board.n(), status.totals.solutions());
                format!("the count of n = {n} is complete: {solutions} solutions")
            }),
        }
    }
}

/// True if the run has its answer, or the answer is withheld.
fn has_ended(status: &RunStatus) -> bool {
    matches!(status.phase, Phase::Complete | Phase::Withheld)
}

/// The machines and owners that are not believed.
fn distrusted(assurance: &Assurance) -> BTreeSet<String> {
    let machines = assurance.quarantined.iter().map(|name| format!("machine {name}"));
    machines.chain(assurance.expelled.iter().map(|name| format!("owner {name}"))).collect()
}

fn conflicts(more: u64, disputed: u64) -> String {
    let counts = match more {
        1 => "a count contradicts another".to_owned(),
        more => format!("{more} counts contradict others"),
    };
    let units = match disputed {
        0 => "no unit is in dispute any more".to_owned(),
        1 => "1 unit is in dispute, and other machines count it again".to_owned(),
        disputed => format!("{disputed} units are in dispute, and other machines count them again"),
    };
    format!("{counts}: {units}")
}

fn quarantine(names: &[&String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "not believed any more: {shown}{more}; unconfirmed counts are made again. Look for the cause, such as bad memory, and then \
         readmit with diadem retract --readmit"
    )
}

fn lost_followers(lost: u32, left: u32) -> String {
    let lost =
        if lost == 1 { "a follower has left".to_owned() } else { format!("{lost} followers have left") };
    format!("{lost}, and {left} are connected; see the log of diadem follow, or start it again")
}

/// The sentence about a run that has counts, but no worker any more.
fn no_worker(status: &RunStatus) -> Option<String> {
    let is_deserted = status.phase == Phase::Counting
        && status.paused.is_none()
        && status.done > 0
        && status.machines_there == 0;
    is_deserted.then(|| "no worker is connected, and the run is not complete; start diadem worker".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    /// The events of that status at that second.
    fn told(alarms: &mut Alarms, status: &RunStatus, second: u64) -> Vec<(&'static str, String)> {
        let is_disk_trouble = status.trouble.contains("no space left");
        let notices = alarms.look(status, is_disk_trouble, Duration::from_secs(second));
        notices.into_iter().map(|notice| (notice.alarm.name(), notice.text)).collect()
    }

    fn names(alarms: &mut Alarms, status: &RunStatus, second: u64) -> Vec<&'static str> {
        told(alarms, status, second).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn each_trouble_is_told_once() {
        let (before, after) = (samples::running(), samples::disputed());
        let mut alarms = Alarms::new(&before);
        assert_eq!(names(&mut alarms, &before, 0), [""; 0]);
        let first = told(&mut alarms, &after, 1);
        assert_eq!(
            first[0].1,
            "5 counts contradict others: 3 units are in dispute, and other machines count them again"
        );
        assert!(
            first[1].1.starts_with("not believed any more: machine rack-07, owner mallory;"),
            "{first:?}"
        );
        assert_eq!(first.len(), 2);
        let disk = told(&mut alarms, &after, 31);
        assert_eq!(disk, [("disk", after.trouble.clone())]);
        assert_eq!(names(&mut alarms, &after, 10_000), [""; 0]);
        assert_eq!(names(&mut alarms, &before, 10_001), [""; 0]);
        let mut restarted = Alarms::new(&after);
        assert_eq!(names(&mut restarted, &after, 0), [""; 0], "the operator knows what was there before");
    }

    #[test]
    fn short_troubles_are_no_events() {
        let calm = samples::running();
        let lonely = RunStatus { machines_there: 0, ..calm.clone() };
        let waiting = RunStatus { trouble: "the checks that are left wait".into(), ..calm.clone() };
        let mut alarms = Alarms::new(&calm);
        for (second, status) in [(0, &lonely), (29, &lonely), (30, &calm), (31, &waiting), (60, &waiting)] {
            assert_eq!(names(&mut alarms, status, second), [""; 0], "{second}");
        }
        assert_eq!(told(&mut alarms, &waiting, 61), [("stalled", waiting.trouble.clone())]);
    }

    #[test]
    fn frequent_events_are_joined_until_the_end() {
        let mut status = samples::running();
        let mut alarms = Alarms::new(&status);
        let mut texts = Vec::new();
        for second in 0..700 {
            status.assurance.conflicts += 1;
            texts.extend(told(&mut alarms, &status, second).into_iter().map(|(_, text)| text));
        }
        let starts: Vec<&str> =
            texts.iter().filter_map(|text| text.split_once(':')).map(|(start, _)| start).collect();
        assert_eq!(starts, ["a count contradicts another", "600 counts contradict others"]);
        status.phase = Phase::Complete;
        let last = told(&mut alarms, &status, 700);
        assert!(last[0].1.starts_with("99 counts contradict others: no unit"), "{last:?}");
        assert_eq!(last[1].0, "done");
        assert_eq!(names(&mut alarms, &status, 10_000), [""; 0]);
    }

    #[test]
    fn lost_followers_are_told_until_the_end() {
        let with = |followers, replicas, trouble: &str| RunStatus {
            followers,
            replicas,
            trouble: trouble.into(),
            ..samples::running()
        };
        let mut alarms = Alarms::new(&with(0, 0, ""));
        for (second, followers) in [(0, 2), (1, 1), (2, 2), (3, 1), (32, 1)] {
            assert_eq!(names(&mut alarms, &with(followers, 0, ""), second), [""; 0], "{second}");
        }
        let lost = told(&mut alarms, &with(1, 0, ""), 33);
        assert_eq!(
            lost[0].1,
            "a follower has left, and 1 are connected; see the log of diadem follow, or start it again"
        );
        let lack = with(0, 1, "nothing is acknowledged: 0 of 1 followers are connected");
        assert_eq!(names(&mut alarms, &with(1, 0, ""), 34), [""; 0]);
        assert_eq!(names(&mut alarms, &lack, 633), [""; 0]);
        assert_eq!(told(&mut alarms, &lack, 663), [("follower-lost", lack.trouble.clone())]);
        let withheld = RunStatus { phase: Phase::Withheld, trouble: "the audit failed".into(), ..lack };
        assert_eq!(told(&mut alarms, &withheld, 664), [("stalled", withheld.trouble.clone())]);
    }
}
