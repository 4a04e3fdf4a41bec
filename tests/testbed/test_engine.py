import pytest

from testbed.engine import Engine


def test_runs_in_order_of_time_and_then_of_scheduling():
    engine = Engine()
    ran: list[str] = []
    engine.at(2.0, ran.append, "third")
    engine.at(1.0, ran.append, "first")
    engine.at(1.0, ran.append, "second")
    assert engine.run_until(5.0) == 3
    assert ran == ["first", "second", "third"]
    assert engine.now == 5.0


def test_stops_at_the_end_and_goes_on_from_there():
    engine = Engine()
    ran: list[str] = []
    engine.at(1.0, ran.append, "on the end")
    engine.at(1.5, ran.append, "beyond")
    engine.run_until(1.0)
    assert ran == ["on the end"]
    engine.run_until(2.0)
    assert ran == ["on the end", "beyond"]


def test_an_action_may_schedule_another_at_once():
    engine, times = Engine(), []

    def chain(left):
        times.append(engine.now)
        if left:
            engine.after(0.0 if left == 1 else 0.5, chain, left - 1)

    engine.at(1.0, chain, 3)
    engine.run_until(10.0)
    assert times == [1.0, 1.5, 2.0, 2.0]


def test_the_past_is_refused():
    engine = Engine()
    engine.run_until(3.0)
    with pytest.raises(ValueError, match=r"schedule an event at 2\.0 s: the clock already stands at 3\.0 s"):
        engine.at(2.0, print, None)
