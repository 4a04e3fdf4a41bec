"""`make test`: runs suites on the stack, and beside them, two at a time, those that need none.

The former mostly wait for the stack; the latter mostly compute, and get the processors when those do not ask for them.
Every suite runs, whatever others do, and the exit code is 1 when one failed. What runs beside is shown when it is done.
Ends with what each took.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sluice_kit.local_stack.driver import REPOSITORY, STARTED, StackError, drive, start_anew

LOGS = REPOSITORY / ".cache/logs"
# A tenth of the processor's time where the stack wants all of it (weights 110 to 1024).
BEHIND = ["nice", "-n", "10"]


@dataclass(frozen=True)
class Result:
    """What a suite came to: exit code, seconds by the clock, and of processors (in what it started and waited for)."""

    suite: str
    code: int
    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        how = "passed" if self.code == 0 else f"FAILED ({self.code})"
        return f"{self.suite:<18} {self.wall_s:6.0f} s {self.cpu_s:6.0f} s  {how}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m sluice_kit.suites", description=__doc__)
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="targets of the Makefile that need the stack")
    parser.add_argument("--beside", nargs="+", default=[], metavar="SUITE", help="targets that do not")
    options = parser.parse_args(arguments)
    running: list[subprocess.Popen[bytes]] = []
    LOGS.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as lanes, stopped_at_the_end(running):
        beside = [lanes.submit(run, suite, running, LOGS / f"{suite}.log") for suite in options.beside]
        results = on_the_stack(options.suites, running)
        for suite, future in zip(options.beside, beside, strict=True):
            results.append(future.result())
            print(f"\n== {suite}\n{(LOGS / f'{suite}.log').read_text(errors='replace')}", flush=True)
    print(f"\n{'suite':<18} {'clock':>8} {'cores':>8}", *results, sep="\n")
    failed = [result.suite for result in results if result.code]
    print(f"\nFAILED: {' '.join(failed)}" if failed else "\nall suites passed")
    return 1 if failed else 0


def on_the_stack(suites: Sequence[str], running: list[subprocess.Popen[bytes]]) -> list[Result]:
    """Starts the stack, runs the suites, and takes it down, whatever happened."""
    began = time.monotonic()
    try:
        print("== stack", flush=True)
        start_anew()
        print(f"the stack is up after {time.monotonic() - began:.0f} s", flush=True)
        results = []
        for suite in suites:
            print(f"\n== {suite}", flush=True)
            results.append(run(suite, running))
        return results
    except StackError as error:
        print(f"\n{error}: none of the tests that need it was run", flush=True)
        return [Result(suite, 1, 0.0, 0.0) for suite in suites]
    finally:
        drive("down")


def run(suite: str, running: list[subprocess.Popen[bytes]], log: Path | None = None) -> Result:
    """Runs a target of the Makefile; what it says goes straight on, or to `log`, when it runs behind the others."""
    began = time.monotonic()
    with open(log, "wb") if log else open(os.devnull, "wb") as out:
        process = subprocess.Popen(
            [*(BEHIND if log else []), "make", "--no-print-directory", suite],
            cwd=REPOSITORY,
            env=os.environ | {STARTED: "1"},
            stdout=out if log else None,
            stderr=out if log else None,
        )
        running.append(process)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result = Result(suite, process.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime)
    if log:
        print(f"\n== {result}", flush=True)
    return result


@contextmanager
def stopped_at_the_end(running: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """What still runs when the block ends, as it does at Ctrl-C, is told to stop."""
    try:
        yield
    finally:
        for process in running:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
