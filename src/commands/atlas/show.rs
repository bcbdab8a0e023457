//! `diadem atlas show`: all facts about one placement.

use std::fmt::Write;
use std::process::ExitCode;

use atlas::Placement;
use atlas::conflict::Conflict;
use atlas::diagonals::DiagonalCounts;
use atlas::format::drawn;
use atlas::motion::{Motion, letter};
use atlas::portrait::{Portrait, Rank, SolutionFamily};
use atlas::rings::ShiftEdge;
use queens::Board;
use serde_json::json;

use crate::args::atlas::{Letters, ShowArgs};
use crate::output::print;
use crate::progress::during;

pub fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let placement = args.placement.counted(args.from_zero)?;
    let images = images(&placement, args)?;
    let shown = images.last().map_or(placement.clone(), |(_, image)| image.clone());
    let portrait =
        during("sorting the solutions", || Portrait::of(shown, args.setting.surface, args.setting.piece))?;
    let first = u8::from(!args.from_zero);
    let diagonals = args.diagonals.then(|| DiagonalCounts::of(&portrait.placement, portrait.setting.surface));
    if args.json {
        print(&in_json(&portrait, diagonals.as_ref(), first).to_string())?;
    } else {
        let steps =
            images.iter().map(|(step, image)| format!("{step} leads to {}\n", image.counted_from(first)));
        let diagonals = diagonals.as_ref().map(about_diagonals).unwrap_or_default();
        print(&format!("{}{}{diagonals}", steps.collect::<String>(), text(&portrait, first)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The images of the placement, step by step, each with its name.
fn images(placement: &Placement, args: &ShowArgs) -> anyhow::Result<Vec<(String, Placement)>> {
    let board = Board::new(placement.n())?;
    let Letters(symmetries) = args.apply.clone().unwrap_or_default();
    let turns =
        symmetries.into_iter().map(Motion::of).map(|motion| (letter(motion.symmetry).to_string(), motion));
    let shifts =
        args.shift.map(|(right, up)| (format!("shift {right},{up}"), Motion::shift(board, right, up)));
    let mut image = placement.clone();
    let step = |(name, motion): (String, Motion)| {
        image = motion.image(board, &image);
        (name, image.clone())
    };
    Ok(turns.chain(shifts).map(step).collect())
}

/// The facts in words, rows and columns counted from `first`.
fn text(portrait: &Portrait, first: u8) -> String {
    let Portrait { setting, placement, conflicts, .. } = portrait;
    let rows = placement.counted_from(first);
    let mut text = if conflicts.is_empty() {
        format!("{rows}: a solution of {setting}\n")
    } else {
        format!("{rows}: no solution of {setting}: {}\n", Conflict::count(conflicts))
    };
    text += &drawn(placement, setting.piece);
    if !conflicts.is_empty() {
        let pairs: Vec<_> = conflicts.iter().map(|pair| pair.counted_from(first)).collect();
        let _ = write!(text, "attacks: {}", pairs.join(", "));
    }
    if let Some(rank) = &portrait.rank {
        let _ = writeln!(text, "number {} of {}", rank.number, rank.of);
    }
    if let Some(family) = &portrait.family {
        text += &about_family(family, portrait.rank.as_ref(), first);
    }
    if let Some(rank) = portrait.rank.as_ref() {
        let _ = write!(text, "\n{}", about_ring(rank));
    }
    text
}

fn about_family(family: &SolutionFamily, rank: Option<&Rank>, first: u8) -> String {
    let SolutionFamily { fundamental, motion, members, class } = family;
    let fundamental = fundamental.counted_from(first);
    let name = rank.map_or_else(String::new, |rank| format!("B{} = ", rank.family));
    let class = class.map_or_else(String::new, |class| format!("{class}, "));
    let members = if *members == 1 { "1 member".to_owned() } else { format!("{members} members") };
    format!("family {name}{fundamental}: {class}{members}; {motion} leads here")
}

fn about_ring(rank: &Rank) -> String {
    let ring = match rank.ring {
        Some((number, members)) => format!("ring R{number} of {members} solutions"),
        None => "in no ring".to_owned(),
    };
    let shift = |edge: &ShiftEdge| format!("{} to {}", edge.shift, edge.to + 1);
    let shifts: Vec<_> = rank.shifts.iter().map(shift).collect();
    if shifts.is_empty() {
        format!("{ring}: no shift leads to a solution")
    } else {
        format!("{ring}: {}", shifts.join(", "))
    }
}

/// The counters of the diagonals, a line for each direction.
fn about_diagonals(counts: &DiagonalCounts) -> String {
    let line = |name: &str, counts: &[u8]| {
        let counts: Vec<_> = counts.iter().map(u8::to_string).collect();
        format!("\n{} {name} diagonals: {}", counts.len(), counts.join(" "))
    };
    line("rising", &counts.rising) + &line("falling", &counts.falling)
}

fn in_json(portrait: &Portrait, diagonals: Option<&DiagonalCounts>, first: u8) -> serde_json::Value {
    let Portrait { setting, placement, conflicts, family, rank } = portrait;
    let attacks: Vec<_> = conflicts.iter().map(|pair| pair.counted_from(first)).collect();
    let shifts = |rank: &Rank| -> serde_json::Map<_, _> {
        rank.shifts.iter().map(|edge| (edge.shift.to_string(), json!(edge.to + 1))).collect()
    };
    json!({
        "n": placement.n(),
        "board": setting.surface.to_string(),
        "piece": setting.piece.to_string(),
        "rows": placement.counted_from(first),
        "solution": conflicts.is_empty(),
        "attacks": attacks,
        "number": rank.as_ref().map(|rank| rank.number),
        "of": rank.as_ref().map(|rank| rank.of),
        "family": rank.as_ref().map(|rank| rank.family),
        "fundamental": family.as_ref().map(|family| family.fundamental.counted_from(first)),
        "motion": family.as_ref().map(|family| family.motion.to_string()),
        "members": family.as_ref().map(|family| family.members),
        "class": family.as_ref().map(|family| family.class),
        "ring": rank.as_ref().and_then(|rank| rank.ring).map(|(number, _)| number),
        "shifts": rank.as_ref().map(shifts),
        "diagonals": diagonals.map(|counts| json!({ "rising": counts.rising, "falling": counts.falling })),
    })
}
