//! The arguments that limit the time of a command and its priority.

use std::time::{Duration, SystemTime};

use clap::Args;
use time::{OffsetDateTime, UtcOffset};

use super::value::{ValueError, time, whole};

/// When the time of a command is up.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// When the clock shows this time, however often it is set until then.
    At(SystemTime),
    /// After this time. Changes of the clock have no effect, and sleep counts.
    After(Duration),
}

/// Until when something counts, and how nicely.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitsArgs {
    /// Stop at this local time, as in 07:00.
    ///
    /// A worker drains; a count ends as by SIGTERM.
    #[arg(long, value_name = "HH:MM", value_parser = time_of_day)]
    until: Option<SystemTime>,
    /// Stop after this time, as in 90s, 10m, 8h.
    ///
    /// A worker drains; a count ends as by SIGTERM.
    #[arg(long = "for", value_name = "TIME", value_parser = time, conflicts_with = "until")]
    duration: Option<Duration>,
    /// Niceness, 0 to 19 (lowest priority).
    ///
    /// Other programs get the processor first.
    #[arg(long, value_name = "N", value_parser = whole::<u8>(0..=19), allow_negative_numbers = true)]
    pub nice: Option<u8>,
}

impl LimitsArgs {
    /// When the time is up that starts now, if it is bounded.
    pub fn end(&self) -> Option<End> {
        self.until.map(End::At).or_else(|| self.duration.map(End::After))
    }
}

/// The next time that the local clock shows these hours and minutes.
fn time_of_day(text: &str) -> Result<SystemTime, ValueError> {
    let wanted = || ValueError::new(text, "a time of the day such as 07:00 or 22:30");
    let (hours, minutes) = text.split_once(':').ok_or_else(wanted)?;
    let [hours, minutes] = [hours, minutes].map(|digits| digits.parse::<u8>().ok());
    let at = time::Time::from_hms(hours.ok_or_else(wanted)?, minutes.ok_or_else(wanted)?, 0);
    // No other thread runs yet that could change the local time zone.
    let now = OffsetDateTime::now_local().unwrap_or_else(|_| OffsetDateTime::now_utc());
    let offset_at = |then| UtcOffset::local_offset_at(then).unwrap_or(UtcOffset::UTC);
    Ok(next(now, at.map_err(|_| wanted())?, offset_at).into())
}

/// The next time after `now` that its clock shows `at`, which may have been put forward or back until then.
fn next(
    now: OffsetDateTime,
    at: time::Time,
    offset_at: impl Fn(OffsetDateTime) -> UtcOffset,
) -> OffsetDateTime {
    let shown = |day: OffsetDateTime| {
        let as_now = day.replace_time(at);
        as_now.replace_offset(offset_at(as_now))
    };
    let today = shown(now);
    if today > now { today } else { shown(now + Duration::from_hours(24)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_put_forward_and_back_before_that_time() {
        let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let change = now + Duration::from_hours(4);
        let [seven, nine, one] = [7, 9, 13].map(|hour| time::Time::from_hms(hour, 0, 0).unwrap());
        for (hours, expected) in [(1, [22, 1, 4]), (-1, [24, 1, 6])] {
            let offset_at =
                |then| if then < change { UtcOffset::UTC } else { UtcOffset::from_hms(hours, 0, 0).unwrap() };
            let found = [seven, nine, one].map(|at| (next(now, at, offset_at) - now).whole_hours());
            assert_eq!(found, expected, "{hours}");
        }
    }

    #[test]
    fn a_time_of_the_day_that_has_passed_is_tomorrows() {
        let now = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let still = |_| UtcOffset::UTC;
        assert_eq!(now.time().as_hms(), (8, 0, 0));
        let [early, late] =
            [7, 22].map(|hour| next(now, time::Time::from_hms(hour, 30, 0).unwrap(), still) - now);
        assert_eq!((early.whole_minutes(), late.whole_minutes()), (23 * 60 + 30, 14 * 60 + 30));
        assert_eq!((next(now, now.time(), still) - now).whole_hours(), 24);
        for wrong in ["7", "24:00", "07:60", "seven", "07:00:00", ""] {
            assert!(time_of_day(wrong).unwrap_err().to_string().contains("07:00"), "{wrong}");
        }
        assert!(time_of_day("07:00").unwrap() > SystemTime::now());
    }
}
