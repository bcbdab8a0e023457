//! `diadem atlas picture`: pictures into files.

use std::ops::RangeInclusive;
use std::process::ExitCode;

use atlas::Setting;
use atlas::conflict::Conflict;
use atlas::picture::{self, MovingPicture, Picture};
use atlas::search::ColumnChoice;
use atlas::tree::level_sizes;
use queens::plan::{Plan, UnitId};
use queens::{Board, Constellation, Position};

use super::orbits::sorted;
use super::pictures;
use crate::args::atlas::{
    BoardPictureArgs, ConstellationPictureArgs, MovingOutArgs, OutArgs, PictureArgs, Subject,
    TreePictureArgs, WrongAtlasCommand,
};
use crate::args::new_plan;
use crate::output::print;

pub fn run(args: &PictureArgs) -> anyhow::Result<ExitCode> {
    match &args.subject {
        Subject::Board(args) => board(args),
        Subject::Sheet(args) => {
            let pages = picture::sheets(&sorted(args.setting.on(args.n))?)?;
            save_pages(&args.out, pages, args.pages.as_ref())
        }
        Subject::Strips(args) => {
            let pages = picture::strips(&sorted(Setting::queens(args.n))?)?;
            save_pages(&args.out, pages, args.pages.as_ref())
        }
        Subject::Constellation(args) => {
            let (position, caption) = position(args)?;
            save(&args.out, picture::constellation(&position, &caption))
        }
        Subject::Tree(args) => save(&args.out, tree(args)?),
        Subject::Search(args) => {
            let choice =
                if args.random { ColumnChoice::random(args.seed, 0) } else { ColumnChoice::Smallest };
            save_moving(&args.out, MovingPicture::search(args.n, choice)?)
        }
        Subject::Turns(args) => {
            let placement = args.placement.counted(args.from_zero)?;
            save_moving(&args.out, MovingPicture::turns(Board::new(placement.n())?, &placement))
        }
    }
}

/// Draws a placement and prints its attacks.
fn board(args: &BoardPictureArgs) -> anyhow::Result<ExitCode> {
    let placement = args.placement.counted(args.from_zero)?;
    let (surface, piece) = (args.setting.surface, args.setting.piece);
    let conflicts = Conflict::all(&placement, surface, piece);
    let title = picture::title(&placement, piece, u8::from(!args.from_zero));
    let caption =
        if conflicts.is_empty() { title } else { format!("{title}: {}", Conflict::count(&conflicts)) };
    save(&args.out, picture::board(&placement, surface, piece, &caption))?;
    if !conflicts.is_empty() {
        print(&format!("{caption}, drawn in red"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn save(out: &OutArgs, picture: Picture) -> anyhow::Result<ExitCode> {
    pictures::write(&out.out, &picture.in_theme(pictures::theme(out.dark)))?;
    print(&format!("drawn: {}", out.out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn save_pages(
    out: &OutArgs,
    pages: Vec<Picture>,
    wanted: Option<&RangeInclusive<usize>>,
) -> anyhow::Result<ExitCode> {
    print(&pictures::write_pages(&out.out, pages, wanted, pictures::theme(out.dark))?)?;
    Ok(ExitCode::SUCCESS)
}

fn save_moving(out: &MovingOutArgs, picture: MovingPicture) -> anyhow::Result<ExitCode> {
    let svg = picture.in_theme(pictures::theme(out.dark)).to_svg();
    pictures::write_bytes(&out.out, svg.as_bytes())?;
    print(&format!("drawn: {}", out.out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The position to draw, and its caption.
fn position(args: &ConstellationPictureArgs) -> anyhow::Result<(Position, String)> {
    let board = args.n;
    if let Some(unit) = args.unit {
        let plan = Plan::derive(new_plan(board, None, None))?;
        let last = plan.units().checked_sub(1).ok_or(WrongAtlasCommand::NoUnits(board))?;
        if unit > last {
            return Err(WrongAtlasCommand::NoSuchUnit { board, last, unit }.into());
        }
        return Ok((
            plan.unit(UnitId(unit)).position,
            format!("n = {board}, unit {unit} of {}", plan.units()),
        ));
    }
    let number = args.orbit.unwrap_or(0);
    let orbit = number.checked_sub(1).and_then(|before| Constellation::orbits(board).nth(before));
    let Some(orbit) = orbit else {
        let wrong = match Constellation::orbits(board).count() {
            0 => WrongAtlasCommand::NoOrbits(board),
            count => WrongAtlasCommand::NoSuchOrbit { board, count, number },
        };
        return Err(wrong.into());
    };
    let caption = format!("n = {board}, boundary constellation {number}, {}", orbit.class);
    Ok((Position::of_constellation(board, orbit.representative), caption))
}

fn tree(args: &TreePictureArgs) -> anyhow::Result<Picture> {
    let tree = |n| {
        let board = Board::new(n)?;
        Ok((board, level_sizes(board)?))
    };
    // The largest board first, because it may be too large.
    let mut trees: Vec<_> = args.sizes.clone().rev().map(tree).collect::<anyhow::Result<_>>()?;
    trees.reverse();
    Ok(picture::level_sizes(&trees)?)
}
