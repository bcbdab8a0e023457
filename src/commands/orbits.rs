//! `diadem orbits`: solutions that turns, reflections and shifts carry into each other.

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use atlas::Setting;
use atlas::families::{Families, Family, FamilyCounts};
use serde_json::json;

use crate::args::OrbitsArgs;
use crate::output::print;

pub fn run(args: &OrbitsArgs) -> anyhow::Result<ExitCode> {
    let setting = args.setting.on(args.n);
    if args.totals {
        print(&totals(setting, args.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let families = Families::of(setting)?;
    if args.json {
        print(&in_json(&families).to_string())?;
    } else {
        show(&families)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn totals(setting: Setting, as_json: bool) -> String {
    let counts = FamilyCounts::of(setting);
    if as_json {
        let sizes: serde_json::Map<_, _> =
            counts.families.iter().map(|(size, count)| (size.to_string(), json!(count))).collect();
        return json!({
            "n": setting.board.n(),
            "board": setting.surface.to_string(),
            "piece": setting.piece.to_string(),
            "solutions": counts.solutions,
            "families": counts.fundamental(),
            "of_size": sizes,
        })
        .to_string();
    }
    let sizes = counts.families.iter().rev().map(|(size, count)| format!("\n{count:>12} of {size}"));
    let sizes: String = sizes.collect();
    let (solutions, families, motions) = (counts.solutions, counts.fundamental(), setting.motions().len());
    format!("{setting}: {solutions} solutions in {} under {motions} motions{sizes}", named(families))
}

fn named(families: u64) -> String {
    if families == 1 { "1 family".to_owned() } else { format!("{families} families") }
}

/// The symmetry class of plain queens, the number of members of all.
fn described(families: &Families, family: &Family) -> String {
    let members = match family.members.len() {
        1 => "1 member".to_owned(),
        several => format!("{several} members"),
    };
    families.class(family).map_or_else(|| members.clone(), |class| format!("{class}, {members}"))
}

fn show(families: &Families) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let (solutions, count) = (families.solutions.len(), families.families.len());
    writeln!(out, "{}: {solutions} solutions in {}", families.setting, named(count as u64))?;
    for (number, family) in (1..).zip(&families.families) {
        let about = described(families, family);
        writeln!(out, "\nB{number} = {}: {about}", families.fundamental(family))?;
        for member in &family.members {
            let solution = &families.solutions[member.number - 1];
            writeln!(out, "{:>6}  {solution}  {}", member.number, member.motion)?;
        }
    }
    if count > 0 {
        writeln!(out, "\nThe family of each solution:")?;
    }
    for (number, (solution, family)) in (1..).zip(families.solutions.iter().zip(&families.family_of)) {
        writeln!(out, "{number:>6}  {solution}  B{family}")?;
    }
    out.flush()?;
    Ok(())
}

fn in_json(families: &Families) -> serde_json::Value {
    let family = |(number, family): (usize, &Family)| {
        let members: Vec<_> = family
            .members
            .iter()
            .map(|member| {
                let rows = &families.solutions[member.number - 1];
                json!({ "number": member.number, "rows": rows, "motion": member.motion.to_string() })
            })
            .collect();
        json!({ "family": number, "class": families.class(family), "members": members })
    };
    json!({
        "n": families.setting.board.n(),
        "board": families.setting.surface.to_string(),
        "piece": families.setting.piece.to_string(),
        "solutions": families.solutions.len(),
        "families": (1..).zip(&families.families).map(family).collect::<Vec<_>>(),
        "family_of": families.family_of,
    })
}
