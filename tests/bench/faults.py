"""Faults under load on a stack whose folders have disks of their own: what was acknowledged is what is counted.

`PARTS=each` has every kind of fault at every process in turn (`FAULTS="full disk,stop: kafka"`: those that begin so),
`PARTS=random` the schedules of `SEEDS` (1 to 10), `PARTS=files` files that are cut to half, `PARTS=power` three power
cuts, after which disks have only what was synced, `PARTS=churn` an hour (`MINUTES`) of instances that come and go.
Needs root, loop devices and cgroups of version 2.
"""

import os
from collections.abc import Sequence

from bench.run_files import requested_seeds
from sluice_kit.faults.counted import Counted, counted
from sluice_kit.faults.files import FILES, cut_short
from sluice_kit.faults.growth import churned, grown, quarters
from sluice_kit.faults.kinds import (
    ALL,
    ALLOCATE,
    ASKS,
    CLOCKS,
    CUTS,
    EVERY,
    FOLDERS,
    OF_DISKS,
    OF_PROCESSES,
    PROCESSES,
    SLOW_DISK,
    Fault,
)
from sluice_kit.faults.machine import SPARED, on_disks
from sluice_kit.faults.power_cut import after_power_cut
from sluice_kit.faults.schedule import schedule
from sluice_kit.local_stack.driver import drive, start_anew, started
from sluice_kit.machine.debian import unpacked

LASTING_S, QUICK_S = 60.0, 15.0
RANDOM, QUICK_RANDOM = 30, 6
POWER_CUTS = 3


def run(quick: bool) -> str:
    parts = os.environ.get("PARTS", "each,random,files,power,churn").split(",")
    seeds = requested_seeds((1,) if quick else tuple(range(1, 11)))
    tried = {f"random schedule {seed}": schedule(seed, QUICK_RANDOM if quick else RANDOM) for seed in seeds}
    tried = {"each kind of fault": chosen(each(QUICK_S if quick else LASTING_S))} | tried
    text = ""
    if {"each", "random"} & set(parts):
        unpacked()  # the programs that cut connections, before an hour of faults needs one
    try:
        start_anew()
        for number, (name, faults) in enumerate(tried.items()):
            if name.split()[0] not in parts:
                continue
            with on_disks(stack := started()) as machine:
                text += table(name, counted(stack, machine, faults, f"faults-{number}-"))
        for number in range(POWER_CUTS if "power" in parts else 0):
            with on_disks(stack := started()) as machine:
                text += f"- {after_power_cut(stack, machine, f'cut-{number}-')}\n"
                print(text.splitlines()[-1], flush=True)
        for number, what in enumerate(FILES if "files" in parts else {}):
            if not wanted(what):
                continue
            text += f"- {cut_short(started(), what, f'files-{number}-')}\n"
            print(text.splitlines()[-1], flush=True)
        if "churn" in parts:
            start_anew()
            text += churn_table(float(os.environ.get("MINUTES", "6" if quick else "60")))
    finally:
        drive("down")
    return text


def churn_table(minutes: float) -> str:
    means = quarters(churned(started(), "", minutes))
    lines = [
        f"{minutes:g} minutes of churn, means of quarters of them; what grew: {'; '.join(grown(means)) or 'nothing'}:",
        "",
        "| what | first | second | third | last |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {name} | {' | '.join(f'{mean:.1f}' for mean in of_quarters)} |" for name, of_quarters in means.items()),
    ]
    return "\n".join(lines) + "\n\n"


def each(seconds: float) -> list[Fault]:
    return [
        *(Fault("kill", name) for name in PROCESSES),
        Fault("all killed", ALL),
        *(Fault("no memory", name) for name in ALLOCATE),
        *(Fault(kind, name, seconds) for kind in OF_PROCESSES for name in PROCESSES),
        *(Fault(kind, ALL, seconds) for kind in ("stop", *CLOCKS)),  # as of a host that sleeps
        *(Fault(kind, name, seconds) for kind in (*OF_DISKS, SLOW_DISK) for name in FOLDERS),
        Fault("full disk", "collector", seconds, "kafka"),  # else its queue is empty, and needs no space
        *(Fault(kind, client, seconds, port) for kind in CUTS for client, port in ASKS),
        *(Fault(kind, EVERY, seconds) for kind in CUTS),
    ]


def chosen(faults: Sequence[Fault]) -> list[Fault]:
    return [fault for fault in faults if wanted(str(fault))]


def wanted(text: str) -> bool:
    """`FAULTS="full disk,stop: kafka"`: those whose text begins so."""
    begins = tuple(one.strip() for one in os.environ.get("FAULTS", "").split(",") if one.strip())
    return not begins or text.startswith(begins)


def table(title: str, found: Counted) -> str:
    lines = [
        f"{title}. {found.acknowledged} spans acknowledged and counted, {found.repeats} repeats on the topic:",
        "",
        "| fault | what the doctor says | requests sent again | tables current after, s | graph current after, s |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {row.fault} | {failing(row.seen)} | {row.refused} | {row.tables_s:.0f} | {row.graph_s:.0f} |"
            for row in found.rows
        ),
    ]
    return "\n".join(lines) + "\n\n"


def failing(seen: list[str]) -> str:
    """What the doctor calls a failure, and what it says of disks, the beginning of each; and SPARED."""
    shown = [text for text in seen if text.startswith("fail") or ": disks: " in text or text == SPARED]
    return "<br>".join(text.removeprefix("fail ")[:160].replace("|", "/") for text in shown)
