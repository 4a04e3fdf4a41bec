"""The numbers that a state may hold. A state that breaks one of these rules is neither written nor restored.

Sizes are at least 1. Sums of evidence are above 0 and finite, since their logarithms are taken. A CPU limit of 0 means
that nobody reported one. Times are those that a timestamp of the API holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite

from sluice.pools.estimate.belief.evidence import Evidence
from sluice.pools.policy.decision import Advice
from sluice.pools.policy.state import Facts, Learnt, Standing
from sluice.pools.policy.trust import Trust

MOST_SIZE = 2**32 - 1
# Unix ms, to the end of 2261.
END_MS = 9_214_646_400_000
MOST_STEP = 2**31 - 1


class IllegalStateError(ValueError):
    """The message names the number and the legal values."""


def check_facts(facts: Facts) -> None:
    check_time("now", facts.now_ms)
    _size("current", facts.current)
    _size("baseline", facts.baseline)
    if facts.change is not None:
        _size("change.from_size", facts.change.from_size)
        _size("change.to_size", facts.change.to_size)
        check_time("change.at", facts.change.at_ms)
    _trust(facts.trust)


def _trust(trust: Trust) -> None:
    _size("trust.operator_size", trust.operator)
    times = {"since": trust.since_ms, "demand_until": trust.demand_until_ms, "given_up_until": trust.given_up_ms}
    for name, ms in times.items():
        check_time(f"trust.{name}", ms)
    _between("trust.demand_per_s", trust.demand_per_s, 0.0, inf)
    _between("trust.given_up_times", trust.times, 0, MOST_SIZE)
    for record in trust.measured:
        _size("trust.measured.size", record.size)
        _between("trust.measured.failed", record.failed, 0.0, 1.0)
        _between("trust.measured.lag_ms", record.lag_ms, 0, MOST_SIZE)
        for name, value in (("per_s", record.per_s), ("stay_s", record.stay_s), ("cores", record.cores)):
            _between(f"trust.measured.{name}", value, 0.0, inf)
    for one in trust.refused:
        _size("trust.refused.size", one.size)
        _size("trust.refused.from_size", one.from_size)
        check_time("trust.refused.until", one.until_ms)
        _between("trust.refused.times", one.times, 0, MOST_SIZE)
    if trust.check is not None:
        check_time("trust.checked", trust.check.at_ms)
        _between("trust.checked_per_s", trust.check.per_s, 0.0, inf)


def check_learnt(learnt: Learnt) -> None:
    if learnt.until_ms != -1:
        check_time("until", learnt.until_ms)
    if learnt.completed_ms is not None:
        check_time("completed", learnt.completed_ms)
    _levels("levels", learnt.evidence)
    for version, evidence in learnt.versions:
        _levels(f"levels of version {version!r}", evidence)
    _between("doubt_score", learnt.doubt.score, 0.0, inf)
    for second in learnt.doubt.aside:
        _above_0("doubted", (second.concurrency, second.completions, second.seconds))
        _between("doubted: cores", second.cores, 0.0, inf)
    _standing(learnt.standing)
    for peak in learnt.peaks:
        check_time("peaks: hour", peak.hour_ms)
        _between("peaks: per_s", peak.per_s, 0.0, inf)
    if (waits := learnt.waits) is not None:
        for name in ("evidence_s", "mean_s", "own_s"):
            _between(f"waits.{name}", getattr(waits, name), 0.0, inf)
        if waits.carried_ms != -1:
            check_time("waits.carried", waits.carried_ms)
    for share in learnt.full:
        _between("full_shares", share, 0.0, 1.0)


def _standing(standing: Standing) -> None:
    if standing.until_ms != -1:
        check_time("standing.until", standing.until_ms)
    _between("standing.short", standing.short, 0, MOST_SIZE)
    _between("standing.spare", standing.spare, 0, MOST_SIZE)
    _between("standing.cores", standing.cores, 0.0, inf)
    _between("standing.replicas", standing.replicas, 0, MOST_SIZE)
    if standing.advice is not None:
        check_advice(standing.advice)


def check_advice(advice: Advice) -> None:
    check_time("advice.since", advice.since_ms)
    _size("advice.best", advice.best)
    _between("advice.asked_per_s", advice.asked_per_s, 0.0, inf)
    _between("advice.best_per_s", advice.best_per_s, 0.0, inf)
    _between("advice.in_time", advice.in_time or 0.0, 0.0, 1.0)
    for name, cores in (("cores", advice.cores), ("to_cores", advice.to_cores)):
        _between(f"advice.{name}", cores or 0.0, 0.0, inf)
    for name, replicas in (("replicas", advice.replicas), ("to_replicas", advice.to_replicas)):
        _between(f"advice.{name}", replicas or 0, 0, MOST_SIZE)


def _levels(name: str, evidence: Evidence) -> None:
    for level in evidence.levels:
        _between(f"{name}: step", level.step, -MOST_STEP, MOST_STEP)
        _above_0(name, (level.completions, level.seconds, level.in_flight_s))
        _between(f"{name}: cores", level.cores, 0.0, inf)


def _above_0(name: str, values: Iterable[float]) -> None:
    for value in values:
        if not (isfinite(value) and value > 0):
            raise IllegalStateError(f"{name}: {value} is not legal; legal: above 0, finite")


def _size(name: str, value: int | None) -> None:
    if value is not None:
        _between(name, value, 1, MOST_SIZE)


def check_time(name: str, ms: int) -> None:
    if not 0 <= ms < END_MS:
        raise IllegalStateError(f"{name} {ms} ms is not legal; legal: 1970-01-01 to 2261-12-31")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not (isfinite(value) and low <= value <= high):
        raise IllegalStateError(f"{name} {value} is not legal; legal: {low:g} to {high:g}")
