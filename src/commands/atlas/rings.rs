//! `diadem rings`: solutions that remain solutions when all queens are shifted around the board.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use atlas::Setting;
use atlas::families::Families;
use atlas::picture;
use atlas::rings::{Ring, Shift, ShiftGraph, Step};
use serde_json::json;

use super::pictures;
use crate::args::atlas::RingsArgs;
use crate::output::print;

pub fn run(args: &RingsArgs) -> anyhow::Result<ExitCode> {
    let shifts: &[Shift] = if args.diagonals { &Shift::ALL } else { &Shift::STRAIGHT };
    let graph = ShiftGraph::of(args.n, shifts)?;
    let families = Families::of(Setting::queens(args.n))?;
    let rings = graph.rings();
    if args.json {
        print(&in_json(&graph, &families, &rings).to_string())?;
    } else {
        show(&graph, &families, &rings)?;
    }
    if let Some(file) = &args.svg {
        pictures::write(file, &picture::rings(&graph, &families)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(graph: &ShiftGraph, families: &Families, rings: &[Ring]) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    let inside: BTreeSet<usize> = rings.iter().flat_map(|ring| ring.members.iter().copied()).collect();
    let (all, count) = (graph.solutions.len(), rings.len());
    writeln!(
        out,
        "n = {}: {} of {all} solutions in {count} rings, {} in none",
        graph.board,
        inside.len(),
        all - inside.len()
    )?;
    for ring in rings {
        writeln!(out, "\nR{}: {} solutions", ring.number(), ring.members.len())?;
        ring.members.iter().try_for_each(|member| writeln!(out, "{}", line(graph, families, *member)))?;
    }
    let outside: Vec<usize> =
        (0..all).filter(|index| !inside.contains(index) && !graph.steps[*index].is_empty()).collect();
    if !outside.is_empty() {
        writeln!(out, "\nIn no ring, but with a shift to another solution: {}", outside.len())?;
        outside.iter().try_for_each(|member| writeln!(out, "{}", line(graph, families, *member)))?;
    }
    out.flush()?;
    Ok(())
}

fn line(graph: &ShiftGraph, families: &Families, index: usize) -> String {
    let step = |step: &Step| format!("{} to {}", step.shift, step.to + 1);
    let steps: Vec<_> = graph.steps[index].iter().map(step).collect();
    let family = format!("B{}", families.family_of[index]);
    format!("{:>6}  {}  {family:<4} {}", index + 1, graph.solutions[index], steps.join(", "))
}

fn in_json(graph: &ShiftGraph, families: &Families, rings: &[Ring]) -> serde_json::Value {
    let member = |index: &usize| {
        let steps: serde_json::Map<_, _> =
            graph.steps[*index].iter().map(|step| (step.shift.to_string(), json!(step.to + 1))).collect();
        json!({
            "number": index + 1,
            "rows": graph.solutions[*index],
            "family": families.family_of[*index],
            "shifts": steps,
        })
    };
    let ring = |ring: &Ring| json!({ "ring": ring.number(), "members": ring.members.iter().map(member).collect::<Vec<_>>() });
    json!({
        "n": graph.board.n(),
        "solutions": graph.solutions.len(),
        "rings": rings.iter().map(ring).collect::<Vec<_>>(),
    })
}
