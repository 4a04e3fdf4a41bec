"""Subsets in the decider: what is written into the journal, by what the pipeline saw and callers told."""

from __future__ import annotations

import pytest

from sluice.journal.shard import AbortedError
from sluice.model.containers import NotifiedContainer
from sluice.model.scaling import Scaling
from sluice.subsets.application import Call
from sluice.subsets.observed import ObservedTree
from sluice.subsets.section import Strategy
from sluice.subsets.strategy import STRATEGIES
from sluice.subsets.v1 import explanation_pb2, log_pb2, subset_pb2
from sluice_kit.decide.fakes import FakeCollector
from sluice_kit.decide.subset_worlds import FakeSource, SubsetWorld, samples, shop
from sluice_kit.journal.memory_broker import MemoryBroker
from sluice_kit.journal.memory_log import pool_shard


def test_what_traces_show_becomes_subsets_in_the_shard_s_transaction() -> None:
    world = SubsetWorld()
    world.step()
    assert set(world.ends()) == {f"front-{number}" for number in range(4)}
    assert {len(ends) for ends in world.ends().values()} == {4}, "the usual quota"
    assert world.containers == {
        "front": [f"front-{number}" for number in range(4)],
        "cart": [f"cart-{number}" for number in range(6)],
    }
    assert {subset.revision for subset in world.subsets.values()} == {1}
    assert world.run.cause == "START"
    assert any("no latency samples" in line for line in world.run.missing)
    assert any("no address of cart-0" in line for line in world.run.missing)
    records = world.log.cluster.partitions[world.log.topics.decisions, 0].committed(0)
    assert records[-1].key == "shard/0"
    names = [record.key.partition("/")[0] for record in records]
    assert names.index("containers") < names.index("subset")


def test_nothing_is_written_again_while_nothing_changes() -> None:
    world = SubsetWorld()
    for _ in range(60):
        world.step(60)
    solved = world.loop.owned[0].parts["subsets"].known.solved
    assert solved is not None
    assert not solved.unfinished, "weights went all of their way"
    partition = world.log.cluster.partitions[world.log.topics.decisions, 0]
    written = sum(record.key.startswith("subset/") for record in partition.committed(0))
    for _ in range(20):
        world.step()
    assert sum(record.key.startswith("subset/") for record in partition.committed(0)) == written


def test_one_who_comes_after_a_kill_goes_on_from_what_is_there() -> None:
    world = SubsetWorld()
    world.step()
    previous = world.subsets
    after = world.again()
    after.step()
    assert after.subsets == previous, "no connection moved, no weight, no revision"
    assert after.run.cause == "START"
    assert after.run.churn == 0
    del world.source.containers["cart"]["cart-5"]
    after.step()
    changed = [key for key, subset in after.subsets.items() if subset.revision > previous[key].revision]
    assert changed
    assert all(after.subsets[key].revision == previous[key].revision + 1 for key in changed)


def test_a_container_that_goes_silent_while_others_work_is_out_within_a_step() -> None:
    world = SubsetWorld()
    world.step()
    world.source.silent = {"cart-3"}
    world.step()
    assert all("cart-3" not in ends for ends in world.ends().values())
    assert "cart-3" not in world.containers["cart"]
    assert world.run.cause == "SCALING"
    world.source.silent = {f"cart-{number}" for number in range(6)}
    world.step()
    assert world.containers["cart"], "a service that nobody calls keeps its containers"


def test_a_drained_container_leaves_in_the_period_after_it_was_told() -> None:
    world = SubsetWorld()
    world.step()
    notified = tuple(NotifiedContainer(f"cart-{n}", f"10.0.0.{n}:80", drained=n == 2) for n in range(6))
    world.log.scaling(Scaling(world.clock(), "cart", None, None, "", "deploy", notified))
    world.step(1)
    assert all("cart-2" not in ends for ends in world.ends().values())
    addresses = {end.address for subset in world.subsets.values() for end in subset.endpoints}
    assert addresses <= {f"10.0.0.{n}:80" for n in range(6)}
    after = world.again()
    after.step()
    assert all("cart-2" not in ends for ends in after.ends().values()), "what was told outlives a decider"


@pytest.mark.parametrize(
    ("tell", "words"),
    [
        ({"cpu": {"h0": float("nan")}}, "cpu nan"),
        ({"trees": []}, "no call trees in the last"),
        ({"containers": {}}, "no SERVER or CONSUMER spans in the last"),
        ({"containers": {"front": shop().containers["front"]}}, "roots"),
    ],
)
def test_bad_input_is_named_and_the_last_good_answer_stands_and_is_marked(tell: dict[str, object], words: str) -> None:
    world = SubsetWorld()
    world.step()
    good, before = world.ends(), vars(world.source).copy()
    for name, value in tell.items():
        setattr(world.source, name, value)
    world.step()
    assert world.ends() == good
    for subset in world.subsets.values():
        assert subset.state == subset_pb2.STATE_HELD
        assert words in subset.reasons[0].text
        assert subset.revision == 1
    state = world.log.committed(world.log.topics.state)["subsets/default"]
    assert log_pb2.ApplicationState.FromString(state).HasField("held_since")
    vars(world.source).update(before)
    world.step()
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}
    assert world.ends() == good
    state = world.log.committed(world.log.topics.state)["subsets/default"]
    assert not log_pb2.ApplicationState.FromString(state).HasField("held_since")


def test_one_trace_with_a_callback_in_3001_is_solved_and_said() -> None:
    world = SubsetWorld()
    world.source.trees.append(ObservedTree("GET /", Call("front", ((Call("cart", ((Call("front"),),)),),)), 1))
    world.step()
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}
    assert {key.downstream for key in world.subsets} == {"front", "cart"}
    assert any("in a cycle" in note and "cart -> front" in note for note in world.run.notes)
    world.source.containers["cart"] = {f"new-{number}": "h1" for number in range(6)}
    world.step()
    ends = {
        end.instance for key, subset in world.subsets.items() if key.downstream == "cart" for end in subset.endpoints
    }
    assert ends == {f"new-{number}" for number in range(6)}


BAD: dict[str, dict[str, object]] = {
    "bad input": {"cpu": {"h0": float("nan")}},
    "no rates": {"trees": []},
}


@pytest.mark.parametrize("bad", BAD)
def test_a_rollout_is_followed_while_nothing_can_be_solved(bad: str) -> None:
    """All of cart is replaced while subsets are held, and one of front comes and one goes."""
    world = SubsetWorld()
    world.step()
    previous = world.subsets
    for name, value in BAD[bad].items():
        setattr(world.source, name, value)
    world.step()
    assert world.ends() == {
        key.instance: [end.instance for end in subset.endpoints] for key, subset in previous.items()
    }
    new = {f"cart-{number}": f"h{number % 4}" for number in range(10, 16)}
    world.source.containers = {"front": {f"front-{n}": "h0" for n in (1, 2, 3, 9)}, "cart": new}
    world.step()
    assert set(world.ends()) == {"front-1", "front-2", "front-3", "front-9"}
    assert all(len(ends) == 4 and set(ends) <= new.keys() for ends in world.ends().values())
    calls = [end for ends in world.ends().values() for end in ends]
    assert {calls.count(each) for each in new} <= {2, 3}, "16 connections of 6"
    assert world.containers == {"front": ["front-1", "front-2", "front-3", "front-9"], "cart": sorted(new)}
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_HELD}
    held = world.ends()
    world.source.cpu, world.source.trees = shop().cpu, shop().trees
    world.step()
    assert world.ends() == held, "it goes on from what is said"
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}


def test_a_new_address_under_the_same_name_is_followed_while_held() -> None:
    world = SubsetWorld()
    tell(world, {n: f"10.0.0.{n}:80" for n in range(6)})
    world.step()
    world.source.trees = []
    world.step()
    revisions = {key: subset.revision for key, subset in world.subsets.items()}
    tell(world, {n: f"10.0.1.{n}:80" for n in range(6)})
    world.step(1)
    addresses = {(end.instance, end.address) for subset in world.subsets.values() for end in subset.endpoints}
    assert addresses == {(f"cart-{n}", f"10.0.1.{n}:80") for n in range(6)}
    assert {key: subset.revision - 1 for key, subset in world.subsets.items()} == revisions


def test_what_is_told_is_followed_while_the_database_is_away() -> None:
    world = SubsetWorld()
    world.step()
    world.source.problem = OSError("refused")
    tell(world, {n: f"10.0.1.{n}:80" for n in range(4, 9)})
    world.step(1)
    assert {end for ends in world.ends().values() for end in ends} == {f"cart-{n}" for n in range(4, 9)}
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}, "it is not the input"
    world.source.problem = None
    world.source.containers["cart"] = {f"cart-{n}": "h0" for n in range(4, 10)}
    world.source.first_s = {"cart-9": world.clock() // 1000 + 1}
    world.step()
    assert "cart-9" in world.containers["cart"]
    world.source.problem = OSError("refused")
    world.step()
    assert "cart-9" in world.containers["cart"], "older words do not know of it"


def test_a_solver_that_fails_is_said_and_membership_followed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = SubsetWorld()
    world.step()

    def fails(*_: object) -> None:
        raise ZeroDivisionError("by the test")

    monkeypatch.setattr("sluice.subsets.step.plan", fails)
    del world.source.containers["cart"]["cart-2"]
    world.step()
    assert all("cart-2" not in ends for ends in world.ends().values())
    assert {subset.reasons[0].text for subset in world.subsets.values()} == {
        "the solver failed: ZeroDivisionError: by the test"
    }
    assert "subsets of default failed" in caplog.text


def test_containers_come_and_go_while_the_first_model_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    world = SubsetWorld()
    world.step()
    monkeypatch.setattr("sluice.subsets.training.Training.newest", lambda *_: None)
    cart = world.source.containers["cart"]
    cart["cart-6"] = cart.pop("cart-0")
    world.step()
    assert {end for ends in world.ends().values() for end in ends} == cart.keys()
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}


def tell(world: SubsetWorld, addresses: dict[int, str]) -> None:
    notified = tuple(NotifiedContainer(f"cart-{n}", address) for n, address in addresses.items())
    world.clock.pass_s(1)
    world.log.scaling(Scaling(world.clock(), "cart", None, None, "", "deploy", notified))


def test_bad_input_from_the_start_after_a_kill_keeps_what_is_there() -> None:
    world = SubsetWorld()
    world.step()
    good = world.ends()
    world.source.trees = []
    after = world.again()
    after.step()
    assert after.ends() == good
    assert {subset.state for subset in after.subsets.values()} == {subset_pb2.STATE_HELD}


def test_without_anything_known_bad_input_writes_nothing_and_is_said(caplog: pytest.LogCaptureFixture) -> None:
    world = SubsetWorld(FakeSource({}, {}))
    world.step()
    assert not world.subsets
    assert "subsets of default failed" in caplog.text


def test_a_database_that_is_away_costs_no_pool_its_period_and_no_subset() -> None:
    world = SubsetWorld()
    world.step()
    good = world.subsets
    world.source.problem = OSError("refused")
    world.step()
    assert world.subsets == good
    assert pool_shard(world.loop).answers


def test_an_aborted_commit_is_made_again() -> None:
    world = SubsetWorld()
    broker = world.loop.shards.membership.broker
    assert isinstance(broker, MemoryBroker)
    calls = iter([True])

    def called(call: str) -> None:
        if call == "send_offset" and next(calls, False):
            raise AbortedError("by the test")

    broker.called = called
    world.step()
    assert not world.subsets
    world.step(1)
    assert len(world.subsets) == 4


def test_drift_waits_for_the_quiet_time_also_over_a_restart() -> None:
    world = SubsetWorld(shop(), options={"quiet": "60s", "churn_budget": 0.25})
    world.step()
    world.source.cpu["h0"] = 0.9
    world.step(20)
    assert world.run.cause == "START"
    after = world.again()
    after.step(10)
    assert after.run.cause == "START"
    after.step(60)
    assert after.run.cause == "DRIFT", "contention of before the restart is remembered"


def test_a_model_of_the_service_s_own_is_trained_and_says_how_wrong_it_is() -> None:
    source = shop()
    source.learnt = {"cart": samples(200), "front": samples(8)}
    world = SubsetWorld(source)
    world.step()
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_LEARNING}, (
        "it is still being trained"
    )
    training = world.resources
    training.training._pending["default"].future.result(60)
    world.step(60)
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_PROVIDED}
    assert world.run.cause == "TRAINED"
    pair = explanation_pb2.PairExplanation.FromString(
        world.log.committed(world.log.topics.explanations)["pair/front/cart"]
    )
    assert "XGBoost of 200 samples" in pair.basis
    assert 0 < pair.mu_error < 0.1
    assert pair.fully_connected_ms > 0
    assert pair.percentile == 0.95
    assert pair.predicted_ms < pair.fully_connected_ms, "busy hosts get less"
    assert [container.instance for container in pair.containers] == [f"cart-{number}" for number in range(6)]
    assert sum(container.connections for container in pair.containers) == pair.quota
    training.close()


def test_an_application_that_is_new_has_its_first_model_in_a_tenth_of_the_usual_time() -> None:
    """Windows of 10 s come one by one: a model is not learnt anew every 10 minutes from there being two of them."""
    source = shop()
    source.learnt = {"cart": samples(12)}
    world = SubsetWorld(source)
    world.step()
    means = world.resources
    source.learnt = {"cart": samples(200)}
    world.step(50)
    assert not means.training._pending, "not in every step either"
    world.step(10)
    means.training._pending["default"].future.result(60)
    world.step(60)
    assert world.run.cause == "TRAINED"
    assert {subset.state for subset in world.subsets.values()} == {subset_pb2.STATE_PROVIDED}
    world.step(530)
    assert not means.training._pending, "it is young"
    means.training.close()


def test_what_is_no_longer_configured_ends() -> None:
    world = SubsetWorld()
    world.step()
    world.loop.next_config = world.config().model_copy(update={"subsets": []})
    world.step()
    assert not world.subsets
    assert not world.containers
    assert "subsets/default" not in world.log.committed(world.log.topics.state)
    world.loop.next_config = world.config()
    world.step()
    world.step()
    assert {subset.revision for subset in world.subsets.values()} == {2}, "revisions go on"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_can_be_asked_for(strategy: str) -> None:
    world = SubsetWorld(options={"strategy": strategy})
    world.step()
    assert {subset.strategy for subset in world.subsets.values()} == {strategy}
    del world.source.containers["cart"]["cart-0"]
    world.step()
    assert all("cart-0" not in ends for ends in world.ends().values())


def test_the_file_knows_all_strategies() -> None:
    assert Strategy.__args__ == STRATEGIES  # type: ignore[attr-defined]


def test_a_decider_without_subsets_leaves_those_of_others_alone() -> None:
    world = SubsetWorld()
    world.step()
    good = world.subsets
    loop = world.log.loop(world.config(), FakeCollector(), world.clock)
    world.clock.pass_s(10)
    loop.periods()
    assert world.subsets == good
