//! Golden values: the plans of a version, fixed permanently as literals.
//!
//! A run lasts for months, and its unit numbers must mean the same to every release and on every machine. So
//! no value here is computed by the code under test, neither the specifications nor the results.

use super::*;
use crate::position::BoundaryPairs;

/// The fixed facts about the plans of one board and scheme.
struct Golden {
    n: u8,
    scheme: Scheme,
    units: u64,
    /// The result of [`positions`].
    positions: &'static str,
    fingerprint: &'static str,
}

const fn golden(
    n: u8,
    scheme: Scheme,
    units: u64,
    positions: &'static str,
    fingerprint: &'static str,
) -> Golden {
    Golden { n, scheme, units, positions, fingerprint }
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
        "4ca40767a9135a4fa4a369595f3634ad",
    ),
    golden(
        5,
        by_constellations(3),
        7,
        "2954ce33592c96880c4288aa2b1416ea",
        "c842997b50e8d0398d2d67135a23b216",
    ),
    golden(
        6,
        by_constellations(1),
        22,
        "2a7bb6fb2d3f2eca34fb6396d9d460ee",
        "cb6378cdc2960a1cfa1526996bb36a64",
    ),
    golden(
        8,
        by_constellations(20),
        90,
        "21490eaf70dbd8d87d37faaf5a14f8e1",
        "e3388c2916a12f95a8a16704f46f1ab6",
    ),
    golden(
        11,
        by_constellations(7),
        1_761,
        "eb438b572e3900409430f0b454b7dec5",
        "2edfa0361505fc62fa892cefa66622e2",
    ),
    golden(
        12,
        by_constellations(100_000_000_000),
        760,
        "e0447d7fe5d9882f987d72a00606cf47",
        "1fb9c2789ed9141c78a72dc68d02a9ab",
    ),
    golden(
        14,
        by_constellations(40),
        64_073,
        "dfc0748c3b5995c50e4f4a4873936dfd",
        "971024bbf43e0d7dfcad71efb0bf05c4",
    ),
    golden(
        16,
        by_constellations(100_000_000_000),
        3_262,
        "4ab54490d6ab4696aa5491ac889fb123",
        "47fcdccc7aa54751a48edbb265063752",
    ),
    golden(
        19,
        by_constellations(3_000_000),
        25_832,
        "db0b44d2a4d0f365d68220538215f6ef",
        "68696e4bb5fa3c44350f0334edfa6eee",
    ),
    golden(
        22,
        by_constellations(100_000_000_000),
        15_070,
        "61139f696aab4bba6e3880616e2f14d0",
        "298b36fd8d5a44d3eaec404c9686d42f",
    ),
    golden(
        28,
        by_constellations(7_481_107_897_336),
        7_724_014,
        "e4584d576671b2d85f1c5dc99b83b771",
        "1ecd23b08ec819c681bc60b51517d36d",
    ),
    golden(
        4,
        by_families(0, 1, 1),
        5,
        "cba0003d52521b1ebf1082c532672a1d",
        "a2cb5c1e373fc4741e644c2f5f871bab",
    ),
    golden(
        6,
        by_families(5, 1, 0),
        8,
        "a3494b66b58e494646a29f14a401e2f1",
        "0d674e92e95a8a33964d409716265832",
    ),
    golden(
        8,
        by_families(1, 2, 2),
        153,
        "b63447038e71d0cf1cfe987f54f77bf5",
        "e7a16db45ee8b78594981866e5c8d10d",
    ),
    golden(
        9,
        by_families(8, 3, 0),
        103,
        "a10a3e1f47791e3aae5c4c8d24288913",
        "6211bc731dbe797462109a48609058d4",
    ),
    golden(
        10,
        by_families(3, 2, 0),
        1_356,
        "7ca51499d0954287bf97a8104119c0a9",
        "37864185bfa4edc42aa743b57c243516",
    ),
    golden(
        11,
        by_families(2, 1, 3),
        9_020,
        "cf55efbec0cd8fcc608226de47f38b74",
        "43ec622c53c01778595854739ae55265",
    ),
    golden(
        13,
        by_families(1, 3, 3),
        1_103,
        "9ba398063618aed49921740152184d99",
        "ce960ed61fedbaf9d766366453811a0d",
    ),
    golden(
        15,
        by_families(4, 5, 2),
        330_664,
        "ae535a7b47a85cc091b7cddf4d473169",
        "fd77d97a99418383befb5c8cfce2c99c",
    ),
    golden(
        16,
        by_families(0, 1, 12),
        249_961,
        "27c1614a87fc89e010df597e277048cf",
        "bbdaad2f320135916bfc9bdd21012f8c",
    ),
    golden(
        17,
        by_families(0, 1, 3),
        657,
        "62ac25d8bf35f73b43a7b7d42b1d7c12",
        "dd94f06da0da833a0bc0afa9f01a4749",
    ),
    golden(
        21,
        by_families(1, 1, 2),
        7_551,
        "30bd542fbc4f1c69bd0083807ae05e76",
        "4d3f3c4bc2ce80521929b5f57e8a1405",
    ),
    golden(
        27,
        by_families(4, 4, 0),
        8_738_196,
        "100c8b430163d08d3bfa191de736e129",
        "154c7160e0108ce945ea34e177c3b9c8",
    ),
    golden(
        28,
        by_families(4, 6, 0),
        8_008_983,
        "b30ae34b44fe0ba2d1ee80759d0fe669",
        "abb8fc9aa64f78a0ddbcd9c7e04afa43",
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

/// A position: the queens in ascending order, the squares of each row, and the right rows allowed with each left row.
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
fn golden_plans_are_unchanged() {
    for Golden { n, scheme, units, positions: expected, fingerprint } in PLANS {
        let spec = PlanSpec { n: Board::new(n).unwrap(), scheme, version: 1 };
        let plan = Plan::derive(spec).unwrap();
        let found = (plan.units(), positions(&plan), plan.fingerprint().to_string());
        assert_eq!(found, (units, expected.to_owned(), fingerprint.to_owned()), "{spec:?}");
    }
}

/// Columns, group and grain.
type Centre = (u8, u8, Option<u64>);

/// Plans by central columns: n; columns, group and grain; units; and what [`positions`] and the fingerprint are.
const BY_CENTRE: [(u8, Centre, u64, &str, &str); 22] = [
    (1, (3, 1, None), 1, "2e419ffa0639de89ef06789e69ea2fc0", "64ea4d0c30d28815f137a023143b9c75"),
    (5, (1, 2, None), 6, "bc8a58bed30f0ec6283ca79ee55f147a", "37a530ac15c01830c7a9f68efdc442c6"),
    (8, (2, 1, None), 136, "2d7759c8f1deabc959c72f6a4cdac95b", "6a786d1127c50085b631c74da0d5522c"),
    (13, (3, 4, None), 4_028, "d768be79b58f37c6d006b232b17dadf1", "9bc488c0e14f906f5f335cb5c4e78bda"),
    (18, (1, 1, None), 1_228, "aecb0c5746dfe6efdf986786c07d1b2d", "a54ad3303bf663c371c0a2a8473c8b28"),
    (24, (2, 8, None), 8_713, "9f5021ac5723052ce1dd77154b22470a", "9b2391fb106269afda61af00d0d2bb5b"),
    (26, (3, 2, None), 610_671, "c9c4767efefc61bf322966ec5a55708f", "1fd1ec92b1f4a2619b0e103848e32eca"),
    (27, (4, 6, None), 4_494_284, "6d83faf9d53cd75bdec9a4fde8e83325", "07c64229a218060f155e58e47b94e3aa"),
    (28, (4, 4, None), 8_392_486, "bd3e98c2457c86f6eca6057ad3e1ccd4", "059c2b9dcf29d0145b7f3da4bb2e4488"),
    (1, (1, 1, Some(1)), 1, "2e419ffa0639de89ef06789e69ea2fc0", "ecaf4fc031b6bf884a52ba5e2b089a7d"),
    (5, (1, 1, Some(1)), 8, "b758ce60edd223a5a9942b014c918840", "8c18cf89d2728b9b3ebb43ee37a80d76"),
    (8, (2, 1, Some(2)), 162, "3d3be38e46143e83a5ad3c13963fdd2f", "085c4bd713f851e0c9c7d909cea712c1"),
    (13, (1, 4, Some(30)), 482, "83b5691db0ba6f293500db2e95774e8c", "0c4fb385ee8b8553a1f8eadd2a07371b"),
    (
        18,
        (1, 1, Some(100_000)),
        2_158,
        "62d1986232b500bdf3df5ef54299de7d",
        "d3f6c0577203c15c4abda5097f3dacad",
    ),
    (
        24,
        (0, 1, Some(1_000_000_000)),
        4_976,
        "a17be3fc398d1aa61529591cdfd6e87c",
        "1a5769587f5be9024685f695b7fe1f73",
    ),
    (
        25,
        (1, 1, Some(2_000_000_000)),
        44_383,
        "4a99302089199241926c7a533589b04a",
        "7347d5487646527f24d32897342aad1a",
    ),
    (
        24,
        (1, 1, Some(10_400_000_000)),
        6_098,
        "9ad3bc23ffc7bd263bc0c5f6157c1596",
        "ee366c10d2554deb2f34430449945d9a",
    ),
    (
        26,
        (2, 1, Some(2_600_000_000)),
        555_436,
        "5cbc8e076b8096516a4ae9c6c5da0284",
        "9d2eb855aeda9e9b70008c2a0207ffa8",
    ),
    (
        27,
        (3, 1, Some(5_300_000_000)),
        5_729_024,
        "92efe85a56f9e18f7f8ae899fa640401",
        "70de94512b1b295ec3fff035bfc843da",
    ),
    (
        28,
        (3, 1, Some(31_000_000_000)),
        9_728_677,
        "063c3024f69273b0dea84e8a805995a5",
        "0769c2daf758e661f83864025ff4a19e",
    ),
    // Units that weigh more than 64 bits can say.
    (
        32,
        (0, 1, Some(1_000_000_000_000_000)),
        77_872,
        "000d0fc791f3b2ba7eada4ce8cf8c976",
        "ee73752511e104344cc105c4fada3b4e",
    ),
    (32, (0, 1, Some(u64::MAX)), 957, "c6105cb1f0367dd9139f17ec6ab3bc94", "ca1fb89c19b70388a89810850807cfac"),
];

#[test]
fn golden_plans_by_central_columns_are_unchanged() {
    for (n, (columns, group, grain), units, expected, fingerprint) in BY_CENTRE {
        let scheme = Scheme::Centre { columns, group, grain };
        let spec = PlanSpec { n: Board::new(n).unwrap(), scheme, version: 1 };
        let plan = Plan::derive(spec).unwrap();
        let found = (plan.units(), positions(&plan), plan.fingerprint().to_string());
        assert_eq!(found, (units, expected.to_owned(), fingerprint.to_owned()), "{spec:?}");
    }
}

#[test]
fn golden_default_plans_are_unchanged() {
    let spec = |n, scheme| PlanSpec { n: Board::new(n).unwrap(), scheme, version: 1 };
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
