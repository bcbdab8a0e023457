//! The rings of a board, one below the other: small boards, joined by the shifts that lead from one to the next.

use std::collections::BTreeSet;

use super::drawn_board::{DrawnBoard, GLUE};
use super::error::PictureError;
use super::paint::{BLUE, Colour, FAINT, INK, ORANGE, Paint, colour};
use super::paragraph::{Paragraph, page_title};
use super::point::{Point, point};
use super::ring_layout::{Link, RingLayout};
use super::scene::{Anchor, Picture};
use crate::orbits::SolutionOrbits;
use crate::rings::{Ring, Shift, ShiftGraph};
use crate::setting::Surface;

/// The most rings in a picture.
const MOST: usize = 300;

/// The height of a page, unless a single ring is higher.
const PAGE: f64 = 1_300.0;

/// The room between neighbouring boards: for a name, an arrow, or a stub with its number.
const GAP: f64 = 54.0;

/// The room at the left, for words about a ring.
const WORDS: f64 = 170.0;

/// The room around the boards of a ring, for stubs.
const AROUND: f64 = 62.0;

const DIAGONAL: Colour = colour(0x6c_6c_74, 0xa4_a4_ae);

/// A ring with the room that it takes.
struct PlacedRing<'g> {
    ring: &'g Ring,
    layout: RingLayout,
    /// From the upper left corner of its room to the middle of the place (0, 0).
    origin: (f64, f64),
    width: f64,
    height: f64,
}

/// How large boards are drawn, and of what.
struct Drawing<'g> {
    graph: &'g ShiftGraph,
    orbits: &'g SolutionOrbits,
    cell: f64,
    /// The side of a board.
    side: f64,
}

/// All rings of the graph, as many on a page as fit. Arrows go to the right (blue) and up (orange), diagonal ones, where
/// the graph has them, to the right (grey); the shifts back are the same lines the other way.
///
/// # Errors
/// [`PictureError::Nothing`] without a ring, [`PictureError::TooMany`] beyond 300.
pub fn rings(graph: &ShiftGraph, orbits: &SolutionOrbits) -> Result<Vec<Picture>, PictureError> {
    let rings = graph.rings();
    if rings.is_empty() {
        return Err(PictureError::Nothing(format!("{} have no ring", graph.setting)));
    }
    if rings.len() > MOST {
        return Err(PictureError::TooMany { what: "picture", count: rings.len(), largest: MOST });
    }
    let cell = (72.0 / f64::from(graph.setting.board.n())).max(6.0);
    let drawing = Drawing { graph, orbits, cell, side: cell * f64::from(graph.setting.board.n()) };
    let mut pages: Vec<Vec<PlacedRing<'_>>> = vec![Vec::new()];
    let mut height = 0.0;
    for ring in rings.iter().map(|ring| drawing.placed(ring)) {
        if height + ring.height > PAGE && height > 0.0 {
            pages.push(Vec::new());
            height = 0.0;
        }
        height += ring.height;
        pages.last_mut().expect("there is a page").push(ring);
    }
    let inside: usize = rings.iter().map(|ring| ring.members.len()).sum();
    let title = format!(
        "{}: {inside} of {} solutions in {} {}",
        graph.setting,
        graph.solutions.len(),
        rings.len(),
        if rings.len() == 1 { "ring" } else { "rings" }
    );
    let page = |(number, page): (usize, &Vec<PlacedRing<'_>>)| {
        drawing.page(&page_title(&title, number, pages.len()), page)
    };
    Ok((1..).zip(&pages).map(page).collect())
}

impl Drawing<'_> {
    fn placed<'r>(&self, ring: &'r Ring) -> PlacedRing<'r> {
        let layout = RingLayout::of(ring, self.graph);
        let ((left, right), (bottom, top)) = layout.bounds();
        let (step, half) = (self.side + GAP, self.side / 2.0);
        let origin = (WORDS + AROUND + half - left * step, AROUND + half + top * step);
        let width = WORDS + 2.0 * AROUND + self.side + (right - left) * step;
        let height = 2.0 * AROUND + self.side + (top - bottom) * step;
        PlacedRing { ring, layout, origin, width, height }
    }

    fn page(&self, title: &str, rings: &[PlacedRing<'_>]) -> Picture {
        let width = rings.iter().map(|ring| ring.width).fold(560.0, f64::max);
        let title = Paragraph::new(title, 18.0, width - 30.0);
        let has = |wanted: fn(&Link) -> bool| rings.iter().flat_map(|ring| &ring.layout.links).any(wanted);
        let mut notes = Vec::new();
        if has(|link| link.stub.is_some()) {
            notes.push("A short arrow with a number leads to the solution of that number.");
        }
        if self.graph.setting.surface != Surface::Plain {
            notes.push(GLUE);
        }
        let notes = Paragraph::new(&notes.join(" "), 13.0, width - 30.0);
        let head = 58.0 + title.height();
        let boards: f64 = rings.iter().map(|ring| ring.height).sum();
        let mut picture = Picture::new(width, head + boards + notes.height() + 10.0);
        title.draw(&mut picture, point(width / 2.0, 10.0), INK, Anchor::Middle);
        let diagonals = has(|link| !Shift::STRAIGHT.contains(&link.shift));
        draw_key(&mut picture, point(20.0, 38.0 + title.height()), diagonals);
        let mut y = head;
        for ring in rings {
            self.draw(&mut picture, ring, y);
            y += ring.height;
        }
        notes.draw(&mut picture, point(width / 2.0, y - 4.0), FAINT, Anchor::Middle);
        picture
    }

    fn draw(&self, picture: &mut Picture, ring: &PlacedRing<'_>, y: f64) {
        let middle = |board: usize| {
            let (right, up) = ring.layout.boards[board].1;
            let step = self.side + GAP;
            point(ring.origin.0 + right * step, y + ring.origin.1 - up * step)
        };
        picture
            .corners([point(16.0, y + 6.0), point(picture.width - 16.0, y + 6.0)], Paint::line(FAINT, 0.5));
        self.draw_words(picture, ring.ring, y + 14.0);
        for link in &ring.layout.links {
            self.draw_link(picture, link, ring, middle(link.from), middle(link.to));
        }
        for (index, (member, _)) in ring.layout.boards.iter().enumerate() {
            self.draw_board(picture, *member, middle(index));
        }
    }

    /// Name, size and families of a ring.
    fn draw_words(&self, picture: &mut Picture, ring: &Ring, y: f64) {
        picture.text(point(20.0, y + 22.0), 24.0, INK, Anchor::Start, &format!("R{}", ring.number()));
        let families: BTreeSet<usize> =
            ring.members.iter().map(|member| self.orbits.orbit_of[*member]).collect();
        let families: Vec<_> = families.into_iter().map(|family| format!("B{family}")).collect();
        let about = format!("{} solutions of {}", ring.members.len(), families.join(", "));
        Paragraph::new(&about, 13.0, WORDS - 10.0).draw(picture, point(20.0, y + 30.0), FAINT, Anchor::Start);
    }

    fn draw_board(&self, picture: &mut Picture, member: usize, middle: Point) {
        let (n, setting) = (self.graph.setting.board.n(), self.graph.setting);
        let at = point(middle.x - self.side / 2.0, middle.y - self.side / 2.0);
        let squares = DrawnBoard { at, cell: self.cell, columns: n, rows: n };
        squares.draw(picture);
        squares.draw_pieces(picture, setting.piece, self.graph.solutions[member].squares());
        squares.draw_glue(picture, setting.surface);
        let name = format!("{} · B{}", member + 1, self.orbits.orbit_of[member]);
        let below = point(at.x, at.y + self.side + 14.0);
        // No wider than the board.
        let size = (12.5 * self.side / super::font::width(&name, 12.5)).clamp(9.0, 12.5);
        picture.text(below, size, INK, Anchor::Start, &name);
    }

    /// From edge to edge of two boards, or from the edge of one to a number.
    fn draw_link(&self, picture: &mut Picture, link: &Link, ring: &PlacedRing<'_>, from: Point, to: Point) {
        let colour = match link.shift {
            Shift::Right | Shift::Left => BLUE,
            Shift::Up | Shift::Down => ORANGE,
            _ => DIAGONAL,
        };
        let Some((right, up)) = link.stub else {
            let (dx, dy) = (to.x - from.x, to.y - from.y);
            let length = dx.hypot(dy);
            let (ux, uy) = (dx / length, dy / length);
            let along = |way: f64| point(from.x + ux * way, from.y + uy * way);
            return arrow(picture, along(self.edge(ux, uy)), along(length - self.edge(-ux, -uy)), colour);
        };
        let length = right.hypot(up);
        let (ux, uy) = (right / length, -up / length);
        let edge = self.edge(ux, uy);
        let along = |way: f64| point(from.x + ux * way, from.y + uy * way);
        arrow(picture, along(edge), along(edge + 16.0), colour);
        let number = (ring.layout.boards[link.to].0 + 1).to_string();
        let at = along(edge + 24.0);
        let anchor = match ux {
            0.4.. => Anchor::Start,
            ..-0.4 => Anchor::End,
            _ => Anchor::Middle,
        };
        picture.text(point(at.x, at.y + 4.0), 12.5, colour, anchor, &number);
    }

    /// From the middle of a board to a little beyond its edge or, below it, its name, in that direction.
    fn edge(&self, ux: f64, uy: f64) -> f64 {
        let half = self.side / 2.0;
        let below = if uy > 0.0 { half + 17.0 } else { half };
        3.0 + (half / ux.abs()).min(below / uy.abs())
    }
}

/// Draws the legend of the arrows' colours.
fn draw_key(picture: &mut Picture, at: Point, diagonals: bool) {
    let all = [(BLUE, "one column to the right"), (ORANGE, "one row up"), (DIAGONAL, "both at once")];
    let mut x = at.x;
    for (colour, text) in all.into_iter().take(if diagonals { 3 } else { 2 }) {
        arrow(picture, point(x, at.y), point(x + 28.0, at.y), colour);
        picture.text(point(x + 36.0, at.y + 4.5), 13.0, FAINT, Anchor::Start, text);
        x += 52.0 + super::font::width(text, 13.0);
    }
}

/// A line with its head at the end.
fn arrow(picture: &mut Picture, from: Point, tip: Point, colour: Colour) {
    let (dx, dy) = (tip.x - from.x, tip.y - from.y);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let back = point(tip.x - 9.0 * ux, tip.y - 9.0 * uy);
    picture.corners([from, back], Paint::line(colour, 1.8));
    let wing = |side: f64| point(back.x - side * uy, back.y + side * ux);
    picture.corners([tip, wing(4.5), wing(-4.5)], colour);
}
