"""BLAKE3 in pure Python, of many messages at once.

An integer of Python is as long as one likes, so one integer holds a 32-bit word of hundreds of blocks, each in a lane
of 64 bits with room for the carry: what is done to it is done to all blocks, and an interpreter that takes a
millisecond for one compression takes microseconds. Written from the paper "BLAKE3: one function, fast everywhere"
(O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020). The module `blake3` is used in its place where it is installed.
"""

import sys
from array import array

try:
    import blake3 as native
except ImportError:
    native = None

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
CHUNK, BLOCK, ROUNDS = 1024, 64, 7

# More lanes make integers that leave the processor's nearest cache.
LANES = 1024


def digests(messages, length=32):
    """The first `length` bytes (32 at most) of the hash of each message, in their order."""
    if native:
        return [native.blake3(message).digest()[:length] for message in messages]
    return [digest[:length] for digest in pure_digests(messages)]


def pure_digests(messages):
    """The same by this module alone, all 32 bytes."""
    jobs = []
    for message in messages:
        parts = [message[at:at + CHUNK] for at in range(0, len(message), CHUNK)] or [b""]
        jobs += [(part, number, ROOT if len(parts) == 1 else 0) for number, part in enumerate(parts)]
    values = iter(_chunk_values(jobs))
    trees = []
    for message in messages:
        trees.append([next(values) for _ in range(max(1, -(-len(message) // CHUNK)))])
    # A parent has a power of two of chunks on its left, and fewer or as many on its right: neighbours are joined level
    # by level, and one that is left over waits.
    while any(len(tree) > 1 for tree in trees):
        jobs = [(tree[at] + tree[at + 1], ROOT if len(tree) == 2 else 0)
                for tree in trees for at in range(0, len(tree) - 1, 2)]
        joined = iter(_parent_values(jobs))
        for tree in trees:
            alone = tree[len(tree) & ~1:]
            tree[:] = [next(joined) for _ in range(len(tree) // 2)] + alone
    return [tree[0] for tree in trees]


def _in_groups(jobs, key, values_of):
    """Hands equal jobs to `values_of`, as many at once as there are lanes. The values, in order of the jobs."""
    groups = {}
    for at, job in enumerate(jobs):
        groups.setdefault(key(job), []).append(at)
    values = [None] * len(jobs)
    for kind, members in groups.items():
        for begin in range(0, len(members), LANES):
            some = members[begin:begin + LANES]
            for at, value in zip(some, values_of(kind, [jobs[at] for at in some])):
                values[at] = value
    return values


def _chunk_values(jobs):
    def blocks(job):
        return max(1, -(-len(job[0]) // BLOCK)), job[2]

    def values_of(kind, some):
        count, root = kind
        text = b"".join(part.ljust(count * BLOCK, b"\0") for part, _, _ in some)
        words = _words(text)
        lanes = len(some)
        ones = _ones(lanes)
        value = [word * ones for word in IV]
        low = _lanes(number & 0xFFFFFFFF for _, number, _ in some)
        high = _lanes(number >> 32 for _, number, _ in some)
        for block in range(count):
            message = [_lanes(words[block * 16 + word::count * 16]) for word in range(16)]
            flags = CHUNK_START * (block == 0)
            used = BLOCK * ones
            if block == count - 1:
                flags |= CHUNK_END | root
                used = _lanes(len(part) - block * BLOCK for part, _, _ in some)
            value = _compress(value, message, low, high, used, flags * ones, lanes)
        return _bytes(value, lanes)

    return _in_groups(jobs, blocks, values_of)


def _parent_values(jobs):
    def values_of(root, some):
        words = _words(b"".join(pair for pair, _ in some))
        lanes = len(some)
        ones = _ones(lanes)
        message = [_lanes(words[word::16]) for word in range(16)]
        flags = (PARENT | root) * ones
        value = _compress([word * ones for word in IV], message, 0, 0, BLOCK * ones, flags, lanes)
        return _bytes(value, lanes)

    return _in_groups(jobs, lambda job: job[1], values_of)


def _words(text):
    words = array("I", text)
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _ones(lanes):
    """A one in each lane."""
    return ((1 << 64 * lanes) - 1) // ((1 << 64) - 1)


def _lanes(numbers):
    return int.from_bytes(array("Q", numbers).tobytes(), sys.byteorder) if sys.byteorder == "little" else sum(
        number << 64 * lane for lane, number in enumerate(numbers))


def _bytes(value, lanes):
    """The chaining value of each lane."""
    words = [word.to_bytes(8 * lanes, "little") for word in value]
    return [b"".join(word[8 * lane:8 * lane + 4] for word in words) for lane in range(lanes)]


def _compress(value, message, low, high, used, flags, lanes):
    ones = _ones(lanes)
    mask = 0xFFFFFFFF * ones
    state = [*value, *(word * ones for word in IV[:4]), low, high, used, flags]

    def mix(a, b, c, d, x, y):
        for word, right_d, right_b in ((x, 16, 12), (y, 8, 7)):
            state[a] = (state[a] + state[b] + word) & mask
            turned = state[d] ^ state[a]
            # Bits that leave a lane to the left or to the right land in the upper halves, which the mask clears.
            state[d] = (turned >> right_d | turned << 32 - right_d) & mask
            state[c] = (state[c] + state[d]) & mask
            turned = state[b] ^ state[c]
            state[b] = (turned >> right_b | turned << 32 - right_b) & mask

    for _ in range(ROUNDS):
        for at in range(4):
            mix(at, 4 + at, 8 + at, 12 + at, message[2 * at], message[2 * at + 1])
        for at in range(4):
            mix(at, 4 + (at + 1) % 4, 8 + (at + 2) % 4, 12 + (at + 3) % 4, message[8 + 2 * at], message[9 + 2 * at])
        message = [message[source] for source in PERMUTATION]
    return [state[at] ^ state[8 + at] for at in range(8)]
