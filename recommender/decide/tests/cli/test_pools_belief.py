"""`sluice pools explain` of a pool that a belief decides, from a belief to the screen."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.cli.pools.text import BASES, STATES
from sluice.common.v1.decision_pb2 import Action, Reason
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import Evidence, Second
from sluice.pools.policy.picture import draw
from sluice.pools.policy.state import Learnt
from sluice.pools.publication.messages import belief_evidence
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PROVIDED, Basis, PoolSize, State
from sluice_kit.decide.feeds import evidence

from .pool_server import PoolServer

Run = Callable[..., Result]

# Best at 16; see feeds.FALLS.
KNOWN = evidence(8, 12, 16, 20, 32, 64)
LIGHT = Second(4.0, False, False, 3.0, 120.0, 1.0)
ELSEWHERE = Second(2.0, True, True, 10.0, 200.0, 1.0)


def explained(seen: Evidence, size: int | None = 16) -> Explanation:
    picture = draw(Learnt(evidence=seen, kept=believed(None, seen, 4.0)), size)
    assert picture is not None
    answer = PoolSize(
        pool=Pool(service="cart", side=SIDE_SERVER),
        state=STATE_PROVIDED,
        action=Action.ACTION_HOLD,
        basis=Basis.BASIS_HELD,
        current=size,
        target=size,
        lower_bound=picture.knee,
        upper_bound=picture.upper,
        unguarded_target=picture.best,
        reasons=[Reason(code="BEST", text="no other size is known to be better")],
        model="belief",
    )
    return Explanation(pool_size=answer, belief=belief_evidence(picture))


def shown(run: Run, server: PoolServer, explanation: Explanation) -> list[str]:
    server.explanations = [explanation]
    result = run("pools", "explain", "cart", "--address", server.address)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_it_says_which_sizes_are_best_and_what_the_one_in_force_loses(run: Run, pool_server: PoolServer) -> None:
    explanation = explained(KNOWN, size=64)
    decision, belief = explanation.pool_size, explanation.belief
    decision.lower_bound, decision.unguarded_target, decision.upper_bound = 10, 12, 13
    lines = shown(run, pool_server, explanation)
    # The curve counts what completes late; the range of the decision does not.
    top = f"at {belief.best}; {belief.knee} to {belief.upper} complete 99 % of it or more, in time or late"
    assert f"top of curve    {top}" in lines
    assert "best size       12" in lines
    assert "range           10 to 13 complete 99 % of what it does or more, in time" in lines
    # 176 a second at 64, 364 at 16.
    (loss,) = [line for line in lines if line.startswith("expected loss")]
    assert 0.48 < float(loss.split()[2].rstrip("%")) / 100 < 0.54
    assert loss.endswith("at the size in force")
    assert f"evidence        {belief.seconds:.0f} s on 4 cores" in lines
    assert "state           PROVIDED: the best size is known within 2 %" in lines
    assert "basis           HELD: no better size is known, or nothing may change" in lines
    assert "  BEST: no other size is known to be better" in lines
    # What only an estimator has.
    assert not [line for line in lines if line.startswith(("knee", "fit", "memory"))]


def test_it_draws_points_curve_knee_and_the_best_sizes(run: Run, pool_server: PoolServer) -> None:
    explanation = explained(KNOWN.with_second(LIGHT).with_second(ELSEWHERE))
    lines = shown(run, pool_server, explanation)
    at = lines.index("throughput per second and instance, by size")
    legend, plot, axis, scale = lines[at + 1], lines[at + 2 : at + 18], lines[at + 18], lines[at + 19]
    for symbol, words in {
        "●": "full pool",
        "○": "not full",
        "×": "other CPU limit",
        "·": "belief of a full pool",
        "░": "80 % of it",
        "┊": "knee",
    }.items():
        assert f"{symbol} {words}" in legend
        assert any(symbol in line for line in plot)
    assert sum(line.count("●") for line in plot) == 6
    assert "═" in axis
    assert f"knee {explanation.belief.knee}" in scale


def test_points_of_another_cpu_limit_are_told_apart(run: Run, pool_server: PoolServer) -> None:
    lines = shown(run, pool_server, explained(KNOWN.with_second(LIGHT).with_second(ELSEWHERE)))
    rows = [line.split(maxsplit=3) for line in lines[lines.index("CONCURRENCY  THROUGHPUT/S  SECONDS  POOL") :]]
    assert rows[1] == ["3", "120.0", "1", "not full"]
    assert ["10", "200.0", "1", "full, 2 cores"] in rows
    assert ["16", "354.0", "19", "full"] in rows
    (told,) = [line for line in lines if line.startswith("evidence")]
    assert told.endswith("on 4 cores, 1 s on other CPU limits")
    # Where there are none, none are spoken of.
    lines = shown(run, pool_server, explained(KNOWN))
    assert not [line for line in lines if "other CPU limit" in line or "not full" in line]


def test_a_best_size_that_was_never_in_flight(run: Run, pool_server: PoolServer) -> None:
    lines = shown(run, pool_server, explained(evidence(2, seconds=5), size=2))
    (best,) = [line for line in lines if line.startswith("top of curve")]
    assert best.endswith("; more than were ever in flight")
    # The curve ends at 4, before it: nothing is drawn of it.
    assert lines[-3].endswith(" 4")
    assert not [line for line in lines if "┊" in line or "═" in line]


def test_without_one_size_in_force_no_loss_is_told(run: Run, pool_server: PoolServer) -> None:
    assert "expected loss   -" in shown(run, pool_server, explained(KNOWN, size=None))


def test_json_has_the_belief(run: Run, pool_server: PoolServer) -> None:
    explanation = explained(KNOWN)
    pool_server.explanations = [explanation]
    printed = json.loads(run("pools", "explain", "cart", "-o", "json", "--address", pool_server.address).stdout)
    belief = explanation.belief
    assert printed["curve"] is None
    assert printed["belief"]["knee"] == belief.knee
    assert set(printed["belief"]) == {
        *("points", "curve", "knee", "upper", "best", "loss", "seconds", "cpu_limit_cores"),
    }
    assert printed["belief"]["curve"][0] == {
        "size": 1,
        "throughput_per_s": belief.curve[0].throughput_per_s,
        "lower_per_s": belief.curve[0].lower_per_s,
        "upper_per_s": belief.curve[0].upper_per_s,
    }
    assert set(printed["belief"]["points"][0]) == {
        *("concurrency", "throughput_per_s", "seconds", "full", "cpu_limit_cores"),
    }


@pytest.mark.parametrize(("enum", "words"), [(State, STATES), (Basis, BASES)])
def test_every_value_has_its_words(enum: type[State] | type[Basis], words: dict[str, str]) -> None:
    prefix = f"{enum.DESCRIPTOR.name.upper()}_"
    assert {name.removeprefix(prefix) for name in enum.keys()[1:]} == set(words)
