"""`status`: every process, then the findings of `sluice doctor` about each stage, its lag included."""

import datetime
from collections.abc import Sequence

from stack import processes
from stack.http import UnreachableError
from stack.report import Report
from stack.settings import Settings
from stack.sluice import sluice
from stack.supervisor import Process, Supervisor

CHECK_TIMEOUT_S = 10


def status(settings: Settings, report: Report) -> int:
    """The exit code: 0 when every process is up and doctor finds no failure, 1 otherwise."""
    try:
        supervised = Supervisor(settings).processes()
    except UnreachableError:
        left = processes.of_stack(settings.state)
        report.line("the stack is not up" + (f", but {len(left)} of its processes are: run `make up`" if left else ""))
        for pid, command in left.items():
            report.line(f"  {pid:>7}  {command[:100]}")
        return 1
    rows = [row(process) for process in sorted(supervised, key=lambda process: process.name)]
    for text in table(("process", "state", "pid", "since", "restarts", "memory"), rows):
        report.line(text)
    report.line()
    doctor = sluice(settings, "doctor", "--timeout", str(CHECK_TIMEOUT_S), timeout_s=6 * CHECK_TIMEOUT_S)
    for text in (doctor.stdout + doctor.stderr).splitlines():
        report.line(text)
    return 0 if doctor.returncode == 0 and all(process.up for process in supervised) else 1


def row(process: Process) -> tuple[str, ...]:
    restarts = str(process.restarts)
    if not process.alive:
        how = f"{process.state.lower()}, exit code {process.exit_code}" if process.started else "not started"
        return (process.name, f"down ({how})", "-", "-", restarts, "-")
    since = datetime.datetime.fromtimestamp(process.started)
    state = "up" if process.up else "up, not ready"
    memory = f"{process.memory_bytes / 2**20:.0f} MiB"
    return (process.name, state, str(process.pid), f"{since:%Y-%m-%d %H:%M:%S}", restarts, memory)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns as wide as their widest cell."""
    widths = [max(len(line[column]) for line in (header, *rows)) for column in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (header, *rows)]  # fmt: skip
