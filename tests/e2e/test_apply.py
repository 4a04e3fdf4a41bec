"""The whole loop: the demo's spans lead to a size, the actuator applies it, and the demo's goodput rises."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from support.stack import PATIENCE_S, REPOSITORY, Stack, eventually

POOL = "cart.threads"
# Goodput is compared over whole periods of the demo's load (36 s): two of them.
SPAN_S = 72


def test_the_recommended_size_is_applied_read_back_and_raises_goodput(stack: Stack, tmp_path: Path) -> None:
    with running("demo", demo(), stack, tmp_path):
        answer = wait_for_a_smaller_size(stack)
        at_64 = goodput_per_s(stack, answer)
        with running("actuator", actuator("--apply", POOL), stack, tmp_path):
            applied = wait_for_audit(stack)
            assert applied["read_back"] == applied["requested"] < applied["previous"] == 64
            assert pool(stack)["size"] == applied["read_back"]
            time.sleep(SPAN_S + 10)  # the windows of the old size leave the span; the newest are not whole yet
            after = goodput_per_s(stack, answer)
            # The recommender hears of a change with the next report, and says so with its next period.
            assert eventually(lambda: current(stack) == pool(stack)["size"], True)
    print(f"goodput within the threshold: {at_64:.1f}/s at 64 threads, {after:.1f}/s at {applied['read_back']}")
    assert after >= 1.15 * at_64


def demo() -> list[str]:
    return [str(REPOSITORY / ".cache/venvs/sluice/bin/python"), "-m", "testbed.demo"]


def actuator(*flags: str) -> list[str]:
    return [str(REPOSITORY / ".cache/bin/sluice-actuator"), "--config", "deploy/local/actuator.yaml", *flags]


@contextmanager
def running(name: str, command: list[str], stack: Stack, logs: Path) -> Iterator[None]:
    """Runs a process beside the stack for the length of the block; if the block fails, its log is shown."""
    # The stack's own actuator, which only recommends, has the stack's status address.
    environment = stack.environment | {"PYTHONPATH": str(REPOSITORY / "tests"), "SLUICE_ACTUATOR": "127.0.0.1:28092"}
    path = logs / f"{name}.log"
    with path.open("w") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log)
    try:
        yield
        assert process.poll() is None, f"{name} stopped by itself"
    except BaseException:
        print(f"-- {name}, which {'runs' if process.poll() is None else 'stopped'}:\n{path.read_text()[-4000:]}")
        raise
    finally:
        process.terminate()
        process.wait(timeout=20)


def recommendation(stack: Stack) -> dict[str, Any]:
    answer = stack.sluice("pools", "explain", "cart", "-o", "json")
    assert answer.returncode == 0, answer.stderr
    explanation: dict[str, Any] = json.loads(answer.stdout)
    return explanation


def wait_for_a_smaller_size(stack: Stack) -> dict[str, Any]:
    """The first explanation whose target shrinks the pool, after a whole span of load at the size at start."""
    start = time.monotonic()
    while time.monotonic() < start + PATIENCE_S:
        explanation = recommendation(stack)
        size = explanation["pool_size"]
        if size["state"] in ("PROVIDED", "GUARDED") and size["target"] < 64 and time.monotonic() > start + SPAN_S:
            return explanation
        time.sleep(2)
    raise AssertionError(f"no size below 64 within {PATIENCE_S:g} s; last: {recommendation(stack)['pool_size']}")


def goodput_per_s(stack: Stack, explanation: dict[str, Any]) -> float:
    """Completions of cart within its threshold, as its callers saw them, over the newest span of load."""
    threshold_ms = float(explanation["threshold"]["value"].rstrip("s")) * 1000
    return float(
        stack.value(
            f"""SELECT sum(latency_within(latency, {threshold_ms})) / {SPAN_S} FROM v_windows
                WHERE side = 'client' AND peer = 'cart'
                  AND bucket >= now64(3) - INTERVAL {SPAN_S + 5} SECOND AND bucket < now64(3) - INTERVAL 5 SECOND"""
        )
    )


def wait_for_audit(stack: Stack) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        rows = stack.rows("SELECT * FROM actuations WHERE service = 'cart' AND outcome = 'APPLIED' ORDER BY at")
        if rows:
            return rows[0]
        time.sleep(1)
    raise AssertionError(f"no APPLIED row in the audit table within {PATIENCE_S:g} s")


def pool(stack: Stack) -> dict[str, Any]:
    answer: dict[str, Any] = requests.get(f"{stack.address['SLUICE_DEMO']}/pools/{POOL}", timeout=5).json()
    return answer


def current(stack: Stack) -> int:
    """The size that the recommender believes, from the actuator's reports."""
    return int(recommendation(stack)["pool_size"]["current"])
