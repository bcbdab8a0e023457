#!/usr/bin/env python3
"""Submits a board to a HyperQueue server that runs, and waits until it is counted.

    submit.py shards N K [OPTION...]       K shares, then the merge; the answer is in ./diadem-N.txt
    submit.py workers N K URL [OPTION...]  K workers for the coordinator at URL, as many at a time as there are cores

HQ_SERVER_DIR is the server's folder, as for the command hq. Options go to diadem count, or to diadem worker.
"""

import os
import sys
from pathlib import Path

from hyperqueue import Client, Job

HERE = Path(__file__).resolve().parent
# A task starts again whenever its worker is lost.
CRASHES = 65535


def submit(job: Job) -> None:
    client = Client(os.environ.get("HQ_SERVER_DIR"))
    client.wait_for_jobs([client.submit(job)])


def shards(n: str, count: str, *options: str) -> None:
    job = Job(Path.cwd(), name=f"diadem-{n}", max_fails=None)
    tasks = [
        task(job, f"shard-{share}", [str(HERE / "shard"), str(share), count, n, *options])
        for share in range(1, int(count) + 1)
    ]
    task(job, "merge", [str(HERE / "merge"), n], deps=tasks)
    submit(job)


def workers(n: str, count: str, url: str, *options: str) -> None:
    job = Job(Path.cwd(), name=f"diadem-{n}-workers", max_fails=None)
    for number in range(int(count)):
        task(job, f"worker-{number}", [str(HERE / "worker"), url, n, *options])
    submit(job)


def task(job: Job, name: str, arguments: list, deps=()):
    log = f"{job.name}-{name}.log"
    return job.program(arguments, name=name, deps=deps, stdout=log, stderr=log, crash_limit=CRASHES)


if __name__ == "__main__":
    {"shards": shards, "workers": workers}[sys.argv[1]](*sys.argv[2:])
