//! Tables against the published numbers, written down here once more.

use atlas::table::{TotalsRow, constellations, greedy, levels, solutions, totals};
use queens::{Board, Totals};
use serde_json::{Value, json};

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

fn published(first: u8, last: u8) -> Vec<Value> {
    let rows: Vec<_> = (first..=last).map(|n| TotalsRow::published(board(n))).collect();
    totals(&rows).json().as_array().unwrap().clone()
}

/// A000170 and A002562 of the OEIS, n = 4 to 19.
const PUBLISHED: [(u64, u64); 16] = [
    (2, 1),
    (10, 2),
    (4, 1),
    (40, 6),
    (92, 12),
    (352, 46),
    (724, 92),
    (2_680, 341),
    (14_200, 1_787),
    (73_712, 9_233),
    (365_596, 45_752),
    (2_279_184, 285_053),
    (14_772_512, 1_846_955),
    (95_815_104, 11_977_939),
    (666_090_624, 83_263_591),
    (4_968_057_848, 621_012_754),
];

#[test]
fn table_of_4_to_19_matches_a000170_and_a002562() {
    for ((n, (all, fundamental)), row) in (4..).zip(PUBLISHED).zip(published(4, 19)) {
        let number = |key: &str| row[key].as_str().unwrap().parse::<u64>().unwrap();
        assert_eq!(row["n"], n);
        assert_eq!((number("total"), number("fundamental")), (all, fundamental), "n={n}");
        let (a, p, r) = (number("a"), number("p"), number("r"));
        assert_eq!((8 * a + 4 * p + 2 * r, a + p + r), (all, fundamental), "n={n}");
    }
}

#[test]
fn counted_totals_match_published_totals() {
    for n in 1..=11 {
        let counted = TotalsRow::counted(board(n)).unwrap();
        assert_eq!(counted.totals, TotalsRow::published(board(n)).totals, "n={n}");
        assert!(counted.agrees());
    }
    let error = TotalsRow::counted(board(17)).unwrap_err().to_string();
    assert!(error.contains("up to 16, not 17"), "{error}");
}

#[test]
fn table_row_marks_differences_and_unpublished_totals() {
    let mut wrong = TotalsRow::counted(board(8)).unwrap();
    wrong.totals.as_mut().unwrap().a += 1;
    assert!(!wrong.agrees());
    assert!(wrong.to_string().contains("DIFFERS"));
    let rows = published(27, 28);
    assert_eq!(rows[0]["total"], "234907967154122528");
    assert_eq!(rows[0]["source"], "Preusser and Engelhardt 2016");
    assert_eq!((&rows[1]["a"], &rows[1]["total"]), (&Value::Null, &Value::Null));
    assert_eq!((&rows[1]["p"], &rows[1]["r"]), (&json!("312717136"), &json!("16448")));
    assert_eq!(rows[1]["source"], "OEIS A032522, A033148");
    let mut run = Totals { a: 1, p: 312_717_136, r: 16_448, full: 0 };
    assert_eq!(TotalsRow::of_run(board(28), run).to_string(), "this run, P and R as published");
    run.r += 1;
    assert!(TotalsRow::of_run(board(28), run).to_string().contains("DIFFERS"));
}

#[test]
fn solution_table_of_8_matches_known_rows() {
    let table = solutions(board(8)).unwrap();
    let lines: Vec<String> = table.csv().unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 93);
    assert_eq!(lines[0], "number,rows,family,letter,class,mirrored,ring");
    assert_eq!(lines[1], "1,15863724,B1,a,asymmetric,33,R1");
    assert_eq!(lines[14], "14,35281746,B10,a,point,79,");
    for row in [
        "19,36271485,B4,h,asymmetric,64,R19",
        "22,36428571,B1,f,asymmetric,4,R22",
        "27,37286415,B7,f,asymmetric,47,",
        "38,46827135,B10,d,point,55,",
        "40,47185263,B12,c,asymmetric,18,",
    ] {
        assert!(lines.iter().any(|line| line == row), "{row}");
    }
    let rows = table.json();
    for row in rows.as_array().unwrap() {
        let image = row["mirrored"].as_u64().unwrap() as usize;
        assert_eq!(rows[image - 1]["mirrored"], row["number"], "c is its own inverse");
        let mirrored: Vec<_> = row["rows"].as_array().unwrap().iter().rev().collect();
        assert_eq!(rows[image - 1]["rows"].as_array().unwrap().iter().collect::<Vec<_>>(), mirrored);
    }
    let in_rings = rows.as_array().unwrap().iter().filter(|row| !row["ring"].is_null()).count();
    assert_eq!(in_rings, 48);
}

#[test]
fn the_search_tree_of_n_8_has_its_classic_level_sizes() {
    let table = levels([board(8)].into_iter()).unwrap().json();
    let sizes: Vec<_> =
        table.as_array().unwrap().iter().map(|row| row["partial_solutions"].clone()).collect();
    assert_eq!(sizes, [1, 8, 42, 140, 344, 568, 550, 312, 92].map(|size| json!(size)));
    assert!(levels([board(17)].into_iter()).is_err());
}

#[test]
fn constellation_classes_add_up_to_the_count() {
    let table = constellations((4..=30).map(board)).json();
    let rows = table.as_array().unwrap();
    assert_eq!(rows.len(), 27);
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        let classes = ["asymmetric", "point", "rotational", "full"].map(number);
        assert_eq!(classes.iter().sum::<u64>(), number("count"), "{row}");
    }
    assert_eq!(
        (&rows[8]["n"], &rows[8]["asymmetric"], &rows[8]["count"]),
        (&json!(12), &json!(705), &json!(730))
    );
}

#[test]
fn smallest_solutions_begin_like_the_greedy_sequence() {
    let text = greedy((1..=20).map(board)).text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], " n  greedy row  agreeing  smallest solution");
    assert_eq!(
        lines[2..=5].concat(),
        " 2           3         -  - 3           5         -  - 4           2         0  2413 5           4         5  13524"
    );
    assert_eq!(lines[8], " 8          13         1  15863724");
    assert_eq!(lines[20], "20          12         5  1,3,5,2,4,13,15,12,18,20,17,9,16,19,8,10,7,14,6,11");
}
