"""Published totals: A000170 of the OEIS (all solutions) with those of its classes P and R (A032522, A033148)."""

# Q, P, R for n = 1 to 27. n = 27 by Preusser and Engelhardt, 2016.
SOLUTIONS = (
    (1, 0, 0), (0, 0, 0), (0, 0, 0), (2, 0, 1), (10, 0, 1), (4, 1, 0), (40, 2, 0), (92, 1, 0), (352, 4, 0),
    (724, 3, 0), (2_680, 12, 0), (14_200, 18, 4), (73_712, 32, 4), (365_596, 105, 0), (2_279_184, 310, 0),
    (14_772_512, 734, 32), (95_815_104, 2_006, 64), (666_090_624, 4_526, 0), (4_968_057_848, 11_046, 0),
    (39_029_188_884, 36_035, 240), (314_666_222_712, 93_740, 352), (2_691_008_701_644, 312_673, 0),
    (24_233_937_684_440, 895_310, 0), (227_514_171_973_736, 2_917_938, 1_664),
    (2_207_893_435_808_352, 8_532_332, 1_632), (22_317_699_616_364_044, 28_929_567, 0),
    (234_907_967_154_122_528, 80_100_756, 0),
)

# P, R for n = 28 to 32, where Q is not published.
SYMMETRIC = (
    (312_717_136, 16_448), (900_007_828, 21_888), (3_647_359_506, 0), (10_816_583_674, 0), (45_313_494_882, 203_392),
)


def symmetric(n):
    """P and R."""
    return SOLUTIONS[n - 1][1:] if n <= len(SOLUTIONS) else SYMMETRIC[n - 1 - len(SOLUTIONS)]


def totals(n):
    """A, P, R and the solution that everything fixes; nothing where none have been published."""
    if n > len(SOLUTIONS):
        return None
    solutions, p, r = SOLUTIONS[n - 1]
    full = int(n == 1)
    return (solutions - full - 4 * p - 2 * r) // 8, p, r, full
