"""Free space under a stack on this host. Elsewhere the platform watches its volumes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.environment import Addresses

FOLDERS = ("", "data/kafka", "data/clickhouse", "data/neo4j", "data/collector", "flink", "logs", "actuator")
"""Of a stack's state: any of them may be a disk of its own."""
LEAST_BYTES = 64 << 20
"""What RocksDB writes at once (its write buffer)."""
FEW_BYTES, FEW_SHARE = 5 << 30, 0.05
Space = tuple[int, int]
"""(free, size), in bytes"""


def free_space(where: Addresses, timeout_s: float) -> Diagnosis:
    state = Path(os.environ.get("SLUICE_STATE") or "/nonexistent")
    found = spaces([state / folder for folder in FOLDERS])
    if not found:
        return Diagnosis("ok", "no stack has its state on this host")
    return judge_space(found)


def spaces(folders: Sequence[Path]) -> dict[str, Space]:
    """Of each disk, by the first of the folders on it that is there."""
    disks: dict[int, tuple[str, Space]] = {}
    for folder in folders:
        try:
            disk, have = folder.stat().st_dev, os.statvfs(folder)
        except OSError:
            continue
        disks.setdefault(disk, (str(folder), (have.f_bavail * have.f_frsize, have.f_blocks * have.f_frsize)))
    return dict(disks.values())


def judge_space(found: Mapping[str, Space]) -> Diagnosis:
    """found: by folder."""
    texts = [
        (free, f"{folder}: {free / 2**20:,.0f} MiB of {size / 2**20:,.0f} free")
        for folder, (free, size) in found.items()
        if free < LEAST_BYTES or (free < FEW_BYTES and free < FEW_SHARE * size)
    ]
    if not texts:
        return Diagnosis("ok", f"{min(free for free, _ in found.values()) / 2**30:,.1f} GiB free")
    full = any(free < LEAST_BYTES for free, _ in texts)
    remedy = "free space there: what waits goes on by itself" + (
        "; nothing that the collector acknowledged is lost" if full else ""
    )
    return Diagnosis("fail" if full else "warn", "; ".join(text for _, text in sorted(texts)), remedy)
