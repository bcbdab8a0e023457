//! The results of double-checking, in words and as JSON.

use domain::{Assurance, Owner, counted};
use records::CONFIDENCE;
use serde_json::{Value, json};

/// One line about the checks of `done` counted units out of `units`. A run is proven only after all units are counted.
pub fn sentence(assurance: &Assurance, done: u64, units: u64) -> String {
    let Assurance { on_two_owners, on_two_machines, on_one_machine, conflicts, .. } = assurance;
    let share = |units: u64| percent(100.0 * units as f64 / done.max(1) as f64);
    let ones = if done < units { "the units so far" } else { "units" };
    let kinds = match assurance.on_two_kinds {
        0 => String::new(),
        kinds if units > 0 && kinds == units => "each on two kinds of hardware, ".to_owned(),
        kinds => format!("{} % on two kinds of hardware, ", share(kinds)),
    };
    let others = format!("{kinds}{}", others(*conflicts, assurance, done == units));
    if units > 0 && *on_two_owners == units {
        return format!("proven: every unit was counted twice independently, by different owners, {others}");
    }
    if units > 0 && *on_two_machines == units {
        return format!("every unit was counted twice, on different machines of one owner, {others}");
    }
    let levels = [
        (*on_two_owners, "by different owners"),
        (*on_two_machines, "on different machines"),
        (*on_one_machine, "on one machine in different ways"),
    ];
    let levels: Vec<_> = levels.into_iter().filter(|(units, _)| *units > 0).collect();
    let twice = match levels.split_first() {
        None => "no unit counted twice".to_owned(),
        Some(((units, how), rest)) => rest
            .iter()
            .fold(format!("{} % of {ones} counted twice {how}", share(*units)), |said, (units, how)| {
                format!("{said}, {} % {how}", share(*units))
            }),
    };
    let are_all = units > 0 && on_two_owners + on_two_machines + on_one_machine == units;
    let is_alone = *on_one_machine > 0;
    let bound = match assurance.wrong_at_most {
        Some(share) => {
            let alike = if is_alone { ", unless a machine errs twice alike" } else { "" };
            format!(", at most {} % wrong with 95 % confidence{alike}", percent_above(100.0 * share))
        }
        None if is_alone && are_all => ", right unless a machine errs twice alike".to_owned(),
        None => String::new(),
    };
    format!("{twice}, {others}{bound}")
}

fn others(conflicts: u64, assurance: &Assurance, is_complete: bool) -> String {
    let mut said = counted(conflicts, "conflict");
    // No other machine has counted a unit and so could have decided.
    let is_alone = assurance.on_two_owners + assurance.on_two_machines == 0 && assurance.on_one_machine > 0;
    if conflicts > 0 && is_complete && is_alone {
        said.push_str(", settled by the machine that had them");
    }
    if !assurance.expelled.is_empty() {
        let owners: Vec<_> =
            assurance.expelled.iter().map(|owner| Owner::new(owner).typed().to_owned()).collect();
        said.push_str(&format!(", not believed: {}", some_of(&owners)));
    }
    if !assurance.quarantined.is_empty() {
        said.push_str(&format!(", quarantined: {}", some_of(&assurance.quarantined)));
    }
    said
}

/// The first names, and the number of further names, to keep the sentence readable.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The content of the sentence, as JSON.
pub fn value(assurance: &Assurance, units: u64) -> Value {
    json!({
        "counted_twice_by_two_owners": assurance.on_two_owners,
        "counted_twice_on_two_machines": assurance.on_two_machines,
        "counted_twice_on_one_machine": assurance.on_one_machine,
        "counted_twice_on_two_kinds_of_hardware": assurance.on_two_kinds,
        "to_be_checked": assurance.pending,
        "sampled": assurance.sampled,
        "conflicts": assurance.conflicts,
        "quarantined": assurance.quarantined,
        "expelled": assurance.expelled,
        "wrong_at_most": assurance.wrong_at_most,
        "confidence": CONFIDENCE,
        "proven": units > 0 && assurance.on_two_owners == units,
    })
}

/// Digits after the point that show two figures of a small percentage, and one otherwise.
fn digits(percent: f64) -> usize {
    if percent <= 0.0 || percent >= 0.1 { 1 } else { (1.0 - percent.log10().floor()).min(12.0) as usize }
}

fn percent(percent: f64) -> String {
    format!("{percent:.*}", digits(percent))
}

/// Percent with two figures where they are few, rounded up: it is a bound.
pub fn percent_above(percent: f64) -> String {
    let digits = digits(percent);
    let scale = 10f64.powf(digits as f64);
    format!("{:.digits$}", (percent * scale).ceil() / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assurance_is_proven_only_if_all_counted_twice() {
        let assurance = Assurance {
            on_two_machines: 1000,
            sampled: 1000,
            wrong_at_most: Some(0.002_991),
            ..Assurance::default()
        };
        assert_eq!(
            sentence(&assurance, 100_000, 100_000),
            "1.0 % of units counted twice on different machines, 0 conflicts, at most 0.3 % wrong with 95 % confidence"
        );
        let alone = Assurance { on_two_machines: 0, on_one_machine: 33, ..assurance.clone() };
        assert!(sentence(&alone, 3300, 3300).contains("1.0 % of units counted twice on one machine"));
        let in_two_ways = Assurance { on_one_machine: 1000, ..Assurance::default() };
        assert_eq!(
            sentence(&in_two_ways, 1000, 1000),
            "100.0 % of units counted twice on one machine in different ways, 0 conflicts, right unless a machine errs twice alike"
        );
        assert!(
            sentence(&in_two_ways, 1000, 2000).ends_with("in different ways, 0 conflicts"),
            "more is to come"
        );
        let erring = Assurance { conflicts: 106, ..in_two_ways };
        let settled = "106 conflicts, settled by the machine that had them";
        assert!(sentence(&erring, 1000, 1000).contains(settled));
        let helped = Assurance { on_one_machine: 999, on_two_machines: 1, ..erring };
        assert!(!sentence(&helped, 1000, 1000).contains("settled"), "another one may have");
        let of_one_owner = sentence(&assurance, 1000, 1000);
        assert!(of_one_owner.starts_with("every unit was counted twice, on different machines of one owner"));
        let all = Assurance { on_two_owners: 1000, on_two_machines: 0, ..assurance.clone() };
        assert!(sentence(&all, 1000, 1000).starts_with("proven: every unit was counted twice independently"));
        let kinds = |on_two_kinds| sentence(&Assurance { on_two_kinds, ..all.clone() }, 1000, 1000);
        assert!(kinds(250).ends_with("owners, 25.0 % on two kinds of hardware, 0 conflicts"));
        assert!(kinds(1000).ends_with("owners, each on two kinds of hardware, 0 conflicts"));
        let more_to_come = sentence(&all, 1000, 1001);
        assert!(more_to_come.starts_with("100.0 % of the units so far counted twice by different owners"));
        assert!(sentence(&Assurance::default(), 10, 10).starts_with("no unit counted twice, 0 conflicts"));
        let found = Assurance { conflicts: 1, quarantined: vec!["rack-3".into()], ..assurance };
        assert!(sentence(&found, 100_000, 100_000).contains("1 conflict, quarantined: rack-3, at most"));
        let many = (0..1000).map(|k| format!("rack-{k}")).collect();
        let found = Assurance { expelled: many, ..found };
        assert!(
            sentence(&found, 100_000, 100_000).contains("rack-7 and 992 more, quarantined: rack-3, at most")
        );
        assert_eq!((percent(0.0012), percent_above(0.001_21)), ("0.0012".into(), "0.0013".into()));
    }
}
