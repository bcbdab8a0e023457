//! Pictures: each is well-formed, says what it shows, and becomes pixels of the size it claims.

use atlas::orbits::SolutionOrbits;
use atlas::picture::{self, Picture};
use atlas::rings::{Shift, ShiftGraph};
use atlas::study::StudySpec;
use atlas::tree::level_sizes;
use atlas::{Piece, Setting};
use queens::{Board, Constellation, Position};

/// Width and height from the head of a PNG file.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Turns it into pixels; set `DIADEM_PICTURES` to a folder to look at what the tests draw.
fn check(name: &str, picture: &Picture, says: &[&str]) {
    let (svg, png) = (picture.to_svg(), picture.to_png(1.0).unwrap());
    let (width, height) = size(&png);
    assert!((100..6_000).contains(&width) && (100..6_000).contains(&height), "{name}: {width} x {height}");
    for text in says {
        assert!(svg.contains(text), "{name} says \"{text}\"");
    }
    if let Some(folder) = std::env::var_os("DIADEM_PICTURES") {
        let file = std::path::Path::new(&folder).join(name);
        std::fs::write(file.with_extension("svg"), svg).unwrap();
        std::fs::write(file.with_extension("png"), png).unwrap();
    }
}

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

#[test]
fn a_solution_is_drawn_with_its_coordinates() {
    let placement = "15863724".parse().unwrap();
    check(
        "board-8",
        &picture::board(&placement, Piece::Queen, "1: 15863724"),
        &[">a</text>", ">8</text>", "1: 15863724"],
    );
    let rooks = "4 3 2 1".parse().unwrap();
    check("board-4-rooks", &picture::board(&rooks, Piece::Rook, "rooks"), &["#rook"]);
    let large = atlas::restarts::with_restarts(60, &mut atlas::search::ColumnChoice::random(1, 0), 300)
        .unwrap()
        .solution;
    check("board-60", &picture::board(&large, Piece::Queen, "n = 60"), &[">60</text>"]);
}

#[test]
fn the_sheet_of_n_8_shows_12_orbits() {
    let orbits = SolutionOrbits::of(Setting::queens(board(8))).unwrap();
    let sheet = picture::sheet(&orbits).unwrap();
    check("sheet-8", &sheet, &["92 solutions in 12 families", "B10 · 35281746", "P, half turn, 4 members"]);
    let orbits = SolutionOrbits::of(Setting::queens(board(5))).unwrap();
    check("sheet-5", &picture::sheet(&orbits).unwrap(), &["R, quarter turn, 2 members"]);
    let orbits = SolutionOrbits::of(Setting::queens(board(10))).unwrap();
    check("sheet-10", &picture::sheet(&orbits).unwrap(), &["92 families"]);
}

#[test]
fn a_sheet_of_nothing_or_of_too_much_is_refused() {
    let refusal = |n| {
        let orbits = SolutionOrbits::of(Setting::queens(board(n))).unwrap();
        picture::sheet(&orbits).unwrap_err().to_string()
    };
    assert!(refusal(3).ends_with("3 queens on the plain 3 x 3 board have no solution"));
    assert_eq!(refusal(12), "a sheet of 1787 would be unreadable; it is made for up to 400");
}

#[test]
fn the_rings_of_n_8_are_drawn() {
    let orbits = SolutionOrbits::of(Setting::queens(board(8))).unwrap();
    let says = ["48 of 92 solutions in 8 rings", ">R1<", ">R22<", ">1 · B1<"];
    let graph = ShiftGraph::of(Setting::queens(board(8)), &Shift::STRAIGHT).unwrap();
    check("rings-8", &picture::rings(&graph, &orbits).unwrap(), &says);
    let graph = ShiftGraph::of(Setting::queens(board(8)), &Shift::ALL).unwrap();
    check("rings-8-diagonal", &picture::rings(&graph, &orbits).unwrap(), &says);
    let orbits = SolutionOrbits::of(Setting::queens(board(9))).unwrap();
    let graph = ShiftGraph::of(Setting::queens(board(9)), &Shift::STRAIGHT).unwrap();
    check("rings-9", &picture::rings(&graph, &orbits).unwrap(), &["rings"]);
}

#[test]
fn a_constellation_is_drawn_with_its_free_squares() {
    let constellation = Constellation { top: 2, bottom: 5, left: 4, right: 7 };
    assert!(constellation.is_valid(board(12)));
    let position = Position::of_constellation(board(12), constellation);
    check("constellation-12", &picture::constellation(&position, "n = 12, asymmetric"), &["4 queens placed"]);
}

#[test]
fn plots_are_drawn() {
    let spec = StudySpec { sizes: 8..=14, runs: 200, seed: 1, limit: None };
    let studies: Vec<_> = spec.studies().unwrap().collect();
    check("placements", &picture::placements(&studies).unwrap(), &["smallest first", "Placements until"]);
    check("histograms", &picture::histograms(&studies).unwrap(), &["n = 8, median"]);
    let trees: Vec<_> = (8..=12).map(|n| (board(n), level_sizes(board(n)).unwrap())).collect();
    check("tree", &picture::level_sizes(&trees).unwrap(), &["n = 12", "rows"]);
}
