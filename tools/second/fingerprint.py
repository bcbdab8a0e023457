"""The fingerprint of a plan: a hash of all that it follows from and of what follows for its units."""

from .blake3 import digests

# Of a part with more units only a sample is hashed.
FEW, SAMPLE = 16, 4
GOLDEN_RATIO = 0x9E3779B97F4A7C15


def fingerprint(spec, parts):
    return digests([_spec(spec) + b"".join(map(_part, parts))], 16)[0].hex()


def _spec(spec):
    head = b"diadem plan" + spec["version"].to_bytes(4, "little") + bytes([spec["n"]])
    if spec["scheme"] == "constellations":
        return head + bytes([0]) + spec["grain"].to_bytes(8, "little")
    if spec["scheme"] == "families":
        return head + bytes([1, spec["rows"], spec["group"], spec["sides"]])
    if "grain" in spec:
        return head + bytes([3, spec["columns"], spec["group"]]) + spec["grain"].to_bytes(8, "little")
    return head + bytes([2, spec["columns"], spec["group"]])


def summand(part):
    """Which sum the counts of a part belong to."""
    member, measure = (0xFFFFFFFF, 0) if part.member is None else (part.member, part.measure)
    return member.to_bytes(4, "little") + bytes([measure])


def _part(part):
    indices = sample(part.units)
    units = (index.to_bytes(8, "little") + position_bytes(position)
             for index, position in zip(indices, part.positions(indices)))
    return summand(part) + part.units.to_bytes(8, "little") + b"".join(units)


def sample(units):
    """All indices of a part of few units; else the first, the last and one of each stretch between."""
    if units <= FEW:
        return list(range(units))
    places = ((stretch << 64) + stretch * GOLDEN_RATIO % (1 << 64) for stretch in range(SAMPLE - 1))
    return [*(place * units // SAMPLE >> 64 for place in places), units - 1]


def position_bytes(position):
    """Queens in ascending order, the columns of each row, and the pairs of border queens where not all are allowed."""
    queens = sorted(position.queens)
    squares = [position.squares.get(row, position.full) for row in range(position.n)]
    rights = [] if position.pairs is None else [0] * position.n
    for left, right in position.pairs or ():
        rights[left] |= 1 << right
    places = bytes(place for queen in queens for place in queen)
    return bytes([len(queens)]) + places + _words(squares) + bytes([position.pairs is not None]) + _words(rights)


def _words(words):
    return b"".join(word.to_bytes(4, "little") for word in words)
