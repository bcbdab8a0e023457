"""Who has counted: votes, machines and owners, and which of them are believed."""

NONE = (1 << 64) - 1
MOST_KERNELS = 128
MOST_LOST = 3
MOST_CONTRADICTIONS = 10

# How far a standing count has been confirmed: by nobody, by its own machine, by another machine of its owner, by
# another owner.
ALONE, SAME_MACHINE, SAME_OWNER, OTHER_OWNER = range(4)


class Vote:
    """One count of a unit. `origin` is owner (None where the record names none), machine, kernel, mirrored."""

    def __init__(self, count, nodes, origin):
        self.count, self.nodes, self.origin = count, nodes, origin

    @property
    def owner(self):
        return self.origin[0]

    @property
    def maker(self):
        """The machine with its owner."""
        return self.origin[:2]

    def agrees(self, other):
        """The same count, and where both searched row by row, the same nodes."""
        both_searched = self._method() == other._method() == "search"
        return self.count == other.count and (not both_searched or self.nodes == other.nodes)

    def is_that_of(self, other):
        return (self.count, self.nodes, self.origin) == (other.count, other.nodes, other.origin)

    def _method(self):
        return self.origin[2].split("/")[0]


def who(maker):
    owner, machine = maker
    return machine if owner is None else f"{machine} of {owner}"


class Makers:
    """All who have counted, and who of them was wrong."""

    def __init__(self):
        self.machines, self.kernels, self.lost, self.expelled = set(), set(), set(), set()
        # The owners whom an own check contradicts.
        self.suspended = set()
        # Those that other owners have proved wrong, by owner.
        self.lost_to_others = {}
        # In how many units each machine has contradicted itself, and nobody else has decided.
        self.contradictions = {}

    def vote(self, record):
        """The vote in a record; who made it is known from then on."""
        origin = record.get("owner"), record["machine"], record["kernel"], record.get("mirrored", False)
        self.machines.add(origin[:2])
        self.kernels.add(origin[2])
        if len(self.kernels) > MOST_KERNELS:
            raise ValueError(f"{origin[2]!r} is one kernel more than the {MOST_KERNELS} there can be")
        return Vote(record["count"], record["nodes"], origin)

    def level_between(self, maker, other):
        """How far the count of one confirms that of the other."""
        if self.are_several([maker[0], other[0]]):
            return OTHER_OWNER
        return SAME_MACHINE if maker[1] == other[1] else SAME_OWNER

    def are_made_otherwise(self, vote, other):
        """Whether two equal votes say more than one: of two machines, or made in two ways."""
        return self.level_between(vote.maker, other.maker) > SAME_MACHINE or vote.origin[2:] != other.origin[2:]

    @staticmethod
    def are_several(owners):
        """Whether these are more than one owner. A count without an owner may be anybody's."""
        return len({owner for owner in owners if owner is not None}) > 1

    def lose(self, maker, to_others):
        """The machine was proved wrong, by other owners or among its own."""
        self.lost.add(maker)
        if to_others:
            self.lost_to_others.setdefault(maker[0], set()).add(maker)

    def contradict(self, maker):
        """The machine has contradicted itself in one more unit."""
        self.contradictions[maker] = self.contradictions.get(maker, 0) + 1
        if self.contradictions[maker] >= MOST_CONTRADICTIONS:
            self.lost.add(maker)

    def expel(self, owner, machine):
        """Its operator has quarantined a machine; without one the whole owner."""
        self.expelled.add((owner, machine))

    def suspend(self, owner):
        """An own check contradicts the owner, until the operator decides."""
        self.suspended.add(owner)

    def is_refuted(self, owner):
        """The operator decided against an owner whom an own check contradicts: none of its counts stands."""
        return owner in self.suspended and not self._is_owner_kept(owner)

    def undecided(self):
        """The owners about whom the operator has not decided."""
        return sorted(owner or "-" for owner in self.suspended if self._is_owner_kept(owner))

    def admit(self, owner, machine):
        """Its operator believes a machine again; without one the whole owner."""
        believed = self.is_owner_believed(owner) if machine is None else (
            self.is_believed((owner, machine)) or not self.is_owner_believed(owner))
        if believed:
            raise ValueError(f"{machine or owner!r} is believed again who is not quarantined, or whose owner is expelled")
        if machine is not None:
            self.contradictions.pop((owner, machine), None)
        if machine is None:
            self.suspended.discard(owner)
        for makers in (self.lost, self.lost_to_others.get(owner, set()), self.expelled):
            makers -= {maker for maker in makers if maker[0] == owner and machine in (None, maker[1])}

    def is_believed(self, maker):
        return maker not in self.lost and maker not in self.expelled and self.is_owner_believed(maker[0])

    def is_owner_believed(self, owner):
        return owner not in self.suspended and self._is_owner_kept(owner)

    def _is_owner_kept(self, owner):
        if (owner, None) in self.expelled:
            return False
        return len(self.lost_to_others.get(owner, ())) < MOST_LOST

    def quarantined(self):
        return sorted(who(maker) for maker in self.machines if not self.is_believed(maker))
