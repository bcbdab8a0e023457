"""A position: queens placed beforehand, the squares that rows are restricted to, and the pairs of border queens."""

from .geometry import at_peace, line_of


class Position:
    """What a unit asks for: the solutions with these queens, on these squares, with one of these pairs."""

    def __init__(self, n, queens, squares=None, pairs=None):
        self.n = n
        self.full = (1 << n) - 1
        self.queens = tuple(queens)
        # For each row that is restricted, the columns that its queen may stand on.
        self.squares = squares or {}
        # (left, right): the rows of the queens in the left and right column; None allows all.
        self.pairs = pairs

    def with_queen(self, queen):
        queens = self.queens if queen in self.queens else (*self.queens, queen)
        return Position(self.n, queens, self.squares, self.pairs)

    def within(self, row, columns):
        squares = {**self.squares, row: self.squares.get(row, self.full) & columns}
        return Position(self.n, self.queens, squares, self.pairs)

    def transposed(self):
        """Rows and columns exchanged. Pairs of border queens stay as they are, for they mean nothing there."""
        squares = {}
        if self.squares:
            rows = [self.squares.get(row, self.full) for row in range(self.n)]
            for col in range(self.n):
                open_rows = sum((columns >> col & 1) << row for row, columns in enumerate(rows))
                if open_rows != self.full:
                    squares[col] = open_rows
        return Position(self.n, [(col, row) for row, col in self.queens], squares, self.pairs)

    def with_all_pairs(self):
        return Position(self.n, self.queens, self.squares)

    def is_possible(self):
        allowed = all(self.squares.get(row, self.full) >> col & 1 for row, col in self.queens)
        return allowed and at_peace(self.queens)

    def is_completed_by(self, solution):
        """Whether the solution, which is the tuple of its columns by row, has the queens, squares and pair."""
        last = self.n - 1
        return (all(solution[row] == col for row, col in self.queens)
                and all(columns >> solution[row] & 1 for row, columns in self.squares.items())
                and (self.pairs is None or (solution.index(0), solution.index(last)) in self.pairs))

    def free_rows(self):
        """The rows without a queen from top to bottom, each with its open columns: allowed and not attacked."""
        taken = {row for row, _ in self.queens}
        rows = []
        for row in range(self.n):
            if row not in taken:
                open_columns = self.squares.get(row, self.full)
                for queen in self.queens:
                    open_columns &= ~line_of(queen, row, self.full)
                rows.append((row, open_columns))
        return rows
