//! Golden values: what plans of each version are, for ever, as literals.
//!
//! A run lasts for months, and its unit numbers must mean the same to every release and on every machine that counts
//! for it. So nothing here follows from the code under test: neither the specifications nor what they give.

use super::*;
use crate::position::BoundaryPairs;

/// What must never change about the plan of one specification.
struct Golden {
    n: u8,
    scheme: Scheme,
    units: u64,
    fingerprint: &'static str,
    /// Of [`positions`].
    positions: &'static str,
}

const fn golden(
    n: u8,
    scheme: Scheme,
    units: u64,
    fingerprint: &'static str,
    positions: &'static str,
) -> Golden {
    Golden { n, scheme, units, fingerprint, positions }
}

const fn by_constellations(grain: u64) -> Scheme {
    Scheme::Constellations { grain }
}

const fn by_families(rows: u8, group: u8, sides: u8) -> Scheme {
    Scheme::Families { rows, group, sides }
}

const VERSION_1: [Golden; 21] = [
    golden(
        1,
        by_constellations(100_000_000_000),
        1,
        "d2f07b4e640e6f19a32ab6ebe9c88700",
        "33f3183cbeada55c411618c63e2ccbd5",
    ),
    golden(
        5,
        by_constellations(3),
        7,
        "7053782267b8042480d150711b35ed4a",
        "169062facf820219739c22f8262b4106",
    ),
    golden(
        8,
        by_constellations(20),
        90,
        "b7c0ec1d2ee0caf85dd8807db2c50ada",
        "cf9aec134980db4a711710475bd73427",
    ),
    golden(
        11,
        by_constellations(7),
        1_761,
        "8d0d768dee289ef83e8d4c6851cae850",
        "a44c2e92da98e529e0cbf952a8f9ac9c",
    ),
    golden(
        12,
        by_constellations(100_000_000_000),
        760,
        "86b24c71e73267f396cf8316e55cae75",
        "b62bc403c975223c53cc1e36ae4d8ab3",
    ),
    golden(
        14,
        by_constellations(40),
        64_073,
        "44919acc25f4039086b458780de3496c",
        "7b3b20fac7348b4fe54519905b98afde",
    ),
    golden(
        16,
        by_constellations(100_000_000_000),
        3_262,
        "dbdd7ad5cb4baa59c8f3c2ed190aa149",
        "7a3ed4854dd0e288231c8bbcfbe287a1",
    ),
    golden(
        19,
        by_constellations(3_000_000),
        25_832,
        "b70eef357c264b116c5fecc26b6e07ea",
        "bcee7cc46f04fa4889018f42340437d7",
    ),
    golden(
        22,
        by_constellations(100_000_000_000),
        15_070,
        "625906655abdbf8df4a74fa0aaa92c78",
        "177bf34bad07f1aa3032417aba6140ed",
    ),
    golden(
        28,
        by_constellations(7_481_107_897_336),
        7_724_014,
        "4c9c1eb588d180fb11f9e742c0a45a60",
        "5b0e16b72c2741834eb87f734748981e",
    ),
    golden(
        4,
        by_families(0, 1, 1),
        5,
        "d306f0af94f172a4ca5b6a6857c1b592",
        "a7734f37ff7dad1a13870f6843aeb503",
    ),
    golden(
        8,
        by_families(1, 2, 2),
        153,
        "4e5eee12f14c8171259b4cc53c975843",
        "5a55a1aad4a4db19f1af988c50a7340d",
    ),
    golden(
        10,
        by_families(3, 2, 0),
        1_356,
        "428e3624dd745284ebf51cfcc66fa70b",
        "3f54399230b29db833406e5381374387",
    ),
    golden(
        11,
        by_families(2, 1, 3),
        9_020,
        "f0c9955f4c2fc3bb8501fa49087e98b0",
        "ebc02cd012ca6da73e5d6d67ef711178",
    ),
    golden(
        13,
        by_families(1, 3, 3),
        1_103,
        "fbb6bd5da3b25c64b2f887206587af6f",
        "d0805cc2921eb0716297f38db18bd44c",
    ),
    golden(
        15,
        by_families(4, 5, 2),
        330_664,
        "2903d01b8c1969720c27c44f5f79e83a",
        "0ec27fe4ed4d1abbda176afeb0e9d827",
    ),
    golden(
        16,
        by_families(0, 1, 12),
        249_961,
        "7f0693dc3448144f3c9f58fc85dc5d9e",
        "978bc7eb2117d2fa2ef01ce0e49a32a0",
    ),
    golden(
        17,
        by_families(0, 1, 3),
        657,
        "eedb555d06d77a011281c67aace047f8",
        "f2b1d1d4382135e5b094c06078cf20fc",
    ),
    golden(
        21,
        by_families(1, 1, 2),
        7_551,
        "4f376735b780198d4240b299ab4ae89c",
        "423477bd622092de03f6c49d7948e7f3",
    ),
    golden(
        27,
        by_families(4, 4, 0),
        8_738_196,
        "c95c7e84d32969ab7becd8fa65c8f6ba",
        "561e80f54f68ee9a9ecfb2a209a62535",
    ),
    golden(
        28,
        by_families(4, 6, 0),
        8_008_983,
        "e80b3301e7c8d716c8be814dd9d4f4f2",
        "74aa71cb94b3252a0292dccadf67690c",
    ),
];

/// Plans with more units are looked at by as many, scattered over all.
const SAMPLE: u64 = 4096;

/// A digest of what the units are: all of them, or the first, the last and a sample, each by its number.
fn positions(plan: &Plan) -> String {
    let units = plan.units();
    let mut hash = blake3::Hasher::new();
    let mut include = |id: u64| {
        let unit = plan.unit(UnitId(id));
        hash.update(&id.to_le_bytes());
        hash.update(format!("{:?}", unit.summand).as_bytes());
        hash.update(&bytes(&unit.position));
    };
    if units <= SAMPLE {
        (0..units).for_each(include);
    } else {
        // Multiples of the golden ratio, as fractions of 2^64.
        let scattered = (1..=SAMPLE).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        [0, units - 1].into_iter().for_each(&mut include);
        scattered.map(|x| ((u128::from(x) * u128::from(units)) >> 64) as u64).for_each(include);
    }
    hash.finalize().to_hex()[..32].to_owned()
}

/// A position: the queens in ascending order, the squares of each row, and the right rows that go with each left row.
fn bytes(position: &Position) -> Vec<u8> {
    let board = position.board();
    let mut queens = position.queens().to_vec();
    queens.sort_unstable();
    let mut bytes = vec![board.n(), queens.len() as u8];
    bytes.extend(queens.iter().flat_map(|queen| [queen.row, queen.col]));
    bytes.extend(board.lines().flat_map(|row| position.squares(row).to_le_bytes()));
    let rights = |pairs: &BoundaryPairs| {
        board.lines().flat_map(|left| pairs.rights(left).to_le_bytes()).collect::<Vec<_>>()
    };
    bytes.extend(position.boundary().map(rights).unwrap_or_default());
    bytes
}

fn hold(version: u32, plans: &[Golden]) {
    for Golden { n, scheme, units, fingerprint, positions: expected } in plans {
        let spec = PlanSpec { n: Board::new(*n).unwrap(), scheme: *scheme, version };
        let plan = Plan::derive(spec).unwrap();
        let found = (plan.units(), plan.fingerprint().to_string(), positions(&plan));
        assert_eq!(found, (*units, (*fingerprint).to_owned(), (*expected).to_owned()), "{spec:?}");
    }
}

#[test]
fn plans_of_version_1_are_what_they_were() {
    hold(1, &VERSION_1);
}
