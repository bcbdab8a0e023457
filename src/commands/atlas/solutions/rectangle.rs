//! Positions on a rectangle, one by one.

use std::io::Write;
use std::process::ExitCode;

use atlas::format::SolutionFormat;
use atlas::picture::{self, Picture};
use atlas::rectangle::{RectanglePosition, RectangleSetting};
use domain::counted;
use serde_json::json;

use super::super::pictures;
use crate::args::atlas::{RectangleListing, RectangleOutput};
use crate::output::print;
use crate::progress::during;
use crate::stdout::stdout;

pub fn run(listing: &RectangleListing) -> anyhow::Result<ExitCode> {
    let RectangleSetting { board, surface, piece } = listing.setting;
    let most = || during("finding how many pieces fit", || listing.setting.most_pieces());
    let pieces = listing.pieces.unwrap_or_else(most);
    let positions = listing.setting.positions(pieces)?;
    if let RectangleOutput::Count = listing.output {
        let count = during("counting the positions", || positions.count());
        let (pieces, count) = (counted(pieces, &piece.to_string()), counted(count as u64, "position"));
        print(&format!("{pieces} on the {surface} {board} board: {count}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let numbered = (1..=listing.first).zip(positions);
    if let RectangleOutput::Folder(folder, format) = &listing.output {
        let name = |number| format!("position-{board}-{number:04}.{format}");
        let drawn = |(number, position)| (name(number), drawn(listing, number, &position));
        print(&pictures::write_all(folder, numbered.map(drawn))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = stdout();
    for (number, position) in numbered {
        if let RectangleOutput::Picture(format) = listing.output {
            pictures::show(&drawn(listing, number, &position), format == SolutionFormat::Png)?;
            continue;
        }
        writeln!(out, "{}", written(listing, number, &position))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn drawn(listing: &RectangleListing, number: u64, position: &RectanglePosition) -> Picture {
    let list = if position.columns() > 12 { String::new() } else { format!(": {position}") };
    let picture = picture::rectangle(position, &format!("{}, {number}{list}", listing.setting.board));
    picture.in_theme(pictures::theme(listing.dark))
}

fn written(listing: &RectangleListing, number: u64, position: &RectanglePosition) -> String {
    match listing.output {
        RectangleOutput::Json => {
            let squares = position.squares().map(|(column, row)| [column + 1, row + 1]);
            let RectangleSetting { board, surface, piece } = listing.setting;
            json!({
                "number": number,
                "board": board.to_string(),
                "surface": surface.to_string(),
                "piece": piece.to_string(),
                "squares": squares.collect::<Vec<_>>(),
            })
            .to_string()
        }
        RectangleOutput::Board => format!("{number}: {position}\n{}", position.drawn()),
        _ => format!("{number:>4}  {position}"),
    }
}
