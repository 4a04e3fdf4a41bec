"""The picture of a belief as a message."""

from dataclasses import replace

import pytest

from fakes import CART
from feeds import evidence
from sluice.control.answer import Answer, Content
from sluice.pools.estimate.belief.evidence import Second
from sluice.pools.estimate.belief.kept import believed
from sluice.pools.estimate.threshold import Threshold
from sluice.pools.policy.picture import draw
from sluice.pools.policy.state import Learnt
from sluice.serve.messages import belief_evidence, explanation

SEEN = evidence(8, 16, 32).with_second(Second(2.0, True, True, 10.0, 200.0, 1.0))
LEARNT = Learnt(evidence=SEEN, kept=believed(None, SEEN, 4.0))


def answer(current: int | None) -> Answer:
    return Answer(
        key=CART,
        content=Content("PROVIDED", current, current, 14, 18, 16, ("BEST",)),
        reasons=(),
        confidence=1.0,
        model="belief",
        computed_at_ms=1_000,
        valid_until_ms=31_000,
        revision=1,
        threshold=Threshold(250.0, "pool", ""),
        learnt=LEARNT,
    )


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
