//! `diadem constellations`: the boundary constellations of a board up to symmetry.

mod files;

use std::io::Write;
use std::process::ExitCode;

use queens::{Constellation, Orbit, SymmetryClass};
use serde_json::json;

use crate::args::ConstellationsArgs;
use crate::output::print;

pub fn run(args: &ConstellationsArgs) -> anyhow::Result<ExitCode> {
    let board = args.n;
    if let Some(folder) = &args.form.export {
        return files::export(board, folder);
    }
    if let Some(file) = &args.form.import {
        return files::import(board, file);
    }
    if !args.form.count.is_empty() {
        return files::count(board, &args.form.count, &args.kernel);
    }
    let orbits: Vec<Orbit> = Constellation::orbits(board).collect();
    let of_class = |class| orbits.iter().filter(|orbit| orbit.class == class).count();
    let classes =
        [SymmetryClass::Asymmetric, SymmetryClass::Point, SymmetryClass::Rotational, SymmetryClass::Full];
    if args.form.json {
        let counts: serde_json::Map<_, _> =
            classes.iter().map(|class| (class.to_string(), json!(of_class(*class)))).collect();
        print(
            &json!({ "n": board.n(), "count": orbits.len(), "classes": counts, "orbits": orbits })
                .to_string(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let counted: Vec<_> = classes.iter().filter(|c| **c != SymmetryClass::Full || board.n() == 1).collect();
    let counted: Vec<_> = counted.iter().map(|class| format!("{} {class}", of_class(**class))).collect();
    print(&format!(
        "n = {board}: {} boundary constellations up to symmetry: {}",
        orbits.len(),
        counted.join(", ")
    ))?;
    if args.form.list {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        writeln!(out, "top bottom left right class")?;
        for Orbit { representative: x, class } in orbits {
            writeln!(out, "{:>3} {:>6} {:>4} {:>5} {class}", x.top, x.bottom, x.left, x.right)?;
        }
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}
