//! Counts of other boards and pieces against their published sequences (OEIS), and against brute force.

use atlas::orbits::OrbitCounts;
use atlas::solutions::Solutions;
use atlas::{Piece, Setting, Surface};
use queens::Board;
use strum::VariantArray;

fn count(surface: Surface, piece: Piece, n: u8) -> u64 {
    Solutions::ascending(Setting { board: Board::new(n).unwrap(), surface, piece }).count() as u64
}

fn assert_sequence(surface: Surface, piece: Piece, terms: &[u64]) {
    for (n, term) in (1u8..).zip(terms) {
        assert_eq!(count(surface, piece, n), *term, "{piece} on the {surface} board, n={n}");
    }
}

#[test]
fn torus_queens_are_those_of_a051906() {
    assert_sequence(Surface::Torus, Piece::Queen, &[1, 0, 0, 0, 10, 0, 28, 0, 0, 0, 88, 0, 4524, 0]);
}

#[test]
fn queens_on_the_cylinder_are_those_on_the_torus() {
    // Both diagonals are complete on the cylinder already, so gluing the rows forbids no more placements.
    for n in 1..=12 {
        assert_eq!(
            count(Surface::Cylinder, Piece::Queen, n),
            count(Surface::Torus, Piece::Queen, n),
            "n={n}"
        );
    }
}

#[test]
fn rooks_are_all_permutations() {
    for &surface in Surface::VARIANTS {
        assert_sequence(surface, Piece::Rook, &[1, 2, 6, 24, 120, 720, 5_040, 40_320, 362_880]);
    }
}

#[test]
fn semi_queens_on_plain_board_match_a099152() {
    let terms = [1, 1, 3, 7, 23, 83, 405, 2_113, 12_657, 82_297, 596_483];
    assert_sequence(Surface::Plain, Piece::SemiQueen, &terms);
}

#[test]
fn semi_queens_on_torus_match_a006717() {
    let terms = [1, 0, 3, 0, 15, 0, 133, 0, 2_025, 0, 37_851];
    assert_sequence(Surface::Torus, Piece::SemiQueen, &terms);
    assert_sequence(Surface::Cylinder, Piece::SemiQueen, &terms);
}

#[test]
fn superqueens_match_a051223_and_orbits_a051224() {
    let terms = [1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 44, 156, 1_876];
    assert_sequence(Surface::Plain, Piece::SuperQueen, &terms);
    for (n, orbits) in [(10, 1), (11, 6), (12, 22), (13, 239)] {
        let setting =
            Setting { board: Board::new(n).unwrap(), surface: Surface::Plain, piece: Piece::SuperQueen };
        assert_eq!(OrbitCounts::of(setting).fundamental(), orbits, "n={n}");
    }
}

#[test]
fn torus_queens_up_to_motion_match_a054500_to_a054502() {
    let torus = |n| {
        let setting = Setting { board: Board::new(n).unwrap(), surface: Surface::Torus, piece: Piece::Queen };
        OrbitCounts::of(setting).orbits.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(torus(5), [(10, 1)]);
    assert_eq!(torus(7), [(28, 1)]);
    assert_eq!(torus(11), [(44, 2)]);
    let thirteen = torus(13);
    assert_eq!(thirteen.iter().map(|(size, count)| *size as u64 * count).sum::<u64>(), 4_524);
    assert_eq!(thirteen.len(), 4, "four sizes of families: {thirteen:?}");
}

#[test]
fn every_setting_agrees_with_brute_force() {
    for n in 1..=7 {
        for &surface in Surface::VARIANTS {
            for &piece in Piece::VARIANTS {
                let setting = Setting { board: Board::new(n).unwrap(), surface, piece };
                let rooks = Setting { piece: Piece::Rook, surface: Surface::Plain, ..setting };
                let brute = Solutions::ascending(rooks).filter(|p| setting.is_solution(p)).count() as u64;
                assert_eq!(count(surface, piece, n), brute, "{setting}");
            }
        }
    }
}
