"""A part of a plan: a position, and how it is split into units with consecutive numbers."""

from .geometry import columns, line_of, ones
from .position import Position

COMPLETIONS, HALF_TURN, QUARTER_TURN = 1, 2, 3
WHOLE, ROWS, OUTER = range(3)
LARGEST_GROUP = 32


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
        """The expected work of one unit, a whole number."""
        return max(1, int(self.work / max(1, self.units)))

    def split_by_rows(self, pieces):
        """Into at least so many units, where there are rows enough."""
        rows = self.position.free_rows()
        if pieces > 1 and len(rows) > 1:
            self.kind = ROWS
            for depth in range(1, len(rows)):
                leaves = count(rows[:depth], 1)
                self.depth, self.group = depth, min(max(leaves // pieces, 1), LARGEST_GROUP)
                self.units = count(rows[:depth], self.group)
                if leaves >= pieces or leaves == 0:
                    break
        return self

    def split_by_outer_rows(self, rows, group, sides):
        self.kind, self.depth, self.group, self.sides = OUTER, rows, group, sides
        outer = outer_rows(self.position, rows)
        self.units = (count(outer, group) if outer else 1) << sides
        return self

    def unit(self, index):
        """The position of the unit with that index."""
        if self.kind == WHOLE:
            return self.position
        if self.kind == ROWS:
            return leaf(self.position, self.position.free_rows()[:self.depth], self.group, index)
        outer = outer_rows(self.position, self.depth)
        unit = leaf(self.position, outer, self.group, index >> self.sides)
        return on_sides(unit, self.sides, index & (1 << self.sides) - 1)


def outer_rows(position, most):
    """The next rows without a queen, each time the one nearer to its border, the upper one if both are as near."""
    if not position.is_possible():
        return []
    rows, order = position.free_rows(), []
    while rows and len(order) < most:
        upper, lower = rows[0][0], position.n - 1 - rows[-1][0]
        order.append(rows.pop(0 if upper <= lower else -1))
    return order


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


def count(rows, group):
    """The units of a walk through these rows, so many columns of the last row in one."""
    return sum(-(-ones(free) // group) for _, free in leaves(rows))


def leaf(position, rows, group, index):
    """The position with the queens and the restricted row of the unit with that index in the walk."""
    if not rows:
        return position
    for queens, free in leaves(rows):
        here = -(-ones(free) // group)
        if index < here:
            break
        index -= here
    chosen = list(columns(free))[index * group:(index + 1) * group]
    row = rows[-1][0]
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
