//! `diadem atlas constellations`: the boundary constellations of a board up to symmetry.

mod files;

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use atlas::table;
use queens::{Board, Constellation, Orbit, SymmetryClass};
use serde_json::{Map, Value, json};

use crate::args::atlas::{Boards, Constellations, ConstellationsTask};
use crate::output::{listing, print};
use crate::stdout::stdout;

pub fn run(asked: Constellations) -> anyhow::Result<ExitCode> {
    match asked {
        Constellations::OfBoard(board, task) => of_board(board, task),
        Constellations::OfBoards { boards, json } => of_boards(boards, json),
        Constellations::ExportOfBoards(boards, folder) => {
            files::export_all(boards, &folder)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn of_boards(boards: Boards, json: bool) -> anyhow::Result<ExitCode> {
    let table = table::constellations(boards.iter());
    listing(print(&if json { table.json().to_string() } else { table.text() }))?;
    Ok(ExitCode::SUCCESS)
}

fn of_board(board: Board, task: ConstellationsTask) -> anyhow::Result<ExitCode> {
    match task {
        ConstellationsTask::Summarise => listing(print(&summary(board, &orbits(board))))?,
        ConstellationsTask::List => listing(list(board))?,
        ConstellationsTask::Json => listing(print(&in_json(board).to_string()))?,
        ConstellationsTask::Export(folder) => files::export(board, &folder)?,
        ConstellationsTask::Import(file) => files::import(board, &file)?,
        ConstellationsTask::Count(files, kernel) => return files::count(board, &files, kernel),
    }
    Ok(ExitCode::SUCCESS)
}

/// The classes that constellations can have; a single queen has all symmetries.
const CLASSES: [SymmetryClass; 4] =
    [SymmetryClass::Asymmetric, SymmetryClass::Point, SymmetryClass::Rotational, SymmetryClass::Full];

fn orbits(board: Board) -> Vec<Orbit> {
    Constellation::orbits(board).collect()
}

fn of_class(orbits: &[Orbit], class: SymmetryClass) -> usize {
    orbits.iter().filter(|orbit| orbit.class == class).count()
}

fn summary(board: Board, orbits: &[Orbit]) -> String {
    let classes = CLASSES.iter().filter(|class| **class != SymmetryClass::Full || board.n() == 1);
    let classes: Vec<_> = classes.map(|class| format!("{} {class}", of_class(orbits, *class))).collect();
    let classes = classes.join(", ");
    format!("n = {board}: {} boundary constellations up to symmetry: {classes}", orbits.len())
}

fn list(board: Board) -> anyhow::Result<()> {
    let orbits = orbits(board);
    let mut out = BufWriter::new(stdout());
    writeln!(out, "{}\ntop bottom left right class", summary(board, &orbits))?;
    for Orbit { representative: x, class } in orbits {
        writeln!(out, "{:>3} {:>6} {:>4} {:>5} {class}", x.top, x.bottom, x.left, x.right)?;
    }
    out.flush()?;
    Ok(())
}

fn in_json(board: Board) -> Value {
    let orbits = orbits(board);
    let count = |class: &SymmetryClass| (class.to_string(), json!(of_class(&orbits, *class)));
    let classes: Map<_, _> = CLASSES.iter().map(count).collect();
    json!({ "n": board.n(), "count": orbits.len(), "classes": classes, "orbits": orbits })
}
