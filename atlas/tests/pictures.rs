//! Pictures: each is well-formed, describes itself, and becomes pixels of the declared size.

use atlas::orbits::SolutionOrbits;
use atlas::picture::{self, MovingPicture, Picture, Theme};
use atlas::rectangle::Rectangle;
use atlas::rings::{Shift, ShiftGraph};
use atlas::search::ColumnChoice;
use atlas::study::StudySpec;
use atlas::tree::level_sizes;
use atlas::{Piece, Setting, Surface};
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
    let dark = picture.clone().in_theme(Theme::Dark);
    assert_eq!(svg.matches('<').count(), dark.to_svg().matches('<').count(), "{name}: only colours differ");
    assert!(!dark.to_svg().contains("#ffffff"), "{name}: no white paper on a dark screen");
    let sharp = picture.to_png(2.0).unwrap();
    assert!(svg.len() < 2_000_000 && sharp.len() < 2_000_000, "{name}: {} {}", svg.len(), sharp.len());
    if let Some(folder) = std::env::var_os("DIADEM_PICTURES") {
        for (theme, picture) in [("light", picture), ("dark", &dark)] {
            let file = std::path::Path::new(&folder).join(format!("{name}-{theme}"));
            std::fs::write(file.with_extension("svg"), picture.to_svg()).unwrap();
            for (scale, at) in [(1_200.0, "1200"), (400.0, "400")] {
                let png = picture.to_png(scale / width as f32).unwrap();
                std::fs::write(file.with_extension(format!("{at}.png")), png).unwrap();
            }
        }
    }
}

/// Looks at every page.
fn check_all(name: &str, pages: &[Picture], says: &[&str]) {
    for (number, page) in (1..).zip(pages) {
        check(&format!("{name}-{number}"), page, if number == 1 { says } else { &[] });
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
        &picture::board(&placement, Surface::Plain, Piece::Queen, "1: 15863724"),
        &[">a</text>", ">8</text>", "1: 15863724"],
    );
    let rooks = "4 3 2 1".parse().unwrap();
    check("board-4-rooks", &picture::board(&rooks, Surface::Plain, Piece::Rook, "rooks"), &["#rook"]);
    let large = atlas::restarts::with_restarts(60, &mut ColumnChoice::random(1, 0), 300).unwrap().solution;
    check("board-60", &picture::board(&large, Surface::Plain, Piece::Queen, "n = 60"), &[">60</text>"]);
}

#[test]
fn torus_picture_has_dashed_attacks_and_edge_arrows() {
    let placement = "2413".parse().unwrap();
    let plain = picture::board(&placement, Surface::Plain, Piece::Queen, "2413").to_svg();
    assert!(!plain.contains("Edges with the same arrows") && !plain.contains("dasharray"));
    let torus = picture::board(&placement, Surface::Torus, Piece::Queen, "2413: 2 pairs attack each other");
    check("board-torus", &torus, &["Edges with the same", "Dashed: these attack", "stroke-dasharray"]);
    let cylinder = picture::board(&"13524".parse().unwrap(), Surface::Cylinder, Piece::Queen, "13524");
    check("board-cylinder", &cylinder, &["Edges with the same"]);
    let heads = |picture: &Picture| picture.to_svg().matches("<polyline").count();
    assert_eq!((heads(&torus), heads(&cylinder)), (2 + 2 + 4, 2), "attacks, and a head or two on each edge");
}

#[test]
fn rectangles_are_drawn() {
    for (board, queens) in [("8x10", 8), ("12x5", 5)] {
        let board: Rectangle = board.parse().unwrap();
        let position = board.queens().positions(queens).unwrap().next().unwrap();
        let picture = picture::rectangle(&position, &format!("{board}: {position}"));
        assert_eq!(picture.to_svg().matches("<use").count(), usize::from(queens));
        check(&format!("rectangle-{board}"), &picture, &[">1</text>", ">a</text>"]);
    }
}

fn orbits(setting: Setting) -> SolutionOrbits {
    SolutionOrbits::of(setting).unwrap()
}

#[test]
fn the_sheet_of_n_8_shows_12_orbits() {
    let sheet = picture::sheets(&orbits(Setting::queens(board(8)))).unwrap();
    check_all(
        "sheet-8",
        &sheet,
        &["92 solutions in 12 families", "B10 · 35281746", "P, 4 members", "P, the red lens"],
    );
    let sheet = picture::sheets(&orbits(Setting::queens(board(5)))).unwrap();
    check_all("sheet-5", &sheet, &["R, 2 members", "R, the red square"]);
    let torus = Setting { surface: Surface::Torus, ..Setting::queens(board(7)) };
    check_all("sheet-7-torus", &picture::sheets(&orbits(torus)).unwrap(), &["Edges with the same"]);
}

#[test]
fn a_sheet_of_many_has_pages() {
    let sheets = picture::sheets(&orbits(Setting::queens(board(10)))).unwrap();
    assert_eq!(sheets.len(), 2);
    check_all("sheet-10", &sheets, &["page\u{a0}1\u{a0}of\u{a0}2", "B48 ·"]);
    assert!(sheets[1].to_svg().contains("B92 ·"));
    assert_eq!(picture::sheets(&orbits(Setting::queens(board(12)))).unwrap().len(), 38);
}

#[test]
fn a_sheet_of_nothing_or_of_too_much_is_refused() {
    let refusal = |n| picture::sheets(&orbits(Setting::queens(board(n)))).unwrap_err().to_string();
    assert!(refusal(3).ends_with("3 queens on the plain 3 x 3 board have no solution"));
    assert_eq!(refusal(13), "a sheet of 9233 would be unreadable; it is made for up to 2000");
}

/// The pages with the rings of a setting.
fn rings(setting: Setting, shifts: &[Shift]) -> Vec<Picture> {
    let graph = ShiftGraph::of(setting, shifts).unwrap();
    picture::rings(&graph, &orbits(setting)).unwrap()
}

#[test]
fn the_rings_of_n_8_to_11_are_drawn_each_in_a_row() {
    let says = ["48 of 92", ">R1<", ">1 · B1<"];
    check_all("rings-8", &rings(Setting::queens(board(8)), &Shift::STRAIGHT), &says);
    check_all("rings-8-diagonal", &rings(Setting::queens(board(8)), &Shift::ALL), &["both at once"]);
    for (n, count) in [(9, 20), (10, 32), (11, 28)] {
        let pages = rings(Setting::queens(board(n)), &Shift::STRAIGHT);
        check_all(&format!("rings-{n}"), &pages, &["page\u{a0}1"]);
        let names: usize = pages.iter().map(|page| page.to_svg().matches(">R").count()).sum();
        assert_eq!(names, count, "n={n}: every ring is on one page");
    }
}

#[test]
fn rings_around_the_edges_are_drawn_with_stubs() {
    for (n, surface) in [(7, Surface::Torus), (11, Surface::Cylinder), (11, Surface::Torus)] {
        let pages = rings(Setting { surface, ..Setting::queens(board(n)) }, &Shift::STRAIGHT);
        check_all(
            &format!("rings-{n}-{surface}"),
            &pages,
            &["A short arrow with a number", "Edges with the same"],
        );
    }
    let pages = rings(Setting { surface: Surface::Torus, ..Setting::queens(board(13)) }, &Shift::STRAIGHT);
    assert_eq!(pages.iter().map(|page| page.to_svg().matches(">R").count()).sum::<usize>(), 36);
    let largest = pages.iter().max_by_key(|page| page.to_svg().len()).unwrap();
    check("rings-13-torus", largest, &["169 solutions of"]);
}

#[test]
fn a_constellation_is_drawn_with_its_free_squares() {
    let constellation = Constellation { top: 2, bottom: 5, left: 4, right: 7 };
    assert!(constellation.is_valid(board(12)));
    let position = Position::of_constellation(board(12), constellation);
    check(
        "constellation-12",
        &picture::constellation(&position, "n = 12, boundary constellation 100, asymmetric"),
        &["4 queens placed"],
    );
}

#[test]
fn plots_are_drawn() {
    let spec = StudySpec { sizes: 8..=14, runs: 200, seed: 1, limit: None };
    let studies: Vec<_> = spec.studies().unwrap().collect();
    check(
        "placements",
        &picture::placements(&studies).unwrap(),
        &[">smallest first<", "Placements until", "placements, logarithmic"],
    );
    check("histograms", &picture::histograms(&studies).unwrap(), &["n = 8, median", ">runs<"]);
    let trees: Vec<_> = (8..=12).map(|n| (board(n), level_sizes(board(n)).unwrap())).collect();
    check("tree", &picture::level_sizes(&trees).unwrap(), &["n = 12", "rows with a queen"]);
}

#[test]
fn histograms_of_many_boards_stay_on_a_page() {
    let spec = StudySpec { sizes: 8..=30, runs: 5, seed: 1, limit: None };
    let studies: Vec<_> = spec.studies().unwrap().collect();
    for count in [1, 2, 3, 7, 23] {
        let picture = picture::histograms(&studies[..count]).unwrap();
        let (width, height) = size(&picture.to_png(1.0).unwrap());
        assert!(width < 2_000 && height < 2_000, "{count}: {width} x {height}");
        let ratio = f64::from(width) / f64::from(height);
        assert!((0.6..2.6).contains(&ratio), "{count}: {width} x {height}");
    }
}

#[test]
fn title_of_a_large_board_is_no_list() {
    let title = |placement: &str| picture::title(&placement.parse().unwrap(), Piece::Queen, 1);
    assert_eq!(title("15863724"), "15863724");
    let large = atlas::restarts::with_restarts(27, &mut ColumnChoice::random(1, 0), 300).unwrap().solution;
    assert_eq!(picture::title(&large, Piece::Queen, 1), "27 queens");
    let svg = MovingPicture::turns(board(27), &large).to_svg();
    assert!(svg.contains(">The images of 27 queens</text>") && svg.contains(">a, identity</text>"));
}

/// The texts between two marks.
fn between<'t>(text: &'t str, before: &'t str, after: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

/// Checks a moving picture: its still scene, and that its times ascend from 0.
fn check_moving(name: &str, picture: &MovingPicture) -> String {
    let svg = picture.to_svg();
    assert_eq!(svg.matches("<g visibility=\"visible\"").count(), 1, "{name}: one scene is seen at once");
    for times in between(&svg, "keyTimes=\"", "\"") {
        let times: Vec<f64> = times.split(';').map(|time| time.parse().unwrap()).collect();
        assert!(
            times[0].abs() < 1e-9 && times.is_sorted() && times[times.len() - 1] <= 1.0,
            "{name}: {times:?}"
        );
    }
    let still = svg.split("<g class=\"still\">").nth(1).unwrap();
    assert!(!still.contains("<animate"), "{name}: who asks for less motion sees none");
    assert!(svg.contains("@media(prefers-reduced-motion:reduce)"));
    assert!(svg.len() < 2_000_000, "{name}: {}", svg.len());
    if let Some(folder) = std::env::var_os("DIADEM_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), &svg).unwrap();
    }
    svg
}

#[test]
fn search_picture_of_8_has_113_steps_and_a_solution() {
    let svg = check_moving("search-8", &MovingPicture::search(board(8), ColumnChoice::Smallest).unwrap());
    assert_eq!(svg.matches("<g visibility").count(), 113 + 1);
    let still = between(&svg, "<g visibility=\"visible\"", "</g>").next().unwrap();
    assert!(still.contains("Found after 113 placements: 17582463"), "{still}");
    assert_eq!(still.matches("<use").count(), 8);
    assert!(svg.contains("back to row 5: column 4"));
    let refused = MovingPicture::search(board(14), ColumnChoice::Smallest).unwrap_err().to_string();
    assert!(refused.contains("up to 600"), "{refused}");
    let none = MovingPicture::search(board(3), ColumnChoice::Smallest).unwrap().to_svg();
    assert!(none.contains("No solution: all is tried after 5 placements"));
}

#[test]
fn a_solution_turns_into_its_eight_images_and_back() {
    let svg = check_moving("turns-8", &MovingPicture::turns(board(8), &"15863724".parse().unwrap()));
    for image in [
        "a, identity: 15863724",
        "d, quarter turn to the right: 82417536",
        "h, reflection in the falling diagonal: 63571428",
    ] {
        assert!(svg.contains(&format!(">{image}</text>")), "{image}");
    }
    assert_eq!(svg.matches("<animateTransform").count(), 8, "one for each queen");
    let still = svg.split("<g class=\"still\">").nth(1).unwrap();
    assert_eq!(still.matches("<use").count(), 8);
    assert!(still.contains(">a, identity: 15863724</text>"), "{still}");
    for path in between(&svg, "<animateTransform", "/>") {
        let places: Vec<_> = between(path, "values=\"", "\"").next().unwrap().split(';').collect();
        assert_eq!((places.len(), places[0]), (2 * 8 + 1, places[16]), "and back");
    }
}

#[test]
fn strips_of_all_families_are_drawn() {
    for (n, pages, says) in
        [(8, 1, [">9-k<", ">B12<"]), (9, 4, [">10-n<", ">B1<"]), (1, 1, [">2-n<", "1 queen on the plain"])]
    {
        let strips = picture::strips(&SolutionOrbits::of(Setting::queens(board(n))).unwrap()).unwrap();
        assert!(strips.len() <= pages, "n = {n}: {} pages", strips.len());
        check_all(&format!("strips-{n}"), &strips, &says);
    }
    let none = SolutionOrbits::of(Setting::queens(board(3))).unwrap();
    assert!(picture::strips(&none).unwrap_err().to_string().contains("nothing to draw"));
}
