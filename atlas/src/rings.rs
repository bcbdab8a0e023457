//! Rings. Shifting all queens by one column or row, around the edges, maps some solutions to solutions. These
//! shifts connect solutions to a graph; a cycle in it is a ring.
//!
//! A ring is a largest set of solutions that are connected by shifts and have no dead end. To find the rings,
//! solutions with fewer than two neighbours are removed until none remains; each connected component of the
//! rest is a ring. A ring has the number of its smallest solution: R1 holds solution 1. Diagonal shifts,
//! which compose two others, can be listed and shown as well. They form no rings, because the placement
//! between the two shifts need not be a solution.

mod shift;

use std::collections::{BTreeSet, VecDeque};

use crate::orbits::{TooMany, listed};
use crate::placement::Placement;
use crate::setting::Setting;

pub use shift::Shift;

/// A shift from one solution to another (or to itself), by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShiftEdge {
    /// Which shift.
    pub shift: Shift,
    /// The index of the solution that it leads to.
    pub to: usize,
}

/// The solutions of a setting and the shifts between them.
#[derive(Clone, Debug)]
pub struct ShiftGraph {
    /// The setting of the solutions.
    pub setting: Setting,
    /// All solutions, ascending. Solution number i is at index i - 1.
    pub solutions: Vec<Placement>,
    /// For each solution, the shifts that lead to a solution.
    pub edges: Vec<Vec<ShiftEdge>>,
}

impl ShiftGraph {
    /// Finds all solutions and all of these shifts between them. Rings need the straight ones.
    ///
    /// # Errors
    /// [`TooMany`] beyond a million solutions.
    pub fn of(setting: Setting, shifts: &[Shift]) -> Result<Self, TooMany> {
        let (board, solutions) = (setting.board, listed(setting)?);
        let edges_from = |solution: &Placement| {
            let edge = |shift: &Shift| {
                let image = shift.motion(board).image(board, solution);
                solutions.binary_search(&image).ok().map(|to| ShiftEdge { shift: *shift, to })
            };
            shifts.iter().filter_map(edge).collect()
        };
        let edges = solutions.iter().map(edges_from).collect();
        Ok(Self { setting, solutions, edges })
    }

    /// The other solutions that a shift by one column or one row leads to, by index.
    pub fn neighbours(&self, index: usize) -> BTreeSet<usize> {
        let is_straight = |edge: &&ShiftEdge| Shift::STRAIGHT.contains(&edge.shift);
        self.edges[index].iter().filter(is_straight).map(|edge| edge.to).filter(|to| *to != index).collect()
    }

    /// The rings, ascending by number.
    pub fn rings(&self) -> Vec<Ring> {
        let mut degrees: Vec<_> = (0..self.solutions.len()).map(|i| self.neighbours(i).len()).collect();
        let mut dead_ends: Vec<_> = (0..degrees.len()).filter(|i| degrees[*i] < 2).collect();
        while let Some(index) = dead_ends.pop() {
            degrees[index] = 0;
            for neighbour in self.neighbours(index) {
                degrees[neighbour] = degrees[neighbour].saturating_sub(1);
                if degrees[neighbour] == 1 {
                    dead_ends.push(neighbour);
                }
            }
        }
        let mut open: Vec<bool> = degrees.into_iter().map(|degree| degree >= 2).collect();
        let mut rings = Vec::new();
        for index in 0..open.len() {
            if open[index] {
                rings.push(Ring { members: self.connected(index, &mut open) });
            }
        }
        rings
    }

    /// The open solutions that hang together with this one, ascending. Closes them.
    fn connected(&self, index: usize, open: &mut [bool]) -> Vec<usize> {
        let mut members = Vec::new();
        let mut queue = VecDeque::from([index]);
        open[index] = false;
        while let Some(member) = queue.pop_front() {
            members.push(member);
            for neighbour in self.neighbours(member) {
                if std::mem::take(&mut open[neighbour]) {
                    queue.push_back(neighbour);
                }
            }
        }
        members.sort_unstable();
        members
    }
}

/// Solutions that one can go round by shifts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The indices of its solutions, ascending.
    pub members: Vec<usize>,
}

impl Ring {
    /// The number of its smallest solution, from 1.
    pub fn number(&self) -> usize {
        self.members[0] + 1
    }

    /// For each member, how many columns to the right and rows up it lies from the first one, on some way there.
    ///
    /// # Panics
    /// If the ring is none of this graph.
    pub fn places(&self, graph: &ShiftGraph) -> Vec<(i32, i32)> {
        let mut places: Vec<Option<(i32, i32)>> = vec![None; self.members.len()];
        let mut queue = VecDeque::from([(0, (0, 0))]);
        while let Some((member, (right, up))) = queue.pop_front() {
            if places[member].is_some() {
                continue;
            }
            places[member] = Some((right, up));
            for edge in &graph.edges[self.members[member]] {
                let Some((by_columns, by_rows)) = edge.shift.straight() else { continue };
                if let Ok(to) = self.members.binary_search(&edge.to) {
                    queue.push_back((to, (right + by_columns, up + by_rows)));
                }
            }
        }
        places.into_iter().map(|place| place.expect("members hang together by shifts")).collect()
    }

    /// Whether every shift between members leads just as far as their places are apart, none around an edge to a place
    /// that another way has found elsewhere.
    pub fn is_flat(&self, graph: &ShiftGraph, places: &[(i32, i32)]) -> bool {
        self.members.iter().zip(places).all(|(member, (right, up))| {
            graph.edges[*member].iter().all(|edge| {
                let to = self.members.binary_search(&edge.to).ok();
                to.zip(edge.shift.straight()).is_none_or(|(to, (by_columns, by_rows))| {
                    places[to] == (right + by_columns, up + by_rows)
                })
            })
        })
    }
}
