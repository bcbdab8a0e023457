#!/usr/bin/env python3
"""Verifies diadem runs from their run.json and their ledgers alone.

A second pair of eyes beside `diadem verify`: written from docs/ledger.md, with its own derivation of constellations and
plans, its own BLAKE3 and its own counting. It needs Python 3.9 or later and nothing else.

    tools/check.py RUN...                     verifies each run; 50 units of each are counted again
    tools/check.py --recount all --json RUN

It ends with 0 where every run is sound, 3 where one is not, 1 where there is no run or the arguments are wrong.
"""

import argparse
import json
import random
import sys

from second import NoRun, NotSound
from second.verification import Verification

SOUND, NOTHING_VERIFIED, WRONG = 0, 1, 3


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        self.exit(NOTHING_VERIFIED, f"check.py: {message}\n")


def recount(text):
    if text == "all":
        return text
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"units are a number or \"all\", not {text!r}")


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"a time is a number of seconds, not {text!r}")
    return value


def arguments():
    parser = Arguments(prog="check.py", description="Verifies diadem runs from run.json and ledger alone.")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run directory")
    parser.add_argument("--recount", type=recount, default=50, metavar="K",
                        help="units to count again, chosen at random, or all (50)")
    parser.add_argument("--seed", type=int, help="chooses them; drawn where it is not given")
    parser.add_argument("--seconds", type=seconds, default=300.0, metavar="S",
                        help="count no longer than this for each run (300)")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each run")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


class Report:
    """Words as they come, or one JSON object in the end."""

    def __init__(self, run, as_json):
        self.found, self.as_json = {"run": run}, as_json

    def tell(self, name, value, words):
        self.found[name] = value
        if not self.as_json:
            print(words.format(**value) if isinstance(value, dict) else words, flush=True)

    def end(self, wrong):
        self.found["sound"] = wrong is None
        if wrong is not None:
            self.found["wrong"] = wrong
            if not self.as_json:
                print(f"check.py: {self.found['run']}: {wrong}", file=sys.stderr, flush=True)
        if self.as_json:
            print(json.dumps(self.found), flush=True)


def printable(text):
    """The text without characters that would do something to a terminal."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def verify(run, options):
    report = Report(run, options.json)
    if not options.json:
        print(f"{run}:", flush=True)
    try:
        Verification(run, options, report.tell).verify()
    except NotSound as error:
        report.end(printable(str(error)))
        return WRONG
    except (NoRun, OSError) as error:
        report.end(printable(str(error)))
        return NOTHING_VERIFIED
    report.end(None)
    return SOUND


def main():
    # Names in a ledger are whatever somebody wrote there.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    options = arguments()
    return max(verify(run, options) for run in options.runs)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(NOTHING_VERIFIED)
