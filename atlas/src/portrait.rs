//! A portrait: all facts about one placement. It has its conflicts, its family, its number among the
//! solutions, and its shifts.

use queens::{Board, BoardError, SymmetryClass};

use crate::conflict::Conflict;
use crate::motion::Motion;
use crate::orbits::{SolutionOrbits, TooMany, class_of};
use crate::placement::Placement;
use crate::rings::{Shift, ShiftEdge, ShiftGraph};
use crate::setting::{Piece, Setting, Surface};

/// The facts about a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portrait {
    /// The setting of the placement.
    pub setting: Setting,
    /// The placement.
    pub placement: Placement,
    /// The pairs that attack each other.
    pub conflicts: Vec<Conflict>,
    /// The family, if it is a solution.
    pub family: Option<SolutionFamily>,
    /// The number among all solutions, if it is a solution and they are few enough to be listed.
    pub rank: Option<Rank>,
}

/// A family, derived from one solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolutionFamily {
    /// The smallest member.
    pub fundamental: Placement,
    /// The first motion that leads from there to the solution.
    pub motion: Motion,
    /// How many members there are.
    pub members: usize,
    /// The symmetry class of plain queens.
    pub class: Option<SymmetryClass>,
}

/// The place of a solution among all of its setting. All numbers are from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its number, ascending.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The number of its family.
    pub family: usize,
    /// The number of the ring that it lies in and how many that has, if it lies in one.
    pub ring: Option<(usize, usize)>,
    /// The shifts that lead to a solution.
    pub shifts: Vec<ShiftEdge>,
}

/// The largest board whose solutions are listed to find one's place.
const LISTED: u8 = 14;

impl Portrait {
    /// Looks at the placement, on a board of its size.
    ///
    /// # Errors
    /// [`BoardError`] if that is larger than a board can be.
    pub fn of(placement: Placement, surface: Surface, piece: Piece) -> Result<Self, BoardError> {
        let setting = Setting { board: Board::new(placement.n())?, surface, piece };
        let conflicts = Conflict::all(&placement, surface, piece);
        let is_solution = conflicts.is_empty();
        let family = is_solution.then(|| SolutionFamily::of(setting, &placement));
        let is_listed = is_solution && setting.board.n() <= LISTED;
        let rank = is_listed.then(|| Rank::of(setting, &placement).ok()).flatten();
        Ok(Self { setting, placement, conflicts, family, rank })
    }
}

impl SolutionFamily {
    fn of(setting: Setting, solution: &Placement) -> Self {
        let motions = setting.motions();
        let image = |motion: &Motion, of: &Placement| motion.image(setting.board, of);
        let mut images: Vec<_> = motions.iter().map(|motion| image(motion, solution)).collect();
        images.sort_unstable();
        images.dedup();
        let (members, fundamental) = (images.len(), images.swap_remove(0));
        let leads = |motion: &&Motion| image(motion, &fundamental) == *solution;
        let motion = *motions.iter().find(leads).expect("motions form a group");
        let class = setting.is_plain_queens().then(|| class_of(members));
        Self { fundamental, motion, members, class }
    }
}

impl Rank {
    fn of(setting: Setting, solution: &Placement) -> Result<Self, TooMany> {
        let orbits = SolutionOrbits::of(setting)?;
        let index = orbits.solutions.partition_point(|other| other < solution);
        let mut graph = ShiftGraph::of(setting, &Shift::STRAIGHT)?;
        let holder = graph.rings().into_iter().find(|ring| ring.members.contains(&index));
        let ring = holder.map(|ring| (ring.number(), ring.members.len()));
        let shifts = graph.edges.swap_remove(index);
        let (number, of, family) = (index + 1, orbits.solutions.len(), orbits.orbit_of[index]);
        Ok(Self { number, of, family, ring, shifts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::letter;
    use crate::solutions::Solutions;

    fn portrait(rows: &str) -> Portrait {
        Portrait::of(rows.parse().unwrap(), Surface::Plain, Piece::Queen).unwrap()
    }

    #[test]
    fn point_symmetric_solution_of_8_is_in_no_ring() {
        let portrait = portrait("46827135");
        let (family, rank) = (portrait.family.unwrap(), portrait.rank.unwrap());
        assert_eq!(family.fundamental.to_string(), "35281746");
        assert_eq!((letter(family.motion.symmetry), family.members), ('d', 4));
        assert_eq!(family.class, Some(SymmetryClass::Point));
        assert_eq!((rank.number, rank.of, rank.family, rank.ring), (38, 92, 10, None));
    }

    #[test]
    fn the_first_solution_of_n_8_lies_in_the_first_ring() {
        let rank = portrait("15863724").rank.unwrap();
        assert_eq!((rank.number, rank.family, rank.ring), (1, 1, Some((1, 6))));
        let shifts: Vec<_> = rank.shifts.iter().map(|edge| (edge.shift, edge.to + 1)).collect();
        assert_eq!(shifts, [(Shift::Right, 30), (Shift::Up, 8)]);
    }

    #[test]
    fn portrait_family_matches_list_of_orbits() {
        for surface in [Surface::Plain, Surface::Torus] {
            let setting = Setting { surface, ..Setting::queens(Board::new(7).unwrap()) };
            let orbits = SolutionOrbits::of(setting).unwrap();
            for (index, solution) in Solutions::ascending(setting).enumerate() {
                let portrait = Portrait::of(solution, surface, Piece::Queen).unwrap();
                let (family, rank) = (portrait.family.unwrap(), portrait.rank.unwrap());
                let orbit = &orbits.orbits[orbits.orbit_of[index] - 1];
                assert_eq!(&family.fundamental, orbits.fundamental(orbit));
                assert_eq!((family.members, family.class), (orbit.members.len(), orbits.class(orbit)));
                assert_eq!((rank.number, rank.family), (index + 1, orbits.orbit_of[index]));
            }
        }
    }

    #[test]
    fn portrait_omits_family_or_rank_that_is_undefined() {
        let portrait_of = portrait("12345678");
        assert_eq!((portrait_of.conflicts.len(), portrait_of.family, portrait_of.rank), (28, None, None));
        let large = Solutions::ascending(Setting::queens(Board::new(20).unwrap())).next().unwrap();
        let large = portrait(&large.to_string());
        assert_eq!((large.family.unwrap().members, large.rank), (8, None));
    }
}
