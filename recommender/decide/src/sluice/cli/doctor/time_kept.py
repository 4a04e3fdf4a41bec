"""For how long the local broker keeps records at the present rate. Only its disk tells how many bytes arrive."""

import os
import time
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.retention import PartitionRetention, kept_by_partition
from sluice.cli.environment import Addresses
from sluice.cli.pools.text import seconds

#: Records have to arrive for this long before their rate counts.
_RATE_S = 60.0


def time_kept(where: Addresses, timeout_s: float) -> Diagnosis:
    logs = Path(os.environ.get("SLUICE_STATE") or "/nonexistent") / "data/kafka"
    if not logs.is_dir():
        return Diagnosis("ok", "the broker's disk is not on this host: the check `retention` covers it")
    kept = kept_by_partition(where, timeout_s)
    return judge_time_kept(kept, {(k.topic, k.partition): _log_bytes(logs, k) for k in kept}, time.time() * 1000)


def _log_bytes(logs: Path, kept: PartitionRetention) -> int:
    return sum(log.stat().st_size for log in (logs / f"{kept.topic}-{kept.partition}").glob("*.log"))


def judge_time_kept(
    kept: list[PartitionRetention], log_bytes: Mapping[tuple[str, int], int], now_ms: float
) -> Diagnosis:
    """log_bytes: size of a partition on disk, by topic and partition."""
    times: dict[str, tuple[float, PartitionRetention]] = {}
    for partition in kept:
        held, age_s = log_bytes[partition.topic, partition.partition], (now_ms - (partition.oldest_ms or now_ms)) / 1000
        if held and age_s >= _RATE_S and partition.retention_bytes >= 0:
            full_s = partition.retention_bytes * age_s / held
            times[partition.topic] = min(
                times.get(partition.topic, (full_s, partition)), (full_s, partition), key=itemgetter(0)
            )
    if not times:
        return Diagnosis("ok", "too few records to tell a rate")
    return Diagnosis("ok", "; ".join(_text(topic, *shortest) for topic, shortest in times.items()))


def _text(topic: str, full_s: float, kept: PartitionRetention) -> str:
    if 0 <= kept.retention_ms <= full_s * 1000:
        return f"{topic}: {seconds(kept.retention_ms / 1000)}"
    return (
        f"{topic}: {seconds(full_s)} at this rate, because {kept.retention_bytes / 2**20:,.0f} MiB a partition are "
        f"full before {seconds(kept.retention_ms / 1000)}"
    )
