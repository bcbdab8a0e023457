"""Plans: the parts of a run in order, from its specification alone."""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import ceil, sqrt

from . import NotSound
from .estimate import Estimate
from .fingerprint import fingerprint
from .geometry import ASYMMETRIC, FULL, ROTATIONAL, constellations, images, orbit_size, orbits, queens_of
from .part import COMPLETIONS, HALF_TURN, LARGEST_GROUP, MOST_SIDES, MOST_UNITS, QUARTER_TURN, Part
from .position import Position

KNOWN_VERSION = 1
MOST_ROWS, MOST_COLUMNS = 8, 8


class Plan:
    """The parts, the number of the first unit of each, and what a stranger compares: the fingerprint."""

    def __init__(self, spec, parts):
        self.spec, self.n, self.parts = spec, spec["n"], parts
        self.firsts = [0, *accumulate(part.units for part in parts)]
        self.units = self.firsts.pop()
        # Counts of units that were made again: they are the same for all ledgers of the plan.
        self.found = {}
        # The solutions that were looked up in it.
        self.partition = None
        self.fingerprint = fingerprint(spec, parts)

    def part_of(self, unit):
        """The part that a unit belongs to, and its index there."""
        at = bisect_right(self.firsts, unit) - 1
        return self.parts[at], unit - self.firsts[at]

    def is_for_search(self):
        """Whether it was made for the row-by-row search, of which nodes can be compared."""
        return self.spec["scheme"] == "constellations"


def derive(spec):
    """The plan of a specification: n, version, scheme and its parameters."""
    return _derive(tuple(sorted(spec.items())))


@lru_cache(maxsize=8)
def _derive(items):
    spec = dict(items)
    n, version = spec["n"], spec["version"]
    if version != KNOWN_VERSION:
        raise NotSound(f"run.json: plans of version {version} are not known to this verifier")
    if spec["scheme"] == "constellations":
        if not spec["grain"]:
            raise NotSound("run.json: the plan's grain must be at least 1")
        return Plan(spec, _by_constellations(n, spec["grain"]))
    if spec["scheme"] == "centre":
        columns, group, grain = spec["columns"], spec["group"], spec.get("grain")
        if columns > MOST_COLUMNS or not 1 <= group <= LARGEST_GROUP or grain == 0:
            raise NotSound(f"run.json: no plan splits by {columns} central columns, groups of {group}, grain {grain}")
        return Plan(spec, _by_families(
            n,
            lambda constellation: constellation.split_by_central_columns(max(0, columns - 2), 1, grain, MOST_UNITS),
            lambda family: family.split_by_central_columns(columns, group, grain, MOST_UNITS)))
    rows, group, sides = spec["rows"], spec["group"], spec["sides"]
    if rows > MOST_ROWS or not 1 <= group <= LARGEST_GROUP or sides > MOST_SIDES:
        raise NotSound(f"run.json: no plan splits by {rows} rows, groups of {group} and {sides} sides")
    return Plan(spec, _by_families(
        n,
        lambda constellation: constellation.split_by_outer_rows(max(0, rows - 2), 1, 0, MOST_UNITS),
        lambda family: family.split_by_outer_rows(rows, group, sides, MOST_UNITS)))


def _by_constellations(n, grain):
    """A constellation of each orbit, in the image that is searched fastest from top to bottom."""
    estimate, parts = Estimate(n), _Parts()
    for constellation, orbit in orbits(n):
        position, work = _fastest(n, constellation, estimate)
        completions = parts.add(position, orbit, work, sqrt(work))
        completions.split_by_rows(ceil(work / grain), MOST_UNITS)
    return parts.in_order()


def _fastest(n, constellation, estimate):
    top, bottom, left, right = constellation
    last = n - 1
    # As it is, upside down, with rows and columns exchanged, and the latter upside down.
    candidates = [
        (top, bottom, left, right),
        (bottom, top, last - left, last - right),
        (left, right, top, bottom),
        (right, left, last - top, last - bottom),
    ]
    positions = [Position(n, queens_of(n, candidate)) for candidate in candidates]
    works = [estimate.nodes(position.free_rows()) for position in positions]
    best = works.index(min(works))
    return positions[best], works[best]


def _by_families(n, split_constellation, split_family):
    """The constellations without symmetry by their top and bottom queens, those with one by themselves; and how the
    parts of either are split."""
    estimate, parts, families = Estimate(n), _Parts(), {}
    around = {}
    for constellation in constellations(n):
        around[constellation[:2]] = around.get(constellation[:2], 0) + 1
        if constellation != min(images(n, constellation), key=lambda x: _from_corners(n, x)):
            continue
        orbit = orbit_size(n, constellation)
        if orbit == ASYMMETRIC:
            if not families:
                # Refuse a plan that is far too large before all constellations of a large board are found.
                split_family(Part(Position(n, queens_of(n, constellation)[:2]), None, COMPLETIONS, orbit, 0.0))
            families.setdefault(constellation[:2], []).append(constellation[2:])
        else:
            position = Position(n, queens_of(n, constellation))
            work = estimate.completions(position.free_rows())
            split_constellation(parts.add(position, orbit, work, sqrt(work)))
    for (top, bottom), pairs in sorted(families.items()):
        queens = Position(n, ((0, top), (n - 1, bottom)))
        share = len(pairs) / around[top, bottom]
        work = estimate.completions(queens.free_rows()) * share
        position = Position(n, queens.queens, pairs=tuple(sorted(pairs)))
        split_family(parts.add(position, ASYMMETRIC, work, 0.0))
    return parts.in_order()


def _from_corners(n, constellation):
    distances = sorted(min(place, n - 1 - place) for place in constellation[:2])
    return (*distances, constellation)


class _Parts:
    """Collects parts: the symmetric counts in the order in which their constellations come, then the completions."""

    def __init__(self):
        self.symmetric, self.completions, self.members = [], [], 0
        # The units of all completions but the last, which may not be split yet.
        self.units = 0

    def add(self, position, orbit, work, fixed_work):
        """The completions of a constellation or family, and where it has a symmetry, what the turns fix."""
        self.units += self.completions[-1].units if self.completions else 0
        self._expect_few(self.units)
        member = None
        if orbit != ASYMMETRIC:
            member, self.members = self.members, self.members + 1
            turns = {FULL: (), ROTATIONAL: (HALF_TURN, QUARTER_TURN)}.get(orbit, (HALF_TURN,))
            self.symmetric += [Part(position, member, turn, orbit, fixed_work) for turn in turns]
        self.completions.append(Part(position, member, COMPLETIONS, orbit, work))
        return self.completions[-1]

    def in_order(self):
        self._expect_few(sum(part.units for part in self.symmetric + self.completions))
        # Heavy units first; equal ones stay in order.
        return self.symmetric + sorted(self.completions, key=lambda part: -part.weight)

    @staticmethod
    def _expect_few(units):
        if units > MOST_UNITS:
            raise NotSound(f"run.json: the plan would have more than {MOST_UNITS} units")
