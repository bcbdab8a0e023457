//! Numbers and times in the words of people.

use std::time::{Duration, UNIX_EPOCH};

use domain::TimeLeft;

/// Units of time by their seconds, the largest first.
const UNITS: [(f64, &str); 7] = [
    (365.25 * 86400.0, "year"),
    (30.44 * 86400.0, "month"),
    (7.0 * 86400.0, "week"),
    (86400.0, "day"),
    (3600.0, "hour"),
    (60.0, "minute"),
    (1.0, "second"),
];

/// Minimum multiple of a time unit at which this unit is used.
const MIN_OF_UNIT: f64 = 2.0;

/// The time unit for this number of seconds.
fn unit(seconds: f64) -> (f64, &'static str) {
    let fits = UNITS.into_iter().find(|(length, _)| seconds >= MIN_OF_UNIT * length);
    fits.unwrap_or(UNITS[UNITS.len() - 1])
}

fn named(amount: f64, name: &str) -> String {
    let amount = amount.round() as u64;
    format!("{} {name}{}", grouped(amount.into()), if amount == 1 { "" } else { "s" })
}

/// A time, in the unit that fits it best: `5 weeks`.
pub fn span(time: Duration) -> String {
    let (length, name) = unit(time.as_secs_f64());
    named(time.as_secs_f64() / length, name)
}

/// A time that is expected, as its range: `about 3 to 5 weeks`.
pub fn range(left: &TimeLeft) -> String {
    let [low, high] = [left.low, left.high].map(|time| time.as_secs_f64());
    if high < 60.0 {
        return "less than a minute".into();
    }
    let (length, name) = unit(left.expected.as_secs_f64().max(60.0 * MIN_OF_UNIT));
    let [low, high] = [(low / length).round(), (high / length).round()];
    if low >= high {
        format!("about {}", named(high.max(1.0), name))
    } else if low < 1.0 {
        format!("up to {}", named(high, name))
    } else {
        format!("about {} to {}", grouped(low as u128), named(high, name))
    }
}

/// A whole number with commas: `14,772,512`.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage that says 100 only of everything, and 0 only of nothing.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if share <= 0.0 => "0 %".into(),
        _ if share >= 1.0 => "100 %".into(),
        ..0.01 => "less than 0.01 %".into(),
        99.99.. => "99.99 %".into(),
        _ => format!("{percent:.2} %"),
    }
}

/// A number with three figures that count: `0.0123`, `4.56`, `1,230`.
pub fn figures(number: f64) -> String {
    match number {
        100.0.. => grouped(number.round() as u128),
        ..=0.0 => "0".into(),
        _ => {
            let digits = (2.0 - number.log10().floor()).clamp(0.0, 8.0) as usize;
            format!("{number:.digits$}")
        }
    }
}

/// A number in powers of ten: `2.561 × 10^18`, with the power raised.
pub fn scientific(number: f64) -> String {
    let power = number.log10().floor();
    let raised: String = (power as i64).to_string().chars().map(raised).collect();
    format!("{:.3} × 10{raised}", number / 10f64.powf(power))
}

/// A whole number that may be negative: with commas up to nine figures, then in powers of ten.
pub fn amount(number: i128) -> String {
    let size = match number.unsigned_abs() {
        size @ ..1_000_000_000 => grouped(size),
        size => scientific(size as f64),
    };
    if number < 0 { format!("-{size}") } else { size }
}

/// The unit that fits this many seconds of one reference core, in seconds, and its name.
pub fn unit_of_work(seconds: f64) -> (f64, &'static str) {
    match seconds / 3600.0 {
        ..1.0 => (1.0, "core-seconds"),
        1.0..100.0 => (3600.0, "core-hours"),
        100.0..87660.0 => (86400.0, "core-days"),
        _ => (8766.0 * 3600.0, "core-years"),
    }
}

/// A time of one core in seconds, as hours: with three figures or five decimals, with commas up to six figures, then in
/// powers of ten.
pub fn core_hours(seconds: f64) -> String {
    let hours = (seconds / 3600.0).abs();
    let size = match hours {
        ..0.000_005 => return "0".into(),
        ..0.001 => format!("{hours:.5}"),
        ..999_999.5 => figures(hours),
        _ => scientific(hours),
    };
    if seconds < 0.0 { format!("-{size}") } else { size }
}

fn raised(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize])
}

/// A time in seconds since 1970 as RFC 3339 has it, in UTC.
fn rfc3339(at: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(at.min(LATEST));
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The end of the year 9999, in seconds since 1970. A later time comes from a wrong clock.
pub const LATEST: u64 = 253_402_300_799;

/// A time for people, in UTC: `2026-11-22 09:14 UTC`.
pub fn date(at: u64) -> String {
    format!("{} {} UTC", &rfc3339(at)[..10], moment(at))
}

/// The hour and minute of a time, in UTC.
pub fn moment(at: u64) -> String {
    rfc3339(at)[11..16].to_owned()
}

/// The month and day of a time, in UTC.
pub fn day(at: u64) -> String {
    rfc3339(at)[5..10].to_owned()
}

/// A day in days since 1970 (UTC): `2026-11-22`.
pub fn calendar_day(day: u64) -> String {
    rfc3339(day.saturating_mul(86_400))[..10].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(low: u64, expected: u64, high: u64) -> String {
        let [low, expected, high] = [low, expected, high].map(Duration::from_secs);
        range(&TimeLeft { expected, low, high })
    }

    #[test]
    fn expected_times_are_rounded_by_their_uncertainty() {
        const WEEK: u64 = 7 * 86400;
        assert_eq!(left(3 * WEEK, 4 * WEEK, 5 * WEEK), "about 3 to 5 weeks");
        assert_eq!(left(4 * WEEK, 4 * WEEK + 9000, 4 * WEEK + 86400), "about 4 weeks");
        assert_eq!(left(0, 40, 59), "less than a minute");
        assert_eq!(left(10, 100, 400), "up to 7 minutes");
        assert_eq!(left(100, 130, 150), "about 2 to 3 minutes");
        assert_eq!(left(3600, 3600, 3600), "about 60 minutes");
        assert_eq!(left(700_000_000_000, 717_000_000_000, 735_000_000_000), "about 22,182 to 23,291 years");
    }

    #[test]
    fn numbers_have_the_figures_that_count() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(14_772_512), "14,772,512");
        assert_eq!(grouped(234), "234");
        assert_eq!(["0", "0.0123", "4.56", "45.6", "1,230"], [0.0, 0.0123, 4.56, 45.6, 1230.0].map(figures));
        assert_eq!(scientific(2.561e18), "2.561 × 10¹⁸");
        assert_eq!(span(Duration::from_secs(1)), "1 second");
        assert_eq!(span(Duration::from_hours(50)), "2 days");
    }

    #[test]
    fn times_are_shown_in_utc() {
        assert_eq!(date(1_790_000_000), "2026-09-21 14:13 UTC");
        assert_eq!((moment(1_790_000_000), day(1_790_000_000)), ("14:13".into(), "09-21".into()));
        assert_eq!(date(u64::MAX), "9999-12-31 23:59 UTC");
    }

    #[test]
    fn credits_are_short_and_may_be_negative() {
        assert_eq!(
            [0, -3, 999_999_999, -1_000_000_000, i128::MAX].map(amount),
            ["0", "-3", "999,999,999", "-1.000 × 10⁹", "1.701 × 10³⁸"]
        );
        assert_eq!(
            [-1e-9, 1.0, 36.0, -36_000.0, 3.6e9, -7.2e12].map(core_hours),
            ["0", "0.00028", "0.0100", "-10.0", "1.000 × 10⁶", "-2.000 × 10⁹"]
        );
        assert_eq!(calendar_day(20_786), "2026-11-29");
    }

    #[test]
    fn only_exact_0_and_1_are_0_and_100_percent() {
        assert_eq!(
            [0.0, 1e-9, 0.1234, 0.999_999, 1.0].map(percent),
            ["0 %", "less than 0.01 %", "12.34 %", "99.99 %", "100 %"]
        );
    }
}
