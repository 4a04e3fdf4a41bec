"""Instances' clocks: which ones are off, by the delay with which their spans arrive."""

import time
from collections.abc import Mapping

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, limited
from sluice.cli.environment import Addresses
from sluice.pools.clocks.offsets import (
    LONGEST_BATCH_MS,
    SQL,
    Instance,
    InstanceDelay,
    delays_of,
    fastest_ms,
    offset_ms,
    parameters,
)

_SHOWN = 10


def clocks(where: Addresses, timeout_s: float) -> Diagnosis:
    given = {name: str(value) for name, value in parameters(round(1_000 * time.time())).items()}
    rows = ask(where, timeout_s, SQL, given)
    return judge(delays_of([list(column) for column in zip(*rows, strict=True)]) if rows else {})


def judge(delays: Mapping[Instance, InstanceDelay]) -> Diagnosis:
    """Estimates offsets as the decider does at its first reading."""
    if not delays:
        return Diagnosis("ok", "the last 10 minutes have too few spans for an estimate")
    way_ms = fastest_ms(delays.values())
    off = {instance: ms for instance, delay in delays.items() if (ms := offset_ms(delay, way_ms))}
    if way_ms < 0:
        return Diagnosis(
            "warn",
            f"most spans arrive {-way_ms / 1000:.1f} s before they end: the clock of the Kafka broker is behind",
            "let NTP keep the clocks of the broker and of all hosts (chronyd; `chronyc tracking` prints the offset)",
        )
    if not off:
        return Diagnosis("ok", f"{len(delays)} instances, none known to be off by more than 200 ms")
    worst = sorted(off, key=lambda instance: (-abs(off[instance]), instance))
    parts = limited([f"{instance} {_clock(off[instance])}" for instance in worst], _SHOWN, "")
    return Diagnosis(
        "warn",
        f"clocks of {len(off)} of {len(delays)} instances are off: {', '.join(parts)}",
        "let NTP keep the clocks of their hosts (chronyd; `chronyc tracking` prints the offset). Until then the "
        "recommender shifts their windows by whole buckets",
    )


def _clock(ms: int) -> str:
    """A clock that seems behind may instead belong to an exporter that keeps spans for up to LONGEST_BATCH_MS."""
    if ms > 0:
        return f"{ms / 1000:.1f} s ahead"
    return f"{-ms / 1000:.1f} s behind (beside the {LONGEST_BATCH_MS // 1000} s that an exporter may keep spans)"
