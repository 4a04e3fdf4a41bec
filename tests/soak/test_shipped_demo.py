"""The demo as `make up` runs it: its load repeats in 36 s, and latencies of its containers are learnt."""

import json
import time
from pathlib import Path
from typing import Any

from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.whole_loop import check_the_loop, demo, running, subsets_of_suggest
from sluice_kit.waiting import until
from testbed.presets.shop import PERIOD

# The start of a CLI costs a second of a core.
BETWEEN_S = 10


def test_the_loop_at_the_shipped_period(stack: Stack, tmp_path: Path) -> None:
    check_the_loop(stack, tmp_path, round(PERIOD))


def test_subsets_come_to_rest_on_latencies_that_were_learnt(stack: Stack, tmp_path: Path) -> None:
    """From the containers' spans and their hosts' metrics, through training, to what is served. Loads move in steps of
    a quarter, with a trial of a minute after each: the three least busy hosts get twice the calls of the others."""
    with running("demo", demo(round(PERIOD)), stack, tmp_path):
        until("a model", lambda: {subset.state for subset in subsets_of_suggest(stack)} == {STATE_PROVIDED})
        until("calls to leave busy hosts", lambda: left(rates(stack)))
        why = explained(stack)
    assert why["basis"].startswith("XGBoost of ")
    assert why["predicted_ms"] < why["fully_connected_ms"]
    times = [container["latency_ms"] for container in why["containers"]]
    print(f"predicted {why['predicted_ms']:.1f} ms, fully connected {why['fully_connected_ms']:.1f} ms; {times}")


def left(calls: list[float]) -> bool:
    return sum(calls[:3]) > 2 * sum(calls[3:])


def rates(stack: Stack) -> list[float]:
    """Calls per second of suggest-index's containers, that of the least busy host first."""
    time.sleep(BETWEEN_S)
    found = [container["rate_per_s"] for container in explained(stack)["containers"]]
    print(f"calls per second: {', '.join(f'{rate:.2f}' for rate in found)}", flush=True)
    return found


def explained(stack: Stack) -> dict[str, Any]:
    answer = stack.sluice("subsets", "explain", "suggest", "suggest-index", "-o", "json")
    assert answer.returncode == 0, answer.stderr
    why: dict[str, Any] = json.loads(answer.stdout)["explanation"]
    return why
