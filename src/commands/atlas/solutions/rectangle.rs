//! Positions on a rectangle, one by one.

use std::io::{Write, stdout};
use std::process::ExitCode;

use atlas::rectangle::RectanglePosition;
use coordinator::counted;
use serde_json::json;

use crate::args::atlas::{RectangleListing, RectangleOutput};
use crate::output::print;
use crate::waiting::during;

pub fn run(listing: &RectangleListing) -> anyhow::Result<ExitCode> {
    let board = listing.board;
    let queens = listing.queens.unwrap_or_else(|| board.most_queens());
    let positions = board.positions(queens)?;
    if let RectangleOutput::Count = listing.output {
        let count = during("counting the positions", || positions.count());
        let (queens, count) = (counted(queens, "queen"), counted(count as u64, "position"));
        print(&format!("{queens} on the plain {board} board: {count}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = stdout().lock();
    for (number, position) in (1..=listing.first).zip(positions) {
        writeln!(out, "{}", written(listing, number, &position))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn written(listing: &RectangleListing, number: u64, position: &RectanglePosition) -> String {
    match listing.output {
        RectangleOutput::Json => {
            let squares = position.squares().map(|(column, row)| [column + 1, row + 1]);
            json!({ "number": number, "board": listing.board.to_string(), "queens": squares.collect::<Vec<_>>() })
                .to_string()
        }
        RectangleOutput::Board => format!("{number}: {position}\n{}", position.drawn()),
        RectangleOutput::Digits | RectangleOutput::Count => format!("{number:>4}  {position}"),
    }
}
