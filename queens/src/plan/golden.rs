//! Golden values: what plans of each version are, for ever, as literals.
//!
//! A run lasts for months, and its unit numbers must mean the same to every release and on every machine that counts
//! for it. So nothing here follows from the code under test: neither the specifications nor what they give.

use super::*;
use crate::position::BoundaryPairs;

/// What must never change about the plans of one board and scheme.
struct Golden {
    n: u8,
    scheme: Scheme,
    units: u64,
    /// Of [`positions`]: the units are the same in each version.
    positions: &'static str,
    /// Of version 1 and of version 2.
    fingerprints: [&'static str; 2],
}

const fn golden(
    n: u8,
    scheme: Scheme,
    units: u64,
    positions: &'static str,
    fingerprints: [&'static str; 2],
) -> Golden {
    Golden { n, scheme, units, positions, fingerprints }
}

const fn by_constellations(grain: u64) -> Scheme {
    Scheme::Constellations { grain }
}

const fn by_families(rows: u8, group: u8, sides: u8) -> Scheme {
    Scheme::Families { rows, group, sides }
}

const PLANS: [Golden; 24] = [
    golden(
        1,
        by_constellations(100_000_000_000),
        1,
        "2e419ffa0639de89ef06789e69ea2fc0",
        ["d2f07b4e640e6f19a32ab6ebe9c88700", "4c7243191cff7dab4129aa7ea3e3b934"],
    ),
    golden(
        5,
        by_constellations(3),
        7,
        "2954ce33592c96880c4288aa2b1416ea",
        ["7053782267b8042480d150711b35ed4a", "d39097232098e0fca0b05188bddbd698"],
    ),
    golden(
        6,
        by_constellations(1),
        22,
        "2a7bb6fb2d3f2eca34fb6396d9d460ee",
        ["b5bb125c3ebe27f9eae9bb77a86ccabe", "a1d81e80eb771bd708734bfed1d5b8c0"],
    ),
    golden(
        8,
        by_constellations(20),
        90,
        "21490eaf70dbd8d87d37faaf5a14f8e1",
        ["b7c0ec1d2ee0caf85dd8807db2c50ada", "cd270ae310bdd27071ba9c51d1211565"],
    ),
    golden(
        11,
        by_constellations(7),
        1_761,
        "eb438b572e3900409430f0b454b7dec5",
        ["8d0d768dee289ef83e8d4c6851cae850", "a17697bc50dd1f0ba8321360653a737c"],
    ),
    golden(
        12,
        by_constellations(100_000_000_000),
        760,
        "e0447d7fe5d9882f987d72a00606cf47",
        ["86b24c71e73267f396cf8316e55cae75", "5258be5bdeba730707ccd4106b02bbbf"],
    ),
    golden(
        14,
        by_constellations(40),
        64_073,
        "dfc0748c3b5995c50e4f4a4873936dfd",
        ["44919acc25f4039086b458780de3496c", "d46514bea0164b5c1a9911833e11093a"],
    ),
    golden(
        16,
        by_constellations(100_000_000_000),
        3_262,
        "4ab54490d6ab4696aa5491ac889fb123",
        ["dbdd7ad5cb4baa59c8f3c2ed190aa149", "3f58e6fea643a91997719433e17e0ca5"],
    ),
    golden(
        19,
        by_constellations(3_000_000),
        25_832,
        "db0b44d2a4d0f365d68220538215f6ef",
        ["b70eef357c264b116c5fecc26b6e07ea", "1eedaf9ef49f08a4290e63d50a4b2de2"],
    ),
    golden(
        22,
        by_constellations(100_000_000_000),
        15_070,
        "61139f696aab4bba6e3880616e2f14d0",
        ["625906655abdbf8df4a74fa0aaa92c78", "75ecf8847a0b190f3732b056cf1b7749"],
    ),
    golden(
        28,
        by_constellations(7_481_107_897_336),
        7_724_014,
        "e4584d576671b2d85f1c5dc99b83b771",
        ["4c9c1eb588d180fb11f9e742c0a45a60", "f289efde9a03beb588bdf8bd85bbd704"],
    ),
    golden(
        4,
        by_families(0, 1, 1),
        5,
        "cba0003d52521b1ebf1082c532672a1d",
        ["d306f0af94f172a4ca5b6a6857c1b592", "b5c7700b34b55f5a20cb8bcdd3e63da3"],
    ),
    golden(
        6,
        by_families(5, 1, 0),
        8,
        "a3494b66b58e494646a29f14a401e2f1",
        ["f5f2956bb87a71c61c1f545ea72989cd", "8e5e0b2752d3819e608d1ffeb8c684c5"],
    ),
    golden(
        8,
        by_families(1, 2, 2),
        153,
        "b63447038e71d0cf1cfe987f54f77bf5",
        ["4e5eee12f14c8171259b4cc53c975843", "add611caf814ecb2f3cca53f947fc383"],
    ),
    golden(
        9,
        by_families(8, 3, 0),
        103,
        "a10a3e1f47791e3aae5c4c8d24288913",
        ["051efbc5ccc9070888a2a5ea27eaf857", "99d6432b933a6c6b976487a4b53827c9"],
    ),
    golden(
        10,
        by_families(3, 2, 0),
        1_356,
        "7ca51499d0954287bf97a8104119c0a9",
        ["428e3624dd745284ebf51cfcc66fa70b", "f501e0246b12d0cfa31d26f342ae0598"],
    ),
    golden(
        11,
        by_families(2, 1, 3),
        9_020,
        "cf55efbec0cd8fcc608226de47f38b74",
        ["f0c9955f4c2fc3bb8501fa49087e98b0", "712c2e12a257ce69f8beca52ae99fa07"],
    ),
    golden(
        13,
        by_families(1, 3, 3),
        1_103,
        "9ba398063618aed49921740152184d99",
        ["fbb6bd5da3b25c64b2f887206587af6f", "1f8cac07b3e8828343fac52d22a17023"],
    ),
    golden(
        15,
        by_families(4, 5, 2),
        330_664,
        "ae535a7b47a85cc091b7cddf4d473169",
        ["2903d01b8c1969720c27c44f5f79e83a", "e2a35c953ecf26ceb6d919c6f4438b76"],
    ),
    golden(
        16,
        by_families(0, 1, 12),
        249_961,
        "27c1614a87fc89e010df597e277048cf",
        ["7f0693dc3448144f3c9f58fc85dc5d9e", "52b2cc3a0799c7be7f028631e045276d"],
    ),
    golden(
        17,
        by_families(0, 1, 3),
        657,
        "62ac25d8bf35f73b43a7b7d42b1d7c12",
        ["eedb555d06d77a011281c67aace047f8", "bb4295fee14790100323a0e300fd6bcd"],
    ),
    golden(
        21,
        by_families(1, 1, 2),
        7_551,
        "30bd542fbc4f1c69bd0083807ae05e76",
        ["4f376735b780198d4240b299ab4ae89c", "de098192f6463abd6f8ca83d4e029c12"],
    ),
    golden(
        27,
        by_families(4, 4, 0),
        8_738_196,
        "100c8b430163d08d3bfa191de736e129",
        ["c95c7e84d32969ab7becd8fa65c8f6ba", "0cebdcf31680eefce24969590edcb139"],
    ),
    golden(
        28,
        by_families(4, 6, 0),
        8_008_983,
        "b30ae34b44fe0ba2d1ee80759d0fe669",
        ["e80b3301e7c8d716c8be814dd9d4f4f2", "8ffd61cea105e6efc5875c3464fd41a7"],
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
        hash.update(&summand(unit.summand));
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

fn summand(summand: Summand) -> [u8; 5] {
    let (member, measure) = match summand {
        Summand::Asymmetric => return [0; 5],
        Summand::Symmetric(member, Measure::Completions) => (member, 1),
        Summand::Symmetric(member, Measure::HalfTurn) => (member, 2),
        Summand::Symmetric(member, Measure::QuarterTurn) => (member, 3),
    };
    let [a, b, c, d] = member.to_le_bytes();
    [a, b, c, d, measure]
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

#[test]
fn plans_of_every_version_are_what_they_were() {
    for Golden { n, scheme, units, positions: expected, fingerprints } in PLANS {
        for (version, fingerprint) in (1..).zip(fingerprints) {
            let spec = PlanSpec { n: Board::new(n).unwrap(), scheme, version };
            let plan = Plan::derive(spec).unwrap();
            let found = (plan.units(), positions(&plan), plan.fingerprint().to_string());
            assert_eq!(found, (units, expected.to_owned(), fingerprint.to_owned()), "{spec:?}");
        }
    }
}

/// Columns, group and grain.
type Centre = (u8, u8, Option<u64>);

/// Plans by central columns: n; columns, group and grain; units; and what [`positions`] and the fingerprint are. They came with
/// version 2.
const BY_CENTRE: [(u8, Centre, u64, &str, &str); 22] = [
    (1, (3, 1, None), 1, "2e419ffa0639de89ef06789e69ea2fc0", "77f2632fd0d2452919db5a7503277baf"),
    (5, (1, 2, None), 6, "bc8a58bed30f0ec6283ca79ee55f147a", "76ad4f99b68bc62dd599a1134c47aaa6"),
    (8, (2, 1, None), 136, "2d7759c8f1deabc959c72f6a4cdac95b", "4fae6bd2946cbb59e7fa27f4940955a0"),
    (13, (3, 4, None), 4_028, "d768be79b58f37c6d006b232b17dadf1", "292b46ebbf8d7aa1e6251c89716a73b9"),
    (18, (1, 1, None), 1_228, "aecb0c5746dfe6efdf986786c07d1b2d", "2fd3a81f13ef7b2917dd58dcdfafa62f"),
    (24, (2, 8, None), 8_713, "9f5021ac5723052ce1dd77154b22470a", "d6fa22eaa3d639a0e3068c6e403b4fc1"),
    (26, (3, 2, None), 610_671, "c9c4767efefc61bf322966ec5a55708f", "d7eaad773de1513ad543580b3f6eb5a9"),
    (27, (4, 6, None), 4_494_284, "6d83faf9d53cd75bdec9a4fde8e83325", "5b6aa097160fbef7bff8b70152a26b28"),
    (28, (4, 4, None), 8_392_486, "bd3e98c2457c86f6eca6057ad3e1ccd4", "a8c5edbab8351271de2f3fe267a98302"),
    (1, (1, 1, Some(1)), 1, "2e419ffa0639de89ef06789e69ea2fc0", "e2b3fee7f7b31bff3e317c96e6b1c57f"),
    (5, (1, 1, Some(1)), 8, "b758ce60edd223a5a9942b014c918840", "c6cc8bc4ba987b162c2a281e283b2588"),
    (8, (2, 1, Some(2)), 162, "3d3be38e46143e83a5ad3c13963fdd2f", "f340046002240b04d02052640a2d10b1"),
    (13, (1, 4, Some(30)), 482, "83b5691db0ba6f293500db2e95774e8c", "ca09a413721245f78e423be131b02f76"),
    (
        18,
        (1, 1, Some(100_000)),
        2_158,
        "62d1986232b500bdf3df5ef54299de7d",
        "463b2e0f45fdb0a230cef9292d1c11e0",
    ),
    (
        24,
        (0, 1, Some(1_000_000_000)),
        4_976,
        "a17be3fc398d1aa61529591cdfd6e87c",
        "f59600bd47da1c0bf9dcaa7911651fba",
    ),
    (
        25,
        (1, 1, Some(2_000_000_000)),
        44_383,
        "4a99302089199241926c7a533589b04a",
        "1b0e1b249027e81d87bbd1c2d800bd53",
    ),
    (
        24,
        (1, 1, Some(10_400_000_000)),
        6_098,
        "9ad3bc23ffc7bd263bc0c5f6157c1596",
        "71c99f8941554ad12b8910f58e01dd97",
    ),
    (
        26,
        (2, 1, Some(2_600_000_000)),
        555_436,
        "5cbc8e076b8096516a4ae9c6c5da0284",
        "f623e3f3880c458883701c8c03c03c56",
    ),
    (
        27,
        (3, 1, Some(5_300_000_000)),
        5_729_024,
        "92efe85a56f9e18f7f8ae899fa640401",
        "24d64df183bdb8ae2bd31f0cf1c2cc77",
    ),
    (
        28,
        (3, 1, Some(31_000_000_000)),
        9_728_677,
        "063c3024f69273b0dea84e8a805995a5",
        "fb3a5312ef944a6d70b5325263031646",
    ),
    // Units that weigh more than 64 bits can say.
    (
        32,
        (0, 1, Some(1_000_000_000_000_000)),
        77_872,
        "000d0fc791f3b2ba7eada4ce8cf8c976",
        "8112dd9af850f1aa41566bb264d5242a",
    ),
    (32, (0, 1, Some(u64::MAX)), 957, "c6105cb1f0367dd9139f17ec6ab3bc94", "195282ad5a3977ab0f58165984553aa4"),
];

#[test]
fn plans_by_central_columns_are_what_they_were() {
    for (n, (columns, group, grain), units, expected, fingerprint) in BY_CENTRE {
        let scheme = Scheme::Centre { columns, group, grain };
        let spec = PlanSpec { n: Board::new(n).unwrap(), scheme, version: 2 };
        let plan = Plan::derive(spec).unwrap();
        let found = (plan.units(), positions(&plan), plan.fingerprint().to_string());
        assert_eq!(found, (units, expected.to_owned(), fingerprint.to_owned()), "{spec:?}");
    }
}

#[test]
fn default_plans_are_what_they_were() {
    let spec = |n, scheme| PlanSpec { n: Board::new(n).unwrap(), scheme, version: 2 };
    for (n, grain) in [
        (16, 100_000_000_000),
        (27, 657_228_731_697),
        (28, 7_481_107_897_336),
        (29, 87_367_122_878_875),
        (30, 1_058_436_065_166_244),
        (31, 13_143_761_131_452_408),
        (32, 168_978_806_077_670_752),
    ] {
        assert_eq!(PlanSpec::new(Board::new(n).unwrap()), spec(n, by_constellations(grain)));
    }
    for (n, rows, group, sides) in [
        (11, 0, 1, 0),
        (15, 0, 1, 2),
        (19, 0, 1, 3),
        (20, 0, 1, 4),
        (21, 0, 1, 5),
        (22, 0, 1, 5),
        (23, 0, 1, 6),
    ] {
        assert_eq!(PlanSpec::families(Board::new(n).unwrap()), spec(n, by_families(rows, group, sides)));
    }
    for (n, (columns, group, grain)) in [
        (24, (0, 1, Some(1_000_000_000))),
        (25, (1, 1, Some(2_000_000_000))),
        (26, (2, 1, Some(2_600_000_000))),
        (27, (3, 1, Some(5_300_000_000))),
        (28, (3, 1, Some(31_000_000_000))),
        (29, (4, 5, None)),
        (32, (4, 11, None)),
    ] {
        let scheme = Scheme::Centre { columns, group, grain };
        assert_eq!(PlanSpec::families(Board::new(n).unwrap()), spec(n, scheme));
    }
}
