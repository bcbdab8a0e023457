//! What owners gave, as text and as JSON.

use dashboard::words;
use domain::{Credit, Credits, Earned};
use serde_json::{Value, json};

use crate::terminal::filled;

/// The most owners to print.
const OWNERS: usize = 10;

/// The owners with the most work, and a line for the others. Empty where no owner has a name.
pub fn lines(credits: &Credits) -> Vec<String> {
    if !credits.has_names() {
        return Vec::new();
    }
    let (listed, others) = credits.split(OWNERS);
    let mut lines = vec![
        format!("{:<14} {:>30}  {:>30}", "what owners", "today (UTC):", "in all:"),
        format!("{:<14}{1}{1}", "gave", format_args!(" {:>8} {:>12} {:>9}", "units", "solutions", "core-h")),
    ];
    lines.extend(listed.iter().map(|(owner, earned)| line(&owner.shown(), earned)));
    let more = credits.owners_total.saturating_sub(listed.len() as u64);
    if more > 0 {
        lines.push(line(&format!("{more} others"), &others));
    }
    lines
}

fn line(name: &str, earned: &Earned) -> String {
    let columns = |Credit { units, solutions, work }: Credit| {
        let (units, solutions) = (words::amount(units.into()), words::amount(solutions));
        format!(" {units:>8} {solutions:>12} {:>9}", words::core_hours(work))
    };
    format!("{}{}{}", filled(name, 14), columns(earned.today()), columns(earned.total))
}

/// The credits as JSON.
pub fn value(credits: &Credits) -> Value {
    let owner = |(owner, earned): &(domain::Owner, Earned)| {
        let mut value = earned_value(credits.today, earned);
        value["owner"] = json!(owner.name());
        value
    };
    json!({
        "owners_total": credits.owners_total,
        "owners": credits.owners.iter().map(owner).collect::<Vec<_>>(),
        "all": earned_value(credits.today, &credits.all),
    })
}

fn earned_value(today: u64, earned: &Earned) -> Value {
    let day = |(age, credit): (u64, &Credit)| {
        let mut value = credit_value(credit);
        value["day"] = json!(words::calendar_day(today.saturating_sub(age)));
        value
    };
    let days: Vec<_> = (0..).zip(earned.days.iter().rev()).map(day).collect();
    json!({ "total": credit_value(&earned.total), "days": days })
}

/// The solutions as decimal digits: they may exceed 64 bits.
fn credit_value(credit: &Credit) -> Value {
    json!({ "units": credit.units, "solutions": credit.solutions.to_string(), "work": credit.work })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Owner;

    fn credits(names: &[&str]) -> Credits {
        let credit =
            |units: i64| Credit { units, solutions: i128::from(units) << 40, work: units as f64 * 1e5 };
        let of = |index: usize| {
            let mut earned = Earned { total: credit(500 - index.cast_signed() as i64), ..Earned::default() };
            earned.days[6] = credit(if index == 1 { -2 } else { 3 });
            earned
        };
        let owners = names.iter().enumerate().map(|(index, name)| (Owner::new(name), of(index)));
        Credits::new(20_786, owners.collect(), 100)
    }

    #[test]
    fn ten_owners_and_sum_of_others_are_printed() {
        let names: Vec<String> = (0..13).map(|k| format!("owner-{k:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lines = lines(&credits(&names));
        assert_eq!(lines.len(), 13);
        assert_eq!(lines[0], "what owners                      today (UTC):                         in all:");
        assert_eq!(
            lines[1],
            "gave              units    solutions    core-h    units    solutions    core-h"
        );
        assert_eq!(
            lines[3],
            "owner-01             -2 -2.199 × 10¹²     -55.6      499 5.487 × 10¹⁴    13,861"
        );
        assert!(lines[12].starts_with("3 others"), "{}", lines[12]);
        assert!(lines[12].contains("1,467"), "{}", lines[12]);
    }

    #[test]
    fn credits_appear_once_an_owner_has_a_name() {
        assert_eq!(lines(&credits(&[""])), Vec::<String>::new());
        assert!(lines(&credits(&["ada", ""]))[3].starts_with("(no name) "));
    }

    #[test]
    fn credits_as_json_have_dates_and_raw_numbers() {
        let json = value(&credits(&["ada", ""]));
        assert_eq!((&json["owners_total"], &json["owners"][1]["owner"]), (&json!(2), &json!("")));
        let ada = &json["owners"][0];
        assert_eq!(ada["total"], json!({"units": 500, "solutions": "549755813888000", "work": 5e7}));
        assert_eq!(
            ada["days"][0],
            json!({"day": "2026-11-29", "units": 3, "solutions": "3298534883328", "work": 3e5})
        );
        assert_eq!((&ada["days"][6]["day"], &ada["days"][6]["units"]), (&json!("2026-11-23"), &json!(0)));
        assert_eq!(json["all"]["days"][0]["units"], 1);
    }
}
