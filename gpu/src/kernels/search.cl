/*
 * The row-by-row search: breadth first until there are enough states, then depth first from many states at once.
 *
 *     widen:   for each state of a level, if children may be gone down to:
 *         append each child that may still be completed to the next level
 *     search:  take the next state that nobody has taken; until none is left:
 *         while it, or a state above it, has a candidate square left:
 *             take one, and form the child with a queen there
 *             go down to the child if it may still be completed
 *
 * Columns used, falling and rising diagonals and candidates are bits of a word each, those of the row that is searched
 * next. Diagonals move on by the distance to the next row without a queen; what the queens placed beforehand attack is in
 * the open squares of the rows. Which children are dropped, and so how many nodes there are, is what
 * `queens::kernel::search` does:
 *
 *     rows left in the child     rows that must have a free square     columns that must have one
 *     2                          none: both ways to go on are tested at once
 *     3, 4, 5                    all                                   all
 *     6                          3
 *     more                       2
 *
 * Work items take states by counters, for subtrees differ in size; states above the current one wait in local memory, one
 * column of it for each work item.
 *
 * A state is columns, falling, rising, place: the index of its next row. Descents have ROWS rows each, and a state of a
 * descent has a column for each row that it has passed, so that its columns tell which of them it is at.
 *
 * A row is three vectors, as packed in search.rs: how its children are looked at, in bytes (the distance to the next row,
 * at most 31; rows left in a child; rows that a child is looked at; whether its columns are, too), how far below the
 * child's next row the second to the fifth are, in bytes, and the open squares of its next row and the second; those of
 * the third to the fifth, and the columns that need a queen; the row's own open squares.
 */

/* The same as in search.rs. */
#define ROWS 32
#define APART 32

#define LEFT(how) ((how) >> 8 & 255)
#define LOOKS(how) ((how) >> 16 & 255)
#define BY_COLUMNS(how) ((how) >> 24)

/* The squares that a state has in its next row, which has these open. */
INSIDE uint squares(uint4 state, uint open)
{
    return ~(state.x | state.y | state.z) & open;
}

/* The same so many rows further down. */
INSIDE uint squares_ahead(uint4 state, uint distance, uint open)
{
    return ~(state.x | state.y << (distance & 31) | state.z >> (distance & 31)) & open;
}

/* The state with a queen there. */
INSIDE uint4 child_of(uint4 state, uint queen, uint distance)
{
    return MAKE4(state.x | queen, (state.y | queen) << (distance & 31), (state.z | queen) >> (distance & 31), state.w + 1);
}

/* The completions of a child with two rows and two columns left, which has squares in both rows. */
INSIDE uint pairs(uint4 first, uint4 second, uint4 child, uint upper, uint lower)
{
    const uint left = second.w & ~child.x;
    const uint high = left & (left - 1);
    const uint low = left ^ high;
    const uint apart = (low << (first.y & 31) & high) == 0;
    return apart * (((upper & high) != 0 && (lower & low) != 0) + ((upper & low) != 0 && (lower & high) != 0));
}

/* Whether a child that has squares in its first two rows has one in every row and every column that it is looked at. */
INSIDE uint lives(uint4 first, uint4 second, uint4 child, uint upper, uint lower)
{
    if (LOOKS(first.x) == 2)
        return 1;
    uint free = squares_ahead(child, first.y >> 8, second.x);
    uint reached = upper | lower | free;
    uint alive = free != 0;
    if (LOOKS(first.x) > 3) {
        free = squares_ahead(child, first.y >> 16, second.y);
        reached |= free;
        alive &= free != 0;
    }
    if (LOOKS(first.x) > 4) {
        free = squares_ahead(child, first.y >> 24, second.z);
        reached |= free;
        alive &= free != 0;
    }
    return alive & (!BY_COLUMNS(first.x) | ((~(child.x | reached) & second.w) == 0));
}

/* The candidates of a state whose children may still be completed. */
INSIDE uint living(GLOBAL const uint4 *row, uint4 state)
{
    const uint4 first = row[0], second = row[1];
    uint candidates = squares(state, row[2].x), found = 0;
    while (candidates != 0) {
        const uint queen = candidates & (~candidates + 1);
        candidates ^= queen;
        const uint4 child = child_of(state, queen, first.x);
        const uint upper = squares(child, first.z), lower = squares_ahead(child, first.y, first.w);
        if (upper != 0 && lower != 0 && lives(first, second, child, upper, lower))
            found |= queen;
    }
    return found;
}

/*
 * Moves states on by a row. Those whose children would have two rows left stay as they are. A group takes the room for all
 * that becomes of its items' states at once; where that is used up, it leaves them to be searched from where they are.
 *
 * rows      ROWS for each descent
 * from      `states` states
 * to        what becomes of them, `room` at most, and behind that room those that are left as they are
 * made      at first 0: the room taken, more than `room` where it is used up; how much of it there is something in then;
 *           how many of the states there have stayed; how many are behind it
 * scratch   what becomes of the group's states, and how many of them stay; whether they fit, and where they go
 */
KERNEL(GROUP) widen(GLOBAL const uint4 *RESTRICT rows, GLOBAL const uint4 *RESTRICT from, const uint states,
             GLOBAL uint4 *RESTRICT to, const uint room, GLOBAL uint *made SCRATCH_ARGUMENT)
{
    SCRATCH
    for (uint begin = GROUP_INDEX * GROUP; begin < states; begin += GROUPS * GROUP) {
        const uint is_there = begin + LOCAL_INDEX < states;
        uint4 state = MAKE4(0, 0, 0, 0);
        uint queens = 0, stays = 0, place = 0;
        if (LOCAL_INDEX < 2)
            scratch[LOCAL_INDEX] = 0;
        BARRIER;
        if (is_there) {
            state = from[begin + LOCAL_INDEX];
            stays = LEFT(rows[3 * state.w].x) == 2;
            if (stays)
                TAKE(scratch + 1);
            else
                queens = living(rows + 3 * state.w, state);
            place = ADD(scratch, stays + ONES(queens));
        }
        BARRIER;
        if (LOCAL_INDEX == 0) {
            const uint own = ADD(made, scratch[0]);
            const uint fit = own + scratch[0] <= room;
            scratch[2] = fit;
            if (fit) {
                scratch[3] = own;
                if (scratch[1] != 0)
                    ADD(made + 2, scratch[1]);
            } else {
                if (own <= room)
                    made[1] = own;
                scratch[3] = room + ADD(made + 3, states - begin < GROUP ? states - begin : GROUP);
            }
        }
        BARRIER;
        const uint fit = scratch[2];
        GLOBAL uint4 *own = to + scratch[3];
        if (is_there && !fit)
            own[LOCAL_INDEX] = state;
        else if (stays)
            own[place] = state;
        else {
            const uint distance = rows[3 * state.w].x;
            for (; queens != 0; queens &= queens - 1)
                own[place++] = child_of(state, queens & (~queens + 1), distance);
        }
        BARRIER;
    }
}

/*
 * rows      ROWS for each descent
 * states    `front` states, and the others `gap` further on: `end` in all
 * progress  APART words for each of `counters` counters, in the first of them how many of its states have been taken: the
 *           counter's number, and every `counters`th from there. Behind them how many work items have not finished theirs.
 *           A card adds to a word about once a clock: with one counter for all, small subtrees would wait for it.
 * found     for each group what it found before and finds now: completions, nodes
 * frozen    for each work item where it was when its steps were used up: `stride` vectors, the first of them a state with
 *           candidates in place of the place, if it was anywhere
 * is_begun  whether an earlier launch has written `found` and `frozen`: in the first one nobody was anywhere
 * steps     how far each work item goes, below 2^31: so a launch takes about as long whatever the states are, and what an
 *           item finds in it, no more than two completions a step, fits a word
 * scratch   a vector for each level below the states and each work item of the group, and one at least
 */
KERNEL(GROUP) search(GLOBAL const uint4 *RESTRICT rows, GLOBAL const uint4 *RESTRICT states, const uint front, const uint gap,
              const uint end, GLOBAL uint *progress, const uint counters, GLOBAL ulong *found,
              GLOBAL uint4 *frozen, const uint stride, const uint is_begun, const uint steps SCRATCH_ARGUMENT)
{
    SCRATCH
    const uint counter = GROUP_INDEX % counters;
    GLOBAL uint4 *saved = frozen + GLOBAL_INDEX * stride;
    LOCAL uint4 *stack = (LOCAL uint4 *)scratch + LOCAL_INDEX;
    uint4 state = MAKE4(0, 0, 0, 0);
    /* A state with no candidates left is finished, unless others wait in the stack; only those that have some are there. */
    uint candidates = 0, depth = 0, completions = 0, nodes = 0;
    if (is_begun) {
        state = saved[0];
        candidates = state.w;
        if (candidates != 0) {
            state.w = saved[1].x, depth = saved[1].y;
            /* Once a launch: unrolled it would only take registers from the search. */
#pragma unroll 1
            for (uint i = 0; i < depth; i++)
                stack[i * GROUP] = saved[2 + i];
        }
    }
    for (uint step = 0; step < steps; step++) {
        if (candidates == 0) {
            const uint number = counter + counters * TAKE(progress + APART * counter);
            if (number >= end)
                break;
            state = states[number < front ? number : number + gap];
            candidates = squares(state, rows[3 * state.w + 2].x);
            if (candidates == 0)
                continue;
        }
        const uint4 first = rows[3 * state.w], second = rows[3 * state.w + 1];
        const uint queen = candidates & (~candidates + 1);
        candidates ^= queen;
        const uint4 child = child_of(state, queen, first.x);
        const uint upper = squares(child, first.z), lower = squares_ahead(child, first.y, first.w);
        uint goes_down = 0;
        if (upper != 0 && lower != 0) {
            if (LEFT(first.x) == 2)
                completions += pairs(first, second, child, upper, lower);
            else
                goes_down = lives(first, second, child, upper, lower);
        }
        if (goes_down) {
            nodes++;
            if (candidates != 0)
                stack[depth++ * GROUP] = MAKE4(state.x, state.y, state.z, candidates);
            state = child;
            candidates = upper;
        } else if (candidates == 0 && depth > 0) {
            const uint4 above = stack[--depth * GROUP];
            candidates = above.w;
            state = MAKE4(above.x, above.y, above.z, state.w / ROWS * ROWS + ONES(above.x));
        }
    }
    saved[0] = MAKE4(state.x, state.y, state.z, candidates);
    if (candidates != 0) {
        TAKE(progress + APART * counters);
        saved[1] = MAKE4(state.w, depth, 0, 0);
#pragma unroll 1
        for (uint i = 0; i < depth; i++)
            saved[2 + i] = stack[i * GROUP];
    }
    BARRIER;
    LOCAL ulong *sums = (LOCAL ulong *)scratch;
    sums[LOCAL_INDEX] = completions;
    sums[GROUP + LOCAL_INDEX] = nodes;
    BARRIER;
    if (LOCAL_INDEX < 2) {
        ulong sum = is_begun ? found[2 * GROUP_INDEX + LOCAL_INDEX] : 0;
        for (uint i = 0; i < GROUP; i++)
            sum += sums[LOCAL_INDEX * GROUP + i];
        found[2 * GROUP_INDEX + LOCAL_INDEX] = sum;
    }
}
