//! Orbits and orbit counts: the classic numbers, brute force, and the main counter's totals.

use std::collections::BTreeSet;

use atlas::motion::letter;
use atlas::orbits::{OrbitCounts, SolutionOrbits};
use atlas::{Piece, Placement, Setting, Surface};
use queens::{Board, SymmetryClass, known};

fn queens(n: u8) -> Setting {
    Setting::queens(Board::new(n).unwrap())
}

#[test]
fn orbits_of_8_are_12_and_b10_has_4_members() {
    let orbits = SolutionOrbits::of(queens(8)).unwrap();
    assert_eq!((orbits.solutions.len(), orbits.orbits.len()), (92, 12));
    let b10 = &orbits.orbits[9];
    assert_eq!(orbits.fundamental(b10).to_string(), "35281746");
    assert_eq!(b10.members.len(), 4);
    assert_eq!(orbits.class(b10), Some(SymmetryClass::Point));
    let letters: String = b10.members.iter().map(|m| letter(m.motion.symmetry)).collect();
    assert_eq!(letters.len(), 4);
    assert!(orbits.orbits.iter().enumerate().all(|(i, f)| i == 9 || f.members.len() == 8));
}

#[test]
fn fundamental_solutions_match_class_totals() {
    for n in 4..=12 {
        let totals = known::totals(Board::new(n).unwrap()).unwrap();
        let counts = OrbitCounts::of(queens(n));
        assert_eq!(u128::from(counts.solutions), totals.solutions(), "n={n}");
        assert_eq!(u128::from(counts.fundamental()), totals.fundamental(), "n={n}");
        let size = |size| u128::from(counts.orbits.get(&size).copied().unwrap_or(0));
        assert_eq!((size(8), size(4), size(2)), (totals.a, totals.p, totals.r), "n={n}");
    }
}

/// The eight images by the classic formulas, on rows by column from 1.
fn images(rows: &[u8]) -> Vec<Vec<u8>> {
    let m = rows.len() as u8 + 1;
    let image = |f: &dyn Fn(u8, u8) -> (u8, u8)| {
        let mut squares: Vec<_> = (1..).zip(rows).map(|(k, r)| f(k, *r)).collect();
        squares.sort_unstable();
        squares.into_iter().map(|(_, row)| row).collect()
    };
    vec![
        image(&|k, r| (k, r)),
        image(&|k, r| (k, m - r)),
        image(&|k, r| (m - k, r)),
        image(&|k, r| (r, m - k)),
        image(&|k, r| (m - k, m - r)),
        image(&|k, r| (m - r, k)),
        image(&|k, r| (r, k)),
        image(&|k, r| (m - r, m - k)),
    ]
}

/// All solutions as rows by column from 1, by trying every column with every row.
fn brute_solutions(n: u8) -> Vec<Vec<u8>> {
    let mut partial = vec![vec![]];
    for k in 0..n {
        let extended = partial.iter().flat_map(|p: &Vec<u8>| {
            (1..=n).filter_map(move |row| {
                let free = (0..k).zip(p).all(|(c, r)| *r != row && r.abs_diff(row) != k - c);
                free.then(|| p.iter().copied().chain([row]).collect())
            })
        });
        partial = extended.collect();
    }
    partial
}

#[test]
fn orbits_agree_with_brute_force_for_n_4_to_10() {
    for n in 4..=10 {
        let solutions = brute_solutions(n);
        let mut fundamentals: Vec<Vec<u8>> = Vec::new();
        for solution in &solutions {
            let smallest = images(solution).into_iter().min().unwrap();
            if !fundamentals.contains(&smallest) {
                fundamentals.push(smallest);
            }
        }
        fundamentals.sort();
        let orbits = SolutionOrbits::of(queens(n)).unwrap();
        let from_1 = |p: &Placement| p.rows().iter().map(|r| r + 1).collect::<Vec<_>>();
        let found: Vec<_> = orbits.orbits.iter().map(|f| from_1(orbits.fundamental(f))).collect();
        assert_eq!(found, fundamentals, "n={n}");
        for (solution, orbit) in orbits.solutions.iter().zip(&orbits.orbit_of) {
            let smallest = images(&from_1(solution)).into_iter().min().unwrap();
            assert_eq!(fundamentals[orbit - 1], smallest, "n={n}: {solution}");
        }
        for orbit in &orbits.orbits {
            for member in &orbit.members {
                let index = usize::from(letter(member.motion.symmetry) as u8 - b'a');
                let image = &images(&from_1(orbits.fundamental(orbit)))[index];
                assert_eq!(&from_1(&orbits.solutions[member.number - 1]), image, "n={n}");
            }
        }
    }
}

#[test]
fn every_solution_is_in_the_orbit_that_lists_it() {
    for (surface, piece, n) in [
        (Surface::Torus, Piece::Queen, 7),
        (Surface::Cylinder, Piece::SemiQueen, 7),
        (Surface::Plain, Piece::Rook, 6),
    ] {
        let setting = Setting { board: Board::new(n).unwrap(), surface, piece };
        let orbits = SolutionOrbits::of(setting).unwrap();
        let mut listed = vec![0; orbits.solutions.len()];
        for (number, orbit) in (1..).zip(&orbits.orbits) {
            for member in &orbit.members {
                listed[member.number - 1] = number;
                let image = member.motion.image(setting.board, orbits.fundamental(orbit));
                assert_eq!(orbits.solutions[member.number - 1], image);
            }
        }
        assert_eq!(listed, orbits.orbit_of, "{setting}");
        let counts = OrbitCounts::of(setting);
        assert_eq!(counts.fundamental() as usize, orbits.orbits.len(), "{setting}");
    }
}

#[test]
fn n_1_is_one_orbit_of_one_and_n_2_and_3_have_none() {
    let one = SolutionOrbits::of(queens(1)).unwrap();
    assert_eq!(one.class(&one.orbits[0]), Some(SymmetryClass::Full));
    assert!(SolutionOrbits::of(queens(2)).unwrap().orbits.is_empty());
    assert!(SolutionOrbits::of(queens(3)).unwrap().orbits.is_empty());
}

#[test]
fn too_many_solutions_for_orbits_are_refused() {
    let rooks = Setting { piece: Piece::Rook, ..queens(12) };
    let error = SolutionOrbits::of(rooks).unwrap_err().to_string();
    assert!(
        error.starts_with("12 rooks on the plain 12 x 12 board have more than 1000000 solutions"),
        "{error}"
    );
}

/// The placements that the motions of the torus lead to, without repetitions.
fn torus_images(rows: &[u8]) -> Vec<Vec<u8>> {
    let n = rows.len();
    let mut all = Vec::new();
    for image in images(rows) {
        for (right, up) in (0..n).flat_map(|right| (0..n).map(move |up| (right, up))) {
            let mut shifted = vec![0; n];
            for (column, row) in image.iter().enumerate() {
                shifted[(column + right) % n] = ((usize::from(*row) - 1 + up) % n) as u8 + 1;
            }
            all.push(shifted);
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn orbits_with_shifts_match_a062164() {
    for (n, count) in (1..).zip([1, 0, 0, 1, 1, 1, 3, 6, 20, 40]) {
        let counts = OrbitCounts::under(queens(n), &queens(n).motions_of_torus());
        assert_eq!(counts.fundamental(), count, "n={n}");
    }
}

#[test]
fn orbits_with_shifts_match_brute_force() {
    for n in 4..=8 {
        let solutions = brute_solutions(n);
        let mut left = solutions.clone();
        let mut expected: Vec<Vec<usize>> = Vec::new();
        while let Some(first) = left.first() {
            let reached = torus_images(first);
            left.retain(|solution| !reached.contains(solution));
            let numbers = (1..).zip(&solutions).filter(|(_, solution)| reached.contains(solution));
            expected.push(numbers.map(|(number, _)| number).collect());
        }
        let motions = queens(n).motions_of_torus();
        let orbits = SolutionOrbits::under(queens(n), &motions).unwrap();
        let found: Vec<Vec<usize>> =
            orbits.orbits.iter().map(|orbit| orbit.members.iter().map(|m| m.number).collect()).collect();
        assert_eq!(found, expected, "n={n}");
        assert!(orbits.orbits.iter().all(|orbit| orbits.class(orbit).is_none()), "n={n}");
        let counts = OrbitCounts::under(queens(n), &motions);
        let sizes = expected.iter().fold(std::collections::BTreeMap::new(), |mut sizes, orbit| {
            *sizes.entry(orbit.len()).or_insert(0) += 1;
            sizes
        });
        assert_eq!(counts.orbits, sizes, "n={n}");
    }
}

#[test]
fn necklaces_of_the_torus_match_brute_force() {
    // Shifts join the solutions of n = 5, 7, 11 in lines of one slope; of the others of n = 13 each has 169 images.
    let expected: [(u8, &[(usize, u64)]); 4] =
        [(5, &[(5, 2)]), (7, &[(7, 4)]), (11, &[(11, 8)]), (13, &[(13, 10), (169, 26)])];
    for (n, sizes) in expected {
        let setting = Setting { surface: Surface::Torus, ..Setting::queens(Board::new(n).unwrap()) };
        let counts = OrbitCounts::under(setting, &setting.shifts());
        assert_eq!(counts.orbits.into_iter().collect::<Vec<_>>(), sizes, "n={n}");
        let sorted = SolutionOrbits::under(setting, &setting.shifts()).unwrap();
        assert_eq!(sorted.orbits.len() as u64, sizes.iter().map(|(_, count)| count).sum::<u64>());
        let mut classes: BTreeSet<Vec<Vec<u8>>> = BTreeSet::new();
        for solution in &sorted.solutions {
            let shifted = |right: u8, up: u8| -> Vec<u8> {
                (0..n).map(|k| (solution.row((k + right) % n) + up) % n).collect()
            };
            let mut images: Vec<_> =
                (0..n).flat_map(|r| (0..n).map(move |u| (r, u))).map(|(r, u)| shifted(r, u)).collect();
            images.sort_unstable();
            images.dedup();
            classes.insert(images);
        }
        assert_eq!(classes.len(), sorted.orbits.len(), "n={n}");
        // Along the columns alone each solution has n images, one of which begins with row 1.
        let cylinder = Setting { surface: Surface::Cylinder, ..setting };
        let around = OrbitCounts::under(cylinder, &cylinder.shifts());
        let begin = sorted.solutions.iter().filter(|solution| solution.row(0) == 0).count() as u64;
        assert_eq!(around.orbits.into_iter().collect::<Vec<_>>(), [(usize::from(n), begin)]);
    }
}
