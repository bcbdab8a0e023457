//! The places of the boards of a ring, so that no arrow crosses another board or another arrow.
//!
//! Most rings are flat: the boards stand on a grid on which every shift points right, up, left or down. Other
//! rings close around the edges of the board. A ring that closes by shifts to the right alone is drawn as a
//! circle. A ring of several such circles is drawn in rows, each cut open. A shift to a board elsewhere is
//! drawn as a stub with the number of that solution.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use crate::rings::{Ring, Shift, ShiftGraph};

/// The boards of a ring, and what joins them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RingLayout {
    /// The members, by index, each with its place to the right and up, in distances between neighbours.
    pub(crate) boards: Vec<(usize, (f64, f64))>,
    /// The shifts to the right and up, and from left to right where the graph has diagonal ones.
    pub(crate) links: Vec<Link>,
}

/// A shift that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) shift: Shift,
    /// The place of its board in the list.
    pub(crate) from: usize,
    /// The place of the board that it leads to.
    pub(crate) to: usize,
    /// Whether it is drawn as a stub, and in which direction: the boards are not beside each other.
    pub(crate) stub: Option<(f64, f64)>,
}

impl RingLayout {
    pub(crate) fn of(ring: &Ring, graph: &ShiftGraph) -> Self {
        let places = ring.places(graph);
        if ring.is_flat(graph, &places) {
            let boards = ring.members.iter().copied().zip(places.into_iter().map(as_reals)).collect();
            return Self::on_grid(boards, graph);
        }
        match &rows(ring, graph)[..] {
            [round] if round.len() > 2 => Self::in_circle(round, graph),
            rows => Self::on_grid(cut_open(rows, graph), graph),
        }
    }

    /// Left and right, bottom and top of the places.
    pub(crate) fn bounds(&self) -> ((f64, f64), (f64, f64)) {
        let extent = |line: fn(&(f64, f64)) -> f64| {
            let places = || self.boards.iter().map(|(_, place)| line(place));
            (places().fold(f64::MAX, f64::min), places().fold(f64::MIN, f64::max))
        };
        (extent(|place| place.0), extent(|place| place.1))
    }

    /// The boards on a grid; what does not lead to the next one there is a stub.
    fn on_grid(boards: Vec<(usize, (f64, f64))>, graph: &ShiftGraph) -> Self {
        let stub = |shift: Shift, (from, to): (usize, usize)| {
            let (right, up) = direction(shift)?;
            let [(x, y), (to_x, to_y)] = [from, to].map(|board| boards[board].1);
            let is_beside = (to_x - x - right).abs() < 0.01 && (to_y - y - up).abs() < 0.01;
            Some((!is_beside).then_some((right, up)))
        };
        let links = links(&boards, graph, stub);
        Self { boards, links }
    }

    /// The boards around a circle, as the shifts to the right lead; the others point outwards.
    fn in_circle(round: &[usize], graph: &ShiftGraph) -> Self {
        let count = round.len() as f64;
        let radius = (0.5 / (TAU / 2.0 / count).sin()).max(0.8);
        let angle = |place: usize| TAU * place as f64 / count;
        let place = |place: usize| (radius * angle(place).sin(), radius * angle(place).cos());
        let boards: Vec<_> =
            round.iter().enumerate().map(|(index, member)| (*member, place(index))).collect();
        let stub = |shift, (from, to): (usize, usize)| {
            direction(shift)?;
            let apart = from.abs_diff(to);
            let is_beside = apart == 1 || apart + 1 == round.len();
            Some((!is_beside).then_some((angle(from).sin(), angle(from).cos())))
        };
        let links = links(&boards, graph, stub);
        Self { boards, links }
    }
}

fn as_reals((right, up): (i32, i32)) -> (f64, f64) {
    (f64::from(right), f64::from(up))
}

/// The direction of a drawn shift; `None` for the opposite of a drawn shift.
fn direction(shift: Shift) -> Option<(f64, f64)> {
    match shift {
        Shift::Right => Some((1.0, 0.0)),
        Shift::Up => Some((0.0, 1.0)),
        Shift::RightUp => Some((1.0, 1.0)),
        Shift::RightDown => Some((1.0, -1.0)),
        Shift::Left | Shift::Down | Shift::LeftUp | Shift::LeftDown => None,
    }
}

/// The links to draw between these boards. `stub` returns `None` for a shift that is not drawn, and the
/// direction of the stub for a shift that is cut open.
fn links(
    boards: &[(usize, (f64, f64))],
    graph: &ShiftGraph,
    stub: impl Fn(Shift, (usize, usize)) -> Option<Option<(f64, f64)>>,
) -> Vec<Link> {
    let mut links = Vec::new();
    for (from, (member, _)) in boards.iter().enumerate() {
        for edge in &graph.edges[*member] {
            let to = boards.iter().position(|(other, _)| *other == edge.to).filter(|to| *to != from);
            if let Some((to, stub)) = to.and_then(|to| Some((to, stub(edge.shift, (from, to))?))) {
                links.push(Link { shift: edge.shift, from, to, stub });
            }
        }
    }
    links
}

/// The member that a shift leads to.
fn next(graph: &ShiftGraph, member: usize, shift: Shift) -> Option<usize> {
    graph.edges[member].iter().find(|edge| edge.shift == shift).map(|edge| edge.to)
}

/// The members in rows, in the order of shifts to the right. Each row starts with its leftmost member or, if
/// it closes, with its smallest.
fn rows(ring: &Ring, graph: &ShiftGraph) -> Vec<Vec<usize>> {
    let mut open: BTreeSet<usize> = ring.members.iter().copied().collect();
    let mut rows = Vec::new();
    while let Some(&smallest) = open.first() {
        let mut left = smallest;
        while let Some(further) = next(graph, left, Shift::Left).filter(|further| open.contains(further)) {
            left = further;
            if left == smallest {
                break;
            }
        }
        let mut row = Vec::new();
        while open.remove(&left) {
            row.push(left);
            left = next(graph, left, Shift::Right).unwrap_or(left);
        }
        rows.push(row);
    }
    rows
}

/// Rows above each other, in the order in which shifts up lead from one to the next; one that closes is turned so that
/// these lead straight up.
fn cut_open(rows: &[Vec<usize>], graph: &ShiftGraph) -> Vec<(usize, (f64, f64))> {
    let mut left: Vec<&Vec<usize>> = rows.iter().collect();
    let mut boards: Vec<(usize, (f64, f64))> = Vec::new();
    let (mut up, mut below): (f64, Vec<usize>) = (0.0, Vec::new());
    while !left.is_empty() {
        let above = |row: &&Vec<usize>| {
            below
                .iter()
                .position(|member| next(graph, *member, Shift::Up).is_some_and(|to| row.contains(&to)))
        };
        let found = left.iter().position(|row| above(row).is_some());
        let mut row = left.remove(found.unwrap_or(0)).clone();
        if let Some(column) = above(&&row) {
            let to = next(graph, below[column], Shift::Up);
            let at = row.iter().position(|member| Some(*member) == to).unwrap_or(0);
            let turn = (at + row.len() - column % row.len()) % row.len();
            let closes = next(graph, row[row.len() - 1], Shift::Right) == Some(row[0]);
            row.rotate_left(if closes { turn } else { 0 });
        }
        boards.extend((0u32..).zip(&row).map(|(right, member)| (*member, (f64::from(right), up))));
        (up, below) = (up + 1.0, row);
    }
    boards
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Setting, Surface};
    use queens::Board;

    /// The layouts of all rings of n queens there.
    fn layouts(n: u8, surface: Surface) -> Vec<RingLayout> {
        let setting = Setting { surface, ..Setting::queens(Board::new(n).unwrap()) };
        let graph = ShiftGraph::of(setting, &Shift::STRAIGHT).unwrap();
        graph.rings().iter().map(|ring| RingLayout::of(ring, &graph)).collect()
    }

    fn apart(a: (f64, f64), b: (f64, f64)) -> f64 {
        (a.0 - b.0).hypot(a.1 - b.1)
    }

    #[test]
    fn boards_do_not_overlap_and_links_join_neighbours() {
        for (n, surface) in
            [(8, Surface::Plain), (9, Surface::Plain), (11, Surface::Plain), (13, Surface::Torus)]
        {
            for layout in layouts(n, surface) {
                for (index, (_, place)) in layout.boards.iter().enumerate() {
                    let others = layout.boards[..index].iter();
                    assert!(others.clone().all(|(_, other)| apart(*place, *other) > 0.99), "n={n} {surface}");
                }
                for link in layout.links.iter().filter(|link| link.stub.is_none()) {
                    let [from, to] = [link.from, link.to].map(|board| layout.boards[board].1);
                    assert!((apart(from, to) - 1.0).abs() < 0.01, "n={n} {surface}: {link:?}");
                }
            }
        }
    }

    #[test]
    fn only_torus_rings_have_stubs() {
        assert!(
            layouts(10, Surface::Plain).iter().all(|layout| layout.links.iter().all(|l| l.stub.is_none()))
        );
        let stubs = |layout: &RingLayout| layout.links.iter().filter(|link| link.stub.is_some()).count();
        // In a circle each shift up is a stub; in rows each row and each column is cut open once.
        let torus: BTreeSet<_> =
            layouts(13, Surface::Torus).iter().map(|layout| (layout.boards.len(), stubs(layout))).collect();
        assert_eq!(torus, BTreeSet::from([(13, 13), (169, 26)]));
    }
}
