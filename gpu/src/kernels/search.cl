/*
 * The row-by-row search, depth first from many states at once.
 *
 *     search:  take the next state that nobody has taken; until none is left:
 *         while it, or a state above it, has a candidate square left:
 *             take one, and form the child with a queen there
 *             go down to the child if it may still be completed
 *
 * Columns used, falling and rising diagonals and candidates are bits of a word each, those of the row that is searched
 * next. Diagonals move on by the distance to the next row without a queen; what the queens placed beforehand attack is in
 * `open`. Which children are dropped, and so how many nodes there are, is what `queens::kernel::search` does:
 *
 *     rows left in the child     rows that must have a free square     columns that must have one
 *     2                          none: both ways to go on are tested at once
 *     3, 4, 5                    all                                   all
 *     6                          3
 *     more                       2
 *
 * Work items take states by a counter, for subtrees differ in size; states above the current one wait in local memory,
 * one column of it for each work item.
 */

/* What happens between a row and the next one; the same layout as `Row` in search.rs. */
typedef struct {
    uint distance;      /* to the next row, at most 31 */
    uint left;          /* rows that are left in a child */
    uint looks;         /* rows that a child is looked at */
    uint by_columns;    /* whether its columns are, too */
    uint ahead[5];      /* how far below the child's next row those are */
    uint open[5];       /* their open squares */
    uint columns;       /* the columns that need a queen */
    uint unused;
} Row;

/* The completions of a state with two rows and two columns left. */
INSIDE uint pairs(GLOBAL const Row *row, uint cols, uint falling, uint rising)
{
    const uint d = row->ahead[1];
    const uint upper = ~(cols | falling | rising) & row->open[0];
    const uint lower = ~(cols | falling << d | rising >> d) & row->open[1];
    const uint left = row->columns & ~cols;
    const uint high = left & (left - 1);
    const uint low = left ^ high;
    const uint apart = upper != 0 && (low << d & high) == 0;
    return apart * (((upper & high) != 0 && (lower & low) != 0) + ((upper & low) != 0 && (lower & high) != 0));
}

/* Whether every row and every column that the child is looked at has a free square. */
INSIDE uint lives(GLOBAL const Row *row, uint cols, uint falling, uint rising, uint candidates)
{
    uint alive = candidates != 0;
    uint reached = candidates;
    for (uint i = 1; i < row->looks; i++) {
        const uint d = row->ahead[i];
        const uint free = ~(cols | falling << d | rising >> d) & row->open[i];
        alive &= free != 0;
        reached |= free;
    }
    return alive & (!row->by_columns | ((~(cols | reached) & row->columns) == 0));
}

/*
 * rows      32 for each descent
 * states    four words each: columns, falling, rising, candidates
 * places    for each state its first row's index in `rows`
 * progress  the next state to be taken, below `end`; and how many work items have not finished theirs
 * found     for each work item what it found before and finds now: completions, nodes
 * frozen    for each work item where it was when its steps were used up: `stride` words, the first of them whether it was
 *           anywhere
 * is_begun  whether an earlier launch has written `found` and `frozen`: in the first one nobody was anywhere
 * steps     how far each work item goes: so a launch takes about as long whatever the states are
 * scratch   four words for each level below the states and each work item of the group
 */
KERNEL(GROUP) search(GLOBAL const Row *RESTRICT rows, GLOBAL const uint *RESTRICT states, GLOBAL const uint *RESTRICT places,
              GLOBAL uint *progress, const uint end, GLOBAL ulong *found, GLOBAL uint *frozen, const uint stride,
              const uint is_begun, const uint steps SCRATCH_ARGUMENT)
{
    SCRATCH
    GLOBAL uint *saved = frozen + GLOBAL_INDEX * stride;
    uint busy = is_begun && saved[0], depth = 0, place = 0, cols = 0, falling = 0, rising = 0, candidates = 0;
    if (busy) {
        depth = saved[1], place = saved[2];
        cols = saved[3], falling = saved[4], rising = saved[5], candidates = saved[6];
        for (uint i = 0; i < 4 * depth; i++)
            scratch[i * GROUP + LOCAL_INDEX] = saved[7 + i];
    }
    ulong completions = is_begun ? found[2 * GLOBAL_INDEX] : 0;
    ulong nodes = is_begun ? found[2 * GLOBAL_INDEX + 1] : 0;
    for (uint step = 0; step < steps; step++) {
        if (!busy) {
            const uint state = TAKE(progress);
            if (state >= end)
                break;
            cols = states[4 * state], falling = states[4 * state + 1];
            rising = states[4 * state + 2], candidates = states[4 * state + 3];
            place = places[state];
            depth = 0;
            busy = 1;
        }
        if (candidates == 0) {
            busy = depth > 0;
            if (busy) {
                depth--;
                place--;
                const uint at = 4 * depth * GROUP + LOCAL_INDEX;
                cols = scratch[at], falling = scratch[at + GROUP];
                rising = scratch[at + 2 * GROUP], candidates = scratch[at + 3 * GROUP];
            }
            continue;
        }
        GLOBAL const Row *row = rows + place;
        const uint queen = candidates & (~candidates + 1);
        candidates ^= queen;
        const uint c = cols | queen, f = (falling | queen) << row->distance, r = (rising | queen) >> row->distance;
        if (row->left == 2) {
            completions += pairs(row, c, f, r);
            continue;
        }
        const uint below = ~(c | f | r) & row->open[0];
        if (lives(row, c, f, r, below)) {
            nodes++;
            const uint at = 4 * depth * GROUP + LOCAL_INDEX;
            scratch[at] = cols, scratch[at + GROUP] = falling;
            scratch[at + 2 * GROUP] = rising, scratch[at + 3 * GROUP] = candidates;
            depth++;
            place++;
            cols = c, falling = f, rising = r, candidates = below;
        }
    }
    found[2 * GLOBAL_INDEX] = completions;
    found[2 * GLOBAL_INDEX + 1] = nodes;
    saved[0] = busy;
    if (busy) {
        TAKE(progress + 1);
        saved[1] = depth, saved[2] = place;
        saved[3] = cols, saved[4] = falling, saved[5] = rising, saved[6] = candidates;
        for (uint i = 0; i < 4 * depth; i++)
            saved[7 + i] = scratch[i * GROUP + LOCAL_INDEX];
    }
}
