//! The page of rings. Each ring is drawn with its boards where the shifts put them, and every board links to
//! its neighbours. `rings.js` handles the arrow keys.

use maud::{Markup, html};

use super::drawing::squares;
use super::page::page;
use crate::orbits::SolutionOrbits;
use crate::picture::{Link, RingLayout};
use crate::rings::{Ring, Shift, ShiftGraph};

pub(super) fn rings(orbits: &SolutionOrbits, graph: &ShiftGraph) -> String {
    let (n, rings) = (graph.setting.board, graph.rings());
    let inside: usize = rings.iter().map(|ring| ring.members.len()).sum();
    let body = html! {
        p {
            "Shift all queens by a column or a row and let those pushed out come back on the other side: some solutions \
             remain solutions. " (inside) " of " (graph.solutions.len()) " form " (rings.len()) " rings; blue arrows lead a \
             column to the right, orange ones a row up. Click on a board, or follow the arrows by the arrow keys."
        }
        div.rings { @for ring in &rings { (drawn(ring, orbits, graph)) } }
    };
    page(n, "rings.html", &format!("The rings of {n} queens"), Some("rings.js"), body)
}

/// The places of the boards; a square is one unit wide.
struct Grid {
    n: f64,
    /// From a board to the next.
    step: f64,
    left: f64,
    top: f64,
    /// The room around all boards.
    around: f64,
}

/// The room between boards: for a name and an arrow, or a stub with its number.
const GAP: f64 = 4.5;

/// The pixels of a square, if there is room.
const PIXELS: f64 = 11.0;

impl Grid {
    /// The middle of a board at such a place.
    fn middle(&self, (right, up): (f64, f64)) -> (f64, f64) {
        let first = self.n / 2.0 + self.around;
        ((right - self.left) * self.step + first, (self.top - up) * self.step + first)
    }
}

fn drawn(ring: &Ring, orbits: &SolutionOrbits, graph: &ShiftGraph) -> Markup {
    let layout = RingLayout::of(ring, graph);
    let n = f64::from(graph.setting.board.n());
    let ((left, right), (bottom, top)) = layout.bounds();
    let around = if layout.links.iter().any(|link| link.stub.is_some()) { GAP } else { 2.0 };
    let grid = Grid { n, step: n + GAP, left, top, around };
    let side = |places: f64| places * grid.step + n + 2.0 * around;
    let (width, height) = (side(right - left), side(top - bottom));
    let number = ring.number();
    html! {
        section.ring aria-label={ "Ring R" (number) } {
            h2 #{ "R" (number) } { "R" (number) " " small { (ring.members.len()) " solutions" } }
            div.steps.quiet role="status" { "Click on a board." }
            svg viewBox=(format_args!("0 0 {width:.1} {height:.1}")) width=(format_args!("{:.0}", width * PIXELS))
                height=(format_args!("{:.0}", height * PIXELS)) role="group" aria-label={ "The boards of R" (number) }
            {
                @for link in &layout.links { (arrow(link, &layout, &grid)) }
                @for (member, place) in &layout.boards { (board(*member, grid.middle(*place), orbits, graph)) }
            }
        }
    }
}

/// A board that names the boards to which the shifts lead.
fn board(member: usize, (x, y): (f64, f64), orbits: &SolutionOrbits, graph: &ShiftGraph) -> Markup {
    let n = f64::from(graph.setting.board.n());
    let (x, y, number, family) = (x - n / 2.0, y - n / 2.0, member + 1, orbits.orbit_of[member]);
    let shift =
        |shift: Shift| graph.edges[member].iter().find(|edge| edge.shift == shift).map(|edge| edge.to + 1);
    html! {
        a #{ "s" (number) } href={ "#s" (number) } aria-label={ "Number " (number) ", family B" (family) }
            data-right=[shift(Shift::Right)] data-left=[shift(Shift::Left)] data-up=[shift(Shift::Up)] data-down=[shift(Shift::Down)]
        {
            (squares(&graph.solutions[member], (x, y)))
            rect x=(format_args!("{x:.2}")) y=(format_args!("{y:.2}")) width=(n) height=(n) {}
            text x=(format_args!("{x:.2}")) y=(format_args!("{:.2}", y + n + 1.5)) { (number) " · B" (family) }
        }
    }
}

/// A line with its head, between two boards or from one to a number.
fn arrow(link: &Link, layout: &RingLayout, grid: &Grid) -> Markup {
    let class = if link.shift == Shift::Right { "right" } else { "up" };
    let [from, to] = [link.from, link.to].map(|board| grid.middle(layout.boards[board].1));
    let (dx, dy) = link.stub.map_or((to.0 - from.0, to.1 - from.1), |(right, up)| (right, -up));
    let length = dx.hypot(dy);
    let (ux, uy) = (dx / length, dy / length);
    let half = grid.n / 2.0 / ux.abs().max(uy.abs());
    let (start, end) = match link.stub {
        Some(_) => (half + 0.3, half + 1.8),
        None => (half + 0.3, length - half - if uy < -0.5 { 1.9 } else { 0.4 }),
    };
    let at = |way: f64, side: f64| {
        format!("{:.2} {:.2}", from.0 + ux * way - uy * side, from.1 + uy * way + ux * side)
    };
    let (tail, tip, wings) = (at(start, 0.0), at(end, 0.0), [at(end - 0.7, 0.5), at(end - 0.7, -0.5)]);
    let (x, y) = (from.0 + ux * (end + 1.0), from.1 + uy * (end + 1.0) + 0.4);
    html! {
        path.arrow.(class) d={ "M" (tail) "L" (tip) "M" (wings[0]) "L" (tip) "L" (wings[1]) } {}
        @if link.stub.is_some() {
            text.(class) text-anchor="middle" x=(format_args!("{x:.2}")) y=(format_args!("{y:.2}")) {
                (layout.boards[link.to].0 + 1)
            }
        }
    }
}
