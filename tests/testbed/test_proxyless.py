"""Who is called where a container's own gRPC client chooses, and where it has nothing to choose from."""

from collections import defaultdict

from sluice_kit.machine.ports import free_ports
from testbed.presets.suggest import suggest
from testbed.proxyless import Proxyless
from testbed.simulation import Simulation


def called(choose):
    """By calling container, the containers of suggest-index that answered it in 20 s."""
    spans = []
    simulation = Simulation(suggest(), 1, spans.append)
    simulation.application.services["suggest-index"].choose = choose
    simulation.run_until(20)
    callers = {span.span_id: span.instance for span in spans if span.site.side == "client"}
    answered = defaultdict(set)
    for span in spans:
        if span.parent_id in callers:
            answered[callers[span.parent_id]].add(span.instance)
    return answered


def test_a_container_calls_whom_its_client_chose_and_the_others_call_in_turn():
    calls = called(lambda caller: "suggest-index-2" if caller == "suggest-1" else None)
    assert calls["suggest-1"] == {"suggest-index-2"}
    assert len(calls["suggest-2"] | calls["suggest-3"]) == 6


def test_a_name_that_no_container_has_is_no_choice():
    calls = called(lambda caller: "suggest-index-9")
    assert len(calls["suggest-1"] | calls["suggest-2"] | calls["suggest-3"]) == 6


def test_without_a_recommender_nobody_is_chosen():
    recommender, callee = free_ports(2)
    clients = Proxyless(f"127.0.0.1:{recommender}", "a", ["a-1"], "b", {"b-1": f"127.0.0.1:{callee}"})
    try:
        assert clients.pick("a-1") is None
        assert clients.pick("a-9") is None
    finally:
        clients.stop()
