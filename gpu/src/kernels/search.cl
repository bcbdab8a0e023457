/*
 * The row-by-row search: breadth first until there are enough states, then depth first from many states at once.
 *
 *     widen:   for each state of a level, unless there are as many as wished:
 *         append each child that may still be completed to the next level
 *     search:  for each descent, until none has states left:
 *         while a state waits, in the group's pools or in the level that was widened last:
 *             take WIDE states from the deepest pool that has as many, or else from the shallowest that has any
 *             take a candidate square out of each, and form the child with a queen there
 *             put the child into the next pool if it may still be completed
 *             put the state back into its pool if it has a candidate left
 *
 * Many descents are searched at once, each in a part of its own of all that is made, and each by several groups: small ones would
 * keep few groups at work, and most of these would wait for their last states.
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
 * All states of a pass are before the same row. So the items of a group do the same, whatever their states are, and each knows
 * where what it keeps goes from how many before it keep theirs. Pools are in local memory, one for each row; since the deepest
 * one with enough states goes next, none ever has more than POOL.
 *
 * A state is columns, falling, rising, candidates. A row is VECTORS vectors, as packed in search/packed.rs: of the next row the
 * distance, as a power of two and as a number, the open squares, and how many rows a child has left; and of the second to the
 * fifth row how far they are below the next one, likewise, their open squares, and the columns that need a queen.
 */

/* The same as in search/packed.rs. */
#define ROWS 32
#define VECTORS 5

/* What the host and both kernels know of a descent; the same as in search/packed.rs. */
typedef struct {
    /* Its first row among those of all descents. */
    uint table;
    /* The row that its states are before, by its number among the free ones, and so many rows may be done: by `widen` at most. */
    uint place, rows;
    /* How many states there are, where (the host's, or in which of both rooms) and from which on; so many have been taken, or more. */
    uint states, room, first, taken;
    /* So many groups of all launches of `widen` have ended. */
    uint ended;
    /* For each row how many states `widen` has before it: 0 behind one where they were not moved on. */
    uint made[ROWS];
} Descent;

/* The states of a pass, and as many as wait in a pool at most: fewer than these, and what another pass puts there. */
#define WIDE (GROUP * EACH)
#define POOL (2 * WIDE)

/* The words for the questions of a pass: of each state whether it is kept, and whether its child is. */
#define VOTED (2 * EACH * WORDS_OF_VOTE)

/* The states of a pass that an item has, their numbers in it, and how their children are looked at. */
#define FOR_EACH for (uint v = 0; v < EACH; v++)
#define NUMBER(v) ((v) * GROUP + LOCAL_INDEX)
#define LOOK(looks, by_columns)                                                                                                 \
    FOR_EACH                                                                                                                    \
        alive[v] = lives(row, second, child[v], looks, by_columns)

/* Where the states of a descent are, and its rows from the one on that they are before. */
#define STATES(descent) (((descent).room == 0 ? begun : (descent).room == 1 ? one : other) + (descent).first)
#define TABLE(descent) (rows + VECTORS * ((descent).table + (descent).place))

/* The squares that a child has in a row that one of a row's vectors but the first tells of. */
uint squares(uint4 child, uint4 ahead)
{
    return NONE_OF(child.x, MOVED_UP(child.y, ahead.x, ahead.y), MOVED_DOWN(child.z, ahead.y)) & ahead.z;
}

/* The state with a queen there, moved on to the next row. */
uint4 child_of(uint4 state, uint queen, uint4 next)
{
    uint4 child = (uint4)(state.x | queen, MOVED_UP(state.y | queen, next.x, next.y), MOVED_DOWN(state.z | queen, next.y), 0);
    child.w = NONE_OF(child.x, child.y, child.z) & next.z;
    return child;
}

/*
 * Whether a child has a square in each of so many rows, and, where these are all that are left, in each column. The row's second
 * vector is there already.
 */
uint lives(local const uint4 *row, uint4 second, uint4 child, const uint looks, const uint by_columns)
{
    uint free = squares(child, second);
    uint alive = (child.w != 0) & (free != 0), reached = child.x | child.w | free;
#pragma unroll
    for (uint i = 2; i < looks; i++) {
        free = squares(child, row[i]);
        alive &= free != 0;
        reached |= free;
    }
    return by_columns ? alive & ((~reached & second.w) == 0) : alive;
}

/* The completions of a child with two rows and two columns left. */
uint pairs(uint4 second, uint4 child)
{
    const uint upper = child.w, lower = squares(child, second);
    const uint left = second.w & ~child.x;
    const uint high = left & (left - 1), low = left ^ high;
    const uint apart = (MOVED_UP(low, second.x, second.y) & high) == 0 ? ~0u : 0;
    const uint rising = ((upper & high) != 0) & ((lower & low) != 0), falling = ((upper & low) != 0) & ((lower & high) != 0);
    return apart & (rising + falling);
}

/* The candidates of a state whose children, with more than six rows left, may still be completed. */
uint living(local const uint4 *row, uint4 state)
{
    uint found = 0;
    for (uint candidates = state.w; candidates != 0; candidates &= candidates - 1) {
        const uint queen = candidates & (~candidates + 1);
        if (lives(row, row[1], child_of(state, queen, row[0]), 2, 0))
            found |= queen;
    }
    return found;
}

/* Reads so many rows. */
void read_rows(local uint4 *table, global const uint4 *rows, uint count)
{
    for (uint i = LOCAL_INDEX; i < VECTORS * count; i += GROUP)
        table[i] = rows[i];
}

/*
 * Moves the states of each descent on by a row, unless there are as many as wished. A group takes the room for all children of its
 * items' states at once.
 *
 * rows      those of the descents
 * descents  all of them, each with the row before which its states were at first
 * step      how many rows they have been moved on by
 * from      for each descent as many states as its `made` says of the row, if that is `room` at most: the host's states, which have
 *           no gaps, or those that were made, each descent's in a part of `room` states
 * to        what becomes of them, likewise
 * scratch   the row; how many children the group has, and where they go
 */
KERNEL(GROUP) widen(global const uint4 *restrict rows, global Descent *descents, const uint step, global const uint4 *restrict from,
                    global uint4 *restrict to, const uint room, const uint wished SCRATCH_ARGUMENT)
{
    SCRATCH
    local uint4 *row = (local uint4 *)scratch;
    local uint *children = scratch + 4 * VECTORS;
    const uint index = OUTER_INDEX;
    global Descent *descent = descents + index;
    const uint place = descent->place + step;
    const uint waiting = step < descent->rows ? descent->made[place] : 0;
    const uint states = waiting < wished ? waiting : 0;
    from += step == 0 ? descent->first : index * room;
    to += index * room;
    if (states != 0)
        read_rows(row, TABLE(*descent) + VECTORS * step, 1);
    for (uint begin = GROUP_INDEX * GROUP; begin < states; begin += GROUPS * GROUP) {
        if (LOCAL_INDEX == 0)
            children[0] = 0;
        BARRIER;
        const uint4 state = begin + LOCAL_INDEX < states ? from[begin + LOCAL_INDEX] : (uint4)(0, 0, 0, 0);
        uint queens = living(row, state);
        const uint before = atomic_add(children, popcount(queens));
        BARRIER;
        if (LOCAL_INDEX == 0)
            children[1] = atomic_add(descent->made + place + 1, children[0]);
        BARRIER;
        if (children[1] + children[0] <= room) {
            global uint4 *own = to + children[1] + before;
            for (; queens != 0; queens &= queens - 1)
                *own++ = child_of(state, queens & (~queens + 1), row[0]);
        }
        BARRIER;
    }
    GROUP_ENDS(&descent->ended);
}

/*
 * A group begins with a descent of its own or one that it shares, and goes on with the next one of which states are left.
 *
 * rows      those of the descents
 * descents  so many as `count`, each with its states
 * levels    rows that are to be done of any of them at most
 * begun     the states of the descents that were not widened
 * one       those of the descents that have theirs in the first room
 * other     and of those that have them in the second one
 * found     for each group what it found before and finds now: completions, nodes; and twice the launch's number, and 1 more
 *           where more may be found
 * frozen    for each group what waited when its passes were used up: how many in each pool, and the pools; and of which descent, how
 *           many it has seen, and whether no states of that one are left
 * is_begun  whether an earlier launch has written `found` and `frozen`: in the first one nothing waits
 * launch    the launch's number, which tells the host that a group has done its part of this one
 * progress  how many passes groups have taken in this launch, some at a time
 * passes    how many all may take together: so a launch takes about as long whatever the states are, and however many groups the
 *           device has at work at a time
 * some      so many a group takes at a time: what an item finds in them, no more than two completions a state, fits a word
 * most      and so many in all, so that the last groups that have something to do take no longer
 * scratch   the rows, the pools, how many wait in each and behind the last one, the votes of this pass and those of the next,
 *           and what one item finds out for all: the passes or the first of the states that the group has taken, or its next descent
 *           and how many it has seen then
 */
KERNEL(GROUP) search(global const uint4 *restrict rows, global Descent *descents, const uint count, const uint levels,
                     global const uint4 *restrict begun, global const uint4 *restrict one, global const uint4 *restrict other,
                     global ulong *found, global uint4 *frozen, const uint is_begun, const uint launch, global uint *progress,
                     const uint passes, const uint some, const uint most SCRATCH_ARGUMENT)
{
    SCRATCH
    local uint4 *table = (local uint4 *)scratch, *pools = table + VECTORS * levels;
    local uint *waiting = (local uint *)(pools + POOL * levels), *votes = waiting + levels + 1, *told = votes + 2 * VOTED;
    global uint4 *saved = frozen + GROUP_INDEX * (1 + POOL) * levels;
    uint descent = is_begun ? saved->y : GROUP_INDEX * count / GROUPS, seen = is_begun ? saved->z : 1;
    uint is_drained = is_begun ? saved->w : 0;
    uint depth = descents[descent].rows, end = descents[descent].states;
    global const uint4 *states = STATES(descents[descent]);
    read_rows(table, TABLE(descents[descent]), depth);
    for (uint i = LOCAL_INDEX; i <= levels; i += GROUP)
        waiting[i] = is_begun && i < levels ? saved[i].x : 0;
    for (uint i = LOCAL_INDEX; i < 2 * VOTED; i += GROUP)
        votes[i] = 0;
    BARRIER;
    for (uint level = 0; level < levels; level++)
        for (uint i = LOCAL_INDEX; i < waiting[level]; i += GROUP)
            pools[POOL * level + i] = saved[levels + POOL * level + i];
    BARRIER;

    /* Between passes there wait as many states in each pool as `waiting` says: `here` in that of `level`. */
    uint level = depth - 1, here = waiting[level], is_finished = 0;
    uint completions = 0, nodes = 0;
    ulong all_completions = 0, all_nodes = 0;
    for (uint granted = 0, all_granted = 0, turn = 0;; granted--) {
        if (granted == 0) {
            all_completions += completions;
            all_nodes += nodes;
            completions = nodes = 0;
            if (all_granted >= most)
                break;
            if (LOCAL_INDEX == 0)
                *told = atomic_add(progress, some);
            BARRIER;
            if (*told >= passes)
                break;
            granted = some;
            all_granted += some;
            BARRIER;
        }
        if (here < WIDE) {
            while (here < WIDE && level > 0)
                here = waiting[--level];
            if (here < WIDE && !is_drained) {
                if (LOCAL_INDEX == 0)
                    *told = atomic_add(&descents[descent].taken, WIDE);
                BARRIER;
                const uint begin = *told;
                const uint more = begin >= end ? 0 : end - begin < WIDE ? end - begin : WIDE;
                is_drained = more < WIDE;
                FOR_EACH
                    if (NUMBER(v) < more)
                        pools[here + NUMBER(v)] = states[begin + NUMBER(v)];
                here += more;
                if (LOCAL_INDEX == 0)
                    waiting[0] = here;
                BARRIER;
            }
            if (here < WIDE) {
                while (here == 0 && ++level < depth)
                    here = waiting[level];
                if (here == 0) {
                    is_finished = seen == count;
                    if (is_finished)
                        break;
                    if (LOCAL_INDEX == 0) {
                        do {
                            descent = descent + 1 < count ? descent + 1 : 0;
                            seen++;
                        } while (seen < count && descents[descent].taken >= descents[descent].states);
                        told[0] = descent;
                        told[1] = seen;
                    }
                    BARRIER;
                    descent = told[0];
                    seen = told[1];
                    is_drained = level = 0;
                    depth = descents[descent].rows;
                    end = descents[descent].states;
                    states = STATES(descents[descent]);
                    read_rows(table, TABLE(descents[descent]), depth);
                    BARRIER;
                    continue;
                }
                /* Filled up with states that have no square. */
                FOR_EACH
                    if (NUMBER(v) >= here)
                        pools[POOL * level + NUMBER(v)] = (uint4)(~0u, 0, 0, 0);
                here = WIDE;
                BARRIER;
            }
        }
        local const uint4 *row = table + VECTORS * level;
        local uint4 *own = pools + POOL * level, *next = own + POOL;
        local uint *voted = votes + turn;
        const uint4 first = row[0], second = row[1];
        const uint left = first.w, below = waiting[level + 1];
        uint4 state[EACH], child[EACH];
        uint alive[EACH], kept[EACH], born[EACH];
        here -= WIDE;
        FOR_EACH
            state[v] = own[here + NUMBER(v)];
        FOR_EACH {
            const uint others = state[v].w & (state[v].w - 1);
            child[v] = child_of(state[v], state[v].w ^ others, first);
            state[v].w = others;
        }
        /* The most frequent first. */
        if (left == 5)
            LOOK(5, 1);
        else if (left == 6)
            LOOK(3, 0);
        else if (left == 4)
            LOOK(4, 1);
        else if (left > 6)
            LOOK(2, 0);
        else if (left == 3)
            LOOK(3, 1);
        else
            FOR_EACH {
                completions += pairs(second, child[v]);
                alive[v] = 0;
            }
        FOR_EACH {
            kept[v] = VOTE(state[v].w != 0, voted + 2 * v);
            born[v] = VOTE(alive[v], voted + 2 * v + 1);
        }
        BARRIER;
        /* One item alone need not ask: what it does not keep, the next one replaces. */
        const uint asks = GROUP > 1, asks_too = asks || level + 1 == depth;
        uint then = below;
        FOR_EACH {
            const uint keep = VOTES(kept[v], voted + 2 * v), live = VOTES(born[v], voted + 2 * v + 1);
            if (!asks || state[v].w != 0)
                own[here + BEFORE(keep)] = state[v];
            if (!asks_too || alive[v])
                next[then + BEFORE(live)] = child[v];
            here += popcount(keep);
            then += popcount(live);
        }
        nodes += then - below;
        if (LOCAL_INDEX == 0) {
            CLEAR_VOTES(votes + (VOTED - turn), VOTED);
            waiting[level] = here;
            waiting[level + 1] = then;
        }
        if (then >= WIDE) {
            level++;
            here = then;
        }
        turn = VOTED - turn;
        BARRIER;
    }
    for (uint i = LOCAL_INDEX; i < levels; i += GROUP)
        saved[i] = (uint4)(waiting[i], descent, seen, is_drained);
    for (level = 0; level < levels; level++)
        for (uint i = LOCAL_INDEX; i < waiting[level]; i += GROUP)
            saved[levels + POOL * level + i] = pools[POOL * level + i];
    BARRIER;
    local ulong *sums = (local ulong *)scratch;
    sums[LOCAL_INDEX] = all_completions + completions;
    BARRIER;
    if (LOCAL_INDEX == 0) {
        ulong sum = 0;
        for (uint i = 0; i < GROUP; i++)
            sum += sums[i];
        global ulong *own = found + 3 * GROUP_INDEX;
        own[0] = (is_begun ? own[0] : 0) + sum;
        own[1] = (is_begun ? own[1] : 0) + all_nodes + nodes;
        own[2] = 2 * (ulong)launch + !is_finished;
    }
}
