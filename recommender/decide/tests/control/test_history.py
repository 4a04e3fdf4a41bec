"""Answers as rows of the audit."""

from datetime import UTC, datetime, timedelta

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.control.history import COLUMNS, recommendation_row
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog


def test_a_stale_answer_does_not_take_the_place_of_the_one_that_went_stale() -> None:
    clock, store = FakeClock(), Store()
    ControlLoop(config(), FakeCollector({CART: hump()}), FakeHistory(), MemoryStateLog(), store, Sizes(), clock).step()
    answer = store.get(CART)
    assert answer is not None
    fresh, stale = (
        dict(zip(COLUMNS["recommendations"], recommendation_row(each), strict=True))
        for each in (answer, answer.stale(()))
    )
    computed = datetime.fromtimestamp(clock() / 1000, UTC)
    assert (fresh["state"], fresh["at"]) == ("PROVIDED", computed)
    assert (stale["state"], stale["at"]) == ("STALE", computed + timedelta(seconds=30))
    assert fresh["valid_until"] == stale["valid_until"] == stale["at"]
