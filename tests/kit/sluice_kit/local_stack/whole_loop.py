"""The whole loop: the demo's spans lead to a size, the actuator applies it, and the demo's goodput rises. Beside it, to
subsets."""

import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

import grpc
import requests

from sluice.common.v1.decision_pb2 import ACTION_APPLY
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import Pool, Side
from sluice.pools.v1.pool_size_pb2 import PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice.subsets.v1.subset_pb2 import Subset
from sluice.subsets.v1.subset_service_pb2 import ListSubsetsRequest
from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub
from sluice_kit.local_stack.driver import REPOSITORY, Stack
from sluice_kit.waiting import eventually, until
from testbed.presets.shop import USERS

POOL = "cart.threads"
# A step follows the one before within some periods of a second; at rest there is none.
RESTS_S = 10


def check_the_loop(stack: Stack, tmp_path: Path, period_s: int, users: int = USERS) -> None:
    """Goodput is compared over whole periods of the load: two of them."""
    span_s = 2 * period_s
    with running("demo", demo(period_s, users), stack, tmp_path):
        answer = wait_for_a_smaller_size(stack, span_s)
        at_64 = goodput_per_s(stack, answer, span_s)
        with running("actuator", actuator("--apply", POOL), stack, tmp_path):
            steps = wait_for_audit(stack)
            assert steps[0]["previous"] == 64
            assert steps[0]["requested"] < 64
            assert all(step["read_back"] == step["requested"] for step in steps), steps
            # The actuator's own bound on a step, either way.
            assert all(step["previous"] <= 2 * step["requested"] <= 4 * step["previous"] for step in steps), steps
            assert pool(stack)["size"] == steps[-1]["read_back"]
            time.sleep(span_s + 10)  # the windows of the old size leave the span; the newest are not whole yet
            # On a busy machine the pool rests at a size on its way for longer than RESTS_S.
            until("goodput to rise by 15 %", lambda: goodput_per_s(stack, answer, span_s) >= 1.15 * at_64)
            after = goodput_per_s(stack, answer, span_s)
            # The recommender hears of a change with the next report, and says so with its next period.
            assert eventually(lambda: current(stack) == pool(stack)["size"], True)
            check_subsets(stack)
        print(f"goodput within the threshold: {at_64:.1f}/s at 64 threads, {after:.1f}/s at {pool(stack)['size']}")


def check_subsets(stack: Stack) -> None:
    """Each container of suggest has some of suggest-index's six, each of these has a caller, the busiest the least."""
    until("subsets of suggest's three containers", lambda: len(subsets_of_suggest(stack)) == 3)
    # Where the hosts' metrics came later than the spans, contention counts from the next run on, after a minute.
    until("the busiest host to get the least", lambda: busiest_least(subsets_of_suggest(stack)))
    ends = [subset.endpoints for subset in subsets_of_suggest(stack)]
    assert all(2 <= len(endpoints) < 6 for endpoints in ends), ends
    assert {end.instance for endpoints in ends for end in endpoints} == {
        f"suggest-index-{number}" for number in range(1, 7)
    }
    addresses = {end.instance: end.address for endpoints in ends for end in endpoints}
    assert all(address == f"127.0.1.{name.removeprefix('suggest-index-')}:8085" for name, address in addresses.items())
    assert eventually(lambda: stack.value("SELECT count() FROM v_subset_now WHERE upstream = 'suggest'"), 3)
    until("suggest to call by its subsets", lambda: followed(stack) > 0)


def followed(stack: Stack) -> int:
    """The calls of suggest whose container its gRPC client chose."""
    stats: dict[str, int] = requests.get(f"{stack.address['SLUICE_DEMO']}/stats", timeout=5).json()
    return stats["suggest_calls_by_xds"]


def busiest_least(subsets: Sequence[Subset]) -> bool:
    share: defaultdict[str, float] = defaultdict(float)
    for subset in subsets:
        for end in subset.endpoints:
            share[end.instance] += end.weight / sum(other.weight for other in subset.endpoints) / len(subsets)
    return share["suggest-index-6"] < 1 / 6 < share["suggest-index-1"]


def subsets_of_suggest(stack: Stack) -> list[Subset]:
    with grpc.insecure_channel(stack.address["SLUICE_RECOMMENDER"]) as channel:
        answer = SubsetServiceStub(channel).ListSubsets(ListSubsetsRequest(upstream="suggest"), timeout=60)
        return list(answer.subsets)


def demo(period_s: int, users: int = USERS) -> list[str]:
    python = str(REPOSITORY / ".cache/venvs/sluice/bin/python")
    return [python, "-m", "testbed.demo", "--period", str(period_s), "--users", str(users)]


def actuator(*flags: str) -> list[str]:
    return [str(REPOSITORY / ".cache/bin/sluice-actuator"), "--config", "deploy/local/actuator.yaml", *flags]


@contextmanager
def running(name: str, command: list[str], stack: Stack, logs: Path) -> Iterator[int]:
    """Runs a process beside the stack for the length of the block; if the block fails, its log is shown. Yields its
    pid."""
    # The stack's own actuator, which only recommends, has the stack's status address.
    environment = stack.environment | {"PYTHONPATH": str(REPOSITORY / "tests"), "SLUICE_ACTUATOR": "127.0.0.1:28092"}
    path = logs / f"{name}.log"
    with path.open("w") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log)
    try:
        yield process.pid
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


def wait_for_a_smaller_size(stack: Stack, span_s: int) -> dict[str, Any]:
    """The first explanation whose target shrinks the pool, after a whole span of load at the size at start. Without
    one, what was decided instead is shown."""
    time.sleep(span_s)
    decided: list[tuple[str, str]] = []

    def smaller() -> bool:
        size = size_of_cart(stack)
        line = f"{size.target} for {size.current}: {', '.join(reason.code for reason in size.reasons)}"
        if not decided or decided[-1][1] != line:
            decided.append((time.strftime("%H:%M:%S"), line))
        return shrinks(size)

    try:
        until("a size below 64 for cart", smaller)
    except AssertionError:
        print("-- decided for cart:", *map(" ".join, decided), sep="\n")
        print(stack.sluice("pools", "explain", "cart").stdout)
        raise
    return recommendation(stack)


def size_of_cart(stack: Stack) -> PoolSize:
    with grpc.insecure_channel(stack.address["SLUICE_RECOMMENDER"]) as channel:
        request = api.GetPoolSizeRequest(pool=Pool(service="cart", side=Side.SIDE_SERVER))
        return PoolSizeServiceStub(channel).GetPoolSize(request, timeout=60).pool_size


def shrinks(size: PoolSize) -> bool:
    return size.action == ACTION_APPLY and size.target < 64


def is_best(size: PoolSize) -> bool:
    return size.reasons[0].code == "BEST"


def goodput_per_s(stack: Stack, explanation: dict[str, Any], span_s: int) -> float:
    """Completions of cart within its threshold, as its callers saw them, over the newest span of load."""
    threshold_ms = float(explanation["threshold"]["value"].rstrip("s")) * 1000
    return float(
        stack.value(
            f"""SELECT sum(latency_within(latency, {threshold_ms})) / {span_s} FROM v_windows
                WHERE side = 'client' AND peer = 'cart'
                  AND bucket >= now64(3) - INTERVAL {span_s + 5} SECOND AND bucket < now64(3) - INTERVAL 5 SECOND"""
        )
    )


def wait_for_audit(stack: Stack) -> list[dict[str, Any]]:
    """The audit's APPLIED rows, once the pool rests at the newest one's size: it is no step on the way to another.

    That may be another size than `unguarded_target`: one that is as good stays, and the best one is said anew only when
    it has moved by 15 %.
    """
    since = f"fromUnixTimestamp64Milli({time.time_ns() // 1_000_000 - 60_000})"
    query = f"""SELECT *, at < now64(3) - INTERVAL {RESTS_S} SECOND AS rests FROM actuations
                WHERE service = 'cart' AND outcome = 'APPLIED' AND at >= {since} ORDER BY at"""

    def arrived() -> bool:
        rows = stack.rows(query)
        size = size_of_cart(stack)
        return bool(rows) and rows[-1]["rests"] and rows[-1]["read_back"] == size.target and is_best(size)

    until("a recommended size in the audit table at which the pool rests", arrived)
    return stack.rows(query)


def pool(stack: Stack) -> dict[str, Any]:
    answer: dict[str, Any] = requests.get(f"{stack.address['SLUICE_DEMO']}/pools/{POOL}", timeout=5).json()
    return answer


def watched(stack: Stack, seconds: float) -> tuple[list[int], float]:
    """The pool's size each second, and the users' goodput over whole periods, 1/s."""
    sizes, good, until = [], [], time.monotonic() + seconds
    while time.monotonic() < until:
        sizes.append(int(pool(stack)["size"]))
        stats = requests.get(f"{stack.address['SLUICE_DEMO']}/stats", timeout=5).json()
        good.append(float(stats["goodput_per_s"]))
        time.sleep(1)
    return sizes, mean(good)


def changes(sizes: Sequence[int]) -> list[int]:
    """Each size that differs from the one before."""
    return [size for last, size in zip([0, *sizes], sizes, strict=False) if size != last]


def current(stack: Stack) -> int:
    """The size that the recommender believes, from the actuator's reports."""
    return size_of_cart(stack).current
