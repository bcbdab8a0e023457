"""That a plan is a partition: it counts each solution once. Solutions of the board are looked up in its units.

A solution has eight different images, or four or two if a turn fixes it. Each image that is a completion of a unit stands
for as many of them as the constellation of the unit has images.
"""

import random

from . import NotSound
from .geometry import columns, half_turn, line_of, ones, quarter_turn
from .part import COMPLETIONS, HALF_TURN, QUARTER_TURN

# Up to this board all solutions are looked up, one of each orbit.
LARGEST_WHOLE = 12

# Random solutions, those that the half turn fixes, and those that the quarter turn fixes.
DRAWS = ((1, 100), (2, 20), (4, 5))
MOST_PLACEMENTS, MOST_SEARCHES = 500, 200


def check(plan, seed):
    """Looks up solutions in the plan, once for each plan: how many, how many of them a turn fixes, whether these are all."""
    if plan.partition is None:
        n = plan.n
        whole = n <= LARGEST_WHOLE
        found = one_of_each_orbit(n) if whole else random_solutions(n, random.Random(seed))
        partition = Partition(plan)
        for solution in found:
            partition.expect_once(solution)
        symmetric = sum(is_fixed(n, solution, half_turn) for solution in found)
        plan.partition = {"solutions": len(found), "symmetric": symmetric, "all": whole}
    return plan.partition


class Partition:
    """The parts of a plan, found by their queens in the top and the bottom row."""

    def __init__(self, plan):
        self.plan, self.parts = plan, {}
        for first, part in zip(plan.firsts, plan.parts):
            queens = dict(part.position.queens)
            key = queens.get(0), queens.get(plan.n - 1)
            self.parts.setdefault(key, []).append((first, part))

    def units(self, solution, measure):
        """The units of that measure whose positions the solution completes, each with its part."""
        top, bottom = solution[0], solution[-1]
        return [(first + index, part)
                for key in {(top, bottom), (top, None), (None, bottom), (None, None)}
                for first, part in self.parts.get(key, ()) if part.measure == measure
                for index in part.indices_completed_by(solution)]

    def expect_once(self, solution):
        n = self.plan.n
        images = set(images_of(solution))
        measures = [COMPLETIONS]
        if n > 1:
            measures += [measure for measure, turn in ((HALF_TURN, half_turn), (QUARTER_TURN, quarter_turn))
                         if is_fixed(n, solution, turn)]
        for measure in measures:
            counted = 0
            for one in images:
                units = self.units(one, measure)
                if len(units) > 1:
                    raise NotSound(f"the plan counts the solution {words(one)} twice, in units {units[0][0]} and "
                                   f"{units[1][0]}")
                for _, part in units:
                    members = {other.member for _, other in self.units(one, COMPLETIONS)}
                    counted += part.orbit if members == {part.member} else 0
            if counted != len(images):
                raise NotSound(f"the plan counts {counted} of the {len(images)} images of the solution {words(solution)}")


def images_of(solution):
    """The eight images of a solution, which is the tuple of its columns by row."""
    n = len(solution)
    transposed = tuple(map(solution.index, range(n)))
    for one in (solution, transposed, solution[::-1], transposed[::-1]):
        yield one
        yield tuple(n - 1 - col for col in one)


def is_fixed(n, solution, turn):
    return all(solution[row] == col for row, col in (turn(n, queen) for queen in enumerate(solution)))


def words(solution):
    """The rows by column, from 1, as diadem atlas writes them."""
    n = len(solution)
    return ",".join(str(n - solution.index(col)) for col in range(n))


def one_of_each_orbit(n):
    return [solution for solution in all_solutions(n, ()) if solution == min(images_of(solution))]


def all_solutions(n, placed):
    """The solutions that begin with these columns; of the first row only one half, because mirrors have the other."""
    row = len(placed)
    if row == n:
        yield placed
        return
    free = (1 << (n if row else (n + 1) // 2)) - 1
    for queen in enumerate(placed):
        free &= ~line_of(queen, row, free)
    for column in columns(free):
        yield from all_solutions(n, (*placed, column))


def random_solutions(n, source):
    """Solutions of a board that has some. Not all are equally likely."""
    found = []
    for order, draws in DRAWS:
        if order == 4 and n % 4 > 1:
            # Around the centre queens come in fours.
            continue
        for _ in range(draws):
            searches = (_Search(n, order, source).run() for _ in range(MOST_SEARCHES))
            solution = next((solution for solution in searches if solution), None)
            if solution is None:
                break
            found.append(solution)
    return found


class _Search:
    """Fills the row with the fewest free columns, one of them at random, together with the images under a turn."""

    def __init__(self, n, order, source):
        self.n, self.order, self.source, self.left = n, order, source, MOST_PLACEMENTS
        self.turn = {2: half_turn, 4: quarter_turn}.get(order)
        self.open, self.queens = [(1 << n) - 1] * n, {}

    def run(self):
        """A solution, or none after some placements."""
        rows = [row for row in range(self.n) if row not in self.queens]
        if not rows:
            return tuple(self.queens[row] for row in range(self.n))
        row = min(rows, key=lambda row: ones(self.open[row]))
        choices = list(columns(self.open[row]))
        self.source.shuffle(choices)
        for column in choices:
            self.left -= 1
            if self.left < 0:
                return None
            before = self.open[:], dict(self.queens)
            solution = self.run() if self._place((row, column)) else None
            if solution:
                return solution
            self.open, self.queens = before
        return None

    def _place(self, queen):
        """Places the queen and its images, if they are at peace."""
        for _ in range(self.order):
            row, column = queen
            if self.queens.get(row) != column:
                if row in self.queens or not self.open[row] >> column & 1:
                    return False
                self.queens[row] = column
                self.open = [free & ~line_of(queen, other, free) for other, free in enumerate(self.open)]
            queen = self.turn(self.n, queen) if self.turn else queen
        return True
