#!/usr/bin/env python3
"""Counts positions for diadem, by plain backtracking: one JSON object a line in, one out.

A reference for docs/external.md, and a start for a program of your own. It shares no code with diadem. Each row's
queen must stand on one of its columns, and the queens of the two outer columns must be an allowed pair.
"""

import json
import sys


class Position:
    """A board on which some queens may stand only here and there."""

    def __init__(self, n, columns, rights):
        self.n = n
        self.columns = columns
        self.rights = rights
        # Rows with few columns first: the placed queens, then the rows that are restricted most.
        self.rows = sorted(range(n), key=lambda row: bin(columns[row]).count("1"))

    def completions(self, depth=0, occupied=0, rising=0, falling=0, left=None, right=None):
        """The ways to place the queens of the rows that are left.

        Bit c of `occupied` stands for column c; bit row + c of `rising` and bit c - row + n - 1 of `falling` for the
        diagonals. `left` and `right` are the rows of the queens in the first and last column.
        """
        if None not in (left, right) and not self.rights[left] >> right & 1:
            return 0
        if depth == self.n:
            return 1
        row = self.rows[depth]
        up, down = row, self.n - 1 - row
        free = self.columns[row] & ~(occupied | rising >> up | falling >> down)
        found = 0
        while free:
            queen = free & -free
            free ^= queen
            found += self.completions(
                depth + 1,
                occupied | queen,
                rising | queen << up,
                falling | queen << down,
                row if queen == 1 else left,
                row if queen >> self.n - 1 else right,
            )
        return found


for line in sys.stdin:
    asked = json.loads(line)
    position = Position(asked["n"], asked["columns"], asked["rights"])
    print(json.dumps({"id": asked["id"], "count": position.completions()}), flush=True)
