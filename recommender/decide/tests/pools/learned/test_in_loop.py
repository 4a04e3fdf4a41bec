"""Pools whose size is learnt: agents in a process of their own, their files, and the decisions made from them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from sluice.config import Config
from sluice.pools.estimate.samples import Samples
from sluice.pools.learned.agents import Agents
from sluice.pools.learned.checkpoint import VERSION
from sluice.pools.learned.condition import Condition, DataSize
from sluice.pools.learned.directory import KEPT
from sluice.pools.learned.evaluate import SizeEstimates
from sluice.pools.learned.learners import Learners
from sluice.pools.learned.lesson import Learned, Lesson, agent_estimate
from sluice.pools.learned.measure import ServiceWindows
from sluice.pools.policy.decision import Action, Basis
from sluice.pools.policy.observation import Constraints, Observation
from sluice.pools.policy.state import Checkpoint, Facts, PoolState
from sluice.pools.policy.state_message import StateError, read_facts, write_facts
from sluice.pools.policy.step import step
from sluice.pools.publication.messages import explanation
from sluice.pools.publication.publication import Publication
from sluice.pools.windows import PoolWindow, Window
from sluice_kit.decide.fakes import CART, DB, FakeCollector, FakeService, config
from sluice_kit.decide.feeds import full
from sluice_kit.decide.learn_windows import chained, of_service
from sluice_kit.decide.worlds import World, codes

CONDITION = Condition(cores=2.0)


def windows(start_s: int = 100, seconds: int = 20) -> ServiceWindows:
    random = np.random.default_rng(1)
    return chained([of_service(4, seconds, start_s, random), of_service(12, seconds, start_s + seconds, random)])


def lesson(directory: Path, found: Checkpoint | None = None, start_s: int = 100, now_ms: int = 200_000) -> Lesson:
    return Lesson(CART, windows(start_s), 0.4, CONDITION, (1, 48), found, str(directory), now_ms)


def learned(agents: Agents, each: Lesson) -> Learned:
    (found,) = agents.learn([each])
    assert isinstance(found, Learned)
    return found


def test_another_process_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    one, other = Agents(), Agents()
    first = learned(one, lesson(tmp_path))
    assert first.checkpoint is not None
    nothing = lesson(tmp_path, first.checkpoint)._replace(windows=None)
    found = learned(other, nothing)
    assert found.refused == ""
    assert found.opinion.transitions == first.opinion.transitions
    assert found.opinion.steps > first.opinion.steps  # what was owed


def test_an_agent_that_another_process_trained_since_is_taken_up_again(tmp_path: Path) -> None:
    one, other = Agents(), Agents()
    first = learned(one, lesson(tmp_path))
    later = learned(other, lesson(tmp_path, first.checkpoint, start_s=140, now_ms=500_000))
    back = learned(one, lesson(tmp_path, later.checkpoint, now_ms=501_000)._replace(windows=None))
    assert back.opinion.transitions == later.opinion.transitions > first.opinion.transitions


@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_a_damaged_checkpoint_is_refused_and_said(tmp_path: Path, damage: str) -> None:
    first = learned(Agents(), lesson(tmp_path))
    assert first.checkpoint is not None
    path = tmp_path / first.checkpoint.name
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-100] if damage == "cut" else data[:500] + bytes([data[500] ^ 1]) + data[501:])
    found = learned(Agents(), lesson(tmp_path, first.checkpoint)._replace(windows=None))
    assert first.checkpoint.name in found.refused
    assert found.opinion.steps == found.opinion.transitions == 0


def test_a_name_that_leads_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    first = learned(Agents(), lesson(tmp_path))
    assert first.checkpoint is not None
    away = replace(first.checkpoint, name=f"../{tmp_path.name}/{first.checkpoint.name}")
    assert "not the name of a file" in learned(Agents(), lesson(tmp_path, away)).refused


def test_old_files_go_and_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    agents, found = Agents(), None
    for minute in range(6):
        found = learned(agents, lesson(tmp_path, found, 100 + 40 * minute, 200_000 + 300_000 * minute)).checkpoint
    assert len(list(tmp_path.iterdir())) == KEPT
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "no checkpoint" in learned(Agents(), lesson(blocked)).refused


def test_facts_keep_the_checkpoint_and_refuse_one_without_a_checksum() -> None:
    state = PoolState(Facts(checkpoint=Checkpoint("a.dqn", "ab", 1, 7, 60_000)))
    assert read_facts(CART, write_facts(CART, state)) == state.facts
    with pytest.raises(StateError, match="checksum"):
        write_facts(CART, PoolState(Facts(checkpoint=Checkpoint("a.dqn", "", 1, 7, 60_000))))


def test_no_period_waits_for_training_and_a_process_that_died_is_replaced(tmp_path: Path) -> None:
    learners = Learners()
    try:
        learners.teach([lesson(tmp_path)])
        assert learners.under_way() == {CART}
        learners.teach([lesson(tmp_path, start_s=140), lesson(tmp_path)._replace(key=DB)])  # cart's is left out
        assert learners.under_way() == {CART, DB}
        assert CART not in learners.known
        _until_done(learners)
        first = learners.known[CART]
        assert DB in learners.known
        assert first.opinion.until_ms == 139_000
        assert learners._executor is not None
        for pid in learners._executor._processes:
            os.kill(pid, signal.SIGKILL)
        learners.teach([lesson(tmp_path, first.checkpoint, start_s=140)])
        _until_done(learners)
        learners.teach([lesson(tmp_path, first.checkpoint, start_s=140)])
        _until_done(learners)
        assert learners.known[CART].opinion.transitions > first.opinion.transitions
    finally:
        learners.close()


def _until_done(learners: Learners) -> None:
    while learners.under_way():
        time.sleep(0.01)


@dataclass
class Judged(FakeCollector):
    """As the collector: what the service did, judged by callers who wait for nothing."""

    def collect(self, config: Config, thresholds_ns: dict[object, int], now_ms: int, live: bool = True) -> Window:  # type: ignore[override]
        window = super().collect(config, thresholds_ns, now_ms, live)  # type: ignore[arg-type]
        whole = window.complete.get(CART)
        if whole is None:
            return window
        busy = (whole.concurrency > 0) & (whole.start_ms >= now_ms - 60_000)
        n, rate = int(busy.sum()), whole.completions[busy] * 1_000 / whole.bucket_ms
        if n == 0:
            return window
        in_flight = whole.concurrency[busy]
        samples = Samples(
            in_flight, rate, rate, whole.completions[busy], np.full(n, np.nan), 1, True, in_system=in_flight + 2
        )
        measured = PoolWindow(samples, whole.start_ms[busy], whole.bucket_ms)
        return Window({**window.pools, CART: measured}, window.complete)


class Told(Learners):
    """Keeps what it is told."""

    def __init__(self, here: bool) -> None:
        super().__init__(here=here)
        self.lessons: list[Lesson] = []

    def teach(self, lessons: Sequence[Lesson], past: bool = False) -> None:
        self.lessons += lessons
        super().teach(lessons, past)


def learning(directory: Path) -> Config:
    given = config().model_dump(by_alias=True, exclude={"pools", "slos"})
    given["learning"] = {"directory": str(directory)}
    pools = [{"service": "cart", "side": "server", "threshold": "250ms", "model": "dqn", "bounds": {"max": 64}}]
    return Config.model_validate({"learning": given["learning"], "pools": pools})


def test_a_pool_is_decided_with_an_agent_beside_the_belief(tmp_path: Path) -> None:
    """The belief decides until a size may be chosen; what the agent makes of each size is told, and outlives a kill."""
    world = World(collector=Judged(), config=learning(tmp_path), learners=Learners(here=True))
    world.collector.services[CART] = FakeService(8)
    answers = world.run(45)
    assert "NOT_LICENSED" in codes(answers[20])
    said = explanation(world.cart)
    assert said.HasField("belief")
    assert [each.size for each in said.learned.values][-1] == 64
    assert said.learned.transitions > 300
    checkpoint = world.decider.states[CART].facts.checkpoint
    assert checkpoint is not None
    assert (tmp_path / checkpoint.name).exists()

    again = World(
        clock=world.clock,
        collector=world.collector,
        log=world.log,
        config=learning(tmp_path),
        learners=Learners(here=True),
    )
    again.run(2)
    assert again.decider.states[CART].facts.checkpoint == checkpoint
    assert explanation(again.cart).learned.steps >= checkpoint.steps


def test_an_agent_is_told_how_much_data_spans_move_and_by_the_last_reading_where_there_is_none(tmp_path: Path) -> None:
    """Of the ten minutes before, each minute is looked up; then every ten seconds, where the first fails."""
    learners = Told(here=True)
    world = World(collector=Judged(), config=learning(tmp_path), learners=learners)
    world.collector.services[CART] = FakeService(8)
    world.collector.data[CART] = DataSize(20.0, 300.0)
    world.run(5)
    *before, newest = world.collector.data_asked_ms
    assert np.diff([*before, newest]).tolist() == [60_000] * 9
    world.collector.data_problem = RuntimeError("no such table")
    assert world.run(10)[-1].content.target is not None
    assert world.collector.data_asked_ms == [*before, newest, newest + 10_000]
    assert world.problems.counts["data sizes"] == 1
    assert {each.condition.data for each in learners.lessons} == {DataSize(20.0, 300.0)}
    condition = explanation(world.cart).learned.condition
    assert (condition.rows, condition.bytes) == (20.0, 300.0)


def test_a_checkpoint_of_a_later_version_is_refused(tmp_path: Path) -> None:
    first = learned(Agents(), lesson(tmp_path))
    assert first.checkpoint is not None
    later = replace(first.checkpoint, version=VERSION + 1)
    assert f"version {VERSION + 1} is not legal" in learned(Agents(), lesson(tmp_path, later)).refused


def successor(tmp_path: Path, corrupt: bool) -> list[Publication]:
    """What a decider answers that takes over after half a minute."""
    world = World(collector=Judged(), config=learning(tmp_path), learners=Learners(here=True))
    world.collector.services[CART] = FakeService(8)
    world.run(30)
    checkpoint = world.decider.states[CART].facts.checkpoint
    assert checkpoint is not None
    if corrupt:
        (tmp_path / checkpoint.name).write_bytes(b"no checkpoint")
    again = World(
        clock=world.clock,
        collector=world.collector,
        log=world.log,
        config=learning(tmp_path),
        learners=Learners(here=True),
    )
    return again.run(3)


def test_a_corrupt_checkpoint_leaves_the_curve_its_answer(tmp_path: Path) -> None:
    """It decides as beside an agent that is not in charge yet."""
    ends = {}
    for corrupt in (False, True):
        directory = tmp_path / str(corrupt)
        directory.mkdir()
        ends[corrupt] = successor(directory, corrupt)
    assert ["CHECKPOINT_REFUSED" in codes(answer) for answer in ends[True]] == [True] * 3
    assert "CHECKPOINT_REFUSED" not in codes(ends[False][-1])
    assert [answer.content.target for answer in ends[True]] == [answer.content.target for answer in ends[False]]


def test_the_directory_is_asked_for() -> None:
    pools = [{"service": "cart", "side": "server", "threshold": "250ms", "model": "dqn"}]
    with pytest.raises(ValueError, match="learning is missing"):
        Config.model_validate({"pools": pools})


def test_a_size_that_an_agent_names_is_applied_by_the_rules_of_every_decision(tmp_path: Path) -> None:
    """A factor 2 at most, APPLY, LEARNED; read back, the agent is in charge, and keeps it while all is in time."""
    opinion = learned(Agents(), lesson(tmp_path)).opinion
    seconds = np.where(np.isin(opinion.sizes, (8, 20)), 100.0, 0.0)
    worth = SizeEstimates(np.where(opinion.sizes == 20, 0.9, 0.5), np.full(len(seconds), 0.01), seconds)
    opinion = replace(
        opinion, worth=worth, values=np.where(opinion.sizes == 20, 9.0, 5.0), state=(1.0, 1.0, 0.9), noise=0
    )
    now_ms = opinion.until_ms + 1_000
    said = agent_estimate(Learned(opinion, None, ""), Facts(current=8), 8, may_look=True, now_ms=now_ms)
    assert said.estimate is not None
    seen = Observation(
        {"": 8}, full(now_ms - 6_000, 5, 8), 4.0, 0.25, constraints=Constraints(1, 48), named=said.estimate
    )
    state, decision = step(PoolState(), seen, now_ms)
    assert (decision.target, decision.basis, decision.action) == (16, Basis.LEARNED, Action.APPLY)
    facts = replace(state.facts, current=16)
    worth = replace(worth, seconds=np.where(opinion.sizes == 17, 100.0, 0.0))
    kept = Learned(replace(opinion, worth=worth), None, "")
    assert agent_estimate(kept, facts, 16, may_look=True, now_ms=now_ms).reasons == ()
    late = Learned(replace(kept.opinion, state=(1.0, 0.5, 0.9)), None, "")
    assert [each.code for each in agent_estimate(late, facts, 16, may_look=True, now_ms=now_ms).reasons] == [
        "HANDED_BACK"
    ]
