"""The expected size of a search, by which plans choose images and split: floating-point numbers of 64 bits, in the very
order that docs/ledger.md gives, so that every machine finds the same."""

from functools import lru_cache

from .geometry import ones

CROWDING = 1.41
UNSEEN = 5


class Estimate:
    """Of searches on one board."""

    def __init__(self, n):
        self.missed = []
        for distance in range(n):
            chance = 1.0 - CROWDING * ((n - distance) / n) / n
            self.missed.append(chance * chance)
        self._chances = lru_cache(maxsize=None)(self._chances_of)

    def _chances_of(self, rows):
        """For each row: the share of its columns that is left, and the chance that no diagonal meets a square."""
        chances = []
        for at, row in enumerate(rows):
            missed = 1.0
            for above in rows[:at]:
                missed *= self.missed[abs(row - above)]
            chances.append(((len(rows) - at) / len(rows), missed))
        return chances

    def levels(self, free_rows):
        """The expected nodes with so many rows filled, from one on."""
        level, levels = 1.0, []
        for (_, free), (left, missed) in zip(free_rows, self._chances(tuple(row for row, _ in free_rows))):
            level *= ones(free) * left * missed
            levels.append(level)
        return levels

    def nodes(self, free_rows):
        """The expected nodes of the whole search, without its last rows."""
        total = 1.0
        for level in self.levels(free_rows)[:max(0, len(free_rows) - UNSEEN)]:
            total += level
        return total

    def completions(self, free_rows):
        levels = self.levels(free_rows)
        return levels[-1] if levels else 1.0
