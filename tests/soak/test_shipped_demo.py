"""The demo as `make up` runs it: its load repeats in 36 s, and latencies of its containers are learnt."""

import json
from pathlib import Path

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.whole_loop import check_the_loop, demo, running, subsets_of_suggest
from sluice_kit.waiting import until
from testbed.presets.shop import PERIOD


def test_the_loop_at_the_shipped_period(stack: Stack, tmp_path: Path) -> None:
    check_the_loop(stack, tmp_path, round(PERIOD))


def test_subsets_come_to_rest_on_latencies_that_were_learnt(stack: Stack, tmp_path: Path) -> None:
    """From the containers' spans and their hosts' metrics, through training, to what is served."""
    with running("demo", demo(round(PERIOD)), stack, tmp_path):
        until("a model", lambda: {subset["state"] for subset in subsets_of_suggest(stack)} == {"PROVIDED"})
        answer = stack.sluice("subsets", "explain", "suggest", "suggest-index", "-o", "json")
        assert answer.returncode == 0, answer.stderr
        why = json.loads(answer.stdout)["explanation"]
    assert why["basis"].startswith("XGBoost of ")
    assert why["predicted_ms"] < why["fully_connected_ms"]
    times = [container["latency_ms"] for container in why["containers"]]
    rates = [container["rate_per_s"] for container in why["containers"]]
    assert rates == sorted(rates, reverse=True), "the busier the host, the fewer calls"
    print(f"predicted {why['predicted_ms']:.1f} ms, fully connected {why['fully_connected_ms']:.1f} ms; {times}")
