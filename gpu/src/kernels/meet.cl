/*
 * Two halves that meet: half boards by row set, and the pairs of them that fit.
 *
 *     grow:  for each set S of free rows, of one column more:
 *                list(S) = for each row r of S whose square in the new column is open:
 *                    the states of list(S - r) that leave both diagonals of that square free, with them set
 *     join:  for each set S of as many rows as the left half has columns:
 *                for each slice of lanes, a thousand of list(S) or of list(all rows - S), whichever costs less:
 *                    tabulate which lanes leave clear which patterns of five diagonals
 *                    for each word of the other list, if it leaves free the diagonals that all lanes have:
 *                        count the lanes that share no diagonal with it
 *
 * A state is a word with a bit for each diagonal that matters; those that a half of the other side may have as well come
 * first, five to a table. Complete halves are in the order of the rows of their last queens, those beside the cut, and have
 * that row in their highest bits: where many in a row have it in common, they are a slice, all of which have that queen's
 * diagonals. The rows, the diagonals' bits and so the half boards are what `queens::kernel::meet` has; the
 * number of complete ones is the number of nodes. A work group works on one set at a time; where there are fewer sets than groups,
 * several of these join one, and each has its part of the words.
 *
 * GROUP     work items of a group that joins, GROW_GROUP of one that grows
 * BESIDE    items that read a list together, one state beside the other
 * VECTOR    words of 64 lanes that an item looks up at a time: such a vector is called Lanes
 * SET_UP    what it costs to tabulate a slice, in look-ups
 * DIRECT    what a look-up costs, in pairs compared one by one
 */

#define JOINED(a, b) a##b
#define WORDS(count) JOINED(ulong, count)
typedef WORDS(VECTOR) Lanes;

/* What a queen on a square tests, and then sets. */
typedef struct {
    ulong test, set;
} Queen;

/* Where the states of a set are. */
typedef struct {
    uint begin, length;
} List;

/* Of what the states of a set are made: those of the set without one of its rows that leave free what the queen there tests. */
typedef struct {
    Queen queen;
    List list;
    /* How many of them do, and then where the next one goes in the set's list. */
    uint next;
    uint unused;
} Source;

/* So many states an item reads before it looks at the first: one after the other would take as long for each. */
#define AHEAD 4

/*
 * Writes those states of a source that pass, as far as they are in `keep`, with the queen. BESIDE items call it together. An item
 * that is alone in its group need not ask before it writes, for it may write one word BEHIND its list.
 */
#if GROW_GROUP == 1
#define BEHIND 1
void place(local Source *source, global const ulong *from, global ulong *to, ulong keep)
{
    const Queen queen = source->queen;
    const List list = source->list;
    uint next = source->next;
    for (uint i = 0; i < list.length; i++) {
        const ulong state = from[list.begin + i];
        to[next] = (state & keep) | queen.set;
        next += (state & queen.test) == 0;
    }
}
#else
#define BEHIND 0
void place(local Source *source, global const ulong *from, global ulong *to, ulong keep)
{
    const Queen queen = source->queen;
    const List list = source->list;
    for (uint i = LOCAL_INDEX % BESIDE; i < list.length; i += AHEAD * BESIDE) {
        ulong states[AHEAD];
#pragma unroll
        for (uint j = 0; j < AHEAD; j++)
            states[j] = i + j * BESIDE < list.length ? from[list.begin + i + j * BESIDE] : 0;
#pragma unroll
        for (uint j = 0; j < AHEAD; j++)
            if (i + j * BESIDE < list.length && (states[j] & queen.test) == 0)
                to[atomic_inc(&source->next)] = (states[j] & keep) | queen.set;
    }
}
#endif

/*
 * sets      sets of rows, each of which is turned round by `flip`; those from `first` to before `end` are made
 * queens    for each column 32, one for each row, of which those in `open` may stand in the new `column`
 * fixed     rows whose side is fixed: a set has none but those of `here`, and lacks at most `lacking` of them
 * from, to  the states with a column less, and those that are made, of which there may be `room` in all
 * cursors   one of them, by its number `cursor`, is how many have been made; more than `room` if they did not fit
 * lists     for each set, smaller ones too, where its states are
 * ended     how many groups have ended, of all launches of both kernels for a cut
 * scratch   a Source for each row, and two words
 */
KERNEL(GROW_GROUP) grow(global const uint *restrict sets, const uint first, const uint end, const uint flip,
                        global const Queen *restrict queens, const uint column, const uint open, const uint fixed, const uint here,
                        const uint lacking, const ulong keep, global const ulong *restrict from, global ulong *to, const uint room,
                        global uint *cursors, const uint cursor, global List *lists, global uint *ended SCRATCH_ARGUMENT)
{
    SCRATCH
    local Source *sources = (local Source *)scratch;
    local uint *begin_and_made = (local uint *)(sources + 32);
    queens += 32 * column;
    for (uint task = first + GROUP_INDEX; task < end; task += GROUPS) {
        const uint set = sets[task] ^ flip;
        const uint agrees = (set & fixed & ~here) == 0 && popcount(here & ~set) <= lacking;
        const uint rows = agrees ? set & open : 0;
        if (rows == 0) {
            if (LOCAL_INDEX == 0)
                lists[set].length = 0;
            continue;
        }
        const uint count = popcount(rows);
        for (uint row = LOCAL_INDEX; row < 32; row += GROW_GROUP) {
            if ((rows >> row & 1) == 0)
                continue;
            local Source *source = sources + popcount(rows & ((1u << row) - 1));
            source->queen = queens[row];
            source->list = lists[set ^ 1u << row];
            source->next = 0;
        }
        BARRIER;
        for (uint k = LOCAL_INDEX / BESIDE; k < count; k += GROW_GROUP / BESIDE) {
            const ulong test = sources[k].queen.test;
            const uint length = sources[k].list.length;
            global const ulong *states = from + sources[k].list.begin;
            uint passing = 0;
            for (uint i = LOCAL_INDEX % BESIDE; i < length; i += BESIDE)
                passing += (states[i] & test) == 0;
            if (passing != 0)
                atomic_add(&sources[k].next, passing);
        }
        BARRIER;
        if (LOCAL_INDEX == 0) {
            uint all = 0;
            for (uint k = 0; k < count; k++) {
                const uint passing = sources[k].next;
                sources[k].next = all;
                all += passing;
            }
            /* Nobody adds to a cursor that is past the room, so that it never wraps. */
            uint begin = cursors[cursor];
            if (all != 0 && begin <= room)
                begin = atomic_add(cursors + cursor, all + BEHIND);
            const uint made = begin <= room && all + BEHIND <= room - begin ? all : 0;
            begin_and_made[0] = begin;
            begin_and_made[1] = made;
            lists[set].begin = begin;
            lists[set].length = made;
        }
        BARRIER;
        if (begin_and_made[1] != 0) {
            for (uint k = LOCAL_INDEX / BESIDE; k < count; k += GROW_GROUP / BESIDE)
                place(sources + k, from, to + begin_and_made[0], keep);
        }
        BARRIER;
    }
    GROUP_ENDS(ended);
}

/* The row of a complete half's last queen. */
#define ROW(half) ((uint)((half) >> 59))

/*
 * The lanes, of `count` from here on, that have their last queens in one row with the first, if those are a quarter of what a
 * slice may hold; else 0.
 */
uint run(global const ulong *lanes, uint count, uint slice)
{
    const uint row = ROW(lanes[0]);
    if (count <= slice / 4 || ROW(lanes[slice / 4]) != row)
        return 0;
    uint low = slice / 4, high = count;
    while (high - low > 1) {
        const uint middle = low + (high - low) / 2;
        if (ROW(lanes[middle]) == row)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The pairs of two lists that share no bit of `meeting`, one by one. */
uint compare(global const ulong *many, uint many_words, global const ulong *few, uint few_words, ulong meeting)
{
    uint pairs = 0;
    for (uint j = 0; j < few_words; j++) {
        const ulong word = few[j] & meeting;
        for (uint i = LOCAL_INDEX; i < many_words; i += GROUP)
            pairs += (many[i] & word) == 0;
    }
    return pairs;
}

/*
 * Fills the tables for these lanes: entry p of table t is the lanes that leave clear the bits of p, those from 5t on. An
 * entry is 2 to the power of `wide` vectors; neighbouring words of it have neighbouring lanes, so that items beside each other read
 * what is side by side.
 */
void tabulate(local uint *table, uint tables, uint wide, global const ulong *lanes, uint count)
{
    const uint row = 2 * VECTOR << wide;
    for (uint task = LOCAL_INDEX; task < tables * row; task += GROUP) {
        const uint group = task / row, word = task % row;
        const uint here = word < count ? (count - word - 1) / row + 1 : 0;
        uint plane[5] = {0, 0, 0, 0, 0};
        for (uint lane = 0; lane < here; lane++) {
            const uint bits = (uint)(lanes[word + lane * row] >> 5 * group);
#pragma unroll
            for (uint bit = 0; bit < 5; bit++)
                plane[bit] |= (bits >> bit & 1) << lane;
        }
        const uint all = here == 32 ? ~0u : (1u << here) - 1;
        local uint *entries = table + 32 * group * row + word;
        /* Unrolled, each pattern is a constant, and nothing has to wait in memory of the item's own. */
#pragma unroll
        for (uint low = 0; low < 4; low++) {
            const uint clear = all & (low & 1 ? ~plane[0] : ~0u) & (low & 2 ? ~plane[1] : ~0u);
#pragma unroll
            for (uint high = 0; high < 8; high++)
                entries[(low + 4 * high) * row] = clear & (high & 1 ? ~plane[2] : ~0u)
                    & (high & 2 ? ~plane[3] : ~0u) & (high & 4 ? ~plane[4] : ~0u);
        }
    }
}

/*
 * How many of the tabulated lanes, all of which have the bits of `common`, share no bit with a word, over all words. Items
 * take a word together, a vector each, and read the next one before they look this one up. For a number of tables that is a constant
 * all of them are looked up at a time: so for those of most boards.
 */
#define LOOK_UP(TABLES) \
    for (uint i = LOCAL_INDEX >> wide; i < count; i += step) { \
        const ulong word = next; \
        if (i + step < count) \
            next = words[i + step]; \
        if ((word & common) != 0) \
            continue; \
        Lanes fit = table[own | ((uint)word & 31) << wide]; \
        _Pragma("unroll") \
        for (uint group = 1; group < (TABLES); group++) \
            fit = fit & table[(32 * group << wide) + (own | ((uint)(word >> 5 * group) & 31) << wide)]; \
        sums = sums + popcount(fit); \
    }

ulong look_up(local const Lanes *table, uint tables, uint wide, global const ulong *words, uint count, ulong common)
{
    Lanes sums = 0;
    const uint step = GROUP >> wide, own = LOCAL_INDEX & ((1u << wide) - 1);
    ulong next = LOCAL_INDEX >> wide < count ? words[LOCAL_INDEX >> wide] : 0;
    switch (tables) {
    case 5:
        LOOK_UP(5)
        break;
    case 6:
        LOOK_UP(6)
        break;
    case 7:
        LOOK_UP(7)
        break;
    case 8:
        LOOK_UP(8)
        break;
    default:
        LOOK_UP(tables)
    }
    const ulong *words_of_sums = (const ulong *)&sums;
    ulong pairs = 0;
    for (uint i = 0; i < VECTOR; i++)
        pairs += words_of_sums[i];
    return pairs;
}

/*
 * sets      sets of rows; those from `first` to before `end` are joined, as left halves, with the rest of `all` rows
 * parts     so many groups have a set together, each a part of its words: more than one only where all sets are at work at once
 * lists     for each set of the left half, and of the right half, where its complete halves are in `lefts` and `rights`
 * cursors   of these lists; where one is past the room nothing is joined
 * queens    of all columns, those of the last of each half from `left_queens` and `right_queens` on
 * meeting   the bits that halves meet by; `marked`: whether the highest five are not among them and tell the last queen's row
 * tables    how many tables hold these bits; `width`: how many vectors of lanes an entry may be, a power of two
 * found     how many groups have ended, as above; then for each group what it found before and finds now: pairs, halves
 * scratch   the tables
 */
KERNEL(GROUP) join(global const uint *restrict sets, const uint first, const uint end, const uint parts, const uint all,
                   global const List *restrict left_lists, global const List *restrict right_lists, global const ulong *restrict lefts,
                   global const ulong *restrict rights, global const uint *restrict cursors, const uint left_cursor,
                   const uint right_cursor, const uint left_room, const uint right_room, global const Queen *restrict queens,
                   const uint left_queens, const uint right_queens, const ulong meeting, const uint marked, const uint tables,
                   const uint width, global ulong *found SCRATCH_ARGUMENT)
{
    SCRATCH
    const uint fits = cursors[left_cursor] <= left_room && cursors[right_cursor] <= right_room;
    const uint slice = 64 * VECTOR * width, part = GROUP_INDEX % parts;
    ulong pairs = 0, halves = 0;
    for (uint task = first + GROUP_INDEX / parts; fits && task < end; task += GROUPS / parts) {
        const List left = left_lists[sets[task]], right = right_lists[sets[task] ^ all];
        if (left.length == 0 || right.length == 0)
            continue;
        if (part == 0)
            halves += left.length + right.length;
        const ulong by_left = (left.length + slice - 1) / slice * ((ulong)SET_UP + right.length);
        const ulong by_right = (right.length + slice - 1) / slice * ((ulong)SET_UP + left.length);
        const uint turned = by_right < by_left;
        global const ulong *lanes = turned ? rights + right.begin : lefts + left.begin;
        global const ulong *words = turned ? lefts + left.begin : rights + right.begin;
        const uint lane_count = turned ? right.length : left.length;
        const uint all_words = turned ? left.length : right.length;
        /* Each part tabulates all lanes: it has as many words as that costs, if there are so many. */
        const uint share = max((uint)SET_UP, (all_words - 1) / parts + 1), before = part * share;
        if (before >= all_words)
            continue;
        const uint word_count = all_words - before < share ? all_words - before : share;
        words += before;
        if ((ulong)lane_count * all_words < DIRECT * (turned ? by_right : by_left)) {
            if (lane_count < word_count)
                pairs += compare(words, word_count, lanes, lane_count, meeting);
            else
                pairs += compare(lanes, lane_count, words, word_count, meeting);
            continue;
        }
        uint count;
        for (uint begin = 0; begin < lane_count; begin += count) {
            count = lane_count - begin < slice ? lane_count - begin : slice;
            ulong common = 0;
            const uint together = marked ? run(lanes + begin, count, slice) : 0;
            if (together != 0) {
                count = together;
                common = queens[(turned ? right_queens : left_queens) + ROW(lanes[begin])].set & meeting;
            }
            uint wide = 0;
            while (64 * VECTOR << wide < count)
                wide++;
            BARRIER;
            tabulate(scratch, tables, wide, lanes + begin, count);
            BARRIER;
            pairs += look_up((local const Lanes *)scratch, tables, wide, words, word_count, common);
        }
    }
    BARRIER;
    local ulong *sums = (local ulong *)scratch;
    sums[LOCAL_INDEX] = pairs;
    BARRIER;
    if (LOCAL_INDEX == 0) {
        global ulong *own = found + 1 + 2 * GROUP_INDEX;
        ulong sum = own[0];
        for (uint item = 0; item < GROUP; item++)
            sum = add_sat(sum, sums[item]);
        own[0] = sum;
        own[1] += halves;
    }
    GROUP_ENDS((global uint *)found);
}
