"""Worker processes of the decider."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import signal
import threading


def begin() -> None:
    """Runs in each process: the parent handles Ctrl-C, and the process ends when its parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(0)
