"""Tests of the second verifier: python3 -m unittest discover tools"""

import copy
import io
import os
import random
import sys
import tempfile
import time
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check  # noqa: E402
from second import NotSound, blake3, known, partition  # noqa: E402
from second.counting import Clock, count  # noqa: E402
from second.fingerprint import position_bytes, summand  # noqa: E402
from second.geometry import ASYMMETRIC, at_peace, constellations, orbits  # noqa: E402
from second.lines import Ledger, decode  # noqa: E402
from second.makers import OTHER_OWNER, SAME_MACHINE, SAME_OWNER  # noqa: E402
from second.members import Members  # noqa: E402
from second.part import COMPLETIONS, HALF_TURN, Part  # noqa: E402
from second.plan import derive  # noqa: E402
from second.run_file import RunFile  # noqa: E402
from second.standing import Standing  # noqa: E402


def by_constellations(n, grain):
    return {"n": n, "scheme": "constellations", "grain": grain, "version": 1}


def by_families(n, rows, group, sides):
    return {"n": n, "scheme": "families", "rows": rows, "group": group, "sides": sides, "version": 1}


def by_centre(n, columns, group, grain=None):
    spec = {"n": n, "scheme": "centre", "columns": columns, "group": group, "version": 1}
    return spec if grain is None else {**spec, "grain": grain}


class Blake3(unittest.TestCase):
    # Of the published test vectors: the bytes 0, 1, ..., 250, 0, 1, ... of these lengths.
    VECTORS = {
        0: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        1: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
        1023: "10108970eeda3eb932baac1428c7a216",
        1024: "42214739f095a406f3fc83deb889744a",
        1025: "d00278ae47eb27b34faecf67b4fe263f",
        2048: "e776b6028c7cd22a4d0ba182a8bf6220",
        3072: "b98cb0ff3623be03326b373de6b90952",
        31744: "62b6960e1a44bcc1eb1a611a8d6235b6",
        102400: "bc3e3d41a1146b069abffad3c0d44860",
    }

    @staticmethod
    def message(length):
        return bytes(at % 251 for at in range(length))

    def test_published_vectors_are_found_one_by_one_and_together(self):
        together = blake3.pure_digests([self.message(length) for length in self.VECTORS])
        for (length, expected), found in zip(self.VECTORS.items(), together):
            alone, = blake3.pure_digests([self.message(length)])
            self.assertEqual(found, alone)
            self.assertTrue(found.hex().startswith(expected), length)

    def test_the_lanes_do_not_mix(self):
        messages = [self.message(300 + at % 40) for at in range(3 * blake3.LANES // 2)]
        found = blake3.pure_digests(messages)
        for at in (0, 1, 39, blake3.LANES - 1, blake3.LANES, len(messages) - 1):
            self.assertEqual(found[at], blake3.pure_digests([messages[at]])[0])


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Command(unittest.TestCase):
    def options(self, *arguments):
        before, sys.argv = sys.argv, ["check.py", "run", *arguments]
        try:
            return check.arguments()
        finally:
            sys.argv = before

    def test_recount_takes_30_seconds_unless_all_is_asked_for(self):
        self.assertEqual(self.options().seconds, 30)
        self.assertEqual(self.options("--recount", "all").seconds, None)
        self.assertEqual(self.options("--recount", "all", "--seconds", "7").seconds, 7)

    def test_progress_is_one_line_on_a_terminal_only(self):
        terminal, file = Terminal(), io.StringIO()
        for stream in (terminal, file):
            progress = check.Progress(stream)
            for step in range(100):
                progress.show(f"step {step}")
            progress.clear()
            progress.clear()
        self.assertEqual(terminal.getvalue(), "\r\x1b[Kstep 0\r\x1b[K")
        self.assertEqual(file.getvalue(), "")

    def test_clock_ticks_while_it_counts(self):
        ticks = []
        part = derive(by_constellations(8, 1)).parts[0]
        count(part, 0, Clock(tick=lambda: ticks.append(1)))
        self.assertTrue(ticks)


class Geometry(unittest.TestCase):
    def test_the_numbers_of_orbits_are_the_published_ones(self):
        for n, expected, symmetric in ((8, 78, 9), (12, 730, 25), (14, 1632, None), (16, 3206, 49)):
            found = orbits(n)
            self.assertEqual(len(found), expected)
            self.assertEqual(sum(orbit for _, orbit in found), sum(1 for _ in constellations(n)))
            if symmetric:
                self.assertEqual(sum(orbit != ASYMMETRIC for _, orbit in found), symmetric)


class Plans(unittest.TestCase):
    # Specification, units, a digest of all positions, and the fingerprint, as diadem's golden values have them.
    GOLDEN = (
        (by_constellations(1, 100_000_000_000), 1, "2e419ffa0639de89ef06789e69ea2fc0",
         "4ca40767a9135a4fa4a369595f3634ad"),
        (by_constellations(5, 3), 7, "2954ce33592c96880c4288aa2b1416ea",
         "c842997b50e8d0398d2d67135a23b216"),
        (by_constellations(6, 1), 22, "2a7bb6fb2d3f2eca34fb6396d9d460ee",
         "cb6378cdc2960a1cfa1526996bb36a64"),
        (by_constellations(8, 20), 90, "21490eaf70dbd8d87d37faaf5a14f8e1",
         "e3388c2916a12f95a8a16704f46f1ab6"),
        (by_constellations(11, 7), 1_761, "eb438b572e3900409430f0b454b7dec5",
         "2edfa0361505fc62fa892cefa66622e2"),
        (by_constellations(12, 100_000_000_000), 760, "e0447d7fe5d9882f987d72a00606cf47",
         "1fb9c2789ed9141c78a72dc68d02a9ab"),
        (by_constellations(14, 40), 64_073, "dfc0748c3b5995c50e4f4a4873936dfd",
         "971024bbf43e0d7dfcad71efb0bf05c4"),
        (by_constellations(16, 100_000_000_000), 3_262, "4ab54490d6ab4696aa5491ac889fb123",
         "47fcdccc7aa54751a48edbb265063752"),
        (by_constellations(19, 3_000_000), 25_832, "db0b44d2a4d0f365d68220538215f6ef",
         "68696e4bb5fa3c44350f0334edfa6eee"),
        (by_families(4, 0, 1, 1), 5, "cba0003d52521b1ebf1082c532672a1d",
         "a2cb5c1e373fc4741e644c2f5f871bab"),
        (by_families(6, 5, 1, 0), 8, "a3494b66b58e494646a29f14a401e2f1",
         "0d674e92e95a8a33964d409716265832"),
        (by_families(8, 1, 2, 2), 153, "b63447038e71d0cf1cfe987f54f77bf5",
         "e7a16db45ee8b78594981866e5c8d10d"),
        (by_families(9, 8, 3, 0), 103, "a10a3e1f47791e3aae5c4c8d24288913",
         "6211bc731dbe797462109a48609058d4"),
        (by_families(10, 3, 2, 0), 1_356, "7ca51499d0954287bf97a8104119c0a9",
         "37864185bfa4edc42aa743b57c243516"),
        (by_families(11, 2, 1, 3), 9_020, "cf55efbec0cd8fcc608226de47f38b74",
         "43ec622c53c01778595854739ae55265"),
        (by_families(13, 1, 3, 3), 1_103, "9ba398063618aed49921740152184d99",
         "ce960ed61fedbaf9d766366453811a0d"),
        (by_families(15, 4, 5, 2), 330_664, "ae535a7b47a85cc091b7cddf4d473169",
         "fd77d97a99418383befb5c8cfce2c99c"),
        (by_families(16, 0, 1, 12), 249_961, "27c1614a87fc89e010df597e277048cf",
         "bbdaad2f320135916bfc9bdd21012f8c"),
        (by_families(17, 0, 1, 3), 657, "62ac25d8bf35f73b43a7b7d42b1d7c12",
         "dd94f06da0da833a0bc0afa9f01a4749"),
    )

    BY_CENTRE = (
        (by_centre(1, 3, 1), 1, "2e419ffa0639de89ef06789e69ea2fc0", "64ea4d0c30d28815f137a023143b9c75"),
        (by_centre(5, 1, 2), 6, "bc8a58bed30f0ec6283ca79ee55f147a", "37a530ac15c01830c7a9f68efdc442c6"),
        (by_centre(8, 2, 1), 136, "2d7759c8f1deabc959c72f6a4cdac95b", "6a786d1127c50085b631c74da0d5522c"),
        (by_centre(13, 3, 4), 4_028, "d768be79b58f37c6d006b232b17dadf1", "9bc488c0e14f906f5f335cb5c4e78bda"),
        (by_centre(18, 1, 1), 1_228, "aecb0c5746dfe6efdf986786c07d1b2d", "a54ad3303bf663c371c0a2a8473c8b28"),
        (by_centre(1, 1, 1, 1), 1, "2e419ffa0639de89ef06789e69ea2fc0", "ecaf4fc031b6bf884a52ba5e2b089a7d"),
        (by_centre(5, 1, 1, 1), 8, "b758ce60edd223a5a9942b014c918840", "8c18cf89d2728b9b3ebb43ee37a80d76"),
        (by_centre(8, 2, 1, 2), 162, "3d3be38e46143e83a5ad3c13963fdd2f", "085c4bd713f851e0c9c7d909cea712c1"),
        (by_centre(13, 1, 4, 30), 482, "83b5691db0ba6f293500db2e95774e8c", "0c4fb385ee8b8553a1f8eadd2a07371b"),
        (by_centre(18, 1, 1, 100_000), 2_158, "62d1986232b500bdf3df5ef54299de7d", "d3f6c0577203c15c4abda5097f3dacad"),
        (by_centre(24, 0, 1, 1_000_000_000), 4_976, "a17be3fc398d1aa61529591cdfd6e87c", "1a5769587f5be9024685f695b7fe1f73"),
        (by_centre(24, 1, 1, 10_400_000_000), 6_098, "9ad3bc23ffc7bd263bc0c5f6157c1596", "ee366c10d2554deb2f34430449945d9a"),
        # Units that weigh more than 64 bits can say.
        (by_centre(32, 0, 1, 10**15), 77_872, "000d0fc791f3b2ba7eada4ce8cf8c976", "ee73752511e104344cc105c4fada3b4e"),
    )

    def test_plans_by_central_columns_are_those_of_diadem(self):
        self.are_those_of_diadem(self.BY_CENTRE)

    def test_plans_and_the_positions_of_their_units_are_those_of_diadem(self):
        self.are_those_of_diadem(self.GOLDEN)

    def are_those_of_diadem(self, plans):
        for spec, units, positions, fingerprint in plans:
            with self.subTest(spec=spec):
                plan = derive(spec)
                self.assertEqual((plan.units, plan.fingerprint), (units, fingerprint))
                self.assertEqual(self.digest(plan), positions)

    def digest(self, plan):
        units = range(plan.units)
        if plan.units > 4096:
            scattered = (at * 0x9E3779B97F4A7C15 % (1 << 64) * plan.units >> 64 for at in range(1, 4097))
            units = [0, plan.units - 1, *scattered]
        return blake3.digests([b"".join(self.unit(plan, unit) for unit in units)], 16)[0].hex()

    @staticmethod
    def unit(plan, unit):
        part, index = plan.part_of(unit)
        position = part.unit(index)
        of = bytes(5) if part.member is None else summand(part)
        text = position_bytes(position)
        # The presence of the pairs shows whether there are any.
        at = 1 + 2 * len(position.queens) + 4 * plan.n
        return unit.to_bytes(8, "little") + of + bytes([plan.n]) + text[:at] + text[at + 1:]

    def test_the_units_of_a_plan_add_up_to_the_published_totals(self):
        for spec in (by_constellations(1, 5), by_constellations(4, 1), by_constellations(9, 30),
                     by_constellations(10, 10**11), by_families(8, 1, 2, 2), by_families(10, 0, 1, 2),
                     by_families(9, 3, 2, 0), by_centre(8, 2, 1), by_centre(9, 3, 2), by_centre(10, 1, 3),
                     by_centre(8, 1, 1, 1), by_centre(9, 2, 3, 1), by_centre(10, 1, 1, 5)):
            with self.subTest(spec=spec):
                plan = derive(spec)
                members, sums = Members(plan), [0, 0, 0, 0]
                for unit in range(plan.units):
                    part, index = plan.part_of(unit)
                    found = count(part, index, Clock())
                    members.add(unit, found)
                    sums[0] += found if part.member is None else 0
                for member in members.complete():
                    sums = [a + b for a, b in zip(sums, members.totals(member))]
                self.assertEqual(tuple(sums), known.totals(spec["n"]))

    def test_plans_that_cannot_be_are_refused(self):
        for spec in (by_constellations(8, 0), by_families(8, 9, 1, 0), by_families(8, 0, 0, 0),
                     by_families(8, 0, 33, 0), by_families(8, 0, 1, 13), {**by_constellations(8, 5), "version": 2},
                     by_centre(8, 9, 1), by_centre(8, 1, 0), by_centre(8, 1, 33), by_centre(8, 1, 1, 0)):
            with self.subTest(spec=spec), self.assertRaises(NotSound):
                derive(spec)

    def test_plans_that_are_far_too_large_are_refused_at_once(self):
        begun = time.process_time()
        with self.assertRaisesRegex(NotSound, "more than 20000000 units"):
            derive(by_families(32, 8, 1, 12))
        self.assertLess(time.process_time() - begun, 5)

    def test_plans_fix_no_more_sides_than_there_are_rows(self):
        plan = derive(by_families(5, 2, 1, 12))
        found = sum(count(*plan.part_of(unit), Clock()) * plan.part_of(unit)[0].orbit for unit in range(plan.units)
                    if plan.part_of(unit)[0].measure == COMPLETIONS)
        self.assertEqual(found, 10)

    def test_hashes_of_runs_are_those_of_diadem(self):
        plan = '{"n":16,"scheme":"constellations","grain":7,"version":1}'
        for shard, expected in (
                ("", "33d7ffddf8b3805a8e345d87ff8c5bf2"),
                (',"shard":{"index":3,"of":400}', "91c4e25031bcf6453e61d3f561615f83")):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "run.json"), "w", encoding="ascii") as file:
                    file.write(f'{{"plan":{plan},"fingerprint":"{7:032x}"{shard},"begun":1790000000123}}')
                self.assertEqual(RunFile(folder).hash(), expected)


class Whole:
    """A run that is no shard."""

    index, of = 1, 1

    @staticmethod
    def units(first, beyond):
        return range(first, beyond)


class Standings(unittest.TestCase):
    def setUp(self):
        self.standing = Standing(derive(by_constellations(8, 10**11)), Whole)

    def apply(self, kind, unit=40, found=3, machine="m", owner=None, **more):
        record = {"kind": kind, "unit": unit, "count": found, "nodes": 7, "machine": machine, "kernel": "search/avx2"}
        if kind in ("count", "check", "conflict"):
            record["worker"] = machine
        if owner:
            record["owner"] = owner
        self.standing.apply(0, {**record, **more})

    def refuses(self, *args, **fields):
        with self.assertRaises(ValueError):
            self.apply(*args, **fields)

    def test_contradictions_that_a_record_names_hide_no_others(self):
        most = (1 << 64) - 1
        self.standing.apply(0, {"kind": "merged", "conflicts": most, "refuted": most})
        self.apply("count")
        self.apply("conflict", found=4, machine="other")
        self.assertEqual(self.standing.conflicts, most)

    def test_a_unit_has_one_standing_count(self):
        self.refuses("check", of="m")
        self.refuses("retract")
        self.apply("count")
        self.refuses("count")
        self.refuses("retract", found=4)
        self.refuses("retract", machine="other")
        self.refuses("retract", nodes=8)
        self.apply("retract")
        self.refuses("retract")
        self.apply("count")
        self.refuses("count", unit=91)
        self.refuses("count", unit=41, found=(1 << 64) - 1)

    def test_checks_name_whose_count_they_confirm(self):
        self.apply("count", owner="p")
        self.refuses("check", machine="n", owner="q")
        self.refuses("check", machine="n", owner="q", of="m")
        self.refuses("check", machine="n", owner="q", of="m", of_owner="q")
        self.apply("check", owner="p", of="m", of_owner="p")
        self.apply("check", machine="n", owner="q", of="m", of_owner="p", nodes=8)
        self.assertEqual(self.standing.levels[40], 0, "the same once more, and another search")
        for machine, owner, level in (("m", "p", SAME_MACHINE), ("n", "p", SAME_OWNER), ("m", "q", OTHER_OWNER)):
            self.apply("check", machine=machine, owner=owner, of="m", of_owner="p", mirrored=True)
            self.assertEqual(self.standing.levels[40], level)
        self.refuses("retract", owner="p")
        self.apply("retract", owner="p", reason="its memory was broken")
        self.assertNotIn(40, self.standing.disputed, "what an operator takes back is no vote")

    def test_two_machines_decide_and_the_loser_is_not_believed(self):
        self.apply("count", unit=41, machine="liar")
        self.apply("count", machine="liar", found=4)
        self.apply("conflict", machine="a")
        self.apply("retract", machine="liar", found=4)
        self.apply("count", machine="b")
        self.assertEqual(self.standing.makers.quarantined(), ["liar"])
        self.assertEqual((self.standing.levels[40], self.standing.unbelieved()), (SAME_OWNER, [41]))
        self.apply("retract", unit=41, machine="liar", quarantine=True)
        self.assertEqual(self.standing.unbelieved(), [])

    def test_two_machines_of_one_owner_do_not_outvote_another(self):
        self.apply("count", machine="a", owner="p", found=4)
        self.apply("conflict", machine="b", owner="q")
        self.apply("retract", machine="a", owner="p", found=4)
        self.apply("count", machine="c", owner="p", found=4)
        self.assertEqual((self.standing.makers.quarantined(), self.standing.levels[40]), ([], 0))

    def test_a_count_of_two_machines_of_one_owner_is_disputed_by_another_owner_only(self):
        self.apply("count", machine="a", owner="p")
        self.apply("check", machine="b", owner="p", of="a", of_owner="p")
        self.apply("conflict", machine="c", owner="p", found=4)
        self.assertEqual(self.standing.makers.quarantined(), ["c of p"])
        self.refuses("retract", machine="a", owner="p")
        self.apply("conflict", machine="d", owner="q", found=4)
        self.apply("retract", machine="a", owner="p")
        self.apply("count", machine="e", owner="r", found=4)
        self.assertEqual(self.standing.makers.quarantined(), ["a of p", "c of p"])

    def test_a_machine_that_was_wrong_elsewhere_loses_a_confirmed_count_to_another_owner_only(self):
        self.apply("count", machine="a", owner="p")
        self.apply("check", machine="b", owner="p", of="a", of_owner="p")
        self.standing.apply(0, {"kind": "expel", "owner": "p", "machine": "a", "reason": "-"})
        self.refuses("retract", machine="a", owner="p", quarantine=True)
        self.refuses("retract", machine="a", owner="p")
        self.apply("conflict", machine="d", owner="q", found=4)
        self.refuses("retract", machine="a", owner="p", quarantine=True)
        self.apply("retract", machine="a", owner="p")

    def test_an_owner_of_whom_three_machines_lost_is_not_believed(self):
        self.apply("count", unit=50, machine="d", owner="p")
        for unit, machine in enumerate("abc", 41):
            self.assertEqual(self.standing.unbelieved(), [])
            self.apply("count", unit=unit, machine="x", owner="q")
            self.apply("check", unit=unit, machine="y", owner="r", of="x", of_owner="q")
            self.apply("conflict", unit=unit, machine=machine, owner="p", found=4)
        self.assertEqual(self.standing.unbelieved(), [50])
        self.assertEqual(self.standing.makers.quarantined(), ["a of p", "b of p", "c of p", "d of p"])

    def test_what_only_machines_that_were_wrong_contradicted_is_restored(self):
        self.apply("count", machine="a", owner="p")
        self.apply("conflict", machine="liar", owner="q", found=4)
        self.apply("retract", machine="a", owner="p")
        self.refuses("restore", machine="a", owner="p")
        self.standing.apply(0, {"kind": "expel", "owner": "q", "machine": "liar", "reason": "it lies"})
        self.refuses("restore", machine="b", owner="p")
        self.refuses("restore", machine="a", owner="p", found=4)
        self.apply("restore", machine="a", owner="p")
        self.refuses("restore", machine="a", owner="p")
        self.assertEqual(self.standing.counts[40], 3)

    def test_whoever_is_expelled_needs_somebody_else(self):
        self.apply("count", unit=40, machine="a", owner="p")
        self.apply("count", unit=41, machine="b", owner="p")
        self.apply("check", unit=41, machine="a", owner="p", of="b", of_owner="p")
        self.standing.apply(0, {"kind": "expel", "owner": "p", "machine": "a", "reason": "-"})
        self.assertEqual(self.standing.unbelieved(), [40])
        self.standing.apply(0, {"kind": "expel", "owner": "p", "reason": "-"})
        self.assertEqual(self.standing.unbelieved(), [40, 41])
        self.apply("check", unit=41, machine="z", owner="q", of="b", of_owner="p")
        self.assertEqual(self.standing.unbelieved(), [40])

    def test_policies_say_what_is_still_to_be_checked(self):
        self.apply("count", unit=40)
        self.apply("count", unit=41, recount="sample")
        for policy, pending in (("none", []), ("all", [40, 41]), ("1%", [41])):
            self.standing.apply(0, {"kind": "policy", "double_check": policy})
            self.assertEqual(self.standing.pending(), pending)
        self.apply("check", unit=41, machine="n", of="m")
        self.assertEqual(self.standing.pending(), [])

    def test_terms_rise(self):
        for term in (1, 2, 1002):
            self.standing.apply(0, {"kind": "term", "term": term, "coordinator": "0a" * 16})
            for other in (0, term - 1, term, 1 << 63, (1 << 64) - 1):
                with self.assertRaises(ValueError):
                    self.standing.apply(0, {"kind": "term", "term": other, "coordinator": "0b" * 16})
        self.standing.apply(0, {"kind": "replicas", "replicas": 2})
        self.standing.apply(0, {"kind": "pause", "reason": "night", "at": 1})
        self.standing.apply(0, {"kind": "resume", "at": 2})
        self.standing.apply(0, {"kind": "loss", "records": 2, "bytes": 0, "files": 0, "at": 1})
        self.assertEqual((self.standing.term, self.standing.replicas), (1002, 2))

    def test_contradictory_counts_of_a_constellation_can_be_taken_back_confirmed_or_not(self):
        plan = self.standing.plan
        member = next(part.member for part in plan.parts if part.measure == HALF_TURN)
        found = {unit: {COMPLETIONS: 6, HALF_TURN: 3}.get(part.measure, 0)
                 for unit, part in zip(plan.firsts, plan.parts) if part.member == member}
        for unit, count in found.items():
            self.refuses("retract", unit=unit, owner="p", found=count, contradiction=True)
            self.apply("count", unit=unit, owner="p", found=count)
            self.apply("check", unit=unit, machine="n", owner="q", of="m", of_owner="p", found=count)
        for unit, count in found.items():
            self.refuses("retract", unit=unit, owner="p", found=count)
            self.apply("retract", unit=unit, owner="p", found=count, contradiction=True)


class Partitions(unittest.TestCase):
    @staticmethod
    def plans(n):
        return [derive(spec) for spec in (by_constellations(n, 50), by_families(n, 1, 2, 2), by_families(n, 0, 1, 3),
                                          by_centre(n, 1, 4), by_centre(n, 2, 1, 2))]

    @staticmethod
    def in_single_units(plan, times):
        """The plan with a part for each unit, so many times."""
        changed = copy.copy(plan)
        changed.parts = []
        for unit in range(plan.units):
            part, index = plan.part_of(unit)
            single = Part(part.unit(index), part.member, part.measure, part.orbit, 0.0)
            changed.parts += [single] * times(unit)
        changed.firsts = list(range(len(changed.parts)))
        changed.units, changed.partition = len(changed.parts), None
        return changed

    def test_every_plan_counts_each_solution_once(self):
        for n, solutions in ((1, 1), (4, 1), (5, 2), (8, 12), (9, 46), (12, 1787)):
            for plan in self.plans(n)[:5 if n < 12 else 2]:
                with self.subTest(spec=plan.spec):
                    found = partition.check(plan, 1)
                    self.assertEqual((found["solutions"], found["all"]), (solutions, True))

    def test_plans_count_random_solutions_once(self):
        for spec, solutions in ((by_families(14, 0, 1, 2), 120), (by_constellations(16, 10**9), 125),
                                (by_centre(18, 1, 1, 100_000), 120), (by_centre(20, 2, 3), 125)):
            with self.subTest(spec=spec):
                found = partition.check(derive(spec), 1)
                self.assertEqual((found["solutions"], found["all"]), (solutions, False))

    def test_random_solutions_are_solutions(self):
        for n in (16, 24, 28):
            for solution in partition.random_solutions(n, random.Random(1)):
                self.assertEqual(sorted(solution), list(range(n)))
                self.assertTrue(at_peace(list(enumerate(solution))))

    def test_a_unit_that_is_dropped_or_doubled_is_found(self):
        for plan in self.plans(8)[::2]:
            whole = partition.Partition(plan)
            images = [image for solution in partition.one_of_each_orbit(8) for image in partition.images_of(solution)]
            filled = {unit for image in images for unit, _ in whole.units(image, COMPLETIONS)}
            self.assertEqual(partition.check(self.in_single_units(plan, lambda unit: 1), 1)["solutions"], 12)
            self.assertGreater(len(filled), 5)
            for wrong in filled:
                for times, words in ((0, "counts 0 of the [48] images|counts 4 of the 8"), (2, "twice, in units")):
                    with self.assertRaisesRegex(NotSound, words):
                        changed = self.in_single_units(plan, lambda unit: times if unit == wrong else 1)
                        partition.check(changed, 1)


class Lines(unittest.TestCase):
    RUN = "00" * 16

    @staticmethod
    def line(body, prev):
        text = f'{body[:-1]},"prev":"{prev}"'.encode()
        return text + b',"crc":"%08x"}' % zlib.crc32(text) + b"\n"

    def ledger(self, *files):
        """A ledger with these records in its files, all hashes right."""
        prev, texts = self.RUN, []
        for bodies in files:
            text = b""
            for body in bodies:
                line = self.line(body, prev)
                prev = blake3.digests([line[:-1]], 16)[0].hex()
                text += line
            texts.append(text)
        return texts

    def read(self, texts):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "ledger"))
            for number, text in enumerate(texts, 1):
                if text is not None:
                    with open(os.path.join(folder, "ledger", f"{number:06}.jsonl"), "wb") as file:
                        file.write(text)
            ledger = Ledger(folder, self.RUN)
            return len(list(ledger.committed())), ledger.tail_bytes

    @staticmethod
    def mark(records):
        return f'{{"kind":"mark","records":{records},"elapsed_ms":1,"threads":1}}'

    POLICY = '{"kind":"policy","double_check":"all","at":1}'

    def refuses(self, texts, words):
        with self.assertRaisesRegex(NotSound, words):
            self.read(texts)

    def test_what_no_mark_follows_is_tail_and_anything_else_damage(self):
        first, second = self.ledger([self.POLICY, self.mark(1)], [self.POLICY, self.POLICY, self.mark(3)])
        self.assertEqual(self.read([first, second]), (3, 0))
        for cut in range(len(second)):
            # A mark that lacks its newline alone was written.
            was_written = cut == len(second) - 1
            self.assertEqual(self.read([first, second[:cut]]), (3, 0) if was_written else (1, cut))
            changed = second[:cut] + bytes([second[cut] ^ 1]) + second[cut + 1:]
            self.refuses([first, changed], "000002.jsonl:[123]: ")
            # Blocks behind a line may never have reached the disk; in the middle of one nothing else does that.
            torn = second[:cut] + b"\0" * (len(second) - cut)
            if cut % 64 == 0 or second[:cut].endswith(b"\n"):
                self.assertEqual(self.read([first, torn]), (1, len(second)))
            elif not was_written:
                self.refuses([first, torn], "000002.jsonl:[123]: ")
        self.refuses([None, second], "000001.jsonl: .*missing")
        self.refuses([second, first], "000001.jsonl:1: it does not follow")
        self.assertEqual(self.read([first[:-1], second]), (3, 0))
        self.assertEqual(self.read([first[:-1], second[:50]]), (1, 50))
        self.refuses([first[:-2], second], "000001.jsonl:2: it does not end")
        self.refuses([first.replace(b"\n", b"\r\n")], "CR LF")
        self.refuses([first, b"\0" * 70000 + second], "000002.jsonl:1")
        self.assertEqual(self.read([first, b"\0" * 70000]), (1, 70000))
        zeros = b"\0" * (128 - len(first) % 64)
        self.assertEqual(self.read([first + zeros + b"x\n"]), (1, len(zeros) + 2))
        for rewritten in (b"x\r\n", b"x\r\nhalf", b"\n\0x\r\n"):
            self.refuses([first + zeros + rewritten], "000001.jsonl:3: ")
        self.refuses([first, second[:50], None, b""], "000003.jsonl: .*missing")

    def test_a_run_without_its_ledger_is_not_sound(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(NotSound, "ledger: .*missing"):
            Ledger(folder, self.RUN)

    def test_marks_count_the_records_in_front_of_them(self):
        for records in (0, 2):
            self.refuses(self.ledger([self.POLICY, self.mark(records)]), "000001.jsonl:2: the mark counts")

    def test_terms_name_who_opened_them(self):
        good = '{"kind":"term","term":1,"coordinator":"%s","key":"%s","at":4}' % ("0a" * 16, "0b" * 32)
        self.assertEqual(decode(self.line(good, self.RUN))[0]["term"], 1)
        decode(self.line(good.replace(',"key":"%s"' % ("0b" * 32), ""), self.RUN))
        decode(self.line('{"kind":"replicas","replicas":1,"at":4}', self.RUN))
        for old, new in (("0a0a", "0A0A"), ("0a0a", "0a"), ("0b0b", "0b"), ('"0b', '"+b'), ('"term":1', '"term":"1"')):
            with self.subTest(new=new), self.assertRaises(ValueError):
                decode(self.line(good.replace(old, new, 1), self.RUN))

    def test_records_that_are_not_as_specified_are_not_understood(self):
        good = '{"kind":"retract","unit":1,"count":2,"nodes":3,"machine":"m","kernel":"k","at":4}'
        self.assertEqual(decode(self.line(good, self.RUN))[1], self.RUN)
        for old, new in (("1", "-1"), ("1", "01"), ("1", "1.0"), ("1", "1e0"), ("1", "null"), ("1", "true"),
                         ("1", "18446744073709551616"), ('"m"', "5"), ('"m"', '"\\ud800"'), ('"m"', '"\x01"'),
                         ('"at":4', '"at":4,"at":4'), ('"at":4', '"weight":4'), ('"at":4', '"at":4,"weight":4'),
                         ('"at":4', '"at":4,"quarantine":1'), ('"at":4', '"at":4,'), ("retract", "guess"),
                         ('{"kind"', '{ "kind"'), ("retract", "mark")):
            with self.subTest(new=new), self.assertRaises(ValueError):
                decode(self.line(good.replace(old, new, 1), self.RUN))


if __name__ == "__main__":
    unittest.main()
