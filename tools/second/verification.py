"""The whole verification of one run, step by step, up to the first thing that is wrong."""

import random

from . import NotSound, known, partition, plan
from .counting import Clock, TimeIsUp, count
from .geometry import ASYMMETRIC
from .lines import Ledger
from .part import COMPLETIONS, QUARTER_TURN
from .run_file import RunFile
from .standing import Standing


class Verification:
    """Reads a run directory and reports each result to `tell`, and its progress to `show`."""

    def __init__(self, folder, options, tell, show):
        self.folder, self.options, self.tell, self.show = folder, options, tell, show

    def verify(self):
        self.run = RunFile(self.folder)
        self.show("deriving the plan")
        self.plan = plan.derive(self.run.plan)
        if self.plan.fingerprint != self.run.fingerprint:
            raise NotSound(f"run.json: it names plan {self.run.fingerprint}, but its specification gives plan "
                           f"{self.plan.fingerprint}")
        self._read()
        self._expect_complete()
        self._add_up()
        self._look_up()
        self._count_again()
        self._compare()

    def _read(self):
        self.ledger = Ledger(self.folder, self.run.hash())
        self.standing = standing = Standing(self.plan, self.run)
        size = self.ledger.tail_bytes
        for line, record in self.ledger.committed():
            if line % 1024 == 0:
                self.show(f"reading the ledger: {100 * self.ledger.bytes // max(size, 1)} % of {size:,} bytes")
            try:
                standing.apply(line, record)
            except ValueError as error:
                raise NotSound(f"{self.ledger.place(line)}: {error}") from None
        self.units = self.run.units(0, self.plan.units)
        self.tell("ledger", {
            "n": self.plan.n,
            "plan": self.plan.fingerprint,
            "part": self.run.part,
            "records": self.ledger.records,
            "files": len(self.ledger.files),
            "tail_bytes": self.ledger.tail_bytes,
            "head": self.ledger.head,
            "run": self.run.hash(),
            "shard": f"{self.run.index}/{self.run.of}",
            "units": len(self.units),
            "counted": standing.done,
            "confirmed": standing.confirmed(),
            "checks": standing.checks,
            "contradicted": standing.conflicts,
            "retracted": standing.retractions,
            "quarantined": standing.makers.quarantined(),
            "workers": sorted(standing.workers),
            "kernels": sorted(standing.kernels),
            "keys": sorted(standing.keys),
        }, "{part} of n = {n}, plan {plan}\n"
           "chain and CRCs: {records} records in {files} files, each intact and following the one before\n"
           "diadem-head run={run} records={records} head={head} n={n} shard={shard} plan={plan}\n"
           "tail: {tail_bytes} bytes after the last commit mark, never acknowledged\n"
           "counts: one standing count each for {counted} of {units} units; {confirmed} confirmed, {contradicted} "
           "contradicted, {retracted} retracted")

    def _expect_complete(self):
        missing = self.standing.missing()
        if missing:
            units = "1 unit" if len(missing) == 1 else f"{len(missing)} units"
            raise NotSound(f"the ledger is sound but not complete: {units} missing, the first is unit {missing[0]}")
        unbelieved = self.standing.unbelieved()
        if unbelieved:
            raise NotSound(f"{len(unbelieved)} counts of quarantined machines stand that nobody else has confirmed, "
                           f"the first is that of unit {unbelieved[0]}")
        undecided = self.standing.makers.undecided()
        if undecided:
            raise NotSound(f"the answer is withheld: an own check contradicts {', '.join(undecided)}, and the operator "
                           "has not decided about them")
        pending = sorted({*self.standing.pending(), *self.standing.own_pending()})
        if pending:
            raise NotSound(f"the ledger is sound but not complete: {len(pending)} counts are still to be checked, the "
                           f"first is that of unit {pending[0]}")

    def _add_up(self):
        """The totals from T, h and r; and apart from them, all solutions from the completions and their orbits."""
        members = self.standing.members
        sums, by_orbits = [0, 0, 0, 0], 0
        for first, part in zip(self.plan.firsts, self.plan.parts):
            total = sum(self._counts(first, part))
            if part.measure == COMPLETIONS:
                by_orbits += part.orbit * total
            if part.orbit == ASYMMETRIC:
                sums[0] += total
        for member in members.complete():
            share = members.totals(member)
            if share is None:
                total, half, quarter = members.counts(member)
                raise NotSound(f"{self._units_of(member)}: {total} completions of one constellation, {half} fixed by "
                               f"the half turn and {quarter} by the quarter turn, cannot be")
            sums = [a + b for a, b in zip(sums, share)]
        self.totals = a, p, r, full = tuple(sums)
        solutions = 8 * a + 4 * p + 2 * r + full
        self.tell("sums", {"a": str(a), "p": str(p), "r": str(r), "solutions": str(solutions)},
                  "sums: A = {a}, P = {p}, R = {r}, {solutions} solutions, T, p and r of each constellation fit")
        if self.run.of == 1:
            if by_orbits != solutions:
                raise NotSound(f"the constellations stand for {by_orbits} solutions, but 8A + 4P + 2R is {solutions}")
            self._expect_reflected_fours()

    def _look_up(self):
        self.show("looking up solutions in the plan")
        found = partition.check(self.plan, self.options.seed)
        self.tell("partition", found, "partition: " + (
            "all {solutions} solutions up to symmetry are" if found["all"] else
            "{solutions} random solutions, {symmetric} of them symmetric, are")
            + " each counted once by the units of the plan")

    def _expect_reflected_fours(self):
        power, rotational = 1 << max(0, self.plan.n // 4 - 1), 0
        for first, part in zip(self.plan.firsts, self.plan.parts):
            if part.measure == QUARTER_TURN:
                rotational += 1
                if self.standing.counts[first] % power:
                    raise NotSound(f"unit {first}: {self.standing.counts[first]} solutions that the quarter turn fixes "
                                   f"are no multiple of {power}")
        self.tell("identities", {"rotational": rotational, "power": power},
                  "identities: all constellations with their images add up to the total; {rotational} symmetric counts "
                  "of the quarter turn are multiples of {power}")

    def _count_again(self):
        symmetric, completions = [], []
        for first, part in zip(self.plan.firsts, self.plan.parts):
            (completions if part.measure == COMPLETIONS else symmetric).append((first, part))
        limit = self.options.seconds
        clock, over = Clock(limit), "" if limit is None else f" before {limit:g} s were over"
        numbers = [unit for first, part in symmetric for unit in self.run.units(first, first + part.units)]
        again = self._recount(numbers, clock)
        # None that was counted again agrees with nothing.
        self.tell("symmetric_counts", {"units": again, "of": len(numbers), "agree": again > 0 or None},
                  "symmetric counts: {units} of {of} found again by another search" if again or not numbers else
                  "symmetric counts: none of {of} was counted again" + over)
        ranges = [self.run.units(first, first + part.units) for first, part in completions]
        of = sum(map(len, ranges))
        most = of if self.options.recount == "all" else min(self.options.recount, of)
        chosen = _chosen(ranges, random.Random(self.options.seed).sample(range(of), most))
        again = self._recount(chosen, clock)
        self.tell("recount", {"units": again, "chosen": most, "of": of, "seed": self.options.seed},
                  "recount: {units} of the {chosen} units chosen by seed {seed} from {of} counted again"
                  + (", and found the same" if again else "") + ("" if again == most else over))

    def _recount(self, units, clock):
        """Counts units again until the time is over; how many."""
        for again, unit in enumerate(units):
            clock.tick = lambda: self.show(f"recounting: {again} of {len(units)} units done")
            try:
                found = count_unit(self.plan, unit, clock)
            except TimeIsUp:
                return again
            if found != self.standing.counts[unit]:
                place = self.ledger.place(self.standing.lines[unit])
                raise NotSound(f"unit {unit}: the ledger says {self.standing.counts[unit]} ({place}, counted by "
                               f"{self.standing.kernel_of(unit)}), a recount finds {found}")
        return len(units)

    def _compare(self):
        if self.run.of != 1:
            self.tell("published", "none", "complete")
            return
        published, symmetric = known.totals(self.plan.n), known.symmetric(self.plan.n)
        if published and published != self.totals:
            raise NotSound("the ledger is complete, but its total differs from the published value")
        if symmetric != tuple(self.totals[1:3]):
            raise NotSound("the ledger is complete, but its P or R differs from the published value")
        self.tell("published", "agrees" if published else "symmetric-agrees",
                  "complete; the total agrees with the published value" if published else
                  "complete; P and R agree with the published values")

    def _counts(self, first, part):
        """The counts of a part's units in this run."""
        units = self.run.units(first, first + part.units)
        return self.standing.counts[units.start:units.stop:units.step]

    def _units_of(self, member):
        firsts = [(first, part) for first, part in zip(self.plan.firsts, self.plan.parts) if part.member == member]
        return "units " + ", ".join(
            str(first) if part.units == 1 else f"{first} to {first + part.units - 1}" for first, part in firsts)


def _chosen(ranges, places):
    """The units at these places of all ranges one behind the other, the smallest units, which are the last, first."""
    units, before, ranges = [], 0, iter(ranges)
    some = next(ranges, None)
    for place in sorted(places):
        while place - before >= len(some):
            before += len(some)
            some = next(ranges)
        units.append(some[place - before])
    return units[::-1]


def count_unit(plan, unit, clock):
    """What a unit should have; counted once, however many ledgers of the plan are verified."""
    if unit not in plan.found:
        plan.found[unit] = count(*plan.part_of(unit), clock)
    return plan.found[unit]
