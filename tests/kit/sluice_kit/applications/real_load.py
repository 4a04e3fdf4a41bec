"""Closed-loop users on a real application, as a process that prints what they saw each second."""

import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.machine.cores import pinned
from testbed.windows import BUCKETS_PER_OCTAVE

SETTLE_S = 3
"""Seconds at the begin of a load that do not count: users arrive, and what the size before left in queues goes."""


@dataclass(frozen=True)
class LoadResult:
    """What users saw over some seconds; rates per second."""

    good_per_s: float
    responses_per_s: float
    failed: int
    mean_ms: float
    late_ms: float
    """The most by which a turn of the load's own program came late."""

    def __str__(self) -> str:
        return (
            f"{self.good_per_s:.1f} good of {self.responses_per_s:.1f} a second, {self.mean_ms:.0f} ms in the mean,"
            f" load late by {self.late_ms:.0f} ms at most"
        )


def summed(seconds: Sequence[dict[str, Any]]) -> LoadResult:
    responses = sum(second["responses"] for second in seconds)
    return LoadResult(
        sum(second["good"] for second in seconds) / len(seconds),
        responses / len(seconds),
        sum(second["failed"] for second in seconds),
        sum(second["latency_ms"] for second in seconds) / max(responses, 1),
        max(second["late_ms"] for second in seconds),
    )


def percentile_ms(seconds: Sequence[Mapping[str, Any]], share: float) -> float:
    """The response time that the share `share` of all responses does not exceed: the upper end of its histogram bucket,
    1.1 % too long at most. A failure took forever.

    Worked: of 98 responses of 1 ms, one of 2 ms and one failure the 0.99 are within 2 ms.
    """
    latency: Counter[int] = Counter()
    for second in seconds:
        latency.update({int(index): count for index, count in second["latency"].items()})
    left = math.ceil(share * sum(second["responses"] for second in seconds))
    for index, count in sorted(latency.items()):
        left -= count
        if left <= 0:
            return float(2 ** ((index + 1) / BUCKETS_PER_OCTAVE) / 1e6)
    return math.inf


def command(url: str, service: str, shape: str, users: int, seconds: float, otlp: str, seed: int = 1) -> list[str]:
    words = [sys.executable, "-m", "testbed.real", url, "--peer", service, "--shape", shape, "--users", str(users)]
    return [*words, "--seconds", f"{seconds:g}", "--otlp", otlp, "--seed", str(seed)]


def steady(
    cores: Iterable[int], url: str, service: str, users: int, seconds: float, otlp: str = "", seed: int = 1
) -> LoadResult:
    """What that many users see once all are there, until they leave."""
    words = pinned(cores, command(url, service, "steady", users, seconds + SETTLE_S, otlp, seed))
    limit_s = seconds * 3 + 60
    done = subprocess.run(words, env=_environment(), capture_output=True, text=True, check=True, timeout=limit_s)
    rows = [line for line in map(json.loads, done.stdout.splitlines()) if "at" in line]
    first = rows[0]["at"] + SETTLE_S
    return summed([second for second in rows if first < second["at"] < first + seconds])


@contextmanager
def bursty(cores: Iterable[int], url: str, service: str, users: int, otlp: str, log: Path) -> Iterator[Path]:
    """Up to that many users in bursts, for the length of the block; gives the file of what they see."""
    with going(cores, command(url, service, "bursty", users, 3600, otlp), log):
        yield log


@contextmanager
def going(cores: Iterable[int], words: Sequence[str], log: Path) -> Iterator[None]:
    """A load for the length of the block; a line a second of what its users see in a file."""
    with log.open("wb") as out:
        process = subprocess.Popen(pinned(cores, words), stdout=out, env=_environment())
        try:
            yield
            assert process.poll() is None, "the load stopped by itself"
        finally:
            process.terminate()
            process.wait(timeout=20)


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(REPOSITORY / "tests")}
