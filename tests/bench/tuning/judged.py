"""What sessions came to, and the table of all."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.tuning.parameters import WINDOW
from sluice.tuning.session.confirm import Gain, gain
from sluice_kit.applications.real_load import percentile_ms

Found = Mapping[str, Any]
BAR, BAR_LOWER, BAR_REDUCED = 0.20, 0.05, 0.85
WHOLE, WITHOUT_POOLS, REDUCED = "whole", "without-pools", "reduced"


def confirming(session: Found) -> list[Found]:
    """The trials of the winner that was confirmed last, and the default's beside them."""
    results = [trial for trial in session["trials"] if trial["confirms"] is not None]
    return [trial for trial in results if trial["confirms"] == results[-1]["confirms"]]


def of_both(session: Found) -> list[dict[str, Found]]:
    """The confirming pairs by purpose, without those of which a side has no value: it was rolled back."""
    pairs = confirming(session)
    results = [{item["purpose"]: item for item in pair} for pair in zip(pairs[::2], pairs[1::2], strict=False)]
    return [pair for pair in results if len(pair) == 2 and all(item["value"] is not None for item in pair.values())]


def pairs(session: Found) -> list[tuple[float, float]]:
    """(default, winner), ms."""
    return [(pair["DEFAULT"]["value"], pair["WINNER"]["value"]) for pair in of_both(session)]


def users_gain(run: Found, window: Mapping[str, float]) -> float | None:
    """By what share the p95 of the users' own clock was less under the winner than under the default, in the windows of
    the confirming pairs; None where a side has none. It holds the network, and the wait for nginx."""
    records: dict[str, list[Any]] = {"DEFAULT": [], "WINNER": []}
    for trial in (item for pair in of_both(run["session"]) for item in pair.values()):
        if trial["applied_s"] is not None:
            since = trial["applied_s"] + window["warm_up_s"]
            until = since + window["most_s"]
            records[trial["purpose"]] += [second for second in run["users"] if since < second["at"] < until]
    if not all(records.values()):
        return None
    return 1 - percentile_ms(records["WINNER"], 0.95) / percentile_ms(records["DEFAULT"], 0.95)


def confirmed(runs: Iterable[Found]) -> Gain | None:
    """Of all seeds' confirming pairs together."""
    return gain([pair for run in runs for pair in pairs(run["session"])])


def table(runs: Sequence[Found], space: Found | None, window: Mapping[str, float] = WINDOW) -> str:
    results: dict[tuple[str, str], list[Found]] = {}
    for run in runs:
        results.setdefault((run["space"], run["method"]), []).append(run)
    lines = [
        "p95 of all pages as nginx's SERVER spans have it in the pipeline. Gain: by what share of the default's the"
        " winner's is less, in the confirming trials (default and winner in turn); together: over all seeds' pairs.",
        "",
        "| space | parameters | method | gain by seed (95 % interval) | together | as the users saw it | default, ms |"
        " minutes | failed or unsafe |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_row(space_, method, item, window) for (space_, method), item in results.items()),
        "",
        *_bars(results),
    ]
    if space is not None:
        lines += ["", "`./sluice tuning space --rule bottleneck` on the application with its defaults:", "", "```"]
        lines += [*str(space["table"]).rstrip().splitlines(), "```"]
    lines += ["", *_winners(results)]
    late = max((second["late_ms"] for run in runs for second in run["users"]), default=0.0)
    lines.append(f"The load's own program was late by {late:.0f} ms at most.")
    return "\n".join(lines) + "\n"


def _row(space: str, method: str, runs: Sequence[Found], window: Mapping[str, float]) -> str:
    seeds = ", ".join(f"{_gain(run['session']['gain'])}" for run in runs)
    together = confirmed(runs)
    users = [share for run in runs if (share := users_gain(run, window)) is not None]
    defaults = [default for run in runs for default, _ in pairs(run["session"])]
    lost = sum(trial["verdict"] in ("FAILED", "UNSAFE") for run in runs for trial in run["session"]["trials"])
    figures = [
        space,
        str(len(runs[0]["parameters"])),
        f"`{method}`",
        seeds,
        _gain(together and (together.share, together.lower, together.upper)),
        ", ".join(f"{share:.0%}" for share in users) or "-",
        f"{statistics.mean(defaults):.0f}" if defaults else "-",
        f"{statistics.mean(run['session']['seconds'] for run in runs) / 60:.1f}",
        str(lost),
    ]
    return f"| {' | '.join(figures)} |"


def _gain(gain: Sequence[float] | None) -> str:
    return "none" if gain is None else f"{gain[0]:.0%} ({gain[1]:.0%} to {gain[2]:.0%})"


def _bars(runs_by_method: Mapping[tuple[str, str], Sequence[Found]]) -> list[str]:
    """The best method of each space, and what the reduced space keeps of the whole one's gain."""
    lines = []
    for space in (WHOLE, WITHOUT_POOLS):
        gains = {
            method: gained
            for (of, method), runs in runs_by_method.items()
            if of == space and (gained := confirmed(runs))
        }
        if gains:
            best, won = max(gains.items(), key=lambda item: item[1].share)
            met = "met" if won.share >= BAR and won.lower > BAR_LOWER else "missed"
            lines.append(
                f"{space}: best is `{best}` with {_gain((won.share, won.lower, won.upper))}"
                f" (bar: {BAR:.0%} at least, interval above {BAR_LOWER:.0%}: {met})."
            )
    for method in sorted({method for of, method in runs_by_method if of == REDUCED}):
        whole, reduced = confirmed(runs_by_method.get((WHOLE, method), ())), confirmed(runs_by_method[REDUCED, method])
        if whole and reduced and whole.share > 0:
            kept = reduced.share / whole.share
            met = "met" if kept >= BAR_REDUCED else "missed"
            lines.append(f"reduced: `{method}` keeps {kept:.0%} of that gain (bar: {BAR_REDUCED:.0%} at least: {met}).")
    return lines


def _winners(runs_by_method: Mapping[tuple[str, str], Sequence[Found]]) -> list[str]:
    """What the winner of each space's and method's first seed changed."""
    lines = ["The winners of the first seeds, where they differ from the default:", ""]
    for (space, method), runs in runs_by_method.items():
        session = runs[0]["session"]
        if of := confirming(session):
            changed = session["trials"][of[-1]["confirms"]]["changed"]
            lines.append(f"- {space}, `{method}`: {', '.join(f'{name} {value}' for name, value in changed.items())}")
    return [*lines, ""]
