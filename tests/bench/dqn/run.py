"""`make bench BENCH=dqn`, and its parts by themselves."""

from __future__ import annotations

from bench.decision.summary import markdown
from bench.dqn import convergence, cost, pareto, transfer, workloads


def converges(quick: bool) -> str:
    return convergence.report((11,), 60) if quick else convergence.report()


def races(quick: bool) -> str:
    return workloads.report(workloads.CHANGES[:1], (1,)) if quick else workloads.report()


def transfers(quick: bool) -> str:
    return transfer.report((11,), 40) if quick else transfer.report()


def fronts(quick: bool) -> str:
    return pareto.report(until_s=200) if quick else pareto.report()


def costs(quick: bool) -> str:
    found = cost.report(20, 1) if quick else cost.report()
    return markdown(["what", "measured"], [list(row) for row in found])


def run(quick: bool) -> str:
    parts = (
        ("Convergence (figure 7)", converges),
        ("Workloads and changes (Table 3, 5.4)", races),
        ("Another CPU limit", transfers),
        ("Pareto analysis (figure 11)", fronts),
        ("Cost", costs),
    )
    return "\n".join(f"### {name}\n\n{part(quick)}" for name, part in parts)
