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
 * number of complete ones is the number of nodes. A work group works on one set at a time.
 *
 * GROUP     work items of a group
 * VECTOR    words of 64 lanes that an item looks up at a time: such a vector is called Lanes
 * SET_UP    what it costs to tabulate a slice, in look-ups
 * DIRECT    what a look-up costs, in pairs compared one by one
 */

/* What a queen on a square tests, and then sets. */
typedef struct {
    ulong test, set;
} Queen;

/* Where the states of a set are. */
typedef struct {
    uint begin, length;
} List;

/* The sum of what the work items before this one own. All items of the group call it; `sums` gets a word of each. */
INSIDE uint before(LOCAL uint *sums, uint own)
{
    sums[LOCAL_INDEX] = own;
    BARRIER;
    for (uint distance = 1; distance < GROUP; distance *= 2) {
        const uint more = LOCAL_INDEX >= distance ? sums[LOCAL_INDEX - distance] : 0;
        BARRIER;
        sums[LOCAL_INDEX] += more;
        BARRIER;
    }
    return sums[LOCAL_INDEX] - own;
}

/* An item that is alone in its group may write one word behind its list: so it need not ask before it writes. */
#if GROUP == 1
#define BEHIND 1
#define APPEND(to, end, passes, state) (to[end] = (state), end += (passes))
#else
#define BEHIND 0
#define APPEND(to, end, passes, state) if (passes) to[end++] = (state)
#endif

/*
 * Of the states of the lists of `set` without one of `rows`, one list behind the other, those from `begin` to before `end`:
 * how many of them leave the queen's diagonals free.
 */
INSIDE uint passing(uint set, uint rows, uint begin, uint end, GLOBAL const List *lists, GLOBAL const Queen *queens,
                    GLOBAL const ulong *from)
{
    uint count = 0, behind = 0;
    for (; rows != 0 && behind < end; rows &= rows - 1) {
        const uint row = ONES((rows & (~rows + 1)) - 1);
        const List list = lists[set ^ 1u << row];
        const uint first = begin > behind ? begin - behind : 0;
        const uint last = end - behind < list.length ? end - behind : list.length;
        const ulong test = queens[row].test;
        for (uint i = first; i < last; i++)
            count += (from[list.begin + i] & test) == 0;
        behind += list.length;
    }
    return count;
}

/* Writes those, as far as they are in `keep`, with the queen. */
INSIDE void place(uint set, uint rows, uint begin, uint end, GLOBAL const List *lists, GLOBAL const Queen *queens,
                  GLOBAL const ulong *from, GLOBAL ulong *to, ulong keep)
{
    uint behind = 0, written = 0;
    for (; rows != 0 && behind < end; rows &= rows - 1) {
        const uint row = ONES((rows & (~rows + 1)) - 1);
        const List list = lists[set ^ 1u << row];
        const uint first = begin > behind ? begin - behind : 0;
        const uint last = end - behind < list.length ? end - behind : list.length;
        const Queen queen = queens[row];
        for (uint i = first; i < last; i++) {
            const ulong state = from[list.begin + i];
            APPEND(to, written, (state & queen.test) == 0, (state & keep) | queen.set);
        }
        behind += list.length;
    }
}

/*
 * sets      sets of rows, each of which is turned round by `flip`; those from `first` to before `end` are made
 * queens    for each column 32, one for each row, of which those in `open` may stand in the new `column`
 * fixed     rows whose side is fixed: a set has none but those of `here`, and lacks at most `lacking` of them
 * from, to  the states with a column less, and those that are made, of which there may be `room` in all
 * cursors   one of them, by its number `cursor`, is how many have been made; more than `room` if they did not fit
 * lists     for each set, smaller ones too, where its states are
 */
KERNEL grow(GLOBAL const uint *RESTRICT sets, const uint first, const uint end, const uint flip,
            GLOBAL const Queen *RESTRICT queens, const uint column, const uint open, const uint fixed, const uint here,
            const uint lacking, const ulong keep, GLOBAL const ulong *RESTRICT from, GLOBAL ulong *to, const uint room,
            GLOBAL uint *cursors, const uint cursor, GLOBAL List *lists SCRATCH_ARGUMENT)
{
    SCRATCH
    queens += 32 * column;
    for (uint task = first + GROUP_INDEX; task < end; task += GROUPS) {
        const uint set = sets[task] ^ flip;
        const uint fits = (set & fixed & ~here) == 0 && ONES(here & ~set) <= lacking;
        const uint rows = fits ? set & open : 0;
        uint states = 0;
        for (uint left = rows; left != 0; left &= left - 1)
            states += lists[set ^ (left & (~left + 1))].length;
        if (states == 0) {
            if (LOCAL_INDEX == 0)
                lists[set].length = 0;
            continue;
        }
        const uint share = (states + GROUP - 1) / GROUP;
        const uint own_first = share * LOCAL_INDEX < states ? share * LOCAL_INDEX : states;
        const uint own_end = states - own_first < share ? states : own_first + share;
        const uint own = passing(set, rows, own_first, own_end, lists, queens, from);
        const uint place_of_own = before(scratch, own);
        const uint all = scratch[GROUP - 1];
        BARRIER;
        if (LOCAL_INDEX == 0) {
            /* Nobody adds to a cursor that is past the room, so that it never wraps. */
            uint begin = cursors[cursor];
            if (all != 0 && begin <= room)
                begin = ADD(cursors + cursor, all + BEHIND);
            const uint fit = begin <= room && all + BEHIND <= room - begin;
            scratch[0] = begin;
            scratch[1] = fit ? all : 0;
            lists[set].begin = begin;
            lists[set].length = fit ? all : 0;
        }
        BARRIER;
        const uint begin = scratch[0], fit = scratch[1];
        BARRIER;
        if (fit != 0)
            place(set, rows, own_first, own_end, lists, queens, from, to + begin + place_of_own, keep);
    }
}

/* The row of a complete half's last queen. */
#define ROW(half) ((uint)((half) >> 59))

/*
 * The lanes, of `count` from here on, that have their last queens in one row with the first, if those are a quarter of what a
 * slice may hold; else 0.
 */
INSIDE uint run(GLOBAL const ulong *lanes, uint count, uint slice)
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
INSIDE uint compare(GLOBAL const ulong *many, uint many_words, GLOBAL const ulong *few, uint few_words, ulong meeting)
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
INSIDE void tabulate(LOCAL uint *table, uint tables, uint wide, GLOBAL const ulong *lanes, uint count)
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
        /* Unrolled, so that no index is left to ask for: the entries stay in registers. */
        uint entry[32];
        entry[0] = here == 32 ? ~0u : (1u << here) - 1;
#pragma unroll
        for (uint bit = 0; bit < 5; bit++)
#pragma unroll
            for (uint pattern = 0; pattern < 1u << bit; pattern++)
                entry[(1u << bit) + pattern] = entry[pattern] & ~plane[bit];
#pragma unroll
        for (uint pattern = 0; pattern < 32; pattern++)
            table[(32 * group + pattern) * row + word] = entry[pattern];
    }
}

/*
 * How many of the tabulated lanes, all of which have the bits of `common`, share no bit with a word, over all words. Items
 * take a word together, a vector each.
 */
INSIDE ulong look_up(LOCAL const Lanes *table, uint tables, uint wide, GLOBAL const ulong *words, uint count, ulong common)
{
    Lanes sums = NO_LANES;
    const uint step = GROUP >> wide, own = LOCAL_INDEX & ((1u << wide) - 1);
    for (uint i = LOCAL_INDEX >> wide;; i += step) {
        while (i < count && (words[i] & common) != 0)
            i += step;
        if (i >= count)
            break;
        ulong word = words[i];
        LOCAL const Lanes *entry = table + own;
        Lanes fit = entry[(uint)(word & 31) << wide];
        for (uint group = 1; group < tables; group++) {
            word >>= 5;
            entry += 32 << wide;
            fit = fit & entry[(uint)(word & 31) << wide];
        }
        sums = sums + ONES(fit);
    }
    const ulong *words_of_sums = (const ulong *)&sums;
    ulong pairs = 0;
    for (uint i = 0; i < VECTOR; i++)
        pairs += words_of_sums[i];
    return pairs;
}

/*
 * sets      sets of rows; those from `first` to before `end` are joined, as left halves, with the rest of `all` rows
 * lists     for each set of the left half, and of the right half, where its complete halves are in `lefts` and `rights`
 * cursors   of these lists; where one is past the room nothing is joined
 * queens    of all columns, those of the last of each half from `left_queens` and `right_queens` on
 * meeting   the bits that halves meet by; `marked`: whether the highest five are not among them and tell the last queen's row
 * tables    how many tables hold these bits; `width`: how many vectors of lanes an entry may be, a power of two
 * found     for each group what it found before and finds now: pairs, halves
 * scratch   the tables
 */
KERNEL join(GLOBAL const uint *RESTRICT sets, const uint first, const uint end, const uint all,
            GLOBAL const List *RESTRICT left_lists, GLOBAL const List *RESTRICT right_lists, GLOBAL const ulong *RESTRICT lefts,
            GLOBAL const ulong *RESTRICT rights, GLOBAL const uint *RESTRICT cursors, const uint left_cursor,
            const uint right_cursor, const uint left_room, const uint right_room, GLOBAL const Queen *RESTRICT queens,
            const uint left_queens, const uint right_queens, const ulong meeting, const uint marked, const uint tables,
            const uint width, GLOBAL ulong *found SCRATCH_ARGUMENT)
{
    SCRATCH
    if (cursors[left_cursor] > left_room || cursors[right_cursor] > right_room)
        return;
    const uint slice = 64 * VECTOR * width;
    ulong pairs = 0, halves = 0;
    for (uint task = first + GROUP_INDEX; task < end; task += GROUPS) {
        const List left = left_lists[sets[task]], right = right_lists[sets[task] ^ all];
        if (left.length == 0 || right.length == 0)
            continue;
        halves += left.length + right.length;
        const ulong by_left = (left.length + slice - 1) / slice * ((ulong)SET_UP + right.length);
        const ulong by_right = (right.length + slice - 1) / slice * ((ulong)SET_UP + left.length);
        const uint turned = by_right < by_left;
        GLOBAL const ulong *lanes = turned ? rights + right.begin : lefts + left.begin;
        GLOBAL const ulong *words = turned ? lefts + left.begin : rights + right.begin;
        const uint lane_count = turned ? right.length : left.length;
        const uint word_count = turned ? left.length : right.length;
        if ((ulong)lane_count * word_count < DIRECT * (turned ? by_right : by_left)) {
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
            pairs += look_up((LOCAL const Lanes *)scratch, tables, wide, words, word_count, common);
        }
    }
    BARRIER;
    LOCAL ulong *sums = (LOCAL ulong *)scratch;
    sums[LOCAL_INDEX] = pairs;
    BARRIER;
    if (LOCAL_INDEX == 0) {
        ulong sum = found[2 * GROUP_INDEX];
        for (uint item = 0; item < GROUP; item++)
            sum = ADD_SATURATED(sum, sums[item]);
        found[2 * GROUP_INDEX] = sum;
        found[2 * GROUP_INDEX + 1] += halves;
    }
}
