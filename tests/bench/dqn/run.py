"""`make bench BENCH=dqn`, and its parts by themselves; `PARTS=` and `SEEDS=` take some."""

from __future__ import annotations

from collections.abc import Callable

from bench.decision.summary import markdown
from bench.dqn import convergence, cost, session, transfer, workloads


def converges(quick: bool) -> str:
    return convergence.report((11,), 60, keep=False) if quick else convergence.report()


def races(quick: bool) -> str:
    return workloads.report(workloads.CHANGES[:1], (1,), keep=False) if quick else workloads.report()


def transfers(quick: bool) -> str:
    return transfer.report((11,), 40, keep=False) if quick else transfer.report()


def costs(quick: bool) -> str:
    return _rows(cost.report(20, 1) if quick else cost.report())


PARTS: dict[str, tuple[str, Callable[[bool], str]]] = {
    "convergence": ("Convergence (figure 7)", converges),
    "workloads": ("Workloads and changes (Table 3, 5.4)", races),
    "transfer": ("Another CPU limit", transfers),
    "cost": ("Cost of a pool", costs),
}


def run(quick: bool) -> str:
    names = session.parts(list(PARTS))
    return "\n".join(f"### {PARTS[name][0]}\n\n{PARTS[name][1](quick)}" for name in names)


def _rows(found: list[tuple[str, str]]) -> str:
    return markdown(["what", "measured"], [list(row) for row in found])
