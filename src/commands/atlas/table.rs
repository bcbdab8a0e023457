//! `diadem table`: what is known of boards, or of the solutions of one, as a table.

use std::process::ExitCode;

use atlas::table::{self, TotalsRow};

use crate::args::atlas::{AskedTable, TableOutput, TableSubject};
use crate::output::print;
use crate::waiting::during;

pub fn run(asked: AskedTable) -> anyhow::Result<ExitCode> {
    let mut agrees = true;
    let table = match asked.subject {
        TableSubject::Published(boards) => {
            table::totals(&boards.iter().map(TotalsRow::published).collect::<Vec<_>>())
        }
        TableSubject::Counted(boards) => {
            let counted = || boards.iter().map(TotalsRow::counted).collect::<Result<Vec<_>, _>>();
            let rows = during("counting the solutions", counted)?;
            agrees = rows.iter().all(TotalsRow::agrees);
            table::totals(&rows)
        }
        TableSubject::Solutions(board) => during("sorting the solutions", || table::solutions(board))?,
        TableSubject::Levels(boards) => during("walking the tree", || table::levels(boards.iter()))?,
    };
    print(&match asked.format {
        TableOutput::Text => table.text(),
        TableOutput::Csv => table.csv()?,
        TableOutput::Json => table.json().to_string(),
    })?;
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
