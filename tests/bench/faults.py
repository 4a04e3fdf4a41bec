"""Faults under load on a stack whose folders have disks of their own: what was acknowledged is what is counted.

`PARTS=each` has every kind of fault at every process in turn, `PARTS=random` the schedules of `SEEDS` (1 to 10). Needs
root, loop devices and cgroups of version 2.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.run_files import requested_seeds
from sluice_kit.faults import disks
from sluice_kit.faults.counted import Counted, counted
from sluice_kit.faults.kinds import ASKS, FOLDERS, PROCESSES, Fault, Machine, places
from sluice_kit.faults.schedule import schedule
from sluice_kit.local_stack.driver import STATE, Stack, drive, started

DISK_BYTES = 3 << 30
LASTING_S, QUICK_S = 60.0, 15.0
RANDOM, QUICK_RANDOM = 30, 6


def run(quick: bool) -> str:
    parts = os.environ.get("PARTS", "each,random").split(",")
    text = ""
    if "each" in parts:
        with stack_on_disks() as (stack, machine):
            found = counted(stack, machine, chosen(each(QUICK_S if quick else LASTING_S)), "each-")
            text += table("Each kind of fault", found)
    if "random" in parts:
        for seed in requested_seeds((1,) if quick else tuple(range(1, 11))):
            with stack_on_disks() as (stack, machine):
                found = counted(stack, machine, schedule(seed, QUICK_RANDOM if quick else RANDOM), f"seed-{seed}-")
                text += table(f"Random schedule, seed {seed}", found)
    return text


def each(seconds: float) -> list[Fault]:
    return [
        *(Fault("kill", name) for name in PROCESSES),
        *(Fault("stop", name, seconds) for name in PROCESSES),
        *(Fault("full disk", name, seconds) for name in FOLDERS),
        *(Fault("disk stands still", name, seconds) for name in FOLDERS),
        *(Fault("cut", client, seconds, port) for client, port in ASKS),
        *(Fault("requests lost", client, seconds, port) for client, port in ASKS),
        *(Fault("answers lost", client, seconds, port) for client, port in ASKS),
    ]


def chosen(faults: Sequence[Fault]) -> list[Fault]:
    """`FAULTS="full disk,stop: kafka"`: those whose text begins so."""
    begins = tuple(text.strip() for text in os.environ.get("FAULTS", "").split(",") if text.strip())
    return [fault for fault in faults if not begins or str(fault).startswith(begins)]


@contextmanager
def stack_on_disks() -> Iterator[tuple[Stack, Machine]]:
    """A stack without demo and data. The images are sparse: they take what is written."""
    drive("down")
    shutil.rmtree(STATE, ignore_errors=True)
    STATE.mkdir(parents=True, mode=0o700)
    with TemporaryDirectory(dir=STATE.parent) as images, disks.disks(places(STATE), Path(images), DISK_BYTES) as made:
        try:
            drive("up", "--no-demo")
            stack = started()
            yield stack, Machine(stack, made)
        finally:
            drive("down")


def table(title: str, found: Counted) -> str:
    lines = [
        f"{title}. {found.acknowledged} spans acknowledged and counted, {found.repeats} repeats on the topic:",
        "",
        "| fault | what the doctor says | requests sent again | tables current after, s | graph current after, s |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {row.fault} | {'<br>'.join(row.seen)} | {row.refused} | {row.tables_s:.0f} | {row.graph_s:.0f} |"
            for row in found.rows
        ),
    ]
    return "\n".join(lines) + "\n\n"
