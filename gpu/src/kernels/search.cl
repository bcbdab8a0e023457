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
 * column of it for each work item. There are the rows, too, for items look at as many of them at a time as they are deep.
 *
 * A state is columns, falling, rising, candidates. It has a column for each row that it has passed, so that the columns tell
 * which row is next: its place.
 *
 * A row is two vectors, as packed in search/rows.rs: how its children are looked at, in bytes (the distance to the next row,
 * at most 31; rows left in a child; rows that a child is looked at; whether its columns are, too), how far below the
 * child's next row the second to the fifth are, in bytes, and the open squares of its next row and the second; those of
 * the third to the fifth, and the columns that need a queen.
 */

/* The same as in search/rows.rs and search/mod.rs. */
#define ROWS 32
#define APART 32

#define LEFT(how) ((how) >> 8 & 255)
#define LOOKS(how) ((how) >> 16 & 255)
#define BY_COLUMNS(how) ((how) >> 24)

/* The squares that a child has in its next row, which has these open. */
INSIDE uint squares(uint4 child, uint open)
{
    return ~(child.x | child.y | child.z) & open;
}

/* The same so many rows further down. */
INSIDE uint squares_ahead(uint4 child, uint distance, uint open)
{
    return ~(child.x | child.y << (distance & 31) | child.z >> (distance & 31)) & open;
}

/* The state with a queen there. */
INSIDE uint4 child_of(uint4 state, uint queen, uint4 first)
{
    uint4 child = MAKE4(state.x | queen, (state.y | queen) << (first.x & 31), (state.z | queen) >> (first.x & 31), 0);
    child.w = squares(child, first.z);
    return child;
}

/* The completions of a child with two rows and two columns left, which has squares in both rows. */
INSIDE uint pairs(uint4 first, uint4 second, uint4 child, uint lower)
{
    const uint upper = child.w;
    const uint left = second.w & ~child.x;
    const uint high = left & (left - 1);
    const uint low = left ^ high;
    const uint apart = (low << (first.y & 31) & high) == 0;
    return apart * (((upper & high) != 0 && (lower & low) != 0) + ((upper & low) != 0 && (lower & high) != 0));
}

/* Whether a child that has squares in its first two rows has one in every row and every column that it is looked at. */
INSIDE uint lives(uint4 first, uint4 second, uint4 child, uint lower)
{
    if (LOOKS(first.x) == 2)
        return 1;
    uint free = squares_ahead(child, first.y >> 8, second.x);
    uint reached = child.w | lower | free;
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
INSIDE uint living(uint4 first, uint4 second, uint4 state)
{
    uint found = 0;
    for (uint candidates = state.w; candidates != 0; candidates &= candidates - 1) {
        const uint queen = candidates & (~candidates + 1);
        const uint4 child = child_of(state, queen, first);
        const uint lower = squares_ahead(child, first.y, first.w);
        if (child.w != 0 && lower != 0 && lives(first, second, child, lower))
            found |= queen;
    }
    return found;
}

/*
 * Moves states on by a row. A group takes the room for all children of its items' states at once; where that is used up, it
 * leaves them to be searched from where they are.
 *
 * rows      those of the descent; the states are before the one at `place`
 * from      `states` states
 * to        what becomes of them, `room` at most, and behind that room those that are left as they are
 * made      three words for each row, at first 0: the room taken, more than `room` where it is used up; how much of it there is
 *           something in then; how many are behind it
 * scratch   how many children the group has; whether they fit, and where they go
 */
KERNEL(GROUP) widen(GLOBAL const uint4 *RESTRICT rows, const uint place, GLOBAL const uint4 *RESTRICT from,
                    const uint states, GLOBAL uint4 *RESTRICT to, const uint room, GLOBAL uint *made SCRATCH_ARGUMENT)
{
    SCRATCH
    const uint4 first = rows[2 * place], second = rows[2 * place + 1];
    made += 3 * place;
    for (uint begin = GROUP_INDEX * GROUP; begin < states; begin += GROUPS * GROUP) {
        const uint is_there = begin + LOCAL_INDEX < states;
        const uint4 state = is_there ? from[begin + LOCAL_INDEX] : MAKE4(0, 0, 0, 0);
        if (LOCAL_INDEX == 0)
            scratch[0] = 0;
        BARRIER;
        uint queens = living(first, second, state);
        const uint before = ADD(scratch, ONES(queens));
        BARRIER;
        if (LOCAL_INDEX == 0) {
            const uint own = ADD(made, scratch[0]);
            const uint fit = own + scratch[0] <= room;
            scratch[1] = fit;
            scratch[2] = own;
            if (!fit) {
                if (own <= room)
                    made[1] = own;
                scratch[2] = room + ADD(made + 2, states - begin < GROUP ? states - begin : GROUP);
            }
        }
        BARRIER;
        GLOBAL uint4 *own = to + scratch[2];
        if (scratch[1]) {
            own += before;
            for (; queens != 0; queens &= queens - 1)
                *own++ = child_of(state, queens & (~queens + 1), first);
        } else if (is_there) {
            own[LOCAL_INDEX] = state;
        }
        BARRIER;
    }
}

/*
 * rows      those of the descent
 * states    `front` states, and the others `gap` further on: `end` in all
 * progress  APART words for each of `counters` counters, in the first of them how many of its states have been taken: the
 *           counter's number, and every `counters`th from there. Behind them how many work items have not finished theirs.
 *           A card adds to a word about once a clock: with one counter for all, small subtrees would wait for it.
 * found     for each group what it found before and finds now: completions, nodes
 * frozen    for each work item where it was when its steps were used up: `stride` vectors, the first of them its state, with
 *           candidates if it was anywhere, the second how many states wait, and then these
 * is_begun  whether an earlier launch has written `found` and `frozen`: in the first one nobody was anywhere
 * steps     how far each work item goes, below 2^31: so a launch takes about as long whatever the states are, and what an
 *           item finds in it, no more than two completions a step, fits a word
 * scratch   both vectors of the rows, and a vector for each level below the states and each work item of the group
 */
KERNEL(GROUP) search(GLOBAL const uint4 *RESTRICT rows, GLOBAL const uint4 *RESTRICT states, const uint front, const uint gap,
                     const uint end, GLOBAL uint *progress, const uint counters, GLOBAL ulong *found,
                     GLOBAL uint4 *frozen, const uint stride, const uint is_begun, const uint steps SCRATCH_ARGUMENT)
{
    SCRATCH
    LOCAL uint4 *firsts = (LOCAL uint4 *)scratch, *seconds = firsts + ROWS, *stack = seconds + ROWS + LOCAL_INDEX;
    for (uint row = LOCAL_INDEX; row < ROWS; row += GROUP) {
        firsts[row] = rows[2 * row];
        seconds[row] = rows[2 * row + 1];
    }
    BARRIER;
    const uint counter = GROUP_INDEX % counters;
    GLOBAL uint4 *saved = frozen + GLOBAL_INDEX * stride;
    /* A state with no candidates left is finished, unless others wait in the stack; only those that have some are there. */
    uint4 state = MAKE4(0, 0, 0, 0);
    uint depth = 0, completions = 0, nodes = 0;
    if (is_begun) {
        state = saved[0];
        if (state.w != 0) {
            depth = saved[1].x;
            /* Once a launch: unrolled it would only take registers from the search. */
#pragma unroll 1
            for (uint i = 0; i < depth; i++)
                stack[i * GROUP] = saved[2 + i];
        }
    }
    uint place = ONES(state.x);
    for (uint step = 0; step < steps; step++) {
        if (state.w == 0) {
            const uint number = counter + counters * TAKE(progress + APART * counter);
            if (number >= end)
                break;
            state = states[number < front ? number : number + gap];
            place = ONES(state.x);
        }
        const uint4 first = firsts[place], second = seconds[place];
        const uint queen = state.w & (~state.w + 1);
        state.w ^= queen;
        const uint4 child = child_of(state, queen, first);
        const uint lower = squares_ahead(child, first.y, first.w);
        uint goes_down = 0;
        if (child.w != 0 && lower != 0) {
            if (LEFT(first.x) == 2)
                completions += pairs(first, second, child, lower);
            else
                goes_down = lives(first, second, child, lower);
        }
        if (goes_down) {
            nodes++;
            if (state.w != 0)
                stack[depth++ * GROUP] = state;
            state = child;
            place++;
        } else if (state.w == 0 && depth > 0) {
            state = stack[--depth * GROUP];
            place = ONES(state.x);
        }
    }
    saved[0] = state;
    if (state.w != 0) {
        TAKE(progress + APART * counters);
        saved[1] = MAKE4(depth, 0, 0, 0);
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
