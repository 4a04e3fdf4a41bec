"""What the guard (`harm.py`) judges by, and what it requires."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from sluice.pools.policy.pace import Beat
from sluice.pools.policy.transitions import Case
from sluice.pools.policy.trust import SizeRecord, Trust

# So long a pool that drains is not judged by the operator's size: the size in force is not what it holds.
DRAINS_MS = 60_000


@dataclass(frozen=True)
class GuardVerdict:
    """The guard's requirement: a case of the table, and a size. why: figures for people."""

    case: Case
    size: int
    why: str = ""


@dataclass(frozen=True)
class Scene:
    """The data that the guard judges by.

    - current: the size in force. from_size: the size before Sluice's last change while that is in force, else None.
    - beats: of the newest half minute. completed_ms: time of the last completion without an error, None before the
      first.
    - full_share: of the newest seconds, 0..1. lag_ms: the delay of windows.
    - unread: no target reports its size any more. The service is away, and no change caused its silence.
    - when_full_per_s: the most that the pool completed while it was full, at the last size of ours or a smaller one. 0
      where it never was.
    - before: the size before by the evidence of a full pool, None without any.
    - drains: a target reports more in use than the size: what it held under a larger size has not ended.
    - operator_full_per_s: the most that the operator's size completed while it was full; infinite where it never was.
    - most_wait: more callers wait than requests are in flight, over a minute at this size.
    - in_use: mean of half a minute by the targets' reports, where these do not have the pool full; None without them.
    - idle: the targets' newest reports, under the size in force, have nothing in use and no caller that waits.
    - shrunk: Sluice's last change, which is in force, shrank a crowded pool (crowded.py).
    """

    current: int
    from_size: int | None
    beats: tuple[Beat, ...]
    completed_ms: int | None
    full_share: float
    cores: float
    lag_ms: int
    unread: bool = False
    when_full_per_s: float = 0.0
    before: SizeRecord | None = None
    drains: bool = False
    operator_full_per_s: float = inf
    in_use: float | None = None
    most_wait: bool = False
    idle: bool = False
    shrunk: bool = False


def drains(scene: Scene, trust: Trust, now_ms: int) -> bool:
    """Whether the pool drains to the size in force, for a minute at most: some requests may never end."""
    return scene.drains and now_ms - trust.since_ms <= DRAINS_MS
