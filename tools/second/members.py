"""The constellations that have a symmetry: T completions, h of them fixed by the half turn, r by the quarter turn."""

from .geometry import FULL, POINT, ROTATIONAL
from .part import COMPLETIONS, HALF_TURN, QUARTER_TURN


class Members:
    """Their sums so far, by the number of the constellation among those with a symmetry."""

    def __init__(self, plan):
        self.plan = plan
        self.orbits, self.open, self.sums = {}, {}, {}
        # Contradicted when complete, and not complete since.
        self.contradictory = set()
        for part in plan.parts:
            if part.member is not None:
                self.orbits[part.member] = part.orbit
                self.open[part.member] = self.open.get(part.member, 0) + part.units
                self.sums[part.member] = {COMPLETIONS: 0, HALF_TURN: 0, QUARTER_TURN: 0}

    def add(self, unit, count):
        part, _ = self.plan.part_of(unit)
        if part.member is not None:
            self.open[part.member] -= 1
            self.sums[part.member][part.measure] += count
            if self.open[part.member] == 0:
                change = self.contradictory.add if self.totals(part.member) is None else self.contradictory.discard
                change(part.member)

    def take_back(self, unit, count):
        part, _ = self.plan.part_of(unit)
        if part.member is not None:
            self.open[part.member] += 1
            self.sums[part.member][part.measure] -= count

    def is_contradictory(self, unit):
        return self.plan.part_of(unit)[0].member in self.contradictory

    def complete(self):
        """The numbers of those of which all units are counted."""
        return [member for member, still_open in self.open.items() if still_open == 0]

    def totals(self, member):
        """A, P, R and the solution that everything fixes, of all images together; nothing where T, h and r cannot be.

        What nothing fixes falls into orbits under the turns that fix the constellation: T - h into pairs or fours, and
        what the half turn alone fixes, p = h - r, into pairs where there is a quarter turn.
        """
        total, half, quarter = self.counts(member)
        unfixed, point = total - half, half - quarter
        if unfixed < 0 or point < 0:
            return None
        orbit = self.orbits[member]
        if orbit == FULL:
            return 0, 0, 0, total
        if orbit == POINT:
            return None if quarter or unfixed % 2 else (unfixed // 2, point, 0, 0)
        assert orbit == ROTATIONAL
        return None if unfixed % 4 or point % 2 else (unfixed // 4, point // 2, quarter, 0)

    def counts(self, member):
        """T, h, r."""
        return tuple(self.sums[member][measure] for measure in (COMPLETIONS, HALF_TURN, QUARTER_TURN))
