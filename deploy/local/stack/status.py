"""`status`: every process, and how far each stage is behind. What cannot be known says why; it is never shown as 0."""

import datetime
from collections.abc import Sequence

from stack import processes
from stack.http import UnreachableError
from stack.lag import ERROR, stages
from stack.report import Report
from stack.settings import Settings
from stack.supervisor import Process, Supervisor


def status(settings: Settings, report: Report) -> int:
    """The exit code: 0 when every process is up and no stage has an error, 1 otherwise."""
    try:
        listed = Supervisor(settings).processes()
    except UnreachableError:
        left = processes.of_stack(settings.state)
        report.line("the stack is not up" + (f", but {len(left)} of its processes are: run `make up`" if left else ""))
        for pid, command in left.items():
            report.line(f"  {pid:>7}  {command[:100]}")
        return 1
    rows = [row(process) for process in sorted(listed, key=lambda process: process.name)]
    for text in table(("process", "state", "pid", "since", "restarts", "memory"), rows):
        report.line(text)
    report.line()
    behind = stages(settings)
    for text in table(("stage", "how far behind"), behind):
        report.line(text)
    well = all(process.up for process in listed) and not any(text.startswith(ERROR) for _, text in behind)
    return 0 if well else 1


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
