"""A decider that is killed in the middle of a trial: the next one goes on with it, as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sluice.log.memory import MemoryStateLog
from sluice.log.record import Ref
from sluice.pools.policy.state import PoolState
from sluice.pools.policy.state_message import read_evidence
from support.kafka import Kafka

from . import decider

SOURCE = Path(__file__).resolve().parents[2] / "src"
SETTLED_S, LONGEST_S, AFTER_S = 90, 600, 30


class Decider:
    """The process, a second at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.restored = self._line()

    def second(self) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._line()

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line


@contextmanager
def running(*words: str) -> Iterator[Decider]:
    command = [sys.executable, decider.__file__, *words]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield Decider(process)
        finally:
            process.kill()


def undisturbed(folder: Path) -> tuple[list[dict[str, Any]], list[int]]:
    """What is said in each second up to `AFTER_S` behind a trial, and up to when evidence was recorded then."""
    said: list[dict[str, Any]] = []
    recorded: list[int] = []
    state, pool, log = PoolState(), decider.Pool(folder), MemoryStateLog()
    until = LONGEST_S
    while len(said) < until:
        state, line = decider.one_second(state, pool, log)
        said.append(line)
        value = log.records.get(str(Ref("evidence", decider.SHOP)))
        recorded.append(read_evidence(decider.SHOP, value)[0].until_ms if value else -1)
        # Some of the evidence is to be read again: it was recorded, but not just now.
        old = 0 < recorded[-1] < line["learnt"]["until_ms"] - 5_000
        on_trial = line["case"] == "WAITING" and line["basis"] == "PROBE"
        if until == LONGEST_S and len(said) >= SETTLED_S and old and on_trial:
            until = len(said) + AFTER_S
    assert until < LONGEST_S, "the pool of this test is never on trial"
    return said, recorded


@pytest.mark.integration
def test_a_kill_in_the_middle_of_a_trial_goes_on_with_the_trial(broker: Kafka, tmp_path: Path) -> None:
    for name in ("undisturbed", "killed"):
        (tmp_path / name).mkdir()
    said, recorded = undisturbed(tmp_path / "undisturbed")
    trial = len(said) - AFTER_S
    words = (str(tmp_path / "killed"), broker.bootstrap, broker.topic("state-kill", like="sluice_state"))

    with running(*words) as first:
        before = [first.second() for _ in range(trial)]
        first.process.send_signal(signal.SIGKILL)
        assert first.process.wait() == -signal.SIGKILL
    assert before == said[:trial]

    with running(*words) as second:
        restored, after = second.restored, [second.second() for _ in range(AFTER_S)]
    # All of the facts, but for time that passed without a change of them.
    now_ms, restored_ms = before[-1]["facts"].pop("now_ms"), restored["facts"].pop("now_ms")
    assert restored["facts"] == before[-1]["facts"]
    assert restored["facts"]["change"]["basis"] == "PROBE"
    assert now_ms - 60_000 <= restored_ms <= now_ms
    assert restored["learnt"]["until_ms"] == recorded[trial - 1] >= now_ms - 61_000
    # The trial goes on, and from then on all is as it would have been: nothing is missed, nothing counted twice.
    assert (after[0]["case"], after[0]["basis"], after[0]["action"]) == ("WAITING", "PROBE", "APPLY")
    assert after == said[trial:]
