"""Counts units again: completions by plain backtracking from the top, what a turn fixes by whole orbits of squares."""

from time import monotonic

from .geometry import at_peace, attack, half_turn, ones, quarter_turn
from .part import COMPLETIONS, HALF_TURN


class TimeIsUp(Exception):
    """The count was not finished within the time."""


class Clock:
    """Ends a count when its time is up, and calls `tick` while it runs."""

    def __init__(self, seconds=None, tick=lambda: None):
        self.end, self.tick = None if seconds is None else monotonic() + seconds, tick

    def look(self):
        self.tick()
        if self.end is not None and monotonic() > self.end:
            raise TimeIsUp


def count(part, index, clock):
    """The count that the unit should have."""
    position = part.unit(index)
    if part.measure == COMPLETIONS:
        return completions(position, clock)
    return fixed(position, half_turn if part.measure == HALF_TURN else quarter_turn, clock)


def completions(position, clock):
    """The solutions with the position's queens, on its squares, with one of its pairs of border queens."""
    if position.pairs is None:
        return _completions(position, clock)
    last, bare = position.n - 1, position.with_all_pairs()
    # No solution has two pairs, so those of each pair are added up.
    return sum(_completions(bare.with_queen((left, 0)).with_queen((right, last)), clock)
               for left, right in position.pairs)


def _completions(position, clock):
    if not position.is_possible():
        return 0
    rows = position.free_rows()
    if not rows:
        return 1
    # From one free row to the next the diagonals move by as many columns as rows.
    steps = [below[0] - above[0] for above, below in zip(rows, rows[1:])] + [0]
    open_columns = [free for _, free in rows]
    last, deep = len(rows) - 1, len(rows) // 2

    def descend(at, taken, falling, rising):
        free = open_columns[at] & ~(taken | falling | rising)
        if at == last:
            return ones(free)
        if at < deep:
            clock.look()
        found, step = 0, steps[at]
        while free:
            queen = free & -free
            free ^= queen
            found += descend(at + 1, taken | queen, (falling | queen) << step, (rising | queen) >> step)
        return found

    return descend(0, 0, 0, 0)


def fixed(position, turn, clock):
    """The solutions with the position's queens that the turn takes to themselves."""
    n, queens = position.n, set(position.queens)
    if not at_peace(queens) or {turn(n, queen) for queen in queens} != queens:
        return 0
    orbits = {}
    for square in ((row, col) for row in range(n) for col in range(n)):
        orbit = _around(n, turn, square)
        if at_peace(orbit) and not any(attack(a, b) or a == b for a in orbit for b in queens):
            orbits[square] = frozenset(orbit)
    # An orbit of squares is occupied as a whole; each square is a bit, with what its orbit excludes.
    squares = {square: 1 << at for at, square in enumerate(orbits)}
    excluded = {}
    for square, orbit in orbits.items():
        excluded[square] = sum(bit for other, bit in squares.items() if any(
            a == other or attack(a, other) for a in orbit))
    rows = [[square for square in orbits if square[0] == row] for row in range(n)]

    def descend(possible, open_rows):
        if not open_rows:
            return 1
        clock.look()
        # The row with the fewest squares left: where there is none, nothing more is found.
        row = min(open_rows, key=lambda row: sum(1 for square in rows[row] if squares[square] & possible))
        found = 0
        for square in rows[row]:
            if squares[square] & possible:
                filled = {queen[0] for queen in orbits[square]}
                found += descend(possible & ~excluded[square], open_rows - filled)
        return found

    return descend(sum(squares.values()), frozenset(range(n)) - {row for row, _ in queens})


def _around(n, turn, square):
    orbit = [square]
    while turn(n, orbit[-1]) != square:
        orbit.append(turn(n, orbit[-1]))
    return orbit
