//! The commands about single solutions: their output, pictures and errors.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::{Value, json};
use zip::ZipArchive;

use crate::harness::{Completed, Folder, until};

fn lines(outcome: &Completed) -> Vec<&str> {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout.lines().collect()
}

#[test]
fn solutions_are_listed_in_order_by_every_method() {
    let folder = Folder::new();
    let search = folder.run("atlas solutions 8");
    assert_eq!(lines(&search).len(), 92);
    assert_eq!(lines(&search)[0], "   1  15863724");
    assert_eq!(lines(&search)[91], "  92  84136275");
    for method in ["permutations", "rows", "iterative"] {
        assert_eq!(folder.run(&format!("atlas solutions 8 --method {method}")).stdout, search.stdout);
    }
    assert_eq!(lines(&folder.run("atlas solutions 10 --first 1")), ["   1  1,3,6,8,10,5,9,2,4,7"]);
    assert_eq!(lines(&folder.run("atlas solutions 8 --from 35281746 --first 1")), ["   1  35281746"]);
}

#[test]
fn other_boards_and_pieces_are_counted() {
    let folder = Folder::new();
    for (n, count) in [(7, 28), (8, 0), (11, 88), (13, 4524)] {
        let outcome = folder.run(&format!("atlas solutions {n} --board torus --count"));
        assert!(outcome.stdout.ends_with(&format!(": {count} solutions\n")), "{outcome:?}");
    }
    let outcome = folder.run("atlas orbits 10 --piece superqueen --totals");
    assert!(outcome.stdout.contains("4 solutions in 1 family under 8 motions"), "{outcome:?}");
}

#[test]
fn closed_pipe_ends_the_list_silently() {
    let folder = Folder::new();
    for args in ["atlas solutions 14", "atlas orbits 12", "atlas rings 12", "atlas study 20..30"] {
        let mut child = folder.diadem(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn orbits_and_rings_of_n_8_are_the_classic_ones() {
    let folder = Folder::new();
    let orbits = folder.run("atlas orbits 8");
    assert!(orbits.stdout.contains("\nB10 = 35281746: point, 4 members\n"), "{orbits:?}");
    assert_eq!(lines(&orbits).last(), Some(&"    92  84136275  B1"), "every solution with its orbit");
    let rings = folder.run("atlas rings 8 --svg rings.svg");
    assert_eq!(lines(&rings)[0], "n = 8: 48 of 92 solutions in 8 rings, 44 in none");
    for ring in [1, 4, 5, 6, 10, 17, 19, 22] {
        assert!(rings.stdout.contains(&format!("\nR{ring}: 6 solutions\n")), "{rings:?}");
    }
    assert_eq!(lines(&rings)[lines(&rings).len() - 2..], ["drawn: rings-2.svg", "drawn: rings-3.svg"]);
    assert_eq!(lines(&folder.run("atlas rings 8 --json --svg again.svg")).len(), 1, "nothing but JSON");
    for page in ["rings.svg", "rings-2.svg", "rings-3.svg", "again-3.svg"] {
        assert!(fs::read_to_string(folder.path().join(page)).unwrap().starts_with("<svg "));
    }
}

#[test]
fn constellations_are_exported_imported_and_counted() {
    let folder = Folder::new();
    let exported = folder.run("atlas constellations 12 --export files");
    assert_eq!(lines(&exported).len(), 2);
    let (a, s) = ("files/constellations-12-asymmetric.pp", "files/constellations-12-symmetric.pp");
    assert_eq!(lines(&folder.run(&format!("atlas constellations 12 --import {a}"))).len(), 1);
    let counted = folder.run(&format!("atlas constellations 12 --count {a} {s} --threads 1"));
    assert_eq!(
        lines(&counted)[..2],
        ["Q(12) = 14200: agrees with the published value", "A = 1765, P = 18, R = 4"]
    );
    let bytes = fs::read(folder.path().join(s)).unwrap();
    fs::write(folder.path().join("cut"), &bytes[..100]).unwrap();
    folder.run("atlas constellations 12 --import cut").refused(&["cut", "record 7"]);
    folder.run(&format!("atlas constellations 11 --count {s}")).refused(&["record 1", "n = 12", "n = 11"]);
    folder.run("atlas constellations 31 --export files").refused(&["31", "4 to 30"]);
}

#[test]
fn files_of_any_records_and_queens_are_counted() {
    let folder = Folder::new();
    folder.run("atlas constellations 12 --export .");
    let (a, s) = ("constellations-12-asymmetric.pp", "constellations-12-symmetric.pp");
    let bytes = fs::read(folder.path().join(a)).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let count = |args: &str| {
        let counted = folder.run(&format!("atlas constellations {args} --threads 2"));
        assert_eq!(counted.code, Some(0), "{counted:?}");
        let (number, words) = counted.stdout.split_once(" completions: ").unwrap();
        assert!(words.starts_with("these are not all constellations of n = "), "{counted:?}");
        number.parse::<u64>().unwrap()
    };
    // The file in two pieces, and its first piece twice.
    let half = (0..100).fold(0, |at, _| at + usize::from(bytes[at]));
    write("first", &bytes[..half]);
    write("second", &bytes[half..]);
    let first = count("12 --count first");
    let both = count("12 --count first second");
    assert_eq!(both, first + count("12 --count second"));
    assert_eq!(count("12 --count first second first"), both + first);
    let search = count(&format!("12 --count first second {s} --method search"));
    assert_eq!(search, count(&format!("12 --count first second {s} --method meet")));
    // No queens at all; one; two that attack each other; 20 in one corner.
    let record = |queens: &[[u8; 2]]| {
        let head = [8 + 2 * queens.len() as u8, 0, b'P', b'P', 1, 8, queens.len() as u8, 0];
        [&head, queens.as_flattened()].concat()
    };
    let records = [record(&[]), record(&[[0, 0]]), record(&[[0, 0], [1, 1]]), record(&[[0, 0]; 20])].concat();
    write("any", &records);
    assert_eq!(count("8 --count any"), 92 + 4 + 4);
    write("cut", &records[..records.len() - 1]);
    folder
        .run("atlas constellations 8 --count any cut")
        .refused(&["cut is no constellation file", "record 4"]);
    write("empty", b"");
    folder.run("atlas constellations 8 --count empty").refused(&["empty", "the file is empty"]);
    folder
        .run(&format!("atlas constellations 12 --count {a} {a}"))
        .refused(&["both files hold the asymmetric"]);
}

#[test]
fn constellations_of_boards_fill_folder_and_zip() {
    let folder = Folder::new();
    let exported = folder.run("atlas constellations 4..6 --export files");
    assert_eq!(lines(&exported).len(), 6 + 1);
    let mut archive =
        ZipArchive::new(File::open(folder.path().join("files/constellations-04-06.zip")).unwrap()).unwrap();
    assert_eq!(archive.len(), 6);
    for index in 0..archive.len() {
        let (mut file, mut packed) = (archive.by_index(index).unwrap(), Vec::new());
        file.read_to_end(&mut packed).unwrap();
        assert_eq!(packed, fs::read(folder.path().join("files").join(&*file.name().unwrap())).unwrap());
    }
    folder.run("atlas constellations 29..31 --export more").refused(&["4 to 30, not 31"]);
    assert!(!folder.path().join("more").exists());
}

#[test]
fn study_and_pictures_are_written_to_given_paths() {
    let folder = Folder::new();
    let study = "atlas study 8..10 --runs 50 --seed 3 --csv study.csv --runs-csv runs.csv --plots plots";
    let table = folder.run(study);
    assert_eq!(lines(&table).len(), 6 + 3 + 2 * 6 + 9 + 7 + 1, "{table:?}");
    let last = "The longest tenth has fewer than ten ended runs, or equal ones: n = 8, 9, 10";
    assert_eq!(lines(&table).last(), Some(&last), "{table:?}");
    assert!(lines(&table)[7].starts_with("By the geometric law 1 / chance"), "{table:?}");
    assert!(lines(&table).iter().all(|line| line.len() <= 80), "{table:?}");
    assert!(lines(&table)[6 + 3 + 2 * 6..][..4].concat().contains("min-conflicts"), "{table:?}");
    assert_eq!(folder.run(study).stdout, folder.run(study).stdout, "it follows from the seed");
    for option in ["--csv", "--runs-csv"] {
        // Refused before the study begins.
        folder
            .run(&format!("atlas study 8 --runs 5 {option} nowhere/study.csv"))
            .refused(&["cannot write nowhere/study.csv"]);
    }
    let runs = fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 3 * 50, "a line for each run");
    folder.run("atlas picture sheet 8 --out sheet.png");
    folder.run("atlas picture constellation 12 --orbit 100 --out c.svg");
    folder.run("atlas picture tree 4..8 --out tree.png");
    folder.run("atlas solutions 8 --first 2 --format png --out boards");
    for file in
        ["study.csv", "plots/placements.png", "plots/histograms.svg", "sheet.png", "c.svg", "tree.png"]
    {
        assert!(fs::metadata(folder.path().join(file)).unwrap().len() > 300, "{file}");
    }
    assert_eq!(fs::read_dir(folder.path().join("boards")).unwrap().count(), 2);
    assert_eq!(lines(&folder.run("atlas picture strips 8 --out strips.svg")), ["drawn: strips.svg"]);
    let strips = fs::read_to_string(folder.path().join("strips.svg")).unwrap();
    assert_eq!(strips.matches(">9-n<").count(), 12, "a strip for each family");
    folder.run("atlas picture search 8 --out search.svg --dark");
    folder.run("atlas picture turns 15863724 --out turns.svg");
    for file in ["search.svg", "turns.svg"] {
        assert!(fs::read_to_string(folder.path().join(file)).unwrap().contains("<animate"), "{file}");
    }
    folder.run("atlas picture search 8 --out search.png").refused(&["search.png", ".svg"]);
    folder.run("atlas picture search 14 --out search.svg").refused(&["up to 600"]);
    folder.run("atlas picture turns 1123 --out turns.svg").refused(&["4 is missing"]);
    let trace = folder.run("atlas study 7 --trace");
    assert!(lines(&trace)[9].starts_with("a solution after 9 placements"), "{trace:?}");
}

#[test]
fn impossible_atlas_requests_are_refused() {
    let folder = Folder::new();
    folder.run("atlas solutions 0").refused(&["0", "from 1 to 255"]);
    folder.run("atlas solutions 65").refused(&["65", "up to 32", "up to 64", "--random"]);
    folder.run("atlas solutions 40 --board torus").refused(&["40", "up to 32"]);
    folder.run("atlas solutions 40 --tried").refused(&["--tried", "up to 32, not 40"]);
    folder.run("atlas solutions 8 --from 15863722").refused(&["15863722", "4 is missing"]);
    folder.run("atlas solutions 8 --from 1234").refused(&["4 numbers", "8 columns"]);
    folder.run("atlas solutions 8 --board klein").refused(&["klein", "torus"]);
    folder.run("atlas solutions 8 --first 0").refused(&["0", "from 1 to"]);
    folder.run("atlas solutions 8 --format svg").refused(&["--out DIR", "--first 1"]);
    folder.run("atlas solutions 13 --method permutations").refused(&["up to 12", "13"]);
    folder.run("atlas orbits 16").refused(&["more than 1000000", "--totals"]);
    // Before anything is searched: the first solution of such a board alone takes longer than anybody waits.
    for command in ["atlas orbits 32", "atlas rings 31", "atlas rings 30 --svg rings.svg"] {
        folder.run(command).refused(&["more than 1000000"]);
    }
    folder.run("atlas study 3..8").refused(&["from 4 to 200", "3..8"]);
    folder.run("atlas study 8..").refused(&["8.."]);
    folder.run("atlas solutions 8 --dark").refused(&["--dark", "pictures"]);
    folder.run("atlas rings 8 --dark").refused(&["--svg"]);
    folder.run("atlas picture sheet 8 --out sheet.gif").refused(&["sheet.gif", ".svg or .png"]);
    folder.run("atlas picture sheet 3 --out sheet.svg").refused(&["no solution"]);
    folder.run("atlas picture shet 8").refused(&["shet", "'sheet'", "(see diadem atlas picture --help)"]);
    for n in ["0", "33", "x", "1.5"] {
        folder.run(&format!("atlas constellations {n}")).refused(&[n, "from 1 to 32"]);
    }
}

#[test]
fn tables_show_published_and_counted_totals() {
    let folder = Folder::new();
    let table = folder.run("atlas table 4..19");
    assert_eq!(lines(&table).len(), 17);
    let row: Vec<_> = lines(&table)[16].split_whitespace().collect();
    assert_eq!(row[..6], ["19", "621001708", "11046", "0", "621012754", "4968057848"]);
    let published = folder.run("atlas table 1..10 --csv").stdout.replace("\"OEIS A000170, A002562\"", "");
    let counted =
        folder.run("atlas table 1..10 --csv --count").stdout.replace("\"counted here, as published\"", "");
    assert_eq!(published, counted);
    let solutions = folder.run("atlas table 8 --solutions --csv");
    assert_eq!(lines(&solutions)[14], "14,35281746,B10,a,point,79,");
    let beyond = folder.run("atlas table 27..32 --json");
    assert_eq!(lines(&beyond).len(), 1);
    assert_eq!((&beyond.json()[1]["r"], &beyond.json()[1]["total"]), (&json!("16448"), &Value::Null));
    let sequence = folder.run("atlas table 1..6 --oeis A000170");
    assert_eq!(
        sequence.stdout,
        "# A000170, offset 0: 1, 1, 0, 0, 2, 10, 4\n0 1\n1 1\n2 0\n3 0\n4 2\n5 10\n6 4\n"
    );
    folder.run("atlas table 8 --oeis A000001").refused(&["A000001", "A002562"]);
    folder.run("atlas table 8 --levels --oeis A000170").refused(&["--levels"]);
    let levels = folder.run("atlas table 8 --levels --csv");
    assert_eq!(lines(&levels)[9], "8,8,92");
    assert_eq!(lines(&folder.run("atlas constellations 4..30")).len(), 28);
    folder.run("atlas table 4..40").refused(&["40", "from 1 to 32"]);
    folder.run("atlas table 9..8").refused(&["9..8", "4..19"]);
    folder.run("atlas table 8..9 --solutions").refused(&["one board", "8..9"]);
    folder.run("atlas table 17 --count").refused(&["up to 16, not 17", "diadem count"]);
    folder.run("atlas table 17 --levels").refused(&["17"]);
    folder.run("atlas table 15 --solutions").refused(&["more than 1000000"]);
    folder.run("atlas constellations 4..12 --list").refused(&["one board", "4..12"]);
}

#[test]
fn table_includes_totals_of_finished_runs() {
    let folder = Folder::new();
    for run in ["count 10 --run ten", "count 11 --run eleven", "count 10 --run part --shard 1/2"] {
        assert_eq!(folder.run(run).code, Some(0), "{run}");
    }
    let table = folder.run("atlas table 9..11 --run ten --run eleven");
    let ends: Vec<_> = lines(&table)[1..].iter().map(|line| line.split("  ").last().unwrap()).collect();
    assert_eq!(ends, ["OEIS A000170, A002562", "this run, as published", "this run, as published"]);
    let of_runs = folder.run("atlas table 10..11 --run eleven --run ten --csv").stdout;
    let published = folder.run("atlas table 10..11 --csv").stdout;
    let values =
        |csv: &str| csv.lines().map(|line| line.split(",\"").next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(values(&of_runs), values(&published));
    folder.run("merge half part");
    for (command, words, code) in [
        ("atlas table 9..11 --run part", &["part", "a part of the plan", "diadem merge"][..], 2),
        ("atlas table 8..9 --run ten", &["ten", "n = 10", "none of the boards"], 2),
        ("atlas table 10 --run ten --run ten", &["another run of n = 10"], 2),
        ("atlas table 10 --run ten --count", &["--count"], 2),
        ("atlas table 10 --run nowhere", &["nowhere"], 1),
        ("atlas table 1..20 --run half", &["half", "sound but not complete"], 3),
    ] {
        let refused = folder.run(command);
        refused.refused(words);
        assert_eq!(refused.code, Some(code), "{refused:?}");
    }
}

#[test]
fn show_prints_number_family_class_ring_and_images() {
    let folder = Folder::new();
    let shown = folder.run("atlas show 35281746");
    let about = lines(&shown);
    assert_eq!(about[0], "35281746: a solution of 8 queens on the plain 8 x 8 board");
    assert_eq!(
        about[10..],
        [
            "number 14 of 92",
            "family B10 = 35281746: point, 4 members; a leads here",
            "in no ring: no shift leads to a solution"
        ]
    );
    assert_eq!(folder.run("atlas show 8:6,7:4,6:7,5:1,4:8,3:2,2:5,1:3").stdout, shown.stdout);
    let from_zero = folder.run("atlas show 2,4,1,7,0,6,3,5 --from-zero");
    assert_eq!(from_zero.stdout, shown.stdout.replace("35281746", "24170635"));
    let applied = folder.run("atlas show 35281746 --apply dhv");
    assert!(applied.stdout.starts_with("d leads to 46827135\nh leads to "), "{applied:?}");
    assert_eq!(
        lines(&applied)[10 + 3],
        "number 14 of 92",
        "d, then h, then b is the identity up to the half turn"
    );
    let shifted = folder.run("atlas show 15863724 --shift -7,0");
    assert!(shifted.stdout.starts_with("shift -7,0 leads to 41586372\n41586372: a solution"), "{shifted:?}");
    let large = "29,1,6,36,9,30,8,19,35,24,26,20,38,11,13,4,7,5,10,32,27,17,40,18,34,39,37,28,31,15,23,25,22,16,12,2,33,3,14,21";
    folder.run(&format!("atlas show {large}")).refused(&["from 1 to 32"]);
    folder.run("atlas show 35281746 --apply dx").refused(&["dx", "a to h"]);
    folder.run("atlas show 35281746 --shift 2").refused(&["2,3"]);
    folder.run("atlas show 0,4,7,5,2,6,1,3").refused(&["\"0\""]);
    folder.run("atlas show 1:5,1:3").refused(&["none is in 2"]);
}

#[test]
fn show_draws_and_lists_attacks() {
    let folder = Folder::new();
    let shown = folder.run("atlas show 1234");
    assert!(lines(&shown)[0].ends_with("4 queens on the plain 4 x 4 board: 6 pairs attack each other"));
    assert!(shown.stdout.ends_with("attacks: 1/1-2/2, 1/1-3/3, 1/1-4/4, 2/2-3/3, 2/2-4/4, 3/3-4/4\n"));
    let drawn = folder.run("atlas picture board 1234 --out attacks.svg");
    assert_eq!(lines(&drawn)[1], "1234: 6 pairs attack each other, drawn in red");
    assert_eq!(lines(&folder.run("atlas picture board 2413 --out none.svg")).len(), 1);
    let red = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap().matches("b8322b").count();
    assert_eq!((red("attacks.svg"), red("none.svg")), (1 + 6, 0), "the squares and six lines");
    assert!(fs::read_to_string(folder.path().join("attacks.svg")).unwrap().contains("6 pairs attack"));
    let around = folder.run("atlas picture board 2413 --board torus --out around.svg --dark");
    assert_eq!(lines(&around)[1], "2413: 2 pairs attack each other, drawn in red");
}

#[test]
fn show_counts_queens_on_each_diagonal() {
    let folder = Folder::new();
    let shown = folder.run("atlas show 15863724 --diagonals");
    assert_eq!(
        lines(&shown)[lines(&shown).len() - 2..],
        [
            "15 rising diagonals: 0 0 1 0 1 1 1 1 0 1 0 1 1 0 0",
            "15 falling diagonals: 1 0 0 0 0 1 1 1 1 1 1 1 0 0 0"
        ]
    );
    let around = folder.run("atlas show 1234 --diagonals --board torus --json");
    assert!(around.stdout.contains(r#""diagonals":{"rising":[4,0,0,0],"falling":[2,0,2,0]}"#), "{around:?}");
}

#[test]
fn tried_prints_permutations_before_each_solution() {
    let folder = Folder::new();
    let tried = folder.run("atlas solutions 8 --method permutations --tried");
    assert_eq!(lines(&tried).len(), 92);
    assert_eq!(folder.run("atlas solutions 8 --tried").stdout, tried.stdout);
    let first = folder.run("atlas solutions 4 --tried");
    assert_eq!(lines(&first), ["   1  2413  11 permutations", "   2  3142  14 permutations"]);
    let from_one = folder.run("atlas solutions 8 --from 4,2,7,5,1,8,6,3 --tried --first 1");
    assert_eq!(lines(&from_one), ["   1  42751863  1 permutation"]);
    let from_zero = folder.run("atlas solutions 8 --from 3,1,6,4,0,7,5,2 --from-zero --tried --first 1");
    assert_eq!(lines(&from_zero), ["   1  31640752  1 permutation"]);
    folder.run("atlas solutions 8 --from 0,1,2,3,4,5,6,7").refused(&["\"0\""]);
    let listed = folder.run("atlas solutions 8 --from-zero --first 1 --format json");
    assert!(listed.stdout.contains("\"rows\":[0,4,7,5,2,6,1,3]"), "{listed:?}");
    assert!(folder.run("atlas show 0123 --from-zero").stdout.contains("attacks: 0/0-1/1, "));
}

#[test]
fn rectangles_take_the_largest_number_of_queens() {
    let folder = Folder::new();
    let counted = folder.run("atlas solutions 8x8 --count");
    assert_eq!(lines(&counted), ["8 queens on the plain 8x8 board: 92 positions"]);
    let (high, wide) =
        (folder.run("atlas solutions 8x10 --count"), folder.run("atlas solutions 10x8 --count"));
    assert!(high.stdout.starts_with("8 queens on the plain 8x10 board: "), "{high:?}");
    assert_eq!(high.stdout.replace("8x10", "10x8"), wide.stdout);
    assert_eq!(
        lines(&folder.run("atlas solutions 8x10")).len(),
        lines(&folder.run("atlas solutions 10x8")).len()
    );
    assert_eq!(lines(&folder.run("atlas solutions 3x3 --first 1")), ["   1  13-"]);
    assert_eq!(
        lines(&folder.run("atlas solutions 8x8 --queens 1 --count"))[0],
        "1 queen on the plain 8x8 board: 64 positions"
    );
    let json = folder.run("atlas solutions 4x3 --first 1 --format json");
    let expected =
        r#"{"number":1,"board":"4x3","surface":"plain","piece":"queen","squares":[[1,1],[2,3],[4,2]]}"#;
    assert_eq!(lines(&json), [expected]);
    folder.run("atlas solutions 8x10 --first 3 --format svg --out positions");
    assert_eq!(fs::read_dir(folder.path().join("positions")).unwrap().count(), 3);
    let drawn = fs::read_to_string(folder.path().join("positions/position-8x10-0002.svg")).unwrap();
    assert_eq!(drawn.matches("<use ").count(), 8, "a queen each");
    assert!(folder.run("atlas solutions 8x10 --first 1 --format svg --dark").stdout.starts_with("<svg "));
    folder.run("atlas solutions 8x10 --format png").refused(&["--out DIR", "--first 1"]);
    folder.run("atlas solutions 8x40").refused(&["8x40", "1 to 32"]);
    folder.run("atlas solutions 4x6 --queens 5").refused(&["1 to 4 queens, not 5"]);
    folder.run("atlas solutions 8 --queens 5").refused(&["8x8 --queens 5"]);
    for other in ["--random", "--method rows", "--format fen", "--format oeis", "--tried"] {
        folder
            .run(&format!("atlas solutions 8x10 {other}"))
            .refused(&["8x10", "digits, board, json, svg or png"]);
    }
}

#[test]
fn pieces_on_torus_are_counted_and_drawn() {
    let folder = Folder::new();
    for (request, counted) in [
        ("6x6 --queens 3 --piece rook", "3 rooks on the torus 6x6 board: 2400 positions"),
        ("7x7 --queens 7 --piece semiqueen", "7 semiqueens on the torus 7x7 board: 133 positions"),
        ("5x5", "5 queens on the torus 5x5 board: 10 positions"),
        ("4x4", "2 queens on the torus 4x4 board: 32 positions"),
    ] {
        let outcome = folder.run(&format!("atlas solutions {request} --board torus --count"));
        assert_eq!(lines(&outcome), [counted]);
    }
    let board = folder.run("atlas solutions 3x3 --piece rook --queens 1 --first 1 --format board");
    assert_eq!(lines(&board)[..2], ["1: 1--", "  3  . . ."]);
    let drawn = folder.run("atlas solutions 5x5 --board torus --first 1 --format svg");
    assert!(drawn.stdout.contains("Edges with the same arrows"), "{drawn:?}");
    folder.run("atlas solutions 4x4 --queens 5 --piece rook").refused(&["1 to 4 rooks, not 5"]);
}

#[test]
fn solutions_are_listed_like_oeis_sequences() {
    let folder = Folder::new();
    let listed = folder.run("atlas solutions 8 --format oeis");
    assert_eq!(lines(&listed)[0], "1, 5, 8, 6, 3, 7, 2, 4");
    assert_eq!(lines(&listed).len(), 92);
    let from_zero = folder.run("atlas solutions 8 --first 1 --format oeis --from-zero");
    assert_eq!(lines(&from_zero), ["0, 4, 7, 5, 2, 6, 1, 3"]);
    // OEIS A141843 beyond the boards of the other searches.
    let first = folder.run("atlas solutions 35 --first 1 --format oeis");
    let expected = "1, 3, 5, 2, 4, 9, 11, 13, 15, 6, 8, 19, 24, 26, 31, 29, 32, 35, 33, 28, 30, 17, 7, 34, 10, 18, 16, 14, \
                    12, 20, 25, 23, 21, 27, 22";
    assert_eq!(lines(&first), [expected]);
    assert_eq!(folder.run("atlas solutions 35 --count").code, Some(2));
}

#[test]
fn sequences_of_oeis_are_tabulated() {
    let folder = Folder::new();
    let first_queen = folder.run("atlas table 7..8 --first-queen --csv");
    assert_eq!(lines(&first_queen).len(), 1 + 7 + 8);
    assert_eq!(lines(&first_queen)[..3], ["n,row,solutions", "7,1,4", "7,2,7"]);
    let attacks = folder.run("atlas table 7 --torus-attacks --csv");
    assert_eq!(
        lines(&attacks)[..3],
        ["n,k,attacks,attacked_queens,components,largest_component", "7,0,28,28,28,0", "7,1,0,0,0,28"]
    );
    folder.run("atlas table 17 --torus-attacks").refused(&["up to 16, not 17"]);
    folder.run("atlas table 17 --first-queen").refused(&["17", "up to 16"]);
    folder.run("atlas table 8 --first-queen --torus-attacks").refused(&["--torus-attacks"]);
    let orbits = folder.run("atlas orbits 8 --shifts --totals");
    let expected = "8 queens on the plain 8 x 8 board: 92 solutions in 6 families under 512 motions";
    assert_eq!(lines(&orbits)[0], expected);
    let listed = folder.run("atlas orbits 8 --shifts");
    assert!(listed.stdout.contains("\nB6 = ") && !listed.stdout.contains("\nB7 = "), "{listed:?}");
}

#[test]
fn search_for_large_board_ends_at_sigterm() {
    let folder = Folder::new();
    let search = folder.start("atlas solutions 64 --first 1", "search.log");
    let log = || fs::read_to_string(folder.path().join("search.log")).unwrap_or_default();
    until("it searches", || log().contains("searching for the next solution: "));
    search.terminate();
    assert_eq!(search.end().code, None, "the signal ended it");
}

#[test]
fn many_pages_are_announced_and_chosen() {
    let folder = Folder::new();
    for command in ["atlas picture sheet 11 --out p.svg", "atlas rings 11 --svg p.svg"] {
        let wanted = folder.run(&format!("{command} --pages 2..3"));
        let drawn: Vec<_> = lines(&wanted).into_iter().filter(|line| line.starts_with("drawn: ")).collect();
        assert_eq!((drawn, &*wanted.stderr), (vec!["drawn: p-2.svg", "drawn: p-3.svg"], ""), "{command}");
        assert!(!folder.path().join("p.svg").exists());
        folder.run(&format!("{command} --pages 1..99")).refused(&["the pages 1 to ", "not 1..99"]);
        folder.run(&format!("{command} --pages 3..2")).refused(&["3..2", "a page such as 3"]);
    }
    let all = folder.run("atlas rings 12 --svg r.svg");
    let drawn = lines(&all).into_iter().filter(|line| line.starts_with("drawn: ")).count();
    assert_eq!(all.stderr, format!("diadem: drawing {drawn} pages; --pages 1..10 draws only some of them\n"));
    folder.run("atlas rings 8 --pages 1").refused(&["--svg"]);
}

#[test]
fn extra_pages_of_earlier_picture_are_named_and_kept() {
    let folder = Folder::new();
    let drawn = folder.run("atlas picture sheet 10 --out s.svg");
    assert_eq!(lines(&drawn), ["drawn: s.svg", "drawn: s-2.svg"]);
    assert_eq!(drawn.stderr, "");
    let second = fs::read(folder.path().join("s-2.svg")).unwrap();
    let shorter = folder.run("atlas picture sheet 8 --out s.svg");
    assert_eq!(lines(&shorter), ["drawn: s.svg"]);
    assert_eq!(shorter.stderr, "diadem: pages of an earlier picture, not part of this one: s-2.svg\n");
    fs::write(folder.path().join("s-3.svg"), "").unwrap();
    let shorter = folder.run("atlas picture sheet 8 --out s.svg");
    assert_eq!(
        shorter.stderr,
        "diadem: pages of an earlier picture, not part of this one: s-2.svg to s-3.svg\n"
    );
    assert_eq!(fs::read(folder.path().join("s-2.svg")).unwrap(), second);
    let single = folder.run("atlas picture board 15863724 --out s.svg");
    assert_eq!((lines(&single), &*single.stderr), (vec!["drawn: s.svg"], ""), "it never has pages");
}

#[test]
fn impossible_request_exits_2_and_leaves_no_file() {
    let folder = Folder::new();
    let large = (1..=33).map(|row| row.to_string()).collect::<Vec<_>>().join(",");
    for (command, words) in [
        ("atlas solutions 8 --from 1,2,3", "has 3 numbers"),
        ("atlas solutions 8x10 --queens 20", "1 to 8 queens, not 20"),
        ("atlas solutions 20 --method rows", "the method rows is for n up to"),
        ("atlas rings 8 --svg x.gif", "\"x.gif\" is not a picture's name, which ends in .svg or .png"),
        ("atlas picture sheet 8 --out sheet", "\"sheet\" is not a picture's name"),
        ("atlas picture search 8 --out s.png", "\"s.png\" is not the name of a picture that moves"),
        ("atlas picture tree 15..17 --out tree.svg", "\"15..17\" is not a board size from 1 to 16"),
        ("solutions 8", "there is no command 'solutions'; did you mean 'atlas solutions'?"),
        ("show 15863724", "did you mean 'atlas show'?"),
        ("atlas study 8..300", "\"8..300\" is not a board size from 4 to 200"),
        ("atlas study 3", "\"3\" is not a board size from 4 to 200"),
        ("atlas show 99", "1 is missing from \"99\": give the rows by column, all from 1 to 2"),
        ("atlas study 8..9 --trace", "a trace is of one board"),
        (
            "atlas study 8 --csv s.csv --runs-csv s.csv",
            "--csv and --runs-csv would both write s.csv: name two files",
        ),
        ("atlas study 8 --csv s.csv --runs-csv ./s.csv", "would both write ./s.csv"),
        ("atlas pages --n 11 --html atlas", "4 to 10 queens, not 11"),
        ("atlas constellations 3 --export files", "n from 4 to 30, not 3"),
        ("atlas constellations 8 --threads 3", "--count"),
        ("atlas constellations 8 --list --isa portable", "'--list' cannot be used with '--isa <NAME>'"),
        ("atlas constellations 8 --method meet", "--count"),
        ("atlas constellations 4..8 --memory 48", "--count"),
        ("atlas show 02414 --from-zero", "all from 0 to 4"),
        ("atlas show 02414", "\"0\" is no row number"),
        ("atlas show 8 --from-zero", "all from 0 to 0"),
        (
            "atlas show -- 1,3,5,2,8,10,-,7,-,4,6,9",
            "a column without a queen in \"1,3,5,2,8,10,-,7,-,4,6,9\"",
        ),
        ("atlas picture board 1,2,,3 --out board.svg", "a column without a queen"),
        ("atlas solutions 8 --from 1,2,3,4,,5,6,7,8", "a column without a queen"),
        (&format!("atlas show {large}"), "the board size must be a whole number from 1 to 32, not \"33\""),
        (&format!("atlas picture turns {large} --out turns.svg"), "from 1 to 32, not \"33\""),
        ("atlas table 17 --count", "one by one for n up to 16, not 17"),
        ("atlas table 16 --solutions", "more than 1000000 solutions"),
        ("atlas orbits 15", "take a smaller n (diadem atlas orbits --totals counts"),
        ("atlas rings 15", "take a smaller n (diadem atlas orbits --totals counts"),
        ("atlas picture sheet 3 --out sheet.svg", "there is nothing to draw"),
        ("atlas picture constellation 2 --unit 0 --out unit.svg", "n = 2 has no units"),
        ("atlas picture constellation 3 --orbit 1 --out orbit.svg", "n = 3 has no constellations"),
        ("atlas picture constellation 1 --unit 1 --out unit.svg", "n = 1 has the units 0 to 0, not 1"),
        ("atlas picture search 14 --out search.svg", "it is made for up to 600"),
    ] {
        let wrong = folder.run(command);
        wrong.refused(&[words]);
        assert_eq!(wrong.code, Some(2), "{command}: {wrong:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn rings_go_around_the_edges_of_the_torus() {
    let folder = Folder::new();
    let rings = folder.run("atlas rings 7 --board torus");
    assert_eq!(
        lines(&rings)[0],
        "7 queens on the torus 7 x 7 board: 28 of 28 solutions in 4 rings, 0 in none"
    );
    assert!(folder.run("atlas rings 7 --board cylinder").stdout.contains("\nR1: 7 solutions\n"));
}

#[test]
fn torus_necklaces_are_sorted_by_shifts_alone() {
    let folder = Folder::new();
    let torus = folder.run("atlas orbits 7 --board torus --necklaces");
    assert_eq!(lines(&torus)[0], "7 queens on the torus 7 x 7 board: 28 solutions in 4 necklaces");
    assert_eq!(lines(&torus)[2], "N1 = 1357246: 7 members");
    let ring = folder.run("atlas orbits 13 --board ring --necklaces --totals");
    assert!(
        ring.stdout.starts_with("13 queens on the cylinder 13 x 13 board: 4524 solutions in 348 necklaces")
    );
    let refused = folder.run("atlas orbits 8 --necklaces");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    refused.refused(&["--board torus"]);
}

#[test]
fn greedy_sequence_stands_beside_smallest_solutions() {
    let folder = Folder::new();
    let table = folder.run("atlas table 6..9 --greedy --csv");
    assert_eq!(
        lines(&table),
        [
            "n,greedy_row,agreeing,smallest",
            "6,9,0,246135",
            "7,11,3,1357246",
            "8,13,1,15863724",
            "9,15,2,136824975"
        ]
    );
}
