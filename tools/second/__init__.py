"""A second verifier of ledgers, written from docs/ledger.md and from the mathematics; no code is shared with diadem."""


class NotSound(Exception):
    """What is wrong with a run, in one sentence that names the place."""


class NoRun(Exception):
    """There is nothing to verify."""
