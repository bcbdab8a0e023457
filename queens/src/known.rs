//! Published values: Q(n) is A000170 of the OEIS, A + P + R is A002562. The solutions that the half turn fixes are
//! A032522, 4P + 2R of them, and those that the quarter turn fixes are A033148, 2R of them. P and R are thus published
//! for more boards than Q is.

use crate::board::Board;
use crate::tally::Totals;

/// Q, A, P, R for n = 1, 2, ..., 27.
///
/// Sources: OEIS A000170 and A002562; n = 27 by Thomas B. Preusser and Matthias R. Engelhardt, 2016.
const KNOWN: [(u128, u128, u128, u128); 27] = [
    (1, 0, 0, 0),
    (0, 0, 0, 0),
    (0, 0, 0, 0),
    (2, 0, 0, 1),
    (10, 1, 0, 1),
    (4, 0, 1, 0),
    (40, 4, 2, 0),
    (92, 11, 1, 0),
    (352, 42, 4, 0),
    (724, 89, 3, 0),
    (2_680, 329, 12, 0),
    (14_200, 1_765, 18, 4),
    (73_712, 9_197, 32, 4),
    (365_596, 45_647, 105, 0),
    (2_279_184, 284_743, 310, 0),
    (14_772_512, 1_846_189, 734, 32),
    (95_815_104, 11_975_869, 2_006, 64),
    (666_090_624, 83_259_065, 4_526, 0),
    (4_968_057_848, 621_001_708, 11_046, 0),
    (39_029_188_884, 4_878_630_533, 36_035, 240),
    (314_666_222_712, 39_333_230_881, 93_740, 352),
    (2_691_008_701_644, 336_375_931_369, 312_673, 0),
    (24_233_937_684_440, 3_029_241_762_900, 895_310, 0),
    (227_514_171_973_736, 28_439_270_037_332, 2_917_938, 1_664),
    (2_207_893_435_808_352, 275_986_675_209_470, 8_532_332, 1_632),
    (22_317_699_616_364_044, 2_789_712_437_580_722, 28_929_567, 0),
    (234_907_967_154_122_528, 29_363_495_854_214_938, 80_100_756, 0),
];

/// A032522 and A033148 for n = 28, 29, ..., 32. An independent search found the same A032522 up to n = 29.
const FIXED: [(u128, u128); 5] = [
    (1_250_901_440, 32_896),
    (3_600_075_088, 43_776),
    (14_589_438_024, 0),
    (43_266_334_696, 0),
    (181_254_386_312, 406_784),
];

/// The symmetric solutions of a board, up to symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetric {
    /// Orbits of four: solutions fixed by the half turn alone.
    pub p: u128,
    /// Orbits of two: solutions fixed by the quarter turn.
    pub r: u128,
}

/// P and R of a board, which are published for every board.
pub fn symmetric(board: Board) -> Symmetric {
    if let Some(Totals { p, r, .. }) = totals(board) {
        return Symmetric { p, r };
    }
    let (half_turn, quarter_turn) = FIXED[usize::from(board.n()) - 1 - KNOWN.len()];
    Symmetric { p: (half_turn - quarter_turn) / 4, r: quarter_turn / 2 }
}

/// The published totals, or nothing where none have been published (n >= 28).
pub fn totals(board: Board) -> Option<Totals> {
    let index = usize::from(board.n() - 1);
    KNOWN.get(index).map(|&(_, a, p, r)| Totals { a, p, r, full: u128::from(board.n() == 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_satisfies_q_equals_8a_4p_2r() {
        for (i, &(q, ..)) in KNOWN.iter().enumerate() {
            let totals = totals(Board::new(i as u8 + 1).unwrap()).unwrap();
            assert_eq!(totals.solutions(), q, "n={}", i + 1);
        }
        assert_eq!(totals(Board::new(28).unwrap()), None);
    }

    #[test]
    fn symmetric_solutions_are_known_for_all_boards() {
        let known = |n| symmetric(Board::new(n).unwrap());
        assert_eq!(known(27), Symmetric { p: 80_100_756, r: 0 });
        assert_eq!(known(28), Symmetric { p: 312_717_136, r: 16_448 });
        assert_eq!(known(Board::LARGEST.n()), Symmetric { p: 45_313_494_882, r: 203_392 });
        for (n, (half_turn, quarter_turn)) in (28..).zip(FIXED) {
            let Symmetric { p, r } = known(n);
            assert_eq!((4 * p + 2 * r, 2 * r), (half_turn, quarter_turn), "n={n}");
        }
    }
}
