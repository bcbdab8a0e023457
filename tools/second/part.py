"""A part of a plan: a position, and how it is split into units with consecutive numbers."""

from . import NotSound
from .geometry import columns, line_of, ones

COMPLETIONS, HALF_TURN, QUARTER_TURN = 1, 2, 3
WHOLE, ROWS, OUTER, CENTRE = range(4)
LARGEST_GROUP = 32
MOST_SIDES = 12
MOST_UNITS = 20_000_000


class Part:
    """Units of one position that belong to one sum.

    `member` numbers the constellations with a symmetry; without one it is None. `orbit` is for how many solutions of
    the board each completion stands.
    """

    def __init__(self, position, member, measure, orbit, work):
        self.position, self.member, self.measure, self.orbit, self.work = position, member, measure, orbit, work
        self.kind, self.depth, self.group, self.sides = WHOLE, 0, 0, 0
        self.units = 1

    @property
    def weight(self):
        """The expected work of one unit, a whole number of 64 bits."""
        return min(max(1, int(self.work / max(1, self.units))), 2**64 - 1)

    def split_by_rows(self, pieces, most):
        """Into at least so many units, where there are rows enough."""
        rows = self.position.free_rows()
        if pieces > 1 and len(rows) > 1:
            self.kind = ROWS
            for depth in range(1, len(rows)):
                leaves = count(rows[:depth], 1, most * LARGEST_GROUP)
                self.depth, self.group = depth, min(max(leaves // pieces, 1), LARGEST_GROUP)
                self.units = count(rows[:depth], self.group, most)
                if leaves >= pieces or leaves == 0:
                    break

    def split_by_outer_rows(self, rows, group, sides, most):
        self.kind, self.depth, self.group, self.sides = OUTER, rows, group, sides
        rows, sides = self._outer_rows()
        self.units = (count(rows, group, most >> sides) if rows else 1) << sides

    def split_by_central_columns(self, columns, group, grain, most):
        self.kind, self.depth, self.group = CENTRE, columns, group
        lines, _ = self._central_columns()
        self.units = count(lines, group, most) if lines else 1
        if grain is not None:
            self.sides = self._sides_for(grain)
            _, sides = self._central_columns()
            self.units <<= sides

    def _sides_for(self, grain):
        """Of how many rows the sides are to be fixed: a quarter of the weight is taken for half of the time."""
        sides = 0
        while sides < MOST_SIDES and self.weight >> 2 * sides > grain:
            sides += 1
        last = self.position.n - 1
        is_turned = sum(col for row, col in self.position.queens if row in (0, last)) == last
        return min(sides + is_turned, MOST_SIDES)

    def _outer_rows(self):
        """The rows that are split by, and how many sides are fixed."""
        rows = outer_rows(self.position, self.depth)
        return rows, self._sides_besides(rows)

    def _central_columns(self):
        """The columns that are split by, as rows of the exchanged position, and how many sides are fixed."""
        lines = central_columns(self.position, self.depth)
        return lines, self._sides_besides(lines)

    def _sides_besides(self, lines):
        """No more sides than there are rows without a queen when the queens of these lines are placed."""
        return min(self.sides, self.position.n - len(self.position.queens) - len(lines))

    def positions(self, indices):
        """The positions of the units with these indices, which ascend."""
        sides = self._fixed_sides()
        leaves = self._leaves([index >> sides for index in indices])
        return [on_sides(leaf, sides, index & (1 << sides) - 1) for leaf, index in zip(leaves, indices)]

    def _fixed_sides(self):
        lines, sides = {OUTER: self._outer_rows, CENTRE: self._central_columns}.get(self.kind, lambda: ((), 0))()
        return sides

    def _leaves(self, indices):
        """The positions of the leaves with these indices, before any sides are fixed."""
        if self.kind == WHOLE:
            return [self.position for _ in indices]
        if self.kind == ROWS:
            return list(leaves_at(self.position, self.position.free_rows()[:self.depth], self.group, indices))
        if self.kind == CENTRE:
            lines, _ = self._central_columns()
            found = leaves_at(self.position.transposed(), lines, self.group, indices)
            return [leaf.transposed() for leaf in found]
        rows, _ = self._outer_rows()
        return list(leaves_at(self.position, rows, self.group, indices))

    def unit(self, index):
        """The position of the unit with that index."""
        return self.positions([index])[0]

    def indices_completed_by(self, solution):
        """The indices of the units whose positions the solution completes. Every leaf with queens of the solution is
        looked at, so that more than one is found where units overlap."""
        if not self.position.is_completed_by(solution):
            return []
        lines, sides, places = [], 0, solution
        if self.kind == ROWS:
            lines = self.position.free_rows()[:self.depth]
        elif self.kind == OUTER:
            lines, sides = self._outer_rows()
        elif self.kind == CENTRE:
            lines, sides = self._central_columns()
            places = [solution.index(col) for col in range(len(solution))]
        first, near = 0, []
        for queens, free in leaves(lines) if lines else [((), 1)]:
            beyond = first + -(-ones(free) // max(1, self.group))
            if all(places[line] == place for line, place in queens):
                near += range(first, beyond)
            first = beyond
        return [index
                for at, leaf in zip(near, self._leaves(near)) if leaf.is_completed_by(solution)
                for lefts in range(1 << sides) if (index := at << sides | lefts) < self.units
                if on_sides(leaf, sides, lefts).is_completed_by(solution)]


def outer_rows(position, most):
    """The next rows without a queen, each time the one nearer to its border, the upper one if both are as near."""
    rows, order = position.free_rows(), []
    while rows and len(order) < most:
        upper, lower = rows[0][0], position.n - 1 - rows[-1][0]
        order.append(rows.pop(0 if upper <= lower else -1))
    return order


def central_columns(position, most):
    """Columns without a queen, the nearest to the middle first, the left one if both are as near; each with the rows that
    no queen attacks."""
    last = position.n - 1
    rows = position.transposed().free_rows()
    return sorted(rows, key=lambda row: (abs(2 * row[0] - last), row[0]))[:most]


def leaves(rows, queens=()):
    """Every way to fill all rows but the last, columns ascending, with the columns that it leaves open in the last."""
    row, free = rows[len(queens)]
    for queen in queens:
        free &= ~line_of(queen, row, free)
    if len(queens) + 1 == len(rows):
        yield queens, free
    else:
        for column in columns(free):
            yield from leaves(rows, (*queens, (row, column)))


def count(rows, group, most):
    """The units of a walk through these rows, so many columns of the last row in one; an error if there are more."""
    units = 0
    for _, free in leaves(rows):
        units += -(-ones(free) // group)
        if units > most:
            raise NotSound(f"run.json: the plan would have more than {MOST_UNITS} units")
    return units


def leaves_at(position, rows, group, indices):
    """The position with the queens and the restricted row of each unit with one of these indices, which ascend."""
    if not rows:
        yield from (position for _ in indices)
        return
    indices, first, walk = list(reversed(indices)), 0, leaves(rows)
    while indices:
        queens, free = next(walk)
        beyond = first + -(-ones(free) // group)
        while indices and indices[-1] < beyond:
            at = (indices.pop() - first) * group
            yield leaf(position, queens, rows[-1][0], list(columns(free))[at:at + group])
        first = beyond


def leaf(position, queens, row, chosen):
    """The position with these queens, and the queen of that row on one of the chosen columns."""
    for queen in queens:
        position = position.with_queen(queen)
    position = position.within(row, sum(1 << column for column in chosen))
    return position.with_queen((row, chosen[0])) if len(chosen) == 1 else position


def on_sides(position, sides, lefts):
    """Restricts further outer rows to the columns on the left of the middle where a bit is one, else to the others."""
    left = left_columns(position)
    for at, (row, _) in enumerate(outer_rows(position, sides)):
        position = position.within(row, left if lefts >> at & 1 else position.full & ~left)
    return position


def left_columns(position):
    """The lower half of the columns without a queen. Where their number is odd, the middle one belongs to it if the
    queens, sorted, come behind those of the mirror image."""
    taken = {col for _, col in position.queens}
    free = [col for col in range(position.n) if col not in taken]
    mirrored = sorted((row, position.n - 1 - col) for row, col in position.queens)
    extra = len(free) % 2 if sorted(position.queens) > mirrored else 0
    return sum(1 << col for col in free[:len(free) // 2 + extra])
