"""Creates a session: validates its plan, and checks that its target is free."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from sluice.tuning.methods.methods import METHODS
from sluice.tuning.objective.block import Metric
from sluice.tuning.session.events import RefusedCommand
from sluice.tuning.session.session import Phase, Plan, Session
from sluice.tuning.session.step import OPEN
from sluice.tuning.space.check import SpaceError, check_space

MOST_TRIALS = 1_000
# Trials x parameters: it keeps a session's message with all of its trials under a megabyte.
MOST_VALUES = 20_000
MOST_PARALLEL, MOST_PAIRS = 100, 50
# The window of an operation's end to end times (table critical_paths) and of containers' CPU (resource_metrics).
PATH_WINDOW_S = 10
# How late after a window a container's CPU may arrive: one point per minute, and its transport.
CPU_LATE_S = 90


def create(plan: Plan, others: Iterable[Session], now_ms: int) -> Session | RefusedCommand:
    """The session at `now_ms`, Unix time. `others`: all known sessions, ended ones too."""
    wrong = list(problems(plan))
    if wrong:
        return RefusedCommand("INVALID_ARGUMENT", wrong[0].partition(":")[0], "\n".join(wrong))
    for other in others:
        if other.plan.name == plan.name:
            return RefusedCommand("ALREADY_EXISTS", "name", f"name: session {plan.name!r} already exists")
        if other.plan.target == plan.target and other.phase in OPEN:
            why = f"target: session {other.plan.name!r} is open on {plan.target!r}; legal: one at a time, stop it first"
            return RefusedCommand("FAILED_PRECONDITION", "target", why)
    return Session(plan, created_ms=now_ms, now_ms=now_ms, phase=Phase.SEARCHING)


def problems(plan: Plan) -> Iterator[str]:
    """The problems of a plan, a line each: field, value, legal range."""
    for field, text in (("name", plan.name), ("target", plan.target)):
        if not 1 <= len(text) <= 200:
            yield f"{field}: {text!r} is not legal; legal: 1 to 200 characters"
    if plan.root is not None and not 1 <= len(plan.root.service) <= 200:
        yield f"root.service: {plan.root.service!r} is not legal; legal: 1 to 200 characters"
    if plan.root is not None and len(plan.root.operation) > 500:
        yield f"root.operation: {len(plan.root.operation)} characters are not legal; legal: up to 500"
    if plan.root is not None and (plan.root.operation or plan.cpu) and plan.window.most_s < 2 * PATH_WINDOW_S:
        measured = "root.operation" if plan.root.operation else "cpu_ms"
        yield (
            f"window.most_s: {plan.window.most_s:g} is not legal; legal: >= {2 * PATH_WINDOW_S} with {measured},"
            f" which the pipeline measures in windows of {PATH_WINDOW_S} s"
        )
    if plan.method not in METHODS:
        yield f"method: {plan.method!r} is not legal; legal: {', '.join(METHODS)}"
    for field, number, least, most in (
        ("seed", plan.seed, 0, 2**32 - 1),
        ("budget", plan.budget, 1, MOST_TRIALS),
        ("parallel", plan.parallel, 1, MOST_PARALLEL),
        ("pairs", plan.pairs, 0, MOST_PAIRS),
        ("patience_ms", plan.patience_ms, 1_000, 86_400_000),
    ):
        if not least <= number <= most:
            yield f"{field}: {number} is not legal; legal: {least} to {most}"
    if plan.pairs == 1:
        yield "pairs: 1 is not legal; legal: 0, or at least 2 (an interval needs two)"
    try:
        check_space(plan.space)
    except SpaceError as cause:
        yield from str(cause).splitlines()
        return
    values = (plan.budget + 2 * plan.pairs) * len(plan.space.parameters)
    if values > MOST_VALUES:
        yield f"budget: {values} values in all trials are not legal; legal: trials x parameters <= {MOST_VALUES}"
    if len(plan.first) > plan.budget:
        yield f"first: {len(plan.first)} configurations are not legal; legal: at most the budget, {plan.budget}"
    for index, configuration in enumerate(plan.first):
        yield from (f"first[{index}].{problem}" for problem in plan.space.problems(configuration))
    yield from _objective(plan)
    yield from _window(plan)


def _objective(plan: Plan) -> Iterator[str]:
    objective = plan.objective
    if not objective.weights:
        yield "objective.minimize: no metric is not legal; legal: at least one"
    for metric, weight in objective.weights:
        if not math.isfinite(weight) or weight == 0:
            yield f"objective.minimize.{metric.value}: {weight:g} is not legal; legal: finite, not 0"
        elif metric is Metric.GOODPUT and weight > 0:
            yield f"objective.minimize.{metric.value}: {weight:g} is not legal; legal: < 0 (more of it is better)"
    named = [metric for metric, _ in objective.weights]
    for name in sorted({metric.value for metric in named if named.count(metric) > 1}):
        yield f"objective.minimize.{name}: occurs twice; legal: once"
    for slo in objective.slos:
        if not (math.isfinite(slo.limit) and slo.limit >= 0):
            yield f"objective.slos.{slo.metric.value}: {slo.limit:g} is not legal; legal: >= 0, finite"
        elif slo.metric is Metric.ERRORS and slo.limit > 1:
            yield f"objective.slos.{slo.metric.value}: {slo.limit:g} is not legal; legal: 0 to 1"
    kept = [slo.metric for slo in objective.slos]
    for name in sorted({metric.value for metric in kept if kept.count(metric) > 1}):
        yield f"objective.slos.{name}: occurs twice; legal: once"
    threshold = objective.threshold_ms
    if threshold is not None and not (math.isfinite(threshold) and threshold > 0):
        yield f"objective.threshold_ms: {threshold:g} is not legal; legal: > 0, finite"


def _window(plan: Plan) -> Iterator[str]:
    window = plan.window
    for field, number, least, most in (
        ("warm_up_s", window.warm_up_s, 0, 3_600),
        ("least_s", window.least_s, 1, 3_600),
        ("most_s", window.most_s, window.least_s, 7_200),
        ("precision", window.precision, 0.001, 1),
    ):
        if not least <= number <= most:
            yield f"window.{field}: {number:g} is not legal; legal: {least:g} to {most:g}"
    seconds = window.warm_up_s + window.most_s
    if plan.root is not None and plan.cpu:
        seconds += CPU_LATE_S + PATH_WINDOW_S
    if plan.patience_ms < 1000 * seconds:
        yield f"patience_ms: {plan.patience_ms} is shorter than a trial; legal: >= {1000 * seconds:g}"
