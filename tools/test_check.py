"""Tests of the second verifier: python3 -m unittest discover tools"""

import os
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from second import NotSound, blake3, known  # noqa: E402
from second.counting import Clock, count  # noqa: E402
from second.fingerprint import position_bytes, summand  # noqa: E402
from second.geometry import ASYMMETRIC, constellations, orbits  # noqa: E402
from second.lines import Ledger, decode  # noqa: E402
from second.makers import OTHER_OWNER, SAME_MACHINE, SAME_OWNER  # noqa: E402
from second.members import Members  # noqa: E402
from second.part import COMPLETIONS, HALF_TURN  # noqa: E402
from second.plan import derive  # noqa: E402
from second.run_file import RunFile  # noqa: E402
from second.standing import Standing  # noqa: E402

TOOLS = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(TOOLS, "..", "tests", "data")


def by_constellations(n, grain):
    return {"n": n, "scheme": "constellations", "grain": grain, "version": 1}


def by_families(n, rows, group, sides):
    return {"n": n, "scheme": "families", "rows": rows, "group": group, "sides": sides, "version": 1}


def by_centre(n, columns, group, grain=None):
    spec = {"n": n, "scheme": "centre", "columns": columns, "group": group, "version": 2}
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


class Geometry(unittest.TestCase):
    def test_the_numbers_of_orbits_are_the_published_ones(self):
        for n, expected, symmetric in ((8, 78, 9), (12, 730, 25), (14, 1632, None), (16, 3206, 49)):
            found = orbits(n)
            self.assertEqual(len(found), expected)
            self.assertEqual(sum(orbit for _, orbit in found), sum(1 for _ in constellations(n)))
            if symmetric:
                self.assertEqual(sum(orbit != ASYMMETRIC for _, orbit in found), symmetric)


class Plans(unittest.TestCase):
    # Specification, units, a digest of all positions, and the fingerprint of each version, as diadem's golden values
    # have them.
    GOLDEN = (
        (by_constellations(1, 100_000_000_000), 1, "2e419ffa0639de89ef06789e69ea2fc0",
         ("d2f07b4e640e6f19a32ab6ebe9c88700", "4c7243191cff7dab4129aa7ea3e3b934")),
        (by_constellations(5, 3), 7, "2954ce33592c96880c4288aa2b1416ea",
         ("7053782267b8042480d150711b35ed4a", "d39097232098e0fca0b05188bddbd698")),
        (by_constellations(6, 1), 22, "2a7bb6fb2d3f2eca34fb6396d9d460ee",
         ("b5bb125c3ebe27f9eae9bb77a86ccabe", "a1d81e80eb771bd708734bfed1d5b8c0")),
        (by_constellations(8, 20), 90, "21490eaf70dbd8d87d37faaf5a14f8e1",
         ("b7c0ec1d2ee0caf85dd8807db2c50ada", "cd270ae310bdd27071ba9c51d1211565")),
        (by_constellations(11, 7), 1_761, "eb438b572e3900409430f0b454b7dec5",
         ("8d0d768dee289ef83e8d4c6851cae850", "a17697bc50dd1f0ba8321360653a737c")),
        (by_constellations(12, 100_000_000_000), 760, "e0447d7fe5d9882f987d72a00606cf47",
         ("86b24c71e73267f396cf8316e55cae75", "5258be5bdeba730707ccd4106b02bbbf")),
        (by_constellations(14, 40), 64_073, "dfc0748c3b5995c50e4f4a4873936dfd",
         ("44919acc25f4039086b458780de3496c", "d46514bea0164b5c1a9911833e11093a")),
        (by_constellations(16, 100_000_000_000), 3_262, "4ab54490d6ab4696aa5491ac889fb123",
         ("dbdd7ad5cb4baa59c8f3c2ed190aa149", "3f58e6fea643a91997719433e17e0ca5")),
        (by_constellations(19, 3_000_000), 25_832, "db0b44d2a4d0f365d68220538215f6ef",
         ("b70eef357c264b116c5fecc26b6e07ea", "1eedaf9ef49f08a4290e63d50a4b2de2")),
        (by_families(4, 0, 1, 1), 5, "cba0003d52521b1ebf1082c532672a1d",
         ("d306f0af94f172a4ca5b6a6857c1b592", "b5c7700b34b55f5a20cb8bcdd3e63da3")),
        (by_families(6, 5, 1, 0), 8, "a3494b66b58e494646a29f14a401e2f1",
         ("f5f2956bb87a71c61c1f545ea72989cd", "8e5e0b2752d3819e608d1ffeb8c684c5")),
        (by_families(8, 1, 2, 2), 153, "b63447038e71d0cf1cfe987f54f77bf5",
         ("4e5eee12f14c8171259b4cc53c975843", "add611caf814ecb2f3cca53f947fc383")),
        (by_families(9, 8, 3, 0), 103, "a10a3e1f47791e3aae5c4c8d24288913",
         ("051efbc5ccc9070888a2a5ea27eaf857", "99d6432b933a6c6b976487a4b53827c9")),
        (by_families(10, 3, 2, 0), 1_356, "7ca51499d0954287bf97a8104119c0a9",
         ("428e3624dd745284ebf51cfcc66fa70b", "f501e0246b12d0cfa31d26f342ae0598")),
        (by_families(11, 2, 1, 3), 9_020, "cf55efbec0cd8fcc608226de47f38b74",
         ("f0c9955f4c2fc3bb8501fa49087e98b0", "712c2e12a257ce69f8beca52ae99fa07")),
        (by_families(13, 1, 3, 3), 1_103, "9ba398063618aed49921740152184d99",
         ("fbb6bd5da3b25c64b2f887206587af6f", "1f8cac07b3e8828343fac52d22a17023")),
        (by_families(15, 4, 5, 2), 330_664, "ae535a7b47a85cc091b7cddf4d473169",
         ("2903d01b8c1969720c27c44f5f79e83a", "e2a35c953ecf26ceb6d919c6f4438b76")),
        (by_families(16, 0, 1, 12), 249_961, "27c1614a87fc89e010df597e277048cf",
         ("7f0693dc3448144f3c9f58fc85dc5d9e", "52b2cc3a0799c7be7f028631e045276d")),
        (by_families(17, 0, 1, 3), 657, "62ac25d8bf35f73b43a7b7d42b1d7c12",
         ("eedb555d06d77a011281c67aace047f8", "bb4295fee14790100323a0e300fd6bcd")),
    )

    # These came with version 2.
    BY_CENTRE = (
        (by_centre(1, 3, 1), 1, "2e419ffa0639de89ef06789e69ea2fc0", "77f2632fd0d2452919db5a7503277baf"),
        (by_centre(5, 1, 2), 6, "bc8a58bed30f0ec6283ca79ee55f147a", "76ad4f99b68bc62dd599a1134c47aaa6"),
        (by_centre(8, 2, 1), 136, "2d7759c8f1deabc959c72f6a4cdac95b", "4fae6bd2946cbb59e7fa27f4940955a0"),
        (by_centre(13, 3, 4), 4_028, "d768be79b58f37c6d006b232b17dadf1", "292b46ebbf8d7aa1e6251c89716a73b9"),
        (by_centre(18, 1, 1), 1_228, "aecb0c5746dfe6efdf986786c07d1b2d", "2fd3a81f13ef7b2917dd58dcdfafa62f"),
        (by_centre(1, 1, 1, 1), 1, "2e419ffa0639de89ef06789e69ea2fc0", "e2b3fee7f7b31bff3e317c96e6b1c57f"),
        (by_centre(5, 1, 1, 1), 8, "b758ce60edd223a5a9942b014c918840", "c6cc8bc4ba987b162c2a281e283b2588"),
        (by_centre(8, 2, 1, 2), 162, "3d3be38e46143e83a5ad3c13963fdd2f", "f340046002240b04d02052640a2d10b1"),
        (by_centre(13, 1, 4, 30), 482, "83b5691db0ba6f293500db2e95774e8c", "ca09a413721245f78e423be131b02f76"),
        (by_centre(18, 1, 1, 100_000), 2_158, "62d1986232b500bdf3df5ef54299de7d", "463b2e0f45fdb0a230cef9292d1c11e0"),
        (by_centre(24, 0, 1, 1_000_000_000), 4_976, "a17be3fc398d1aa61529591cdfd6e87c", "f59600bd47da1c0bf9dcaa7911651fba"),
        (by_centre(24, 1, 1, 10_400_000_000), 6_098, "9ad3bc23ffc7bd263bc0c5f6157c1596", "71c99f8941554ad12b8910f58e01dd97"),
        # Units that weigh more than 64 bits can say.
        (by_centre(32, 0, 1, 10**15), 77_872, "000d0fc791f3b2ba7eada4ce8cf8c976", "8112dd9af850f1aa41566bb264d5242a"),
    )

    def test_plans_by_central_columns_are_those_of_diadem(self):
        for spec, units, positions, fingerprint in self.BY_CENTRE:
            with self.subTest(spec=spec):
                plan = derive(spec)
                self.assertEqual((plan.units, plan.fingerprint), (units, fingerprint))
                self.assertEqual(self.digest(plan), positions)

    def test_plans_and_the_positions_of_their_units_are_those_of_diadem(self):
        for spec, units, positions, fingerprints in self.GOLDEN:
            for version, fingerprint in enumerate(fingerprints, 1):
                with self.subTest(spec=spec, version=version):
                    plan = derive({**spec, "version": version})
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
        # Whether there are pairs is told by their being there.
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
                     by_families(8, 0, 33, 0), by_families(8, 0, 1, 13), by_families(4, 0, 1, 3),
                     by_families(9, 8, 1, 12), {**by_constellations(8, 5), "version": 3}, by_centre(8, 9, 1),
                     by_centre(8, 1, 0), by_centre(8, 1, 33), by_centre(8, 1, 1, 0),
                     {**by_centre(8, 1, 1), "version": 1}):
            with self.subTest(spec=spec), self.assertRaises(NotSound):
                derive(spec)

    def test_plans_that_are_far_too_large_are_refused_at_once(self):
        begun = time.process_time()
        with self.assertRaisesRegex(NotSound, "more than 20000000 units"):
            derive(by_families(32, 8, 1, 12))
        self.assertLess(time.process_time() - begun, 5)

    def test_plans_of_version_2_fix_no_more_sides_than_there_are_rows(self):
        plan = derive({**by_families(5, 2, 1, 12), "version": 2})
        found = sum(count(*plan.part_of(unit), Clock()) * plan.part_of(unit)[0].orbit for unit in range(plan.units)
                    if plan.part_of(unit)[0].measure == COMPLETIONS)
        self.assertEqual(found, 10)

    def test_hashes_of_runs_are_those_of_diadem(self):
        for version, shard, expected in (
                (1, "", "f3c07ce20a7bf9054bf78ab77a948853"),
                (1, ',"shard":{"index":3,"of":400}', "21efec93a4ce2cf5b150e810e13d6747"),
                (2, "", "bb9e7b69db1c2f4e3450c4803d7c9acf"),
                (2, ',"shard":{"index":3,"of":400}', "74eda57c46fcc6f04980c419d3049338")):
            plan = f'{{"n":16,"scheme":"constellations","grain":7,"version":{version}}}'
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


class Runs(unittest.TestCase):
    """Run directories that former releases have written."""

    def check(self, *args):
        command = [sys.executable, os.path.join(TOOLS, "check.py"), *args]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_old_runs_are_sound_or_not_complete(self):
        for name in ("v1-finished", "v1-finished-families", "v1-shard-1", "v1-shard-2", "v1-shard-3"):
            outcome = self.check("--recount", "all", os.path.join(DATA, name))
            self.assertEqual(outcome.returncode, 0, outcome)
        for name, missing in (("v1-interrupted", 336), ("v1-interrupted-families", 125)):
            outcome = self.check(os.path.join(DATA, name))
            self.assertEqual(outcome.returncode, 3, outcome)
            self.assertIn(f"sound but not complete: {missing} units missing", outcome.stderr)

    def test_time_that_is_over_is_told(self):
        outcome = self.check("--recount", "all", "--seconds", "0", os.path.join(DATA, "v1-finished"))
        self.assertEqual(outcome.returncode, 0, outcome)
        self.assertRegex(outcome.stdout, "recount: 0 of the [0-9]+ units .* counted again before 0 s were over")
        self.assertRegex(outcome.stdout, "symmetric counts: none of [0-9]+ was counted again before 0 s were over")
        outcome = self.check("--json", "--seconds", "0", os.path.join(DATA, "v1-finished"))
        self.assertIn('"agree": null', outcome.stdout)


if __name__ == "__main__":
    unittest.main()
