/* Counts positions for diadem, by plain backtracking: one JSON object a line in, one out.
 *
 * A reference for docs/external.md, and a start for a program of your own. It shares no code with diadem. Build it by
 * cc -O2 -o count count.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n, rows[32];                   /* rows: in the order in which they get their queens */
static uint32_t columns[32], rights[32];

/* The numbers of the field with that name, which is a number or a list of `most` numbers. */
static void read_field(const char *line, const char *name, uint64_t *numbers, int most) {
    const char *at = strstr(line, name);
    if (!at) { fprintf(stderr, "the line lacks %s\n", name); exit(1); }
    at += strlen(name);
    for (int i = 0; i < most; i++) numbers[i] = strtoull(at + strspn(at, "[, "), (char **)&at, 10);
}

/* The ways to place the queens of rows[depth] and those behind it. Bit c of `occupied` stands for column c; bit row + c
 * of `rising` and bit c - row + n - 1 of `falling` for the diagonals. `left` and `right` are the rows of the queens in
 * the first and last column, -1 if there are none yet. */
static uint64_t completions(int depth, uint32_t occupied, uint64_t rising, uint64_t falling, int left, int right) {
    if (left >= 0 && right >= 0 && !(rights[left] >> right & 1)) return 0;
    if (depth == n) return 1;
    int row = rows[depth], down = n - 1 - row;
    uint32_t free = columns[row] & ~(occupied | (uint32_t)(rising >> row) | (uint32_t)(falling >> down));
    uint64_t found = 0;
    for (; free; free &= free - 1) {
        uint64_t queen = free & -free;
        found += completions(depth + 1, occupied | (uint32_t)queen, rising | queen << row, falling | queen << down,
                             queen == 1 ? row : left, queen >> (n - 1) ? row : right);
    }
    return found;
}

int main(void) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        uint64_t id, size, numbers[32];
        read_field(line, "\"id\":", &id, 1);
        read_field(line, "\"n\":", &size, 1);
        n = (int)size;
        read_field(line, "\"columns\":", numbers, n);
        for (int row = 0; row < n; row++) columns[row] = (uint32_t)numbers[row];
        read_field(line, "\"rights\":", numbers, n);
        for (int row = 0; row < n; row++) rights[row] = (uint32_t)numbers[row];
        int placed = 0; /* rows with one column first: those of the placed queens */
        for (int row = 0; row < n; row++) if (!(columns[row] & (columns[row] - 1))) rows[placed++] = row;
        for (int row = 0; row < n; row++) if (columns[row] & (columns[row] - 1)) rows[placed++] = row;
        printf("{\"id\":%llu,\"count\":%llu}\n", (unsigned long long)id, (unsigned long long)completions(0, 0, 0, 0, -1, -1));
        fflush(stdout);
    }
    return 0;
}
