"""`sluice subsets list | get | explain | watch | diff`, against `sluice-server` on a real journal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.cli.subsets.connection_changes import connections_of_file, difference
from sluice.subsets.v1.explanation_pb2 import Adoption, ContainerLoad, Pair, PairExplanation, Run
from sluice.subsets.v1.log_pb2 import ServiceContainers
from sluice.subsets.v1.subset_pb2 import STATE_HELD, STATE_PROVIDED, Endpoint, Subset, SubsetKey
from sluice_kit.journal.shard_log import Log, serving_at
from sluice_kit.servers.kafka import Broker

from .processes import interruptible

SOURCES = Path(__file__).parents[2] / "src"
Records = list[tuple[str, str, object]]


def subset(instance: str, revision: int, **weights: int) -> Subset:
    """Of shop's container towards cart."""
    ends = [
        Endpoint(instance=to, address=f"10.0.0.{at}:80", weight=weight, zone="z1")
        for at, (to, weight) in enumerate(sorted(weights.items()))
    ]
    key = SubsetKey(upstream="shop", instance=instance, downstream="cart")
    return Subset(
        key=key,
        state=STATE_PROVIDED,
        endpoints=ends,
        strategy="microns",
        revision=revision,
        computed_at=Timestamp(seconds=1_700_000_000),
    )


def put(*subsets: Subset) -> Records:
    return [
        ("decisions", f"subset/{subset.key.upstream}/{subset.key.instance}/{subset.key.downstream}", subset)
        for subset in subsets
    ]


def explained() -> Records:
    cart = ServiceContainers(service="cart")
    for at in range(3):
        cart.containers.add(instance=f"cart-{at}", address=f"10.0.0.{at}:80", zone="z1")
    pair = PairExplanation(
        pair=Pair(upstream="shop", downstream="cart"),
        rate_per_s=120,
        quota=4,
        least=3,
        most=6,
        predicted_ms=9.5,
        best_ms=9.0,
        fully_connected_ms=14.25,
        gradient_ms=-0.5,
        reaches=0.5,
        basis="XGBoost of 2140 samples",
        mu_error=0.03,
        sigma_error=0.1,
        pair_error=0.0525,
        held_out_samples=428,
        containers=[ContainerLoad(instance="cart-0", host="h1", cpu=0.35, rate_per_s=70, best_rate_per_s=72)],
        application="cart",
        adoption=Adoption(
            following=3, not_following=2, unknown=1, not_following_instances=["shop-1", "shop-4"], fixed_share=0.4
        ),
    )
    run = Run(strategy="microns", cause="DRIFT", iterations=3, quota=4, churn=0.025, missing=["network of h1"])
    return [
        ("decisions", "containers/cart", cart),
        ("explanations", "pair/shop/cart", pair),
        ("explanations", "application/cart", run),
    ]


@pytest.fixture
def log(broker: Broker) -> Log:
    return Log(broker)


@pytest.mark.integration
def test_what_is_served_is_listed_got_explained_and_compared(
    run: Callable[..., Result], log: Log, tmp_path: Path
) -> None:
    held_subset = subset("shop-1", 7, **{"cart-1": 1, "cart-2": 1})
    held_subset.state = STATE_HELD
    held_subset.reasons.add(code="MISSING", text="no latencies of cart")
    log.commit(*put(subset("shop-0", 3, **{"cart-0": 3, "cart-1": 1}), held_subset), *explained())  # type: ignore[arg-type]
    with serving_at(log, tmp_path, {}) as address:
        where = {"SLUICE_RECOMMENDER": address}
        lines = run("subsets", "list", **where).stdout.splitlines()
        assert lines[0].split()[:4] == ["UPSTREAM", "CONTAINER", "DOWNSTREAM", "STATE"]
        assert re.split(r"  +", lines[1])[:5] == ["shop", "shop-0", "cart", "PROVIDED", "cart-0 75%, cart-1 25%"]
        assert lines[2].endswith("no latencies of cart")
        answer = json.loads(run("subsets", "get", "shop", "shop-1", "cart", "-o", "json", **where).stdout)
        assert (answer["state"], answer["revision"], answer["computed_at"]) == ("HELD", 7, "2023-11-14T22:13:20Z")
        assert [entry["weight"] for entry in answer["endpoints"]] == [1, 1]
        shown = run("subsets", "get", "shop", "shop-0", "cart", **where).stdout
        assert re.search(r"cart-0 +10\.0\.0\.0:80 +z1 +75\.0%", shown)
        why = run("subsets", "explain", "shop", "cart", **where).stdout
        assert "9.5 ms, 9.0 ms with the best number of connections, 14.2 ms fully connected" in why
        assert re.search(r"^calls +120 per second$", why, re.MULTILINE)
        assert re.search(r"^connections +4, legal: 3 to 6$", why, re.MULTILINE)
        assert re.search(r"^one more +-0.5 ms, of which 50% reaches", why, re.MULTILINE)
        assert re.search(r"^latencies from +XGBoost of 2140 samples$", why, re.MULTILINE)
        assert "the pair 5.2%, e^mu 3.0%, sigma 10.0%, on 428 samples outside the training set" in why
        assert re.search(r"^cart-0 +h1 +35% +0% +0% +70 +72 ", why, re.MULTILINE), "contention, load and the best load"
        assert "network of h1" in why
        assert re.search(
            r"^adoption +3 callers follow, 2 do not, 1 unknown; 40% of the calls count as fixed$", why, re.MULTILINE
        )
        assert re.search(r"^not following +shop-1, shop-4$", why, re.MULTILINE)
        unknown = run("subsets", "explain", "cart", "shop", **where)
        assert unknown.exit_code == 1
        assert "cart to shop" in unknown.stderr
        assert "Pairs that have subsets: shop -> cart." in unknown.stderr
        assert run("subsets", "list", "--upstream", "nobody", **where).stdout == "No subset matches.\n"

        earlier = tmp_path / "before.json"
        earlier.write_text(run("subsets", "list", "-o", "json", **where).stdout)
        same = run("subsets", "diff", earlier, "--weights", **where).stdout
        assert same == "0 of 4 connections changed (0.0%)\n"
        earlier.write_text(earlier.read_text().replace("cart-2", "cart-0"))
        changed = json.loads(run("subsets", "diff", earlier, "-o", "json", **where).stdout)
        assert (changed["moved"], changed["churn"]) == (1, 0.25)
        assert [(entry["from"], entry["to"], entry["before"]) for entry in changed["changes"]] == [
            ("shop-1", "cart-0", 1.0),
            ("shop-1", "cart-2", None),
        ]


@pytest.mark.integration
def test_watching_prints_the_state_and_then_changes(log: Log, tmp_path: Path) -> None:
    log.commit(*put(subset("shop-0", 1, **{"cart-0": 1}), subset("shop-1", 1, **{"cart-0": 1})))  # type: ignore[arg-type]
    command = interruptible("subsets", "watch", "--instance", "shop-1", "--upstream", "shop")
    with serving_at(log, tmp_path, {}) as address:
        environment = os.environ | {"SLUICE_RECOMMENDER": address, "PYTHONPATH": str(SOURCES)}
        watching = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            assert watching.stdout is not None
            first = watching.stdout.readline()
            moved = [subset(name, 2, **{"cart-1": 1}) for name in ("shop-0", "shop-1")]
            log.commit(*put(*moved))  # type: ignore[arg-type]
            second = watching.stdout.readline()
            watching.send_signal(signal.SIGINT)
            watching.wait(30)
        finally:
            watching.kill()
            watching.wait()
    assert first.endswith("shop/shop-1 -> cart PROVIDED revision 1: cart-0\n")
    assert second.endswith("shop/shop-1 -> cart PROVIDED revision 2: cart-1\n")


def test_a_solution_and_what_is_served_are_compared_by_share(run: Callable[..., Result], tmp_path: Path) -> None:
    served, solved = tmp_path / "served.json", tmp_path / "solved.json"
    key = {"upstream": "a", "instance": "a-1", "downstream": "b"}
    ends = [{"instance": "b-1", "weight": 300}, {"instance": "b-2", "weight": 100}]
    served.write_text(json.dumps([{"key": key, "endpoints": ends}]))
    links = [{"from": "a-1", "to": "b-1", "weight": 1.5}, {"from": "a-1", "to": "b-2", "weight": 0.5}]
    solved.write_text(json.dumps({"pairs": [{"upstream": "a", "downstream": "b", "connections": links}]}))
    assert difference(connections_of_file(str(served)), connections_of_file(str(solved)), True).changes == []
    links[1]["weight"] = 1.5
    solved.write_text(json.dumps({"pairs": [{"upstream": "a", "downstream": "b", "connections": links}]}))
    shown = run("subsets", "diff", served, solved, "--weights").stdout.splitlines()
    assert [line.split() for line in shown[1:3]] == [
        ["a", "a-1", "b", "b-1", "1.50", "1.00"],
        ["a", "a-1", "b", "b-2", "0.50", "1.00"],
    ]
    assert shown[3] == "0 of 2 connections changed (0.0%)"


@pytest.mark.parametrize("text", ["{", "3", '{"pairs": 1}', '[{"key": {}}]', "[1]"])
def test_a_file_that_is_neither_is_named(run: Callable[..., Result], tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    result = run("subsets", "diff", path, path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"cannot read {path}" in result.stderr


def test_nobody_there_is_said(run: Callable[..., Result]) -> None:
    result = run("subsets", "list", SLUICE_RECOMMENDER="127.0.0.1:1")
    assert result.exit_code == 1
    assert "cannot reach the recommender at 127.0.0.1:1" in result.stderr
