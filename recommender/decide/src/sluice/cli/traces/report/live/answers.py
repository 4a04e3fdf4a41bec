"""The decider's answers in the report: they take the place of what the report would say. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sluice.cli.traces.report.analysis.belief import PoolSizes
from sluice.cli.traces.report.analysis.curves import Verdict
from sluice.cli.traces.report.analysis.pools import PoolId
from sluice.model.keys import PoolKey
from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.inputs.sizes import Sizes, TargetSize
from sluice.pools.policy.transitions import Case

#: The text of a reason is in the decider's answer alone.
_ELSEWHERE = "./sluice pools explain has the text"


class Answer(NamedTuple):
    """steady: the size that was in force in the whole time of the report; None where it changed, or is not known."""

    state: State
    current: int | None
    target: int | None
    bounds: tuple[int, int] | None
    confidence: float
    codes: tuple[str, ...]
    steady: int | None


def answers_of(rows: Iterable[tuple[Any, ...]]) -> dict[PoolId, Answer]:
    """Rows of answers.sql."""
    return {
        PoolId(service, side, peer): Answer(
            State(state), current, target, None if low is None else (low, high), float(confidence), tuple(codes), steady
        )
        for service, side, peer, state, current, target, low, high, confidence, codes, steady in rows
    }


def with_steady_sizes(
    sizes: Mapping[PoolId, PoolSizes], answers: Mapping[PoolId, Answer], now_ms: int
) -> dict[PoolId, PoolSizes]:
    """The sizes of metrics, and of answers where metrics have none."""
    known = dict(sizes)
    for of, answer in answers.items():
        if answer.steady is not None and (of not in known or not known[of].targets):
            in_force, notes = Sizes(), known[of].notes if of in known else ()
            in_force.restore(PoolKey(of.service, of.side, of.peer), answer.steady, 0)  # type: ignore[arg-type]
            known[of] = PoolSizes((TargetSize("", answer.steady, now_ms),), in_force, notes)
    return known


def as_answered(verdict: Verdict, answer: Answer) -> Verdict:
    """The decider's decision; evidence, curve and belief are the report's."""
    return replace(
        verdict,
        current=answer.current,
        state=answer.state,
        confidence=answer.confidence,
        target=answer.target,
        bounds=answer.bounds,
        reasons=tuple(
            Reason(code, Case[code].value if code in Case.__members__ else _ELSEWHERE) for code in answer.codes
        ),
    )
