"""`sluice pools diff` and `apply` against a real server with the generated servicer."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from sluice.common.v1.decision_pb2 import ACTION_APPLY, ACTION_HOLD, Reason
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import BASIS_CURVE, BASIS_HELD, PoolSize, TargetSize

from .pool_server import PoolServer

Run = Callable[..., Result]


@pytest.fixture
def server(pool_server: PoolServer) -> PoolServer:
    cart = PoolSize(
        pool=Pool(service="cart", side=SIDE_SERVER), action=ACTION_APPLY, basis=BASIS_CURVE, target=32,
        unguarded_target=12, targets=["cart-0"],
        sizes=[
            TargetSize(instance="cart-0", size=64),
            TargetSize(instance="cart-1", size=64),
            TargetSize(instance="cart-2", size=32),
        ],
    )  # fmt: skip
    rows = PoolSize(
        pool=Pool(service="catalogue", side=SIDE_CLIENT, peer="db"), action=ACTION_HOLD, basis=BASIS_HELD,
        target=8, sizes=[TargetSize(instance="catalogue-0", unbounded=True)],
        reasons=[Reason(code="PAUSED", text="an operator paused the pool")],
    )  # fmt: skip
    unknown = PoolSize(pool=Pool(service="new", side=SIDE_SERVER), reasons=[Reason(code="NO_SIZE", text="no size")])
    pool_server.explanations = [Explanation(pool_size=size) for size in (cart, rows, unknown)]
    return pool_server


def test_a_difference_says_when_an_actuator_is_asked_to_end_it(run: Run, server: PoolServer) -> None:
    result = run("pools", "diff", SLUICE_RECOMMENDER=server.address)
    assert result.exit_code == 0, result.output
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["cart/server", "cart-0", "64", "32", "APPLY", "CURVE", "now"],
        ["cart/server", "cart-1", "64", "32", "APPLY", "CURVE", "after", "cart-0"],
        ["catalogue/client/db", "catalogue-0", "unbounded", "8", "HOLD", "HELD", "not"],
    ]


def test_a_target_that_nobody_writes_changes_by_hand(run: Run, server: PoolServer) -> None:
    cart = server.explanations[0].pool_size
    cart.sizes[0].recommends = True
    result = run("pools", "diff", "--service", "cart", SLUICE_RECOMMENDER=server.address)
    assert result.stdout.splitlines()[1].split()[-2:] == ["by", "hand"]


def test_differences_as_json(run: Run, server: PoolServer) -> None:
    printed = json.loads(
        run("pools", "diff", "--service", "catalogue", "-o", "json", "--address", server.address).stdout
    )
    assert printed == [
        {
            "pool": "catalogue/client/db", "instance": "catalogue-0", "in_force": None, "target": 8, "action": "HOLD",
            "basis": "HELD", "when": "not",
        }
    ]  # fmt: skip


def test_where_nothing_differs_it_says_how_many_it_knows(run: Run, server: PoolServer) -> None:
    result = run("pools", "diff", "--service", "new", "--address", server.address)
    assert result.stdout == "Nothing differs: a size in force is known of 0 of 1 pools.\n"


def test_apply_holds_the_best_size_and_its_dry_run_only_says_so(run: Run, server: PoolServer) -> None:
    dry = run("pools", "apply", "cart", "--dry-run", "--address", server.address)
    what = "cart/server to 12 (cart-0 64 -> 12, cart-1 64 -> 12, cart-2 32 -> 12)"
    assert dry.stdout == f"would set {what}, and hold it there\n"
    assert not server.paused
    done = run("pools", "apply", "cart", "--by", "ann", "--why", "the sale", "--address", server.address)
    assert done.exit_code == 0, done.output
    (pause,) = server.paused
    assert (pause.pool.service, pause.size, pause.by, pause.why) == (
        "cart", 12, "ann", "apply of the best size: the sale",
    )  # fmt: skip


def test_without_a_best_size_nothing_is_applied(run: Run, server: PoolServer) -> None:
    result = run("pools", "apply", "new", "--address", server.address)
    assert result.exit_code == 1
    assert "new/server has no known best size: no size" in result.stderr
    assert not server.paused


def test_without_an_actuator_nothing_is_applied(run: Run, server: PoolServer) -> None:
    server.explanations[0].pool_size.reasons.add(code="NO_ACTUATOR", text="APPLY needs an actuator")
    result = run("pools", "apply", "cart", "--address", server.address)
    assert result.exit_code == 1
    assert "cart/server has no actuator that could set 12; its size is that of metrics" in result.stderr
    assert not server.paused
