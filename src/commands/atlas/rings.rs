//! `diadem atlas rings`: solutions that remain solutions when all queens are shifted around the board.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use atlas::Setting;
use atlas::orbits::SolutionOrbits;
use atlas::picture;
use atlas::rings::{Ring, Shift, ShiftEdge, ShiftGraph};
use serde_json::json;

use super::orbits::sorted;
use super::pictures;
use crate::args::atlas::RingsArgs;
use crate::output::print;
use crate::stdout::stdout;

pub fn run(args: &RingsArgs) -> anyhow::Result<ExitCode> {
    let shifts: &[Shift] = if args.diagonals { &Shift::ALL } else { &Shift::STRAIGHT };
    let setting = args.setting.on(args.n);
    let graph = ShiftGraph::of(setting, shifts)?;
    let orbits = sorted(setting)?;
    let rings = graph.rings();
    // Draw before printing, because the reader of the output may leave.
    let drawn = match &args.svg {
        Some(file) => {
            let pages = picture::rings(&graph, &orbits)?;
            Some(pictures::write_pages(file, pages, args.pages.as_ref(), pictures::theme(args.dark))?)
        }
        None => None,
    };
    if args.json {
        print(&in_json(&graph, &orbits, &rings).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    show(&graph, &orbits, &rings)?;
    if let Some(drawn) = drawn {
        print(&drawn)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(graph: &ShiftGraph, orbits: &SolutionOrbits, rings: &[Ring]) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout());
    let inside: BTreeSet<usize> = rings.iter().flat_map(|ring| ring.members.iter().copied()).collect();
    let (all, count) = (graph.solutions.len(), rings.len());
    writeln!(
        out,
        "{}: {} of {all} solutions in {count} rings, {} in none",
        named(graph.setting),
        inside.len(),
        all - inside.len()
    )?;
    for ring in rings {
        writeln!(out, "\nR{}: {} solutions", ring.number(), ring.members.len())?;
        ring.members.iter().try_for_each(|member| writeln!(out, "{}", line(graph, orbits, *member)))?;
    }
    let outside: Vec<usize> =
        (0..all).filter(|index| !inside.contains(index) && !graph.edges[*index].is_empty()).collect();
    if !outside.is_empty() {
        writeln!(out, "\nIn no ring, but with a shift to another solution: {}", outside.len())?;
        outside.iter().try_for_each(|member| writeln!(out, "{}", line(graph, orbits, *member)))?;
    }
    out.flush()?;
    Ok(())
}

/// The usual board is named by its size alone.
fn named(setting: Setting) -> String {
    if setting.is_plain_queens() { format!("n = {}", setting.board) } else { setting.to_string() }
}

fn line(graph: &ShiftGraph, orbits: &SolutionOrbits, index: usize) -> String {
    let edge = |edge: &ShiftEdge| format!("{} to {}", edge.shift, edge.to + 1);
    let edges: Vec<_> = graph.edges[index].iter().map(edge).collect();
    let orbit = format!("B{}", orbits.orbit_of[index]);
    format!("{:>6}  {}  {orbit:<4} {}", index + 1, graph.solutions[index], edges.join(", "))
}

fn in_json(graph: &ShiftGraph, orbits: &SolutionOrbits, rings: &[Ring]) -> serde_json::Value {
    let member = |index: &usize| {
        let edges: serde_json::Map<_, _> =
            graph.edges[*index].iter().map(|edge| (edge.shift.to_string(), json!(edge.to + 1))).collect();
        json!({
            "number": index + 1,
            "rows": graph.solutions[*index],
            "family": orbits.orbit_of[*index],
            "shifts": edges,
        })
    };
    let ring = |ring: &Ring| json!({ "ring": ring.number(), "members": ring.members.iter().map(member).collect::<Vec<_>>() });
    json!({
        "n": graph.setting.board.n(),
        "board": graph.setting.surface.to_string(),
        "piece": graph.setting.piece.to_string(),
        "solutions": graph.solutions.len(),
        "rings": rings.iter().map(ring).collect::<Vec<_>>(),
    })
}
