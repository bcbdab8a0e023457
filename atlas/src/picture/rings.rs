//! The rings of a board: each a circle of small boards, joined by the shifts that lead from one to the next.

use std::f64::consts::TAU;

use super::board::{draw_pieces, draw_squares};
use super::error::PictureError;
use super::scene::{Anchor, Colour, FAINT, INK, Paint, Picture, Point, WHITE, colour, point};
use crate::orbits::SolutionOrbits;
use crate::rings::{Ring, Shift, ShiftGraph};

/// Rings beyond which nobody would look at each.
const MOST: usize = 120;

const RIGHT: Colour = colour(0x2f_6d_b0);
const UP: Colour = colour(0xc2_62_2a);
const DIAGONAL: Colour = colour(0x8a_8a_92);

/// How large things are drawn.
struct Sizes {
    cell: f64,
    /// The side of a small board.
    side: f64,
    /// From the middle of a ring to the middles of its boards.
    radius: f64,
    /// The side of the square that a ring is drawn in.
    place: f64,
}

impl Sizes {
    fn of(graph: &ShiftGraph, rings: &[Ring]) -> Self {
        let n = f64::from(graph.setting.board.n());
        let cell = (64.0 / n).max(6.0);
        let largest = rings.iter().map(|ring| ring.members.len()).max().unwrap_or(0);
        // Between neighbours there is room for a board, its name, and an arrow.
        let apart = cell * n + 62.0;
        let radius = (apart / (2.0 * (TAU / 2.0 / largest as f64).sin())).max(apart * 0.8);
        Self { cell, side: cell * n, radius, place: 2.0 * radius + cell * n + 58.0 }
    }
}

/// All rings of the graph. Arrows go to the right (blue) and up (orange), diagonal ones, where the graph has them, to
/// the right (grey); the shifts back are the same lines the other way.
///
/// # Errors
/// [`PictureError::Nothing`] without a ring, [`PictureError::TooMany`] beyond 120.
pub fn rings(graph: &ShiftGraph, orbits: &SolutionOrbits) -> Result<Picture, PictureError> {
    let rings = graph.rings();
    if rings.is_empty() {
        return Err(PictureError::Nothing(format!("{} have no ring", graph.setting)));
    }
    if rings.len() > MOST {
        return Err(PictureError::TooMany { what: "picture", count: rings.len(), largest: MOST });
    }
    let sizes = Sizes::of(graph, &rings);
    let columns = ((rings.len() as f64 * 1.6).sqrt().ceil() as usize).clamp(1, 8);
    let head = 78.0;
    let width = (columns as f64 * sizes.place).max(620.0);
    let mut picture = Picture::new(width, head + rings.len().div_ceil(columns) as f64 * sizes.place);
    draw_head(&mut picture, width, graph, &rings);
    let left = (width - columns as f64 * sizes.place) / 2.0;
    for (index, ring) in rings.iter().enumerate() {
        let middle = |place: usize| (place as f64 + 0.5) * sizes.place;
        let centre = point(left + middle(index % columns), head + middle(index / columns) - 8.0);
        draw_ring(&mut picture, centre, &sizes, (graph, orbits), ring);
    }
    Ok(picture)
}

fn draw_head(picture: &mut Picture, width: f64, graph: &ShiftGraph, rings: &[Ring]) {
    let inside: usize = rings.iter().map(|ring| ring.members.len()).sum();
    let title = format!(
        "{}: {inside} of {} solutions in {} {}",
        graph.setting,
        graph.solutions.len(),
        rings.len(),
        if rings.len() == 1 { "ring" } else { "rings" }
    );
    picture.text(point(width / 2.0, 32.0), 17.0, INK, Anchor::Middle, &title);
    let diagonals = graph.edges.iter().flatten().any(|edge| !Shift::STRAIGHT.contains(&edge.shift));
    let mut legend = vec![(RIGHT, "one column to the right"), (UP, "one row up")];
    if diagonals {
        legend.push((DIAGONAL, "both at once"));
    }
    let mut x = width / 2.0 - 110.0 * legend.len() as f64 + 10.0;
    for (colour, text) in legend {
        arrow(picture, point(x, 55.0), point(x + 34.0, 55.0), colour, colour == DIAGONAL);
        picture.text(point(x + 42.0, 59.5), 12.0, FAINT, Anchor::Start, text);
        x += 220.0;
    }
}

fn draw_ring(
    picture: &mut Picture,
    centre: Point,
    sizes: &Sizes,
    (graph, orbits): (&ShiftGraph, &SolutionOrbits),
    ring: &Ring,
) {
    let (round, places) = laid_out(ring, graph);
    let place = |index: usize| {
        let (right, up) = places[index];
        point(centre.x + sizes.radius * right, centre.y - sizes.radius * up)
    };
    for (from, member) in round.iter().enumerate() {
        for edge in &graph.edges[*member] {
            let colour = match edge.shift {
                Shift::Right => RIGHT,
                Shift::Up => UP,
                Shift::RightUp | Shift::RightDown => DIAGONAL,
                _ => continue,
            };
            if let Some(to) = round.iter().position(|m| *m == edge.to).filter(|to| *to != from) {
                arrow(picture, place(from), place(to), colour, colour == DIAGONAL);
            }
        }
    }
    for (index, member) in round.iter().enumerate() {
        let at = place(index);
        let corner = point(at.x - sizes.side / 2.0, at.y - sizes.side / 2.0);
        picture.rectangle(point(corner.x - 3.0, corner.y - 3.0), sizes.side + 6.0, sizes.side + 22.0, WHITE);
        draw_squares(picture, corner, sizes.cell, graph.setting.board.n());
        draw_pieces(picture, corner, sizes.cell, &graph.solutions[*member], graph.setting.piece);
        let name = format!("{} · B{}", member + 1, orbits.orbit_of[*member]);
        picture.text(point(at.x, corner.y + sizes.side + 14.0), 11.5, INK, Anchor::Middle, &name);
    }
    let corner = sizes.radius + sizes.side / 2.0;
    let name = format!("R{}", ring.number());
    picture.text(point(centre.x - corner, centre.y - corner + 18.0), 22.0, INK, Anchor::Start, &name);
}

/// The members in the order in which they are drawn, each with its place in a circle of radius 1, to the right and
/// up: as far apart as the shifts say where shifts also lead across, or one cannot go round all of them; else one after
/// the other around the circle.
fn laid_out(ring: &Ring, graph: &ShiftGraph) -> (Vec<usize>, Vec<(f64, f64)>) {
    let places = ring.places(graph);
    let is_grid = ring.leads_across(graph) && ring.is_flat(graph, &places);
    if let Some(round) = ring.round(graph).filter(|_| !is_grid) {
        let angle = |index: usize| TAU * index as f64 / round.len() as f64;
        let places = (0..round.len()).map(|index| (angle(index).sin(), angle(index).cos())).collect();
        return (round, places);
    }
    let middle = |line: &dyn Fn(&(i32, i32)) -> i32| {
        let (least, most) = (places.iter().map(line).min(), places.iter().map(line).max());
        f64::from(least.unwrap_or(0) + most.unwrap_or(0)) / 2.0
    };
    let (x, y) = (middle(&|place| place.0), middle(&|place| place.1));
    let centred: Vec<_> = places.iter().map(|p| (f64::from(p.0) - x, f64::from(p.1) - y)).collect();
    let reach = centred.iter().map(|p| p.0.abs().max(p.1.abs())).fold(1.0, f64::max);
    // A little smaller than the circle, so that the corner remains free for the ring's name.
    (ring.members.clone(), centred.into_iter().map(|p| (0.86 * p.0 / reach, 0.86 * p.1 / reach)).collect())
}

/// A line with its head in the middle, where no board hides it.
fn arrow(picture: &mut Picture, from: Point, to: Point, colour: Colour, dashed: bool) {
    picture.corners(vec![from, to], Paint::Stroke { colour, width: 1.6, dashed });
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let tip = point(from.x + dx * 0.5 + 6.0 * ux, from.y + dy * 0.5 + 6.0 * uy);
    let back = point(tip.x - 11.0 * ux, tip.y - 11.0 * uy);
    let wing = |side: f64| point(back.x - side * uy, back.y + side * ux);
    picture.corners(vec![tip, wing(5.0), wing(-5.0)], colour);
}
