#!/usr/bin/env python3
"""Verifies diadem runs from their run.json and their ledgers alone.

A second pair of eyes beside `diadem verify`: written from docs/ledger.md, with its own derivation of constellations and
plans, its own BLAKE3 and its own counting. It needs Python 3.9 or later and nothing else.

    tools/check.py RUN...                     verifies each run and recounts up to 50 units of each, for 30 s at most
    tools/check.py --recount all --json RUN

The exit code is 0 if every run is sound, 3 if one is not, and 1 without a run or with wrong arguments.
"""

import argparse
import json
import random
import sys
from time import monotonic

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
                        help="number of units to recount, chosen at random, or all (default: 50)")
    parser.add_argument("--seed", type=int, help="seed of that choice (default: random)")
    parser.add_argument("--seconds", type=seconds, metavar="S",
                        help="longest time for the recount of each run (default: 30, no limit with --recount all)")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each run")
    options = parser.parse_args()
    if options.seconds is None and options.recount != "all":
        options.seconds = 30.0
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


class Progress:
    """One line on a terminal, rewritten twice a second; nothing elsewhere."""

    PAUSE = 0.5

    def __init__(self, stream):
        self.stream, self.due, self.is_shown = stream if stream.isatty() else None, 0.0, False

    def show(self, text):
        if self.stream and monotonic() >= self.due:
            self.due, self.is_shown = monotonic() + self.PAUSE, True
            print(f"\r\x1b[K{text}", end="", file=self.stream, flush=True)

    def clear(self):
        if self.is_shown:
            self.is_shown = False
            print("\r\x1b[K", end="", file=self.stream, flush=True)


class Report:
    """Prints results as text when they arrive, or as one JSON object at the end."""

    def __init__(self, run, as_json, progress):
        self.found, self.as_json, self.progress = {"run": run}, as_json, progress

    def tell(self, name, value, words):
        self.progress.clear()
        self.found[name] = value
        if not self.as_json:
            print(words.format(**value) if isinstance(value, dict) else words, flush=True)

    def end(self, wrong):
        self.progress.clear()
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
    progress = Progress(sys.stderr)
    report = Report(run, options.json, progress)
    if not options.json:
        print(f"{run}:", flush=True)
    try:
        Verification(run, options, report.tell, progress.show).verify()
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
