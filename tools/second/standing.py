"""What the records of a ledger add up to: one standing count for each unit, and how far it was confirmed."""

from array import array
from math import floor

from .blake3 import digests
from .makers import ALONE, NONE, OTHER_OWNER, SAME_OWNER, Makers, Vote, who
from .members import Members

# As many contradictions as a record can name.
MOST_CONFLICTS = (1 << 64) - 1
# So many units are drawn for own checks at least, on the average.
FEWEST_EXPECTED = 300


class Standing:
    """The records so far, applied one by one."""

    def __init__(self, plan, run):
        self.plan, self.run = plan, run
        self.counts = array("Q", [NONE]) * plan.units
        self.nodes = array("Q", [0]) * plan.units
        self.origins = array("I", [0]) * plan.units
        # The line of the standing count, as the ledger numbers them.
        self.lines = array("Q", [0]) * plan.units
        self.levels = bytearray(plan.units)
        self.due = bytearray(plan.units)
        self.known_origins, self.origin_numbers = [], {}
        self.makers, self.members, self.disputed = Makers(), Members(plan), {}
        self.policy = None
        # The own checks on record; for each unit whether a draw has covered and drawn it, and whether it was so checked.
        self.own_checks = None
        self._forget_draws()
        self.term, self.replicas = 0, 0
        self.keys = set()
        self.done = self.checks = self.conflicts = self.retractions = 0
        self.workers, self.kernels = set(), set()

    def apply(self, line, record):
        """Adds the record in that line; an error says why it cannot stand there."""
        unit = record.get("unit")
        if unit is not None and not (unit < self.plan.units and unit % self.run.of == self.run.index - 1):
            raise ValueError(f"unit {unit} is not in the run")
        if "worker" in record:
            self.workers.add(record["worker"])
        getattr(self, f"_{record['kind']}")(line, record)

    # Records of units.

    def _count(self, line, record):
        self.kernels.add(record["kernel"])
        self._stand(line, record, self.makers.vote(record))

    def _stand(self, line, record, vote):
        unit = record["unit"]
        if vote.count == NONE:
            raise ValueError(f"unit {unit} cannot have {vote.count} completions")
        if self.counts[unit] != NONE:
            raise ValueError(f"unit {unit} is counted a second time")
        self.counts[unit], self.nodes[unit], self.origins[unit] = vote.count, vote.nodes, self._number(vote.origin)
        self.lines[unit], self.levels[unit], self.due[unit] = line, ALONE, "recount" in record
        self.done += 1
        self.members.add(unit, vote.count)
        self._decide(unit, vote)

    def _decide(self, unit, vote):
        """Ends the dispute about the unit, where there was one, by its new standing count."""
        votes = self.disputed.pop(unit, [])
        believed = [other for other in votes if self.makers.is_believed(other.maker)]
        agreeing = [other for other in believed if other.agrees(vote)]
        deciding = [(self.makers.level_between(vote.maker, other.maker), other) for other in agreeing]
        if self.makers.are_several([vote.owner, *(other.owner for other in believed)]):
            # Two machines of one owner do not outvote another owner.
            deciding = [(level, other) for level, other in deciding if level != SAME_OWNER]
        level = max((level for level, _ in deciding), default=ALONE)
        to_others = level == OTHER_OWNER
        for confirmed, other in deciding:
            if self.makers.are_made_otherwise(vote, other):
                self._confirm(unit, confirmed)
        if level >= SAME_OWNER:
            winners = {vote.maker, *(other.maker for other in agreeing)}
            for other in votes:
                if other.count != vote.count or not (other.agrees(vote) or other.maker in winners):
                    self.makers.lose(other.maker, to_others)
        elif any(other.maker == vote.maker and not other.agrees(vote) for other in votes):
            self.makers.contradict(vote.maker)

    def _check(self, line, record):
        unit, vote = record["unit"], self.makers.vote(record)
        standing = self._standing(unit, record["count"])
        if "of" not in record:
            raise ValueError(f"the check of unit {unit} does not say whose count it confirms")
        of = record.get("of_owner"), record["of"]
        if of != standing.maker:
            raise ValueError(f"the check of unit {unit} confirms {who(of)}, but the count is of {who(standing.maker)}")
        self.checks += 1
        # Whatever was never asked for confirms nothing.
        are_nodes_compared = self.plan.is_for_search() and self.levels[unit] < SAME_OWNER
        if (not are_nodes_compared or vote.agrees(standing)) and self.makers.are_made_otherwise(vote, standing):
            self._confirm(unit, self.makers.level_between(standing.maker, vote.maker))
            if self.drawn[unit] and vote.owner == self._operator():
                self.own_checked[unit] = 1

    def _confirm(self, unit, level):
        self.due[unit] = 0
        self.levels[unit] = max(self.levels[unit], level)

    def _conflict(self, line, record):
        unit, vote = record["unit"], self.makers.vote(record)
        self._contradicted(1)
        level = self.levels[unit]
        if level == OTHER_OWNER or (level == SAME_OWNER and self._vote(unit).owner == vote.owner):
            # Two owners, or two machines of its own owner, have said otherwise.
            if not (level == OTHER_OWNER and vote.owner == self._operator()
                    and record.get("of_owner") in self.makers.suspended):
                self.makers.lose(vote.maker, level == OTHER_OWNER)
        else:
            self.disputed.setdefault(unit, []).append(vote)

    def _retract(self, line, record):
        unit = record["unit"]
        standing = self._standing(unit, record["count"])
        if not self.makers.vote(record).is_that_of(standing):
            raise ValueError(f"what is retracted of unit {unit} is not the count that stands")
        quarantine, reason = record.get("quarantine", False), "reason" in record
        is_kept = self.makers.is_believed(standing.maker) or standing.owner in self.makers.undecided()
        if quarantine and is_kept:
            raise ValueError(f"unit {unit} is taken back from a machine that is not quarantined")
        if record.get("contradiction", False) and not self.members.is_contradictory(unit):
            raise ValueError(f"unit {unit} is taken back for a contradiction that there is not")
        if not reason and not self._may_retract(unit, standing, quarantine, record.get("contradiction", False)):
            raise ValueError(f"unit {unit} was confirmed and cannot be taken back")
        self.retractions += 1
        self.counts[unit], self.levels[unit], self.due[unit] = NONE, ALONE, 0
        self.covered[unit] = self.drawn[unit] = self.own_checked[unit] = 0
        self.done -= 1
        self.members.take_back(unit, standing.count)
        if not quarantine and not reason:
            self.disputed.setdefault(unit, []).insert(0, standing)

    def _may_retract(self, unit, standing, quarantine, contradiction):
        """Whether a count can be taken back without an operator's reason. That there is the contradiction is known."""
        if self.levels[unit] < SAME_OWNER or contradiction or (quarantine and self.makers.is_refuted(standing.owner)):
            return True
        if self.levels[unit] == OTHER_OWNER:
            return False
        if quarantine:
            return not self.makers.is_owner_believed(standing.owner)
        return any(vote.owner != standing.owner for vote in self.disputed.get(unit, []))

    def _restore(self, line, record):
        unit, vote = record["unit"], self.makers.vote(record)
        votes = [other for other in self.disputed.get(unit, []) if self.makers.is_believed(other.maker)]
        if not any(vote.is_that_of(other) for other in votes):
            raise ValueError(f"unit {unit} is restored to a count that nobody who is believed has made")
        if not all(vote.agrees(other) for other in votes):
            raise ValueError(f"unit {unit} is restored although counts that are believed differ")
        if all(vote.agrees(other) for other in self.disputed[unit]):
            raise ValueError(f"unit {unit} is restored although nobody has contradicted it")
        self.disputed[unit] = [other for other in self.disputed[unit] if not vote.is_that_of(other)]
        self._stand(line, record, vote)

    # Records of the run.

    def _expel(self, line, record):
        owner, machine = record.get("owner"), record.get("machine")
        if machine is None and record.get("suspended", False):
            self.makers.suspend(owner)
            return
        self.makers.expel(owner, machine)
        if machine is not None and record.get("lost", False):
            self.makers.lose((owner, machine), True)

    def _admit(self, line, record):
        self.makers.admit(record.get("owner"), record.get("machine"))

    def _policy(self, line, record):
        self.policy = record["double_check"]
        if record.get("own_checks") != self.own_checks:
            self.own_checks = record.get("own_checks")
            self._forget_draws()

    def _draw(self, line, record):
        """Draws among the standing counts that no draw has covered, by a seed that is younger than they are."""
        if self.own_checks is None:
            raise ValueError("units are drawn for own checks, which the policy before does not name")
        share = self.own_checks["share"]
        rate = {"none": 0.0, "all": 1.0}[share] if share in ("none", "all") else _share(share)
        rate = min(1.0, max(rate, FEWEST_EXPECTED / max(self.plan.units, 1)))
        most, seed = int(rate * 2.0**64), bytes.fromhex(record["seed"])
        new = [unit for unit in range(self.plan.units) if self.counts[unit] != NONE and not self.covered[unit]]
        for unit, digest in zip(new, digests([seed + unit.to_bytes(8, "little") for unit in new], 8)):
            self.covered[unit], self.drawn[unit] = 1, self.drawn[unit] or int.from_bytes(digest, "little") < most
        for unit in record.get("units", []):
            if unit < self.plan.units and self.counts[unit] != NONE:
                self.drawn[unit] = 1

    def _forget_draws(self):
        self.covered, self.drawn, self.own_checked = (bytearray(self.plan.units) for _ in range(3))

    def _operator(self):
        return None if self.own_checks is None else self.own_checks["owner"]

    def _term(self, line, record):
        if record["term"] <= self.term:
            raise ValueError(f"term {record['term']} cannot follow term {self.term}")
        if record["term"] >= 1 << 63:
            raise ValueError(f"term {record['term']} is too high: they are below {1 << 63}")
        self.term = record["term"]
        self.keys.update({record["key"]} if "key" in record else ())

    def _replicas(self, line, record):
        self.replicas = record["replicas"]

    def _merged(self, line, record):
        self._contradicted(record["conflicts"])

    def _loss(self, line, record):
        """What was lost is counted again: nothing changes."""

    def _pause(self, line, record):
        """The operator stops lending: nothing changes."""

    def _resume(self, line, record):
        """The operator lends again: nothing changes."""

    # What follows from them.

    def _contradicted(self, conflicts):
        # A record of a merged run may have named any number.
        self.conflicts = min(self.conflicts + conflicts, MOST_CONFLICTS)

    def _number(self, origin):
        if origin not in self.origin_numbers:
            self.origin_numbers[origin] = len(self.known_origins)
            self.known_origins.append(origin)
        return self.origin_numbers[origin]

    def _vote(self, unit):
        return Vote(self.counts[unit], self.nodes[unit], self.known_origins[self.origins[unit]])

    def _standing(self, unit, count):
        if self.counts[unit] == NONE:
            raise ValueError(f"unit {unit} has no standing count")
        if self.counts[unit] != count:
            raise ValueError(f"unit {unit} stands at {self.counts[unit]}, which this record calls {count}")
        return self._vote(unit)

    def kernel_of(self, unit):
        """What the standing count of the unit was made with."""
        return self._vote(unit).origin[2]

    def missing(self):
        """The units of the run that have no standing count."""
        return [unit for unit in self.run.units(0, self.plan.units) if self.counts[unit] == NONE]

    def unbelieved(self):
        """The units whose count is of a maker that was wrong, and that nobody else has confirmed."""
        needed = {}
        for number, (owner, machine, _, _) in enumerate(self.known_origins):
            if self.makers.is_refuted(owner):
                needed[number] = OTHER_OWNER + 1
            elif owner in self.makers.undecided():
                needed[number] = SAME_OWNER if (owner, machine) in self.makers.lost | self.makers.expelled else ALONE
            elif not self.makers.is_owner_believed(owner):
                needed[number] = OTHER_OWNER
            elif not self.makers.is_believed((owner, machine)):
                needed[number] = SAME_OWNER
        if not needed:
            return []
        return [unit for unit in self.run.units(0, self.plan.units)
                if self.counts[unit] != NONE and self.levels[unit] < needed.get(self.origins[unit], ALONE)]

    def confirmed(self):
        """How many units were counted twice with the same outcome."""
        return self.plan.units - self.levels.count(ALONE)

    def pending(self):
        """The units whose count is still to be checked under the policy on record."""
        if self.policy in (None, "none"):
            return []
        is_pending = (lambda unit: self.levels[unit] == ALONE) if self.policy == "all" else self.due.__getitem__
        return [unit for unit in self.run.units(0, self.plan.units) if self.counts[unit] != NONE and is_pending(unit)]

    def own_pending(self):
        """The units that the operator's machines are still to count once more, and those that no draw has covered."""
        if self.own_checks is None:
            return []
        return [unit for unit in self.run.units(0, self.plan.units) if self.counts[unit] != NONE
                and (not self.covered[unit] or (self.drawn[unit] and not self.own_checked[unit]))]


def _share(text):
    """A share as in 1%, rounded as the ledger writes it."""
    return floor(float(text[:-1]) * 1e12 + 0.5) / 1e12 / 100
