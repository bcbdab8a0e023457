//! `diadem atlas table`: known facts about boards, or about the solutions of one board, as a table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use atlas::table::{self, CountTooLong, TotalsRow, TotalsSource};
use records::run_directory::RunDirectory;
use records::verify::SampleSize;

use crate::args::atlas::{AskedTable, Boards, TableOutput, TableSubject, WrongAtlasCommand};
use crate::commands::verify::audited;
use crate::exit::UNSOUND;
use crate::output::{listing, verdict};
use crate::progress::during;

pub fn run(asked: AskedTable) -> anyhow::Result<ExitCode> {
    let totals = match &asked.subject {
        TableSubject::Known(boards, runs) => known(*boards, runs)?,
        TableSubject::Counted(boards) => during("counting the solutions", || counted(*boards))?,
        _ => Vec::new(),
    };
    let agrees = totals.iter().all(TotalsRow::agrees);
    let table = match asked.subject {
        TableSubject::Known(..) | TableSubject::Counted(_) => table::totals(&totals),
        TableSubject::Solutions(board) => during("sorting the solutions", || table::solutions(board))?,
        TableSubject::Greedy(boards) => {
            during("finding the smallest solutions", || table::greedy(boards.iter()))
        }
        TableSubject::Levels(boards) => during("walking the tree", || table::levels(boards.iter()))?,
        TableSubject::FirstQueen(boards) => {
            during("counting the solutions", || table::first_queen(boards.iter()))?
        }
        TableSubject::TorusAttacks(boards) => {
            during("counting the solutions", || table::torus_attacks(boards.iter()))?
        }
    };
    let text = match asked.format {
        TableOutput::Text => table.text(),
        TableOutput::Csv => table.csv()?,
        TableOutput::Json => table.json().to_string(),
        TableOutput::Oeis(sequence) => sequence.b_file(&totals),
    };
    listing(verdict(&text, (!agrees).then_some(ExitCode::from(UNSOUND))))
}

/// The published totals, or what these runs have counted.
fn known(boards: Boards, runs: &[PathBuf]) -> anyhow::Result<Vec<TotalsRow>> {
    let mut rows: Vec<_> = boards.iter().map(TotalsRow::published).collect();
    for run in runs {
        take_run(run, &mut rows).with_context(|| run.display().to_string())?;
    }
    Ok(rows)
}

/// The totals counted here. The largest board comes first, because it may be too large.
fn counted(boards: Boards) -> Result<Vec<TotalsRow>, CountTooLong> {
    let mut rows = boards.iter().rev().map(TotalsRow::counted).collect::<Result<Vec<_>, _>>()?;
    rows.reverse();
    Ok(rows)
}

/// Replaces the row of a run's board by what the run has counted, after an audit of its ledger, which must be complete.
fn take_run(run: &Path, rows: &mut [TotalsRow]) -> anyhow::Result<()> {
    let directory = RunDirectory::open(run)?;
    let board = directory.plan().board();
    let row =
        rows.iter_mut().find(|row| row.board == board).ok_or(WrongAtlasCommand::RunOfOtherBoard(board))?;
    if row.source == TotalsSource::Run {
        bail!(WrongAtlasCommand::SecondRun(board));
    }
    if !directory.run().shard.is_whole() {
        bail!(WrongAtlasCommand::PartOfRun(board));
    }
    let verification = audited(&directory, SampleSize::Units(0), None)?;
    verification.expect_complete()?;
    *row = TotalsRow::of_run(board, verification.audit().totals);
    Ok(())
}
