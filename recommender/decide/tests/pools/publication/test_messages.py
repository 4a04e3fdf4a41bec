"""Answers, and what is behind them, as messages."""

from dataclasses import replace

import numpy as np
import pytest

from sluice.model.reason import Reason
from sluice.model.states import State
from sluice.pools.codec import MOST_EXPLANATION_BYTES
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.belief.cache import believed
from sluice.pools.estimate.belief.evidence import Second
from sluice.pools.estimate.curve import Curve
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.inputs.occupancy import OccupancyReport
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.policy.picture import draw
from sluice.pools.policy.state import Learnt
from sluice.pools.publication.messages import belief_evidence, content_of, explanation, pool_size
from sluice.pools.publication.publication import Content, Publication
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice_kit.decide.fakes import CART
from sluice_kit.decide.feeds import evidence

SEEN = evidence(8, 16, 32).with_second(Second(2.0, True, True, 10.0, 200.0, 1.0))
LEARNT = Learnt(evidence=SEEN, kept=believed(None, SEEN, 4.0))


def answer(current: int | None) -> Publication:
    return Publication(
        key=CART,
        content=Content("PROVIDED", current, current, 14, 18, 16, ("BEST",)),
        reasons=(),
        confidence=1.0,
        model="belief",
        computed_at_ms=1_000,
        revision=1,
        threshold=Threshold(250.0, "pool", ""),
        learnt=LEARNT,
    )


def test_a_message_has_the_legal_sizes() -> None:
    message = pool_size(replace(answer(16), legal=(2, 40)))
    assert (message.least, message.most) == (2, 40)
    assert not pool_size(answer(16)).HasField("most")


def test_every_field_of_a_picture_is_in_the_message() -> None:
    picture = draw(LEARNT, 16)
    assert picture is not None
    message = belief_evidence(picture)
    assert [
        (point.concurrency, point.throughput_per_s, point.seconds, point.full, point.cpu_limit_cores)
        for point in message.points
    ] == [(each.concurrency, each.completions_per_s, each.seconds, each.full, each.cores) for each in picture.points]
    assert [(each.size, each.throughput_per_s, each.lower_per_s, each.upper_per_s) for each in message.curve] == [
        (each.size, each.per_s, each.lower_per_s, each.upper_per_s) for each in picture.curve
    ]
    assert (message.knee, message.upper, message.best) == (picture.knee, picture.upper, picture.best)
    assert (message.loss, message.seconds, message.cpu_limit_cores) == (picture.loss, picture.seconds, 4.0)


@pytest.mark.parametrize("current", [None, 16])
def test_an_answer_that_a_belief_decided_is_explained_by_its_picture(current: int | None) -> None:
    given = explanation(answer(current))
    assert given.WhichOneof("evidence") == "belief"
    assert given.belief.HasField("loss") == (current is not None)


def test_nothing_is_shown_where_nothing_is_believed() -> None:
    for learnt in (Learnt(), replace(LEARNT, kept=None)):
        assert explanation(replace(answer(16), learnt=learnt)).WhichOneof("evidence") is None


def test_an_answer_is_read_from_the_log_with_the_content_that_it_was_written_with() -> None:
    contents = [
        Content("PROVIDED", 12, 13, 10, 14, 12, ("BEST", "MIXED"), "CURVE", "APPLY", (("a", 12), ("b", None))),
        Content("LEARNING", None, None, None, None, None, (), "HELD", "HOLD"),
        Content(
            "PROVIDED", 12, 12, 10, 14, 12, (), "HELD", "HOLD", (("a", 12), ("b", 12)), owners=(("b", "one@host"),)
        ),
    ]
    for content in contents:
        given = replace(answer(12), content=content, reasons=tuple(Reason(code, "") for code in content.codes))
        given = replace(
            given,
            targets=tuple(
                TargetSize(name, size, 5, reporter=dict(content.owners).get(name, "")) for name, size in content.sizes
            ),
        )
        assert content_of(PoolSize.FromString(pool_size(given).SerializeToString())) == content


def test_a_basis_that_this_version_lacks_is_read_as_unspecified() -> None:
    message = pool_size(answer(12))
    message.basis = 6  # type: ignore[assignment]
    assert content_of(PoolSize.FromString(message.SerializeToString())).basis == "UNSPECIFIED"


def test_an_answer_has_what_its_targets_told_lately_and_is_no_other_one_for_it() -> None:
    told = OccupancyReport(5_000, 3, 2, (32, 30.0, 32), (5, 2.5, 6))
    by_hand = TargetSize("c", 32, 6_000, recommends=True)
    targets = (TargetSize("a", 32, 6_000, (told,)), TargetSize("b", 32, 26_000, (told,)), by_hand)
    given = pool_size(replace(answer(12), targets=targets))
    a, b, c = given.sizes
    assert (a.occupancy.full, a.occupancy.busy, a.occupancy.waiting, a.occupancy.waiting_mean) == (2, 32, 5, 2.5)
    assert not b.HasField("occupancy")  # of 21 s before it was read
    assert not c.HasField("occupancy")
    assert [target.recommends for target in given.sizes] == [False, False, True]
    bare = pool_size(replace(answer(12), targets=tuple(replace(each, occupancy=()) for each in targets)))
    assert content_of(given) == content_of(bare)


def test_a_curve_of_many_levels_fits_a_record() -> None:
    """A published model's has a point for each level of concurrency that was seen."""
    many = np.arange(1, 3_001, dtype=np.float64)
    curve = Curve(many, many, np.ones(3_000, dtype=np.int64))
    estimate = Estimate(State.PROVIDED, (), target=10, curve=curve, fitted_per_s=many)
    given = explanation(replace(answer(16), estimate=estimate))
    assert 200 < len(given.curve.points) <= 300
    assert (given.curve.points[0].concurrency, given.curve.points[-1].concurrency) == (1, 3_000)
    assert given.ByteSize() < MOST_EXPLANATION_BYTES
