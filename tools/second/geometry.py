"""The board: queens, the eight symmetries, and the constellations of queens on the four border lines.

A queen is a pair (row, column), both from 0. A constellation is (top, bottom, left, right): the columns of the queens
in the top and the bottom row, the rows of those in the left and the right column.
"""

from functools import lru_cache
from itertools import product

# In coordinates whose origin is the centre of the board, a symmetry permutes the two axes and changes their signs.
SYMMETRIES = tuple(product((False, True), (1, -1), (1, -1)))

# By how many symmetries fix it: the size of a constellation's orbit.
ASYMMETRIC, POINT, ROTATIONAL, FULL = 8, 4, 2, 1


def image(n, symmetry, queen):
    """Where a symmetry takes a queen."""
    swap, sign_row, sign_col = symmetry
    row, col = (2 * place - (n - 1) for place in (reversed(queen) if swap else queen))
    return (sign_row * row + n - 1) // 2, (sign_col * col + n - 1) // 2


def half_turn(n, queen):
    return image(n, (False, -1, -1), queen)


def quarter_turn(n, queen):
    return image(n, (True, 1, -1), queen)


def attack(a, b):
    """Whether two queens on different squares attack each other."""
    return a != b and (a[0] == b[0] or a[1] == b[1] or abs(a[0] - b[0]) == abs(a[1] - b[1]))


def at_peace(queens):
    return not any(attack(a, b) for a in queens for b in queens)


def queens_of(n, constellation):
    """The queens in the order top, bottom, left, right; one in a corner once."""
    top, bottom, left, right = constellation
    by_line = [(0, top), (n - 1, bottom), (left, 0), (right, n - 1)]
    return tuple(dict.fromkeys(by_line))


def constellation_of(n, queens):
    """The constellation of queens that occupy each border line once."""
    last = n - 1
    (top,) = (col for row, col in queens if row == 0)
    (bottom,) = (col for row, col in queens if row == last)
    (left,) = (row for row, col in queens if col == 0)
    (right,) = (row for row, col in queens if col == last)
    return top, bottom, left, right


def images(n, constellation):
    """Its eight images, in the order of SYMMETRIES."""
    queens = queens_of(n, constellation)
    return [constellation_of(n, [image(n, symmetry, queen) for queen in queens]) for symmetry in SYMMETRIES]


def orbit_size(n, constellation):
    return len(set(images(n, constellation)))


def constellations(n):
    """All of them, ascending: each border line holds one queen, and none attacks another."""
    last = n - 1
    for top, bottom in product(range(n), repeat=2):
        rows = {(0, top), (last, bottom)}
        if not at_peace(rows):
            continue
        lefts = [left for left in range(n) if _occupies(rows, 1, 0, (left, 0))]
        rights = [right for right in range(n) if _occupies(rows, 1, last, (right, last))]
        for left, right in product(lefts, rights):
            queens = rows | {(left, 0), (right, last)}
            lines = [sum(queen[axis] == line for queen in queens) for axis in (0, 1) for line in {0, last}]
            if set(lines) == {1} and at_peace(queens):
                yield top, bottom, left, right


def _occupies(queens, axis, line, queen):
    """Whether the queen joins the others in peace and no other stands on that line."""
    return all(other == queen or (other[axis] != line and not attack(other, queen)) for other in queens)


@lru_cache(maxsize=4)
def orbits(n):
    """The smallest constellation of each orbit, ascending, with the size of the orbit."""
    found = []
    for constellation in constellations(n):
        if 2 * constellation[0] < n:
            all_images = images(n, constellation)
            if constellation == min(all_images):
                found.append((constellation, len(set(all_images))))
    return found


def line_of(queen, row, full):
    """The columns of a row that a queen attacks, one bit each; in its own row its column and nothing else."""
    column, distance = 1 << queen[1], abs(row - queen[0])
    return (column | column << distance | column >> distance) & full


def ones(word):
    return bin(word).count("1")


def columns(word):
    """The places of the ones of a word, ascending."""
    while word:
        yield (word & -word).bit_length() - 1
        word &= word - 1
