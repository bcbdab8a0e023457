//! Rings: the classic numbers of n = 8, and brute force for n = 4 to 10.

use std::collections::BTreeSet;

use atlas::orbits::SolutionOrbits;
use atlas::rings::{Ring, Shift, ShiftGraph};
use atlas::solutions::Solutions;
use atlas::{Placement, Setting, Surface};
use queens::Board;

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

/// The shorter and the longer side of the smallest grid that has these places.
fn sides(places: &[(i32, i32)]) -> [i32; 2] {
    let extent = |of: fn(&(i32, i32)) -> i32| {
        places.iter().map(of).max().unwrap() - places.iter().map(of).min().unwrap() + 1
    };
    let mut sides = [extent(|place| place.0), extent(|place| place.1)];
    sides.sort_unstable();
    sides
}

#[test]
fn rings_of_8_are_8_with_6_solutions_each() {
    let graph = ShiftGraph::of(Setting::queens(board(8)), &Shift::STRAIGHT).unwrap();
    let orbits = SolutionOrbits::of(Setting::queens(board(8))).unwrap();
    let rings = graph.rings();
    assert_eq!(rings.iter().map(Ring::number).collect::<Vec<_>>(), [1, 4, 5, 6, 10, 17, 19, 22]);
    for ring in &rings {
        assert_eq!(ring.members.len(), 6);
        let members: BTreeSet<_> = ring.members.iter().map(|i| orbits.orbit_of[*i]).collect();
        assert_eq!(members, BTreeSet::from([1, 3, 4, 6, 8, 11]));
        let places = ring.places(&graph);
        assert_eq!(sides(&places), [2, 3], "one can go round");
        assert_eq!(places.into_iter().collect::<BTreeSet<_>>().len(), 6);
    }
    let in_rings: usize = rings.iter().map(|r| r.members.len()).sum();
    assert_eq!(graph.solutions.len() - in_rings, 44);
}

#[test]
fn diagonal_shifts_leave_the_rings_of_n_8_as_they_are() {
    let straight = ShiftGraph::of(Setting::queens(board(8)), &Shift::STRAIGHT).unwrap();
    let all = ShiftGraph::of(Setting::queens(board(8)), &Shift::ALL).unwrap();
    assert_eq!(all.rings(), straight.rings());
    assert!(all.edges.iter().flatten().count() > straight.edges.iter().flatten().count());
}

#[test]
fn ring_places_follow_the_shifts() {
    let graph = ShiftGraph::of(Setting::queens(board(9)), &Shift::STRAIGHT).unwrap();
    for ring in graph.rings() {
        let places = ring.places(&graph);
        for (member, (right, up)) in ring.members.iter().zip(&places) {
            for edge in &graph.edges[*member] {
                let Ok(to) = ring.members.binary_search(&edge.to) else { continue };
                let expected = match edge.shift {
                    Shift::Right => (right + 1, *up),
                    Shift::Left => (right - 1, *up),
                    Shift::Up => (*right, up + 1),
                    _ => (*right, up - 1),
                };
                assert_eq!(places[to], expected, "R{}", ring.number());
            }
        }
    }
}

#[test]
fn rings_agree_with_brute_force_for_n_4_to_10() {
    for n in 4..=10usize {
        let solutions: Vec<Vec<usize>> = Solutions::ascending(Setting::queens(board(n as u8)))
            .map(|p: Placement| p.rows().iter().map(|r| usize::from(*r)).collect())
            .collect();
        let shifted = |s: &Vec<usize>| {
            [
                (0..n).map(|k| s[(k + n - 1) % n]).collect::<Vec<_>>(),
                (0..n).map(|k| s[(k + 1) % n]).collect(),
                s.iter().map(|r| (r + 1) % n).collect(),
                s.iter().map(|r| (r + n - 1) % n).collect(),
            ]
        };
        let joined: Vec<BTreeSet<usize>> = solutions
            .iter()
            .map(|s| shifted(s).iter().filter_map(|t| solutions.iter().position(|s| s == t)).collect())
            .collect();
        // Strip all dead ends, then spread the smallest number.
        let mut alive: BTreeSet<usize> = (0..solutions.len()).collect();
        loop {
            let kept: BTreeSet<_> = alive
                .iter()
                .copied()
                .filter(|i| joined[*i].iter().filter(|j| *j != i && alive.contains(j)).count() >= 2)
                .collect();
            if std::mem::replace(&mut alive, kept.clone()) == kept {
                break;
            }
        }
        let mut number: Vec<usize> = (1..=solutions.len()).collect();
        for _ in 0..solutions.len() {
            for i in &alive {
                for j in joined[*i].iter().filter(|j| alive.contains(j)) {
                    number[*j] = number[*j].min(number[*i]);
                }
            }
        }
        let expected: BTreeSet<(usize, usize)> = alive.iter().map(|i| (number[*i], *i)).collect();
        let found: BTreeSet<(usize, usize)> =
            ShiftGraph::of(Setting::queens(board(n as u8)), &Shift::STRAIGHT)
                .unwrap()
                .rings()
                .iter()
                .flat_map(|ring| ring.members.iter().map(|i| (ring.number(), *i)).collect::<Vec<_>>())
                .collect();
        assert_eq!(found, expected, "n={n}");
    }
}

#[test]
fn torus_rings_are_all_shifts_of_a_solution() {
    let torus = |n: u8| Setting { surface: Surface::Torus, ..Setting::queens(board(n)) };
    // The 28 solutions of n = 7 are the lines of slope 2, 3, 4 and 5.
    let graph = ShiftGraph::of(torus(7), &Shift::STRAIGHT).unwrap();
    assert!(graph.edges.iter().all(|edges| edges.len() == 4));
    let rings = graph.rings();
    assert_eq!(rings.iter().map(|ring| ring.members.len()).collect::<Vec<_>>(), [7; 4]);
    for ring in rings {
        let slopes = ring.members.iter().flat_map(|member| {
            let rows = graph.solutions[*member].rows();
            rows.windows(2).map(|pair| (pair[1] + 7 - pair[0]) % 7).collect::<BTreeSet<_>>()
        });
        assert_eq!(slopes.collect::<BTreeSet<_>>().len(), 1);
    }
    // The cylinder has the same solutions, and its columns alone are shifted around an edge without loss.
    let cylinder = Setting { surface: Surface::Cylinder, ..torus(7) };
    let around = ShiftGraph::of(cylinder, &Shift::STRAIGHT).unwrap();
    assert_eq!(around.solutions, graph.solutions);
    assert_eq!(around.rings(), graph.rings());
}

#[test]
fn ring_is_flat_unless_it_goes_around_the_torus() {
    // Of the rings of n = 9 some are an eight: two by three solutions with a shift across the middle.
    let graph = ShiftGraph::of(Setting::queens(board(9)), &Shift::STRAIGHT).unwrap();
    let eights = graph.rings().into_iter().filter(|ring| ring.members.len() == 6);
    let mut found = 0;
    for ring in eights {
        let places = ring.places(&graph);
        assert!(ring.is_flat(&graph, &places));
        assert_eq!(sides(&places), [2, 3], "R{}", ring.number());
        found += 1;
    }
    assert!(found > 0);
    let torus = Setting { surface: Surface::Torus, ..Setting::queens(board(7)) };
    let graph = ShiftGraph::of(torus, &Shift::STRAIGHT).unwrap();
    let ring = &graph.rings()[0];
    assert!(!ring.is_flat(&graph, &ring.places(&graph)));
}
