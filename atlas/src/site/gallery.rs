//! The gallery: a board for each family, and all its images behind it.

use maud::{Markup, html};
use queens::SymmetryClass;

use super::drawing::board;
use super::page::page;
use crate::motion::{LETTERS, letter, words};
use crate::orbits::{SolutionOrbit, SolutionOrbits};
use crate::rings::{Ring, ShiftGraph};

pub(super) fn gallery(orbits: &SolutionOrbits, graph: &ShiftGraph) -> String {
    let n = orbits.setting.board;
    let (solutions, families) = (orbits.solutions.len(), orbits.orbits.len());
    let rings = graph.rings();
    let ring_of = |index: usize| rings.iter().find(|ring| ring.members.contains(&index)).map(Ring::number);
    let letters: Vec<_> = LETTERS.iter().map(|s| format!("{} {}", letter(*s), words(*s))).collect();
    let body = html! {
        p {
            (n) " queens on a board of " (n) " by " (n) " squares, none of which attacks another: " (solutions) " solutions. \
             Turns and reflections lead from one to another; those that hang together so are a family, " (families) " in all. \
             Each is shown by its smallest solution, written as the rows of the queens by column; a letter before an image \
             says what leads there: " (letters.join(", ")) "."
        }
        div.families {
            @for (number, orbit) in (1..).zip(&orbits.orbits) { (family(orbits, number, orbit, &ring_of)) }
        }
    };
    page(n, "index.html", &format!("The atlas of {n} queens"), None, body)
}

fn family(
    orbits: &SolutionOrbits,
    number: usize,
    orbit: &SolutionOrbit,
    ring_of: &dyn Fn(usize) -> Option<usize>,
) -> Markup {
    let fundamental = orbits.fundamental(orbit);
    html! {
        section #{ "B" (number) } aria-label={ "Family B" (number) } {
            h2 { "B" (number) }
            (board(fundamental))
            p.rows { (fundamental) br; small { (described(orbits.class(orbit))) } }
            details {
                summary { (orbit.members.len()) " images" }
                div.images {
                    @for member in &orbit.members {
                        @let solution = &orbits.solutions[member.number - 1];
                        figure {
                            (board(solution))
                            figcaption {
                                (member.motion) " " (solution) " "
                                small {
                                    "number " (member.number)
                                    @if let Some(ring) = ring_of(member.number - 1) {
                                        ", " a href={ "rings.html#s" (member.number) } { "ring R" (ring) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn described(class: Option<SymmetryClass>) -> &'static str {
    match class {
        Some(SymmetryClass::Point) => "P: a half turn leads to itself",
        Some(SymmetryClass::Rotational) => "R: a quarter turn leads to itself",
        _ => "A: no symmetry",
    }
}
