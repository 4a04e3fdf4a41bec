"""The system condition SC of the state: the hardware, versions and work of a pool.

The hardware autoscaler reports CPU limits and versions. The work per request is measured: seconds in service where
little else is in flight. The amount of data per request is measured too, where spans give rows or bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from sluice.pools.estimate.samples import Floats

VERSION_BITS = 4
WIDTH = 5 + VERSION_BITS
# Scales by which 3 million rows, and 0.5 GB, are 1.
ROWS_SCALE, BYTES_SCALE = 16.0, 21.0


class DataSize(NamedTuple):
    """Rows and bytes of a span, on average; None where no span gives them."""

    rows: float | None = None
    bytes: float | None = None


NO_DATA_SIZE = DataSize()


@dataclass(frozen=True)
class Condition:
    """cores, peer_cores: CPU limit of an instance of the service and of its peer, 0 where unreported. versions: of
    both, as reported. work_s: in service for one request, 0 where nothing was measured. data: of one span."""

    cores: float = 0.0
    peer_cores: float = 0.0
    versions: str = ""
    work_s: float = 0.0
    data: DataSize = NO_DATA_SIZE

    @property
    def label(self) -> str:
        """The part that two measurements must share to be of the same service. Work and data are numbers that drift:
        they are in the state, and the service stays the same."""
        return f"{self.cores:g} {self.peer_cores:g} {self.versions}"


def encode(condition: Condition) -> Floats:
    """Shape (9,), each about -1..1; 0 where nothing was reported.

    A version is no number: its hash gives it four numbers, which another version shares only by chance (1 in 2^32).
    Worked, 4 cores, no peer, 10 ms, 100 rows, 2,000 bytes: 0.5, 0, ..., ln(10) / 5 = 0.46, (1 + ln 101) / 16 = 0.35, (1
    + ln 2001) / 21 = 0.41. 0 rows differ from no value: 1 / 16 = 0.06.
    """
    bits = np.zeros(VERSION_BITS)
    if condition.versions:
        digest = sha256(condition.versions.encode()).digest()[:VERSION_BITS]
        bits = np.frombuffer(digest, dtype=np.uint8) / 255.0 - 0.5
    work = np.log(max(condition.work_s * 1e3, 0.1)) / 5 if condition.work_s > 0 else 0.0
    data = _size(condition.data.rows, ROWS_SCALE), _size(condition.data.bytes, BYTES_SCALE)
    return np.array([_ln(condition.cores), _ln(condition.peer_cores), *bits, work, *data])


def _size(size: float | None, scale: float) -> float:
    return 0.0 if size is None else float((1 + np.log1p(size)) / scale)


def _ln(cores: float) -> float:
    return float(np.log2(cores) / 4) if cores > 0 else 0.0
