#!/usr/bin/env python3
"""A HyperQueue server with workers of one core, for the test: engine.py FOLDER WORKERS.

Each worker is a process of its own, that can be killed; another one comes for it two seconds later. The numbers of their processes
stand in FOLDER/workers. The wheel has no command hq, and starts workers in its own process only, so each is a fork of it.
"""

import os
import signal
import sys
import time
from pathlib import Path

from hyperqueue.cluster import LocalCluster, WorkerConfig

folder, count = Path(sys.argv[1]), int(sys.argv[2])
cluster = LocalCluster(str(folder))


def fork_worker() -> int:
    process = os.fork()
    if process == 0:
        cluster.start_worker(WorkerConfig(cores=1))
        while True:
            signal.pause()
    return process


workers = [fork_worker() for _ in range(count)]
while True:
    (folder / "workers").write_text("\n".join(map(str, workers)) + "\n")
    ended, _ = os.wait()
    time.sleep(2)
    workers[workers.index(ended)] = fork_worker()
