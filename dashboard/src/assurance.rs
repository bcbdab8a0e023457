//! The results of double-checking, in words and as JSON.

use domain::{Assurance, OwnCheckStatus, Owner, RunStatus, counted};
use queens::{Board, Totals, known};
use records::CONFIDENCE;
use serde_json::{Value, json};

/// Fewer random checks give no bound worth reading: sixty are the first that leave less than 5 %.
const FEWEST_FOR_BOUND: u64 = 60;

/// One line about the checks of `done` counted units out of `units`. A run is proven only after all units are counted.
/// If the totals are the published totals, the line has no bound: it would say less.
pub fn sentence(assurance: &Assurance, done: u64, units: u64, is_published: bool) -> String {
    let Assurance { on_two_owners, on_two_machines, on_one_machine, conflicts, .. } = assurance;
    let kinds = match assurance.on_two_kinds {
        0 => String::new(),
        kinds if units > 0 && kinds == units => ", each on two kinds of hardware".to_owned(),
        kinds => format!(", {kinds} of them on two kinds of hardware"),
    };
    let programs = match assurance.by_external {
        0 => String::new(),
        external if units > 0 && external == units => ", each also by another program".to_owned(),
        external => {
            let share = 100.0 * external as f64 / done.max(1) as f64;
            format!(", {external} of them ({share:.1} % of all) also by another program")
        }
    };
    let own = assurance.own_checks.as_ref().map_or_else(String::new, |own| of_own_checks(own, is_published));
    let others = format!("{kinds}{programs}; {}{own}", others(*conflicts, assurance, done == units));
    if units > 0 && *on_two_owners == units {
        return format!("proven: every unit was counted twice independently, by different owners{others}");
    }
    if units > 0 && *on_two_machines == units {
        return format!("every unit was counted twice, on different machines of one owner{others}");
    }
    let levels = [
        (*on_two_owners, "by different owners"),
        (*on_two_machines, "on different machines"),
        (*on_one_machine, "on one machine in different ways"),
    ];
    let levels: Vec<_> = levels.into_iter().filter(|(units, _)| *units > 0).collect();
    let all = on_two_owners + on_two_machines + on_one_machine;
    let of = match (done < units, all == done) {
        (true, _) => format!("{all} of the {} so far", counted(done, "unit")),
        (false, true) => format!("all {}", counted(done, "unit")),
        (false, false) => format!("{all} of {}", counted(done, "unit")),
    };
    let twice = match &levels[..] {
        [] => "no unit was counted twice".to_owned(),
        [(_, how)] => format!("{of} were counted twice {how}"),
        levels => {
            let levels = levels.iter().map(|(units, how)| format!("{units} {how}")).collect::<Vec<_>>();
            format!("{of} were counted twice, {}", levels.join(", "))
        }
    };
    let is_alone = *on_one_machine > 0;
    let bound = match assurance.wrong_at_most {
        _ if is_published => String::new(),
        Some(share) if assurance.sampled >= FEWEST_FOR_BOUND => {
            let unless = if is_alone { ", unless a machine makes the same mistake twice" } else { "" };
            let share = percent_above(100.0 * share);
            format!("; with 95 % confidence at most {share} % of units are wrong{unless}")
        }
        None if is_alone && units > 0 && all == units => {
            "; right unless a machine makes the same mistake twice".to_owned()
        }
        _ => String::new(),
    };
    format!("{twice}{others}{bound}")
}

/// The units that the operator's machines counted once more.
fn of_own_checks(own: &OwnCheckStatus, is_published: bool) -> String {
    let whom = Owner::new(&own.owner);
    let pending = if own.pending == 0 { String::new() } else { format!(", {} to come", own.pending) };
    let bound = own.wrong_at_most.filter(|_| !is_published && own.made >= FEWEST_FOR_BOUND).map_or_else(
        String::new,
        |share| {
            let share = percent_above(100.0 * share);
            format!(
                ": with 95 % confidence at most {share} % of units are wrong, whatever other owners agree on"
            )
        },
    );
    let made = counted(own.made, "own check");
    format!("; {made} of random units by {}{pending}{bound}", whom.typed())
}

/// The same of a run in progress or at its end.
pub fn of_status(status: &RunStatus) -> String {
    let is_published = are_published(status.board, &status.totals);
    sentence(&status.assurance, status.done, status.units, is_published)
}

/// True if these are the published totals of the board.
pub fn are_published(board: Board, totals: &Totals) -> bool {
    known::totals(board).as_ref() == Some(totals)
}

fn others(conflicts: u64, assurance: &Assurance, is_complete: bool) -> String {
    let mut said = if conflicts == 0 { "no difference".to_owned() } else { counted(conflicts, "difference") };
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
        "counted_twice_by_another_program": assurance.by_external,
        "to_be_checked": assurance.pending,
        "sampled": assurance.sampled,
        "conflicts": assurance.conflicts,
        "quarantined": assurance.quarantined,
        "expelled": assurance.expelled,
        "wrong_at_most": assurance.wrong_at_most,
        "own_checks": assurance.own_checks.as_ref().map(|own| json!({
            "share": own.share,
            "owner": own.owner,
            "made": own.made,
            "to_be_made": own.pending,
            "wrong_at_most": own.wrong_at_most,
        })),
        "confidence": CONFIDENCE,
        "proven": units > 0 && assurance.on_two_owners == units,
    })
}

/// Digits after the point that show two figures of a small percentage, and one otherwise.
fn digits(percent: f64) -> usize {
    if percent <= 0.0 || percent >= 0.1 { 1 } else { (1.0 - percent.log10().floor()).min(12.0) as usize }
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
        let sentence = |assurance: &Assurance, done, units| sentence(assurance, done, units, false);
        let assurance = Assurance {
            on_two_machines: 1000,
            sampled: 1000,
            wrong_at_most: Some(0.002_991),
            ..Assurance::default()
        };
        assert_eq!(
            sentence(&assurance, 100_000, 100_000),
            "1000 of 100000 units were counted twice on different machines; no difference; with 95 % confidence at most \
             0.3 % of units are wrong"
        );
        let alone = Assurance { on_two_machines: 0, on_one_machine: 33, ..assurance.clone() };
        assert!(
            sentence(&alone, 3300, 3300).starts_with("33 of 3300 units were counted twice on one machine")
        );
        let in_two_ways = Assurance { on_one_machine: 1000, ..Assurance::default() };
        assert_eq!(
            sentence(&in_two_ways, 1000, 1000),
            "all 1000 units were counted twice on one machine in different ways; no difference; right unless a machine \
             makes the same mistake twice"
        );
        assert!(sentence(&in_two_ways, 1000, 2000).ends_with("in different ways; no difference"));
        let erring = Assurance { conflicts: 106, ..in_two_ways };
        let settled = "106 differences, settled by the machine that had them";
        assert!(sentence(&erring, 1000, 1000).contains(settled));
        let helped = Assurance { on_one_machine: 999, on_two_machines: 1, ..erring };
        let helped = sentence(&helped, 1000, 1000);
        assert!(!helped.contains("settled"), "another one may have");
        assert!(helped.contains("twice, 1 on different machines, 999 on one machine in different ways; 106"));
        let of_one_owner = sentence(&assurance, 1000, 1000);
        assert!(of_one_owner.starts_with("every unit was counted twice, on different machines of one owner"));
        let all = Assurance { on_two_owners: 1000, on_two_machines: 0, ..assurance.clone() };
        assert!(sentence(&all, 1000, 1000).starts_with("proven: every unit was counted twice independently"));
        let kinds = |on_two_kinds| sentence(&Assurance { on_two_kinds, ..all.clone() }, 1000, 1000);
        assert!(kinds(250).ends_with("owners, 250 of them on two kinds of hardware; no difference"));
        assert!(kinds(1000).ends_with("owners, each on two kinds of hardware; no difference"));
        let programs = Assurance { by_external: 250, on_two_kinds: 1000, ..all.clone() };
        let programs = sentence(&programs, 1000, 1000);
        assert!(programs.ends_with("each on two kinds of hardware, 250 of them (25.0 % of all) also by another program; no difference"));
        let more_to_come = sentence(&all, 1000, 1001);
        assert!(
            more_to_come.starts_with("1000 of the 1000 units so far were counted twice by different owners")
        );
        assert_eq!(sentence(&Assurance::default(), 10, 10), "no unit was counted twice; no difference");
        let found = Assurance { conflicts: 1, quarantined: vec!["rack-3".into()], ..assurance };
        assert!(sentence(&found, 100_000, 100_000).contains("1 difference, quarantined: rack-3; with 95 %"));
        let many = (0..1000).map(|k| format!("rack-{k}")).collect();
        let found = Assurance { expelled: many, ..found };
        assert!(
            sentence(&found, 100_000, 100_000).contains("rack-7 and 992 more, quarantined: rack-3; with")
        );
        assert_eq!(percent_above(0.001_21), "0.0013");
    }

    #[test]
    fn own_checks_bound_what_owners_may_agree_on() {
        let own = |made, wrong_at_most| {
            let (share, owner) = ("1%".to_owned(), "ada".to_owned());
            let own_checks = Some(OwnCheckStatus { share, owner, made, pending: 0, wrong_at_most });
            Assurance { on_two_owners: 100_000, own_checks, ..Assurance::default() }
        };
        assert_eq!(
            sentence(&own(1000, Some(0.002_991)), 100_000, 100_000, false),
            "proven: every unit was counted twice independently, by different owners; no difference; 1000 own checks of \
             random units by ada: with 95 % confidence at most 0.3 % of units are wrong, whatever other owners agree on"
        );
        assert!(
            sentence(&own(10, Some(0.3)), 100_000, 100_000, false)
                .ends_with("10 own checks of random units by ada")
        );
        let mut begun = own(10, None);
        begun.own_checks.as_mut().unwrap().pending = 3;
        assert!(sentence(&begun, 100_000, 100_000, true).ends_with("by ada, 3 to come"));
    }

    #[test]
    fn bound_needs_sixty_checks_and_an_unknown_value() {
        let sampled = |sampled, is_published| {
            let wrong_at_most = Some(0.04);
            let assurance = Assurance { on_one_machine: 78, sampled, wrong_at_most, ..Assurance::default() };
            sentence(&assurance, 760, 760, is_published)
        };
        let short = "78 of 760 units were counted twice on one machine in different ways; no difference";
        assert_eq!([sampled(59, false), sampled(60, true)], [short, short]);
        assert!(sampled(60, false).starts_with(&format!("{short}; with 95 % confidence at most 4.0 %")));
    }
}
