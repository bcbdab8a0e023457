//! `diadem atlas orbits`: solutions that turns, reflections and shifts carry into each other.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use atlas::motion::Motion;
use atlas::orbits::{OrbitCounts, SolutionOrbit, SolutionOrbits, TooMany};
use atlas::{Setting, Surface};
use domain::counted;
use serde_json::json;

use crate::args::atlas::{OrbitsArgs, WrongAtlasCommand};
use crate::output::print;
use crate::progress::during;
use crate::stdout::stdout;

pub fn run(args: &OrbitsArgs) -> anyhow::Result<ExitCode> {
    let setting = args.setting.on(args.n);
    if args.necklaces && setting.surface == Surface::Plain {
        return Err(WrongAtlasCommand::NecklacesOnBoard(setting.surface).into());
    }
    let (named, motions) = match args {
        OrbitsArgs { necklaces: true, .. } => (&NECKLACES, setting.shifts()),
        OrbitsArgs { shifts: true, .. } => (&FAMILIES, setting.motions_of_torus()),
        OrbitsArgs { .. } => (&FAMILIES, setting.motions()),
    };
    if args.totals {
        print(&totals(named, setting, &motions, args.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let orbits = during("sorting the solutions", || SolutionOrbits::under(setting, &motions))?;
    if args.json {
        print(&in_json(named, &orbits).to_string())?;
    } else {
        show(named, &orbits)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How orbits are named.
struct Named {
    one: &'static str,
    several: &'static str,
    /// The key of an orbit's number for each solution, in JSON.
    of: &'static str,
    /// Before the number of one.
    letter: char,
    motions: &'static str,
    counting: &'static str,
}

/// Orbits under all motions.
const FAMILIES: Named = Named {
    one: "family",
    several: "families",
    of: "family_of",
    letter: 'B',
    motions: "motions",
    counting: "counting the families",
};

/// Orbits under shifts alone.
const NECKLACES: Named = Named {
    one: "necklace",
    several: "necklaces",
    of: "necklace_of",
    letter: 'N',
    motions: "shifts",
    counting: "counting the necklaces",
};

impl Named {
    fn counted(&self, orbits: u64) -> String {
        if orbits == 1 { format!("1 {}", self.one) } else { format!("{orbits} {}", self.several) }
    }
}

/// All solutions in their orbits.
pub fn sorted(setting: Setting) -> Result<SolutionOrbits, TooMany> {
    during("sorting the solutions", || SolutionOrbits::of(setting))
}

fn totals(named: &Named, setting: Setting, motions: &[Motion], as_json: bool) -> String {
    let counts = during(named.counting, || OrbitCounts::under(setting, motions));
    if as_json {
        let sizes: serde_json::Map<_, _> =
            counts.orbits.iter().map(|(size, count)| (size.to_string(), json!(count))).collect();
        return json!({
            "n": setting.board.n(),
            "board": setting.surface.to_string(),
            "piece": setting.piece.to_string(),
            "solutions": counts.solutions,
            named.several: counts.fundamental(),
            "of_size": sizes,
        })
        .to_string();
    }
    let sizes = counts.orbits.iter().rev().map(|(size, count)| format!("\n{count:>12} of {size}"));
    let sizes: String = sizes.collect();
    let (solutions, orbits) = (counts.solutions, named.counted(counts.fundamental()));
    let under = format!("{} {}", motions.len(), named.motions);
    format!("{setting}: {solutions} solutions in {orbits} under {under}{sizes}")
}

/// The symmetry class of plain queens, the number of members of all.
fn described(orbits: &SolutionOrbits, orbit: &SolutionOrbit) -> String {
    let members = counted(orbit.members.len() as u64, "member");
    orbits.class(orbit).map_or_else(|| members.clone(), |class| format!("{class}, {members}"))
}

fn show(named: &Named, orbits: &SolutionOrbits) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout());
    let (solutions, count) = (orbits.solutions.len(), orbits.orbits.len());
    writeln!(out, "{}: {solutions} solutions in {}", orbits.setting, named.counted(count as u64))?;
    for (number, orbit) in (1..).zip(&orbits.orbits) {
        let about = described(orbits, orbit);
        writeln!(out, "\n{}{number} = {}: {about}", named.letter, orbits.fundamental(orbit))?;
        for member in &orbit.members {
            let solution = &orbits.solutions[member.number - 1];
            writeln!(out, "{:>6}  {solution}  {}", member.number, member.motion)?;
        }
    }
    if count > 0 {
        writeln!(out, "\nThe {} of each solution:", named.one)?;
    }
    for (number, (solution, orbit)) in (1..).zip(orbits.solutions.iter().zip(&orbits.orbit_of)) {
        writeln!(out, "{number:>6}  {solution}  {}{orbit}", named.letter)?;
    }
    out.flush()?;
    Ok(())
}

fn in_json(named: &Named, orbits: &SolutionOrbits) -> serde_json::Value {
    let orbit = |(number, orbit): (usize, &SolutionOrbit)| {
        let members: Vec<_> = orbit
            .members
            .iter()
            .map(|member| {
                let rows = &orbits.solutions[member.number - 1];
                json!({ "number": member.number, "rows": rows, "motion": member.motion.to_string() })
            })
            .collect();
        json!({ named.one: number, "class": orbits.class(orbit), "members": members })
    };
    json!({
        "n": orbits.setting.board.n(),
        "board": orbits.setting.surface.to_string(),
        "piece": orbits.setting.piece.to_string(),
        "solutions": orbits.solutions.len(),
        named.several: (1..).zip(&orbits.orbits).map(orbit).collect::<Vec<_>>(),
        named.of: orbits.orbit_of,
    })
}
