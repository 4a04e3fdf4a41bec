"""The spans of one pool by the rules that decided them, and whether they are of a pool of threads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sluice.model.keys import PoolKey, Side
from sluice.model.reason import Reason

NOT_A_POOL, SIDECAR, NESTED, COUNTED = "not_a_pool", "sidecar", "nested", ""
# From this share of spans without a thread of a pool on, the side is no pool.
LEAST_SHARE = 0.5
#: side, service, peer, action, rule, number of spans
Row = tuple[Side, str, str, str, str, int]


@dataclass(frozen=True)
class SpanRoles:
    """Numbers of spans over three minutes. counted: those in windows. left_out: by rule, those that are not.
    threadless: by rule, those in windows that hold no thread of a pool."""

    counted: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    threadless: Mapping[str, int] = field(default_factory=dict)

    @property
    def threadless_share(self) -> float:
        """Of the spans in windows, those without a thread of a pool, 0..1."""
        return min(1.0, sum(self.threadless.values()) / max(1, self.counted))


NO_ROLES = SpanRoles()


def is_pool(roles: SpanRoles, sized: bool) -> bool:
    """Whether requests of this side share a limited number of threads, as far as spans and sizes show.

    sized: a target or a metric reports a size. Then somebody limits the side, whatever serves it.
    """
    return sized or roles.threadless_share < LEAST_SHARE


def notes_of(roles: SpanRoles, sized: bool) -> tuple[Reason, ...]:
    """What a pool's answer says of its spans."""
    if is_pool(roles, sized):
        return ()
    rules = ", ".join(sorted(roles.threadless))
    return (
        Reason(
            "NOT_A_POOL",
            f"{roles.threadless_share:.0%} of its spans hold no thread of a pool (rules of spans.toml: {rules}); if "
            "something limits how many requests it serves at once, report that size",
        ),
    )


def roles_of(rows: Iterable[Row]) -> dict[PoolKey, SpanRoles]:
    """By pool. A sidecar's span that gives way to its application's is in `sidecar` and in `nested`: it is left out."""
    by_pool: dict[PoolKey, dict[tuple[str, str], int]] = {}
    for side, service, peer, action, rule, spans in rows:
        if action != SIDECAR or side != "client":  # a proxy's connections are a pool
            by_pool.setdefault(PoolKey(service, side, peer), {})[action, rule] = spans
    return {key: _roles(spans) for key, spans in by_pool.items()}


def _roles(spans: Mapping[tuple[str, str], int]) -> SpanRoles:
    left_out: dict[str, int] = {}
    threadless: dict[str, int] = {}
    gave_way = spans.get((NESTED, NESTED), 0)
    for (action, rule), number in sorted(spans.items()):
        if action == SIDECAR:
            stayed = max(0, number - gave_way)
            gave_way -= number - stayed
            number = stayed
        if number > 0 and action != COUNTED:
            (threadless if action in (NOT_A_POOL, SIDECAR) else left_out)[rule] = number
    return SpanRoles(spans.get((COUNTED, ""), 0), left_out, threadless)
