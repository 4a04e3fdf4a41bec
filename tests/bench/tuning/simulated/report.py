"""The tables of `tuning-methods`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.tuning.simulated.searches import Search
from bench.tuning.simulated.shares import DDS, Counted, Shares, beside, counted, mean_interval, place, share

Kept = Mapping[int, Mapping[str, Any]]
LEAST_GAIN = 0.3
COLUMNS = (
    "tuned", "method", "budget", "seeds", "share, median", "quartiles", "mean", "beside DDS", "best seen, median",
    "mean", "default", "parameters", "trials", "overloads", "own time",
)  # fmt: skip


def report(kept: Kept, tables: Mapping[str, Sequence[Search]]) -> str:
    """A row has all seeds that have its search."""
    rows = counted(kept)
    lines = [*_oracle(kept, rows), "", *_legend()]
    for number, (title, searches) in enumerate(tables.items()):
        found = {search: rows[search] for search in searches if search in rows}
        if len(found) < 2:
            continue
        lines += ["", f"### {title}", ""]
        if number == 0:
            found = dict(sorted(found.items(), key=lambda row: -float(np.median(list(row[1].share.values())))))
            lines += [_places(found), ""]
        lines += [_line(COLUMNS), "|" + "---|" * len(COLUMNS)]
        lines += [_line(_row(search, row, found)) for search, row in found.items()]
    return "\n".join(lines) + "\n"


def _oracle(kept: Kept, rows: Counted) -> list[str]:
    gains = {seed: 1 - one["oracle_ms"] / one["default_ms"] for seed, one in kept.items()}
    low, median, high = np.quantile(list(gains.values()), (0.25, 0.5, 0.75))
    small = ", ".join(str(seed) for seed, gain in gains.items() if gain < LEAST_GAIN) or "none"
    below, results = sum(row.below for row in rows.values()), sum(len(row.share) for row in rows.values())
    path = [share(one["default_ms"], one["path_ms"], one["oracle_ms"]) for one in kept.values() if one["path_ms"]]
    overloading, better = zip(*(one["random"] for one in kept.values()), strict=True)
    return [
        f"The oracle's gain (its p95 less than the default's): median {median:.0%}, quartiles {low:.0%} to {high:.0%},"
        f" {min(gains.values()):.0%} to {max(gains.values()):.0%}. Seeds below {LEAST_GAIN:.0%}: {small}. Sessions with"
        f" a p95 below the oracle's: {below} of {results}. On the critical path alone, the oracle has"
        f" {_median(path)} of it (median of {len(path)} seeds).",
        "",
        f"Of 200 random configurations of a seed, {_median(overloading)} overload the application, and"
        f" {_median(better)} are better than the default (medians).",
        "",
        "In %, by seed: " + ", ".join(f"{seed}: {100 * gain:.0f}" for seed, gain in gains.items()) + ".",
    ]


def _legend() -> list[str]:
    return [
        "Share: of the oracle's gain on all services, by what the session recommends, without noise. Best seen: by the"
        " trial with the least measured p95, before the confirmation; one service after the other is not confirmed."
        " Beside DDS: difference of shares by seed, on the same services, with 15 trials. Means have their interval of"
        " 95 %. Default: sessions that kept it. Trials: with the confirming ones. Overloads: trials in which a queue"
        " grew without bound; answers with one. Own time: CPU time of a session.",
    ]


def _places(found: Counted) -> str:
    (by_share, share_rank), (by_seen, seen_rank) = place(found, "share"), place(found, "seen")
    return (
        f"DDS is number {by_share} of {len(found)} by its median share, and has rank {share_rank:.1f} in the mean over"
        f" seeds; by the best seen {by_seen} and {seen_rank:.1f}. Paper: first with 23.4 %, before particle swarm (22.9"
        " %) and a Gaussian process (22.1 %)."
    )


def _row(search: Search, row: Shares, found: Counted) -> list[str]:
    shares, seen = list(row.share.values()), list(row.seen.values())
    base = found.get(Search(search.tuned, DDS))
    trials = row.mean("trials")
    return [
        search.tuned,
        f"`{search.method}`" + (f", {search.how}" if search.how else ""),
        str(search.budget),
        str(len(shares)),
        _median(shares),
        " to ".join(f"{100 * value:.0f}" for value in np.quantile(shares, (0.25, 0.75))) + " %",
        _mean(shares),
        _mean(beside(row, base), "+") if base and base is not row else "-",
        _median(seen),
        _mean(seen),
        str(sum(value == 0 for value in shares)),
        f"{row.mean('parameters'):.0f}",
        f"{trials:.0f}",
        f"{row.mean('overloads') / trials:.0%}; {row.mean('overloaded') * len(shares):.0f}",
        f"{1e3 * row.mean('own_s'):.0f} ms",
    ]


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.0%}" if values else "-"


def _mean(values: Sequence[float], sign: str = "") -> str:
    mean, half = mean_interval(values)
    return f"{100 * mean:{sign}.1f} ± {100 * half:.1f} %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
