"""The rules of ``spans.Span``, on applications small enough to work out by hand. The network takes 1 ms one way."""

import pytest

from testbed.topology import Call, Parallel, PoolSpec, ServiceSpec
from testbed.worlds import World, back, compute, front, ms, wait


def test_one_call():
    world = World(front(wait(0.010), Call("back", "GET /work"), wait(0.005)), back())
    world.send(0)
    world.run()
    root, call, work = world.of("front", "server") + world.of("front", "client") + world.of("back", "server")
    assert [ms(span) for span in (root, call, work)] == [(1, 118), (11, 113), (12, 112)]
    assert root.parent_id == 0
    assert call.parent_id == root.span_id
    assert work.parent_id == call.span_id
    assert len({span.trace_id for span in world.spans}) == 1
    assert len({span.span_id for span in world.spans}) == 3
    assert world.answers == [(0, pytest.approx(0.119), False)]


def test_a_wait_for_a_thread_lies_in_the_client_span_and_not_in_the_server_span():
    world = World(front(), back(threads=1))
    world.send(0)
    world.send(0)
    world.run()
    # The second arrives at 2 ms, is picked up when the first leaves at 102 ms, and leaves at 202 ms.
    assert [ms(span) for span in world.of("back", "server")] == [(2, 102), (102, 202)]
    assert [ms(span) for span in world.of("front", "client")] == [(1, 103), (1, 203)]


def test_a_wait_for_a_connection_lies_before_the_client_span_inside_the_callers_server_span():
    world = World(front(connections={"back": PoolSpec(1, 10)}), back())
    world.send(0)
    world.send(0)
    world.run()
    # The second gets the connection when the first response has arrived, at 103 ms.
    assert [ms(span) for span in world.of("front", "server")] == [(1, 103), (1, 205)]
    assert [ms(span) for span in world.of("front", "client")] == [(1, 103), (103, 205)]
    assert [ms(span) for span in world.of("back", "server")] == [(2, 102), (104, 204)]


def test_serial_and_parallel_calls():
    other = ServiceSpec("other", {"GET /x": (wait(0.030),)})
    both = Parallel((Call("back", "GET /work"), Call("other", "GET /x")))
    world = World(front(both, Call("other", "GET /x")), back(), other)
    world.send(0)
    world.run()
    # Both start at 1; back returns at 103, which ends the stage; the last call takes 1 + 30 + 1.
    assert [(span.site.peer, *ms(span)) for span in world.of("front", "client")] == [
        ("other", 1, 33),
        ("back", 1, 103),
        ("other", 103, 135),
    ]
    assert ms(world.of("front", "server")[0]) == (1, 135)


def test_a_database_is_seen_only_as_a_peer():
    base = ServiceSpec("base", {"SELECT": (wait(0.020),)}, database="things")
    world = World(front(Call("base", "SELECT")), base)
    world.send(0)
    world.run()
    assert world.of("base", "server") == []
    (call,) = world.of("front", "client")
    assert (call.site.peer, call.site.name, ms(call)) == ("base", "SELECT things", (1, 23))
    assert dict(call.site.attributes)["db.namespace"] == "things"


def test_a_full_thread_queue_fails_the_client_span_and_makes_no_server_span():
    world = World(front(), back(threads=1, queue_limit=1))
    for _ in range(3):
        world.send(0)
    world.run()
    assert [ms(span) for span in world.of("back", "server")] == [(2, 102), (102, 202)]
    calls = world.of("front", "client")
    assert sorted((*ms(span), span.failed) for span in calls) == [(1, 3, True), (1, 103, False), (1, 203, False)]
    assert len({span.span_id for span in world.spans}) == len(world.spans)
    assert sorted(failed for _, _, failed in world.answers) == [False, False, True]


def test_a_full_connection_queue_fails_the_server_span_and_makes_no_client_span():
    world = World(front(connections={"back": PoolSpec(1, 0)}), back())
    world.send(0)
    world.send(0)
    world.run()
    assert len(world.of("front", "client")) == 1
    assert [(*ms(span), span.failed) for span in world.of("front", "server")] == [(1, 1, True), (1, 103, False)]


def test_a_failure_skips_the_remaining_steps_once_all_calls_have_returned():
    both = Parallel((Call("back", "GET /work"), Call("other", "GET /x")))
    other = ServiceSpec("other", {"GET /x": (wait(0.010),)}, threads=PoolSpec(1, 0))
    world = World(front(both, wait(9.0)), back(), other)
    world.send(0)
    world.send(0)
    world.run()
    # The second is turned away by other, waits for back all the same, and does not start the last step.
    assert [(*ms(span), span.failed) for span in world.of("front", "server")] == [(1, 103, True), (1, 9103, False)]


def test_thousands_of_queued_requests_may_fail_at_once():
    """Each failure frees a thread for the next one, which fails too: this must not become a deep recursion."""
    world = World(front(connections={"back": PoolSpec(1, 0)}, threads=PoolSpec(2, 10_000)), back(wait(100.0)))
    for _ in range(5000):
        world.send(0)
    world.run(50.0)
    assert sum(failed for _, _, failed in world.answers) == 4999


def test_resizing_a_thread_pool_during_a_run():
    world = World(front(), back(threads=1))
    for _ in range(3):
        world.send(0)
    threads = world.application.instances["back"][0].threads
    assert threads is not None
    world.engine.at(0.050, lambda _: threads.resize(2), None)
    world.run()
    assert [ms(span) for span in world.of("back", "server")] == [(2, 102), (50, 150), (102, 202)]


def test_replicas_take_turns():
    world = World(front(), back(compute(0.010), replicas=2))
    for second in range(4):
        world.send(second)
    world.run()
    assert [span.instance for span in world.of("back", "server")] == ["back-1", "back-2", "back-1", "back-2"]


def test_children_lie_within_their_parents():
    twice = Parallel((Call("back", "GET /work"), Call("back", "GET /work")))
    world = World(
        front(wait(0.001), twice, connections={"back": PoolSpec(4, 50)}),
        back(compute(0.003), wait(0.004), threads=2, queue_limit=1),
    )
    for request in range(50):
        world.send(request * 0.003)
    world.run()
    by_id = {span.span_id: span for span in world.spans}
    children = [span for span in world.spans if span.parent_id]
    assert len(by_id) == len(world.spans)
    assert len(children) > 100
    assert any(span.failed for span in children)
    for span in children:
        parent = by_id[span.parent_id]
        assert parent.trace_id == span.trace_id
        assert parent.start_ns <= span.start_ns <= span.end_ns <= parent.end_ns
        assert parent.site.side != span.site.side


def test_unknown_names_and_empty_operations_are_refused():
    with pytest.raises(ValueError, match="call 'GET /nothing' of service 'back'"):
        World(front(Call("back", "GET /nothing")), back())
    with pytest.raises(ValueError, match="needs at least one step"):
        World(ServiceSpec("front", {"GET /": ()}))
