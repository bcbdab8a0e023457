//! The gallery: a board for each family, and all its images behind it.

use queens::SymmetryClass;

use super::drawing::board;
use super::page::page;
use crate::motion::{LETTERS, letter, words};
use crate::orbits::{Member, SolutionOrbit, SolutionOrbits};
use crate::rings::{Ring, ShiftGraph};

pub(super) fn gallery(orbits: &SolutionOrbits, graph: &ShiftGraph) -> String {
    let n = orbits.setting.board;
    let (solutions, families) = (orbits.solutions.len(), orbits.orbits.len());
    let rings = graph.rings();
    let ring_of = |index: usize| rings.iter().find(|ring| ring.members.contains(&index)).map(Ring::number);
    let letters: Vec<_> = LETTERS.iter().map(|s| format!("{} {}", letter(*s), words(*s))).collect();
    let letters = letters.join(", ");
    let body = format!(
        "<p>{n} queens on a board of {n} by {n} squares, none of which attacks another: {solutions} solutions. Turns \
         and reflections lead from one to another; those that hang together so are a family, {families} in all. Each is \
         shown by its smallest solution, written as the rows of the queens by column; a letter before an image says what leads \
         there: {letters}.</p>\n<div class=\"families\">\n{}</div>\n",
        (1..)
            .zip(&orbits.orbits)
            .map(|(number, orbit)| family(orbits, number, orbit, &ring_of))
            .collect::<String>()
    );
    page(n, "index.html", &format!("The atlas of {n} queens"), None, &body)
}

fn family(
    orbits: &SolutionOrbits,
    number: usize,
    orbit: &SolutionOrbit,
    ring_of: &dyn Fn(usize) -> Option<usize>,
) -> String {
    let fundamental = orbits.fundamental(orbit);
    let image = |member: &Member| {
        let solution = &orbits.solutions[member.number - 1];
        let ring = ring_of(member.number - 1).map_or_else(String::new, |ring| {
            format!(", <a href=\"rings.html#s{}\">ring R{ring}</a>", member.number)
        });
        format!(
            "<figure>{}<figcaption>{} {solution} <small>number {}{ring}</small></figcaption></figure>\n",
            board(solution),
            member.motion,
            member.number
        )
    };
    let images: String = orbit.members.iter().map(image).collect();
    format!(
        "<section id=\"B{number}\" aria-label=\"Family B{number}\">\n<h2>B{number}</h2>\n{}\n<p class=\"rows\">{fundamental}<br><small>{}</small></p>\n\
         <details><summary>{} images</summary>\n<div class=\"images\">\n{images}</div></details>\n</section>\n",
        board(fundamental),
        described(orbits.class(orbit)),
        orbit.members.len()
    )
}

fn described(class: Option<SymmetryClass>) -> &'static str {
    match class {
        Some(SymmetryClass::Point) => "P: a half turn leads to itself",
        Some(SymmetryClass::Rotational) => "R: a quarter turn leads to itself",
        _ => "A: no symmetry",
    }
}
