"""run.json: what the run counts, and the hash from which its ledger's chain begins."""

import json
import os
import re

from . import NoRun, NotSound
from .blake3 import digests

MOST_SHARDS = 1_000_000
LONGEST = 1 << 24
SCHEMES = {
    "constellations": {"grain": 64},
    "families": {"rows": 8, "group": 8, "sides": 8},
    "centre": {"columns": 8, "group": 8},
}
# These may be left out.
OPTIONAL = {"centre": {"grain": 64}}


def strict_json(text):
    """An object of JSON in which no name comes twice, no number is other than a natural one, and no text is broken."""

    def unique(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name comes twice")
        return found

    def natural(digits):
        if not digits.isdigit():
            raise ValueError(f"{digits} is no natural number")
        return int(digits)

    def refuse(number):
        raise ValueError(f"{number} is no natural number")

    found = json.loads(text, object_pairs_hook=unique, parse_int=natural, parse_float=refuse, parse_constant=refuse)
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found


def open_regular(path):
    """Opens a file to read, but nothing that could wait for ever, as a named pipe does."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{path} is no regular file")
    return open(path, "rb")


def number(value, bits):
    return type(value) is int and value < 1 << bits


class RunFile:
    """What run.json says."""

    def __init__(self, folder):
        path = os.path.join(folder, "run.json")
        try:
            with open_regular(path) as file:
                text = file.read(LONGEST)
        except FileNotFoundError:
            raise NoRun(f"there is no run in {folder}: run.json is missing") from None
        if len(text) == LONGEST:
            raise OSError(f"{path} is longer than any such file")
        try:
            self._read(strict_json(text.decode()))
        except (ValueError, RecursionError) as error:
            raise NotSound(f"run.json: {error}") from None

    def _read(self, found):
        _fields("the run", found, {"plan", "fingerprint", "begun"}, {"shard"})
        self.begun, self.fingerprint, shard = found["begun"], found["fingerprint"], found.get("shard")
        _expect("shard" not in found or shard is not None, "there is no such shard")
        _expect(number(self.begun, 64), "the time when it was begun is no number of milliseconds")
        _expect(isinstance(self.fingerprint, str) and re.fullmatch("[0-9a-f]{32}", self.fingerprint),
                "the plan's fingerprint is not 32 hexadecimal digits")
        self.plan = self._plan(found["plan"])
        self.index, self.of = 1, 1
        if shard is not None:
            _fields("the shard", shard, {"index", "of"})
            self.index, self.of = shard["index"], shard["of"]
            _expect(number(self.of, 64) and number(self.index, 64) and 1 <= self.index <= self.of <= MOST_SHARDS
                    and self.of > 1, "there is no such shard")

    @staticmethod
    def _plan(plan):
        scheme = plan.get("scheme") if isinstance(plan, dict) else None
        _expect(isinstance(scheme, str) and scheme in SCHEMES, "its plan has no scheme that is known")
        parameters = {"n": 8, "version": 32, **SCHEMES[plan["scheme"]]}
        optional = OPTIONAL.get(plan["scheme"], {})
        _fields("the plan", plan, {"scheme", *parameters}, optional.keys())
        for name, bits in {**parameters, **optional}.items():
            if name in plan:
                _expect(number(plan[name], bits), f"the plan's {name} is no number of {bits} bits")
        _expect(1 <= plan["n"] <= 32, f"a board has 1 to 32 rows, not {plan['n']}")
        return plan

    @property
    def part(self):
        """The part of the plan that is counted."""
        return "the whole plan" if self.of == 1 else f"shard {self.index}/{self.of}"

    def hash(self):
        """What the first line of the ledger names as the hash of the line before."""
        numbers = (len(self.fingerprint), self.index, self.of, self.begun)
        length, index, of, begun = (number.to_bytes(8, "little") for number in numbers)
        version = self.plan["version"].to_bytes(4, "little")
        text = b"diadem run" + version + length + self.fingerprint.encode() + index + of + begun
        return digests([text], 16)[0].hex()

    def units(self, first, beyond):
        """The units of the run from `first` to before `beyond`."""
        return range(first + (self.index - 1 - first) % self.of, beyond, self.of)


def _expect(holds, what):
    if not holds:
        raise ValueError(what)


def _fields(what, found, required, optional=frozenset()):
    _expect(isinstance(found, dict), f"{what} is no object")
    missing, unknown = required - found.keys(), found.keys() - required - optional
    _expect(not missing, f"{what} has no field {', '.join(sorted(missing))}")
    _expect(not unknown, f"{what} has a field that is not known: {', '.join(sorted(unknown))}")
