"""The system condition SC of the state, from what the pipeline knows of what a pool stands on.

CPU limits and versions are told by the hardware autoscaler; the work per request is measured: seconds in service where
little else is in flight. Data that grow are seen as work that grows: windows count no rows and no bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from sluice.pools.estimate.samples import Floats

VERSION_BITS = 4
WIDTH = 3 + VERSION_BITS


@dataclass(frozen=True)
class Condition:
    """cores, peer_cores: CPU limit of an instance of the service and of its peer, 0 where nobody told. versions: of
    both, as told. work_s: in service for one request, 0 where nothing was measured."""

    cores: float = 0.0
    peer_cores: float = 0.0
    versions: str = ""
    work_s: float = 0.0

    @property
    def label(self) -> str:
        """What has to be the same for two measurements to be of the same service."""
        return f"{self.cores:g} {self.peer_cores:g} {self.versions}"


def encode(condition: Condition) -> Floats:
    """Shape (7,), each about -1..1.

    A version is no number: its hash gives it four that it shares with no other but by chance (1 in 2^32). Worked, 4
    cores, no peer, 10 ms: 0.5, 0, ..., ln(10) / 5 = 0.46.
    """
    bits = np.zeros(VERSION_BITS)
    if condition.versions:
        digest = sha256(condition.versions.encode()).digest()[:VERSION_BITS]
        bits = np.frombuffer(digest, dtype=np.uint8) / 255.0 - 0.5
    work = np.log(max(condition.work_s * 1e3, 0.1)) / 5 if condition.work_s > 0 else 0.0
    return np.array([_ln(condition.cores), _ln(condition.peer_cores), *bits, work])


def _ln(cores: float) -> float:
    return float(np.log2(cores) / 4) if cores > 0 else 0.0
