//! `diadem count --placed`: the completions of given queens.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use queens::{Board, Constellation, Orbit, Position, known};
use rustix::process::Signal;

use crate::harness::{Completed, Folder, until};

const METHODS: [&str; 2] = ["search", "meet"];

/// The completions in the order of the lists.
fn completions(counted: &Completed) -> Vec<u128> {
    assert_eq!(counted.code, Some(0), "{counted:?}");
    let mut lines = counted.stdout.lines();
    assert_eq!(lines.next(), Some("queens,completions"));
    lines.map(|line| line.split_once(',').unwrap().1.parse().unwrap()).collect()
}

/// The queens as a list of `--placed`.
fn list(position: &Position) -> String {
    let queens = position.queens().iter().map(|queen| format!("{}:{}", queen.col + 1, queen.row + 1));
    queens.collect::<Vec<_>>().join(",")
}

#[test]
fn no_queens_have_all_solutions_as_completions() {
    let folder = Folder::new();
    for n in 8..=10 {
        let solutions = known::totals(Board::new(n).unwrap()).unwrap().solutions();
        for method in METHODS {
            let counted = folder.run(&format!("count {n} --placed none --method {method} --quiet"));
            assert_eq!(counted.stdout, format!("queens,completions\nnone,{solutions}\n"), "{counted:?}");
            assert_eq!(counted.stderr, "");
        }
    }
}

#[test]
fn queens_of_the_first_row_add_up_to_all_solutions() {
    let folder = Folder::new();
    let lists: Vec<String> = (1..=10).map(|column| format!("{column}:1")).collect();
    fs::write(folder.path().join("row"), lists.join("\n")).unwrap();
    let mut found = Vec::new();
    for method in METHODS {
        for threads in [1, 3] {
            let counted = folder.run(&format!("count 10 --placed row --method {method} --threads {threads}"));
            found.push(completions(&counted));
            let summary = "724 completions of 10 lists in ";
            assert!(counted.stderr.contains(summary) && counted.stderr.contains(method), "{counted:?}");
        }
    }
    assert_eq!(found[0].iter().sum::<u128>(), 724);
    assert!(found.iter().all(|counts| *counts == found[0]), "{found:?}");
}

#[test]
fn boundary_constellations_agree_by_all_methods() {
    let folder = Folder::new();
    let board = Board::new(12).unwrap();
    let orbits: Vec<_> = Constellation::orbits(board).collect();
    let of = |orbit: &Orbit| Position::of_constellation(board, orbit.representative);
    let one = list(&of(&orbits[300]));
    let counts =
        METHODS.map(|method| folder.run(&format!("count 12 --placed {one} --method {method} --quiet")));
    assert_eq!(counts[0].stdout, counts[1].stdout);
    let columns = one.replace(',', " ");
    assert!(counts[0].stdout.contains(&columns), "{counts:?}");
    // Each times its images: all solutions.
    let lists: String = orbits.iter().map(|orbit| list(&of(orbit)) + "\n").collect();
    fs::write(folder.path().join("all"), format!("# n = 12\n\n{lists}")).unwrap();
    for method in METHODS {
        let counted = folder.run(&format!("count 12 --placed all --method {method} --quiet"));
        let counts = completions(&counted);
        assert_eq!(counts[300], completions(&folder.run(&format!("count 12 --placed {one}")))[0]);
        let images = orbits.iter().map(|orbit| u128::from(orbit.class.orbit_size()));
        assert_eq!(counts.iter().zip(images).map(|(count, images)| count * images).sum::<u128>(), 14_200);
    }
}

#[test]
fn two_rings_of_queens_count_alike_by_all_methods() {
    let folder = Folder::new();
    // The queens of a solution of n = 14 on the outer two lines of each side.
    let rows = folder.run("atlas solutions 14 --first 1");
    let rows =
        rows.stdout.trim().split("  ").last().unwrap().split(',').map(|row| row.parse::<u8>().unwrap());
    let is_outer = |place: u8| !(3..=12).contains(&place);
    let ring = (1..).zip(rows).filter(|(column, row)| is_outer(*column) || is_outer(*row));
    let ring: Vec<String> = ring.map(|(column, row)| format!("{column}:{row}")).collect();
    let ring = ring.join(",");
    let counts =
        METHODS.map(|method| folder.run(&format!("count 14 --placed {ring} --method {method} --quiet")));
    assert!(completions(&counts[0])[0] > 0, "{counts:?}");
    assert_eq!(counts[0].stdout, counts[1].stdout);
}

#[test]
fn lists_of_strange_queens_have_true_counts() {
    let folder = Folder::new();
    // Queens that attack each other; a corner that is named for both of its lines; a whole solution; spaces and tabs.
    let lists = "1:1,2:2\n1:1 8:2 1:1\n1:1,2:5,3:8,4:6,5:3,6:7,7:2,8:4\n\t1:1 , 2:5  \r\n";
    fs::write(folder.path().join("lists"), lists).unwrap();
    let counted = folder.run("count 8 --placed lists --quiet");
    let counts = completions(&counted);
    assert_eq!((counts[0], counts[2]), (0, 1), "{counted:?}");
    assert!(counted.stdout.contains("\n1:1 8:2,"), "{counted:?}");
    assert_eq!(counts[3], completions(&folder.run("count 8 --placed 1:1,2:5"))[0]);
    // The lists may come from a pipe, and the results may be JSON.
    let mut command = folder.diadem("count 8 --placed - --json");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"none\n1:1,2:2\n").unwrap();
    let counted = Completed::of(child.wait_with_output().unwrap());
    let expected =
        "{\"queens\":\"none\",\"completions\":\"92\"}\n{\"queens\":\"1:1 2:2\",\"completions\":\"0\"}\n";
    assert_eq!((counted.code, &*counted.stdout, &*counted.stderr), (Some(0), expected, ""));
    // A run directory is neither read nor made.
    assert!(!folder.path().join("diadem-8").exists());
}

#[test]
fn wrong_lists_are_refused_in_one_sentence() {
    let folder = Folder::new();
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
    write("off", b"# a comment\n1:1\n1:9\n");
    write("words", b"1:1\nqueen\n");
    write("empty", b"\n# nothing\n");
    write("bytes", b"1:1\n\xff\xfe\n");
    for (placed, words, code) in [
        ("off", &["off:3: ", "\"1:9\"", "from 1 to 8"][..], 1),
        ("words", &["words:2: ", "\"queen\""], 1),
        ("empty", &["empty has no list of queens", "none"], 1),
        ("bytes", &["bytes is no text"], 1),
        ("missing", &["missing is neither a file nor a list of squares"], 1),
        (".", &["cannot read ."], 1),
        ("0:1", &["\"0:1\"", "from 1 to 8"], 2),
        ("9:1", &["\"9:1\"", "from 1 to 8"], 2),
        ("12", &["\"12\"", "column:row"], 2),
    ] {
        let refused = folder.run(&format!("count 8 --placed {placed}"));
        refused.refused(words);
        assert_eq!(refused.code, Some(code), "{refused:?}");
    }
    for option in ["--run run", "--in-memory", "--shard 1/2", "--double-check all", "--for 1h", "--gpu all"] {
        let refused = folder.run(&format!("count 8 --placed 1:1 {option}"));
        assert!(refused.code == Some(2) && refused.stderr.contains("--placed"), "{refused:?}");
    }
}

#[test]
fn interrupted_count_of_lists_ends_at_once() {
    let folder = Folder::new();
    fs::write(folder.path().join("lists"), "1:1,2:2\nnone\n").unwrap();
    let count = folder.start("count 22 --placed lists", "count.log");
    until("it listens", || count.heeds(Signal::TERM));
    count.terminate();
    let ended = count.end();
    assert_eq!(ended.code, Some(143), "{ended:?}");
    assert!(ended.stderr.contains("stopped; the printed results are complete"), "{ended:?}");
}
