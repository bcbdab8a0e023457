"""The lines of the ledger: chain, CRCs, commit marks, files that roll over, and what is tail and what damage."""

import os
import re
import zlib
from bisect import bisect_right
from itertools import islice
from math import floor

from . import NotSound
from .blake3 import digests
from .run_file import number, open_regular, strict_json

LONGEST = 1 << 16
BATCH = 4096
# No disk writes less at a time, or at other places than its multiples.
BLOCK = 64
LAST_FIELDS = re.compile(rb',"prev":"([0-9a-f]{32})","crc":"([0-9a-f]{8})"}', re.ASCII)
LAST_LENGTH = len(',"prev":""') + 32 + len(',"crc":""}') + 8
KIND_FIRST = re.compile(rb'{"kind":"[a-z]+",')
FILE_NAME = re.compile(r"[0-9]{6,}\.jsonl", re.ASCII)


def _text(value):
    # A half of a surrogate pair is no text.
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _name(value):
    return _text(value) and value != ""


def _natural(bits):
    return lambda value: number(value, bits)


def _digits(length):
    return lambda value: isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{length}}}", value)


def _one_of(*values):
    return lambda value: isinstance(value, str) and value in values


def _flag(value):
    return isinstance(value, bool)


def _policy(value):
    share = isinstance(value, str) and re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", value)
    # A share has at most twelve decimals; halves are rounded up.
    return float(share[1]) <= 100 and floor(float(share[1]) * 1e12 + 0.5) > 0 if share else value in ("none", "all")


def _units(value):
    return isinstance(value, list) and value and all(number(unit, 64) for unit in value)


def _own_checks(value):
    fits = isinstance(value, dict) and value.keys() == {"share", "owner"}
    return fits and _policy(value["share"]) and _text(value["owner"])


U64, U32 = _natural(64), _natural(32)
COUNTED = {"unit": U64, "count": U64, "nodes": U64}
MAKER = {"machine": _text, "kernel": _text}
BY_WHOM = {"owner": _name, "mirrored": _flag}
RECOUNT = {"recount": _one_of("trial", "sample", "all", "symmetric")}
UNIT = ({**COUNTED, "cpu_us": U64, "worker": _text, **MAKER, "at": U64},
        {**BY_WHOM, **RECOUNT, "of": _text, "of_owner": _name})
# For each kind: the fields that it must have, and those that may be left out.
KINDS = {
    "count": UNIT,
    "check": UNIT,
    "conflict": UNIT,
    "retract": ({**COUNTED, **MAKER, "at": U64}, {**BY_WHOM, "quarantine": _flag, "contradiction": _flag, "reason": _text}),
    "restore": ({**COUNTED, **MAKER, "at": U64}, {**BY_WHOM, **RECOUNT}),
    "expel": ({"reason": _text, "at": U64}, {"owner": _name, "machine": _text, "lost": _flag, "suspended": _flag}),
    "admit": ({"reason": _text, "at": U64}, {"owner": _name, "machine": _text}),
    "policy": ({"double_check": _policy, "at": U64}, {"require_owners": U32, "own_checks": _own_checks, "reason": _text}),
    "draw": ({"seed": _digits(32), "at": U64}, {"units": _units}),
    "term": ({"term": U64, "coordinator": _digits(32), "at": U64}, {"key": _digits(64)}),
    "replicas": ({"replicas": U32, "at": U64}, {"reason": _text}),
    "merged": ({"run": _digits(32), "records": U64, "head": _digits(32), "conflicts": U64, "refuted": U64, "at": U64}, {}),
    "loss": ({"records": U64, "bytes": U64, "files": U64, "at": U64}, {}),
    "pause": ({"reason": _text, "at": U64}, {}),
    "resume": ({"at": U64}, {}),
    "mark": ({"records": U64, "elapsed_ms": U64, "threads": U32}, {}),
}


def decode(line):
    """The record of a line and the hash of the line before; an error says what is wrong."""
    if not line.endswith(b"\n"):
        raise ValueError("it is longer than any record" if len(line) > LONGEST else "it does not end")
    if line.endswith(b"\r\n"):
        raise ValueError("it ends with CR LF: its line ends were rewritten")
    line = line[:-1]
    last = LAST_FIELDS.fullmatch(line, max(0, len(line) - LAST_LENGTH))
    if not last:
        raise ValueError("it does not end with the hash of the line before and a CRC")
    if int(last[2], 16) != zlib.crc32(line[:last.end(1) + 1]):
        raise ValueError("its CRC does not match")
    if not KIND_FIRST.match(line):
        raise ValueError("it does not begin with its kind")
    try:
        record = strict_json((line[:last.start()] + b"}").decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its record is not understood: {error}") from None
    required, optional = KINDS.get(record["kind"], (None, None))
    if required is None:
        raise ValueError(f"records of kind {record['kind']!r} are not known")
    for name, is_fit in required.items():
        if name not in record:
            raise ValueError(f"its record has no {name}")
        if not is_fit(record[name]):
            raise ValueError(f"its {name} cannot be {record[name]!r}")
    if len(record) > len(required) + 1:
        for name in record.keys() - required.keys() - {"kind"}:
            if name not in optional:
                raise ValueError(f"its record has a field {name!r} that is not known")
            if not optional[name](record[name]):
                raise ValueError(f"its {name} cannot be {record[name]!r}")
    return record, last[1].decode()


def _file_name(number):
    return f"{number:06}.jsonl"


class Ledger:
    """Reads the ledger of a run once, from its first line to its last commit mark."""

    def __init__(self, folder, run_hash):
        self.folder = os.path.join(folder, "ledger")
        if not os.path.isdir(self.folder):
            raise NotSound("ledger: this folder of the run is missing")
        names = os.listdir(self.folder)
        numbers = sorted({int(name[:-6]) for name in names if FILE_NAME.fullmatch(name)})
        self.files = [_file_name(number) for number in numbers if number and _file_name(number) in names]
        for at, name in enumerate(self.files, 1):
            if name != _file_name(at):
                raise NotSound(f"{_file_name(at)}: this file of the ledger is missing, although there is {name}")
        # The lines before each file that has been read.
        self.before = []
        # What the last commit mark says, the hash of its line, and the bytes up to its end.
        self.records, self.elapsed_ms, self.threads, self.head, self.bytes = 0, 0, 0, run_hash, 0
        # The number of that line.
        self.last_mark = -1
        # Newlines that marks lack.
        self.lacking = 0

    @property
    def tail_bytes(self):
        """What follows the last mark: it was never acknowledged."""
        return sum(os.path.getsize(os.path.join(self.folder, name)) for name in self.files) + self.lacking - self.bytes

    def committed(self):
        """Every committed record with the number of its line, group by group."""
        before, read, group = self.head, self.bytes, []
        lines = self._lines()
        for number, line, digest in lines:
            record, unfit = None, None
            try:
                record, follows = decode(line)
                if follows != before:
                    unfit = "it does not follow the line before it"
            except ValueError as error:
                unfit = str(error)
            if unfit:
                self._expect_torn(number, line, lines, unfit)
                return
            before, read = digest, read + len(line)
            if not _is_mark(record):
                group.append((number, record))
                continue
            if record["records"] != self.records + len(group):
                raise NotSound(f"{self.place(number)}: the mark counts {record['records']} records, but there are "
                               f"{self.records + len(group)}")
            self.records, self.elapsed_ms, self.threads = record["records"], record["elapsed_ms"], record["threads"]
            self.head, self.bytes, self.last_mark = digest, read, number
            yield from group
            group = []

    def _expect_torn(self, number, line, lines, unfit):
        """From the line of that number on, which is unfit, there is only what an interrupted write leaves."""
        place, file = self.place(number), self._file(number)
        if line.endswith(b"\r\n"):
            raise NotSound(f"{place}: {unfit}")
        has_mark = _has_mark(line.rstrip(b" \t\r\n\f") + b"\n")
        torn, goes_on = _is_cut_or_zeros(line), not line.endswith(b"\n")
        for number, line, _ in lines:
            has_mark = has_mark or _has_mark(line)
            torn = torn and self._file(number) == file and not line.endswith(b"\r\n")
            torn = torn and (goes_on or _is_fit(line) or _is_cut_or_zeros(line))
            goes_on = not line.endswith(b"\n")
        if has_mark:
            raise NotSound(f"{place}: {unfit}")
        if not torn or not self._has_whole_blocks(file):
            raise NotSound(f"{place}: {unfit}, and that is not what an interrupted write leaves")

    def _has_whole_blocks(self, file):
        """Whether the zeros behind the last mark are those of blocks that were never written."""
        with open(os.path.join(self.folder, self.files[file]), "rb") as ledger:
            for _ in range(self.last_mark + 1 - self.before[file]):
                ledger.readline()
            length = BLOCK - ledger.tell() % BLOCK
            while block := ledger.read(length):
                written = block.split(b"\0", 1)[0]
                is_whole = len(written) == len(block) or not written or written.endswith(b"\n")
                if not is_whole or block[len(written):].strip(b"\0"):
                    return False
                length = BLOCK
        return True

    def _file(self, line):
        """The place of a line's file in the list."""
        return bisect_right(self.before, line) - 1

    def place(self, line):
        """The file of a line and its number there."""
        file = self._file(line)
        return f"{self.files[file]}:{line - self.before[file] + 1}"

    def _lines(self):
        """All lines with their newlines, as far as they have one, numbered from 0 through all files, with hashes."""
        number = 0
        for name in self.files:
            self.before.append(number)
            path = os.path.join(self.folder, name)
            with open_regular(path) as file:
                while batch := list(islice(iter(lambda: file.readline(LONGEST + 1), b""), BATCH)):
                    # A mark that is whole but for its newline was written.
                    if len(batch[-1]) <= LONGEST and not batch[-1].endswith(b"\n") and _has_mark(batch[-1] + b"\n"):
                        batch[-1] += b"\n"
                        self.lacking += 1
                    # What does not end is no record, whatever its hash: a file may have gigabytes of that.
                    hashes = iter(digests([line[:-1] for line in batch if line.endswith(b"\n")], 16))
                    for line in batch:
                        yield number, line, next(hashes).hex() if line.endswith(b"\n") else None
                        number += 1


def _is_mark(record):
    return record is not None and record["kind"] == "mark"


def _fit(line):
    try:
        return decode(line)[0]
    except ValueError:
        return None


def _is_fit(line):
    return _fit(line) is not None


def _has_mark(line):
    return _is_mark(_fit(line))


def _is_cut_or_zeros(line):
    """Whether the line has zeros, or ends before it should; one with something else than a newline behind it does not."""
    is_cut = not line.endswith(b"\n") and len(line) <= LONGEST
    return b"\0" in line or (is_cut and not _is_fit(line[:-1] + b"\n"))
