//! `diadem atlas orbits`: solutions that turns, reflections and shifts carry into each other.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use atlas::Setting;
use atlas::motion::Motion;
use atlas::orbits::{OrbitCounts, SolutionOrbit, SolutionOrbits, TooMany};
use domain::counted;
use serde_json::json;

use crate::args::atlas::OrbitsArgs;
use crate::output::print;
use crate::progress::during;
use crate::stdout::stdout;

pub fn run(args: &OrbitsArgs) -> anyhow::Result<ExitCode> {
    let setting = args.setting.on(args.n);
    let motions = if args.shifts { setting.motions_of_torus() } else { setting.motions() };
    if args.totals {
        print(&totals(setting, &motions, args.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let orbits = during("sorting the solutions", || SolutionOrbits::under(setting, &motions))?;
    if args.json {
        print(&in_json(&orbits).to_string())?;
    } else {
        show(&orbits)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All solutions in their orbits.
pub fn sorted(setting: Setting) -> Result<SolutionOrbits, TooMany> {
    during("sorting the solutions", || SolutionOrbits::of(setting))
}

fn totals(setting: Setting, motions: &[Motion], as_json: bool) -> String {
    let counts = during("counting the families", || OrbitCounts::under(setting, motions));
    if as_json {
        let sizes: serde_json::Map<_, _> =
            counts.orbits.iter().map(|(size, count)| (size.to_string(), json!(count))).collect();
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
    let sizes = counts.orbits.iter().rev().map(|(size, count)| format!("\n{count:>12} of {size}"));
    let sizes: String = sizes.collect();
    let (solutions, orbits, motions) = (counts.solutions, counts.fundamental(), motions.len());
    format!("{setting}: {solutions} solutions in {} under {motions} motions{sizes}", named(orbits))
}

fn named(orbits: u64) -> String {
    if orbits == 1 { "1 family".to_owned() } else { format!("{orbits} families") }
}

/// The symmetry class of plain queens, the number of members of all.
fn described(orbits: &SolutionOrbits, orbit: &SolutionOrbit) -> String {
    let members = counted(orbit.members.len() as u64, "member");
    orbits.class(orbit).map_or_else(|| members.clone(), |class| format!("{class}, {members}"))
}

fn show(orbits: &SolutionOrbits) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout());
    let (solutions, count) = (orbits.solutions.len(), orbits.orbits.len());
    writeln!(out, "{}: {solutions} solutions in {}", orbits.setting, named(count as u64))?;
    for (number, orbit) in (1..).zip(&orbits.orbits) {
        let about = described(orbits, orbit);
        writeln!(out, "\nB{number} = {}: {about}", orbits.fundamental(orbit))?;
        for member in &orbit.members {
            let solution = &orbits.solutions[member.number - 1];
            writeln!(out, "{:>6}  {solution}  {}", member.number, member.motion)?;
        }
    }
    if count > 0 {
        writeln!(out, "\nThe family of each solution:")?;
    }
    for (number, (solution, orbit)) in (1..).zip(orbits.solutions.iter().zip(&orbits.orbit_of)) {
        writeln!(out, "{number:>6}  {solution}  B{orbit}")?;
    }
    out.flush()?;
    Ok(())
}

fn in_json(orbits: &SolutionOrbits) -> serde_json::Value {
    let orbit = |(number, orbit): (usize, &SolutionOrbit)| {
        let members: Vec<_> = orbit
            .members
            .iter()
            .map(|member| {
                let rows = &orbits.solutions[member.number - 1];
                json!({ "number": member.number, "rows": rows, "motion": member.motion.to_string() })
            })
            .collect();
        json!({ "family": number, "class": orbits.class(orbit), "members": members })
    };
    json!({
        "n": orbits.setting.board.n(),
        "board": orbits.setting.surface.to_string(),
        "piece": orbits.setting.piece.to_string(),
        "solutions": orbits.solutions.len(),
        "families": (1..).zip(&orbits.orbits).map(orbit).collect::<Vec<_>>(),
        "family_of": orbits.orbit_of,
    })
}
