"""A candidate pool: what spans show of it, and whether it is a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from sluice.model.keys import PoolKey

FoundBy = Literal["configuration", "actuator", "metrics", "bound"]
"""Why a candidate is a pool."""


class Load(NamedTuple):
    """What spans of five minutes show of a candidate.

    concurrency: mean number in flight, of all instances. steadiest: of the instances, the largest ratio of the busiest
    10 s's mean to the highest bucket, 0..1. top: highest bucket of an instance.
    """

    key: PoolKey
    concurrency: float
    instances: int
    steadiest: float
    top: float


@dataclass(frozen=True)
class Candidate:
    """found_by, found_at_ms: None and 0 for a candidate that is no pool. why: it is a pool, or it is none yet.
    concurrency, instances: as in `Load`. size: in force; None where unknown, without a limit, or instances differ.
    size_from: actuator, metrics or bound. seen_ms: when spans last showed it. Times: Unix ms."""

    key: PoolKey
    why: str
    found_by: FoundBy | None = None
    found_at_ms: int = 0
    concurrency: float = 0.0
    instances: int = 0
    size: int | None = None
    size_from: FoundBy | None = None
    seen_ms: int = 0
