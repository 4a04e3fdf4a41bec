"""The real application's goodput at each size of its thread pool: what Sluice's answer for it is judged by.

Tomcat and PostgreSQL on one core, their users and this program on the others, no stack beside them. Each size is held
while a steady number of users is served; the rounds go through all sizes in turn, so that a slow minute of the machine
shows as a difference between rounds and not as one between sizes.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sluice_kit.applications.real_load import LoadResult, steady
from sluice_kit.applications.tomcat import Application, application
from sluice_kit.machine.cores import split
from sluice_kit.servers.postgres import postgres

SIZES = (4, 8, 12, 16, 24, 32, 64, 128)
USERS = 100
WARM_UP_S = 15.0
Rounds = list[dict[int, LoadResult]]


def run(quick: bool = False) -> str:
    """A table for each handler."""
    rounds, seconds = (1, 5.0) if quick else (2, 10.0)
    return "\n".join(_table(handler, sweep(handler, rounds, seconds)) for handler in ("update", "plain"))


def sweep(handler: str, rounds: int, seconds: float) -> Rounds:
    """What users of `/handler` see at each size, per round."""
    _, others = split()
    with _application() as running:
        url = f"{running.url}/{handler}"
        running.resize(max(SIZES))
        steady(others, url, handler, USERS, WARM_UP_S)
        return [_round(running, url, handler, others, seconds, seed) for seed in range(rounds)]


def _round(
    running: Application, url: str, handler: str, others: set[int], seconds: float, seed: int
) -> dict[int, LoadResult]:
    seen = {}
    for size in SIZES:
        running.resize(size)
        seen[size] = steady(others, url, handler, USERS, seconds, seed=seed)
        print(f"{handler}: {size:3} threads: {seen[size]}", flush=True)
    return seen


@contextmanager
def _application() -> Iterator[Application]:
    core, _ = split()
    with tempfile.TemporaryDirectory() as directory:
        logs = Path(directory)
        with postgres([core], logs / "postgres.log") as database:
            with application("bench", max(SIZES), database, [core], logs / "tomcat.log") as running:
                yield running


def _table(handler: str, rounds: Rounds) -> str:
    def row(what: str, figures: Sequence[str]) -> str:
        return f"| {what} | {' | '.join(figures)} |"

    def each(figure: str) -> list[str]:
        return [" / ".join(f"{getattr(seen[size], figure):.0f}" for seen in rounds) for size in SIZES]

    late = max(seen.late_ms for each_round in rounds for seen in each_round.values())
    lines = [
        f"`/{handler}`, {USERS} users, a figure a round; the load's own program was late by {late:.0f} ms at most:",
        "",
        row("threads", [str(size) for size in SIZES]),
        row("---", ["---"] * len(SIZES)),
        row("good within 250 ms, a second", each("good_per_s")),
        row("responses a second", each("responses_per_s")),
        row("response time in the mean, ms", each("mean_ms")),
    ]
    return "\n".join(lines) + "\n"
