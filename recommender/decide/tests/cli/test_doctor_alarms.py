"""`sluice doctor` of pools whose newest answer is an alarm, and of spans that rules leave out: judged by hand."""

import pytest

from sluice.cli.doctor import alarms, left_out
from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.left_out import LeftOut
from sluice.cli.doctor.pool_spans import PoolSpans, operations_of
from sluice.cli.environment import addresses
from sluice.common.v1.decision_pb2 import Reason
from sluice.model.keys import PoolKey
from sluice.pools.names import message_of
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize

from .pool_server import PoolServer

CART, DB = PoolKey("cart", "server", ""), PoolKey("cart", "client", "cart-db")
DISAGREE = (
    "more requests are in flight than the pool holds: spans count requests outside the pool: "
    "109 of 34; see ./sluice doctor"
)


def size(key: PoolKey, code: str, text: str, *targets: TargetSize) -> PoolSize:
    reasons = [Reason(code=code, text=text), Reason(code="FOREIGN", text="not Sluice's")]
    return PoolSize(pool=message_of(key), reasons=reasons, sizes=targets)


def test_pools_without_an_alarm_are_well() -> None:
    assert alarms.judge([size(CART, "BEST", "no other")], {}).level == "ok"
    assert alarms.judge([], {}).level == "ok"


def test_more_in_flight_than_it_holds_says_of_what_and_the_remedies_in_order() -> None:
    pool_spans = PoolSpans(
        in_flight={"cart-0": 80.4, "": 29.0},
        operations={"GET /cart": 300, "POST /cart": 100},
        left_out={("GET /healthz", "probe-path"): 1200, ("GET /cart", "nested"): 9},
    )
    diagnosis = alarms.judge(
        [size(CART, "SPANS_DISAGREE", DISAGREE, TargetSize(instance="cart-0", size=34))], {CART: pool_spans}
    )
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "cart/server SPANS_DISAGREE: more requests are in flight than the pool holds: "
        "spans count requests outside the pool: 109 of 34; "
        "in flight over 10 s at most: cart-0 80 of 34, (no instance) 29; spans are of 2 instances, "
        "sizes of 1 target; its operations: GET /cart 75%, POST /cart 25%; "
        "left out already: GET /healthz 1,200 (probe-path), GET /cart 9 (nested)"
    )
    order = [diagnosis.remedy.index(word) for word in ("spans.toml", "`busy`", "this pool's")]
    assert order == sorted(order)
    # What tables cannot tell is left out, and nothing else.
    assert alarms.judge([size(CART, "SPANS_DISAGREE", DISAGREE)], {}).text.endswith("109 of 34")
    assert alarms.judge([size(CART, "SPANS_DISAGREE", DISAGREE)], {CART: PoolSpans()}).text.endswith("109 of 34")


@pytest.mark.parametrize(
    ("busy_most", "waiting_most", "callers"), [(3, 0, True), (3, None, True), (100, 0, False), (3, 2, False)]
)
def test_callers_own_limits_are_named_where_the_target_tells_that_it_is_idle(
    busy_most: int, waiting_most: int | None, callers: bool
) -> None:
    """3 of 200 busy, and nobody waits there; 100 are half of it."""
    occupancy = Occupancy(readings=7, busy=3, busy_most=busy_most, waiting_most=waiting_most)
    target = TargetSize(instance="cart-0", size=200, occupancy=occupancy)
    remedy = alarms.judge([size(CART, "UNACCOUNTED", "9.0 wait", target)], {}).remedy
    assert ("`maxSockets`" in remedy) is callers
    assert ("held between queries" in remedy) is not callers
    # Another target of the pool that tells nothing may be the full one.
    some = alarms.judge([size(CART, "UNACCOUNTED", "9.0 wait", target, TargetSize(instance="cart-1", size=200))], {})
    assert "held between queries" in some.remedy


def test_each_pool_is_named_and_each_remedy_once_the_worst_first() -> None:
    diagnosis = alarms.judge(
        [
            size(PoolKey("duo", "server", ""), "INSTANCES_DIFFER", "pod-1 and duo-a"),
            size(DB, "UNACCOUNTED", "9.0 wait, 0.4 of 4 in flight"),
            size(PoolKey("mail", "server", ""), "ERRORS_RISE", "more fail"),
            size(PoolKey("shop", "server", ""), "COLLAPSED", "0 of 60 a second"),
            size(CART, "GAVE_UP", "less completed"),
            size(PoolKey("a", "server", ""), "GAVE_UP", "less completed there"),
            size(PoolKey("b", "server", ""), "CHECKED", "a look"),
        ],
        {},
    )
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "a/server GAVE_UP: less completed there. cart/server GAVE_UP: less completed. "
        "shop/server COLLAPSED: 0 of 60 a second. mail/server ERRORS_RISE: more fail. "
        "cart/client/cart-db UNACCOUNTED: 9.0 wait, 0.4 of 4 in flight. duo/server INSTANCES_DIFFER: pod-1 and duo-a"
    )
    for code in ("GAVE_UP", "COLLAPSED", "ERRORS_RISE", "UNACCOUNTED", "INSTANCES_DIFFER"):
        assert diagnosis.remedy.count(f"{code}: ") == 1
    many = [size(PoolKey(f"s{nth}", "server", ""), "GAVE_UP", "less") for nth in range(8)]
    assert alarms.judge(many, {}).text.endswith("s5/server GAVE_UP: less. 2 more pools")


def test_over_grpc_where_the_tables_do_not_answer(pool_server: PoolServer) -> None:
    where = addresses({"SLUICE_RECOMMENDER": pool_server.address, "SLUICE_CLICKHOUSE": "http://127.0.0.1:1"})
    assert alarms.alarms(where, 5).level == "ok"
    pool_server.explanations = [Explanation(pool_size=size(CART, "SPANS_DISAGREE", DISAGREE))]
    diagnosis = alarms.alarms(where, 5)
    assert (diagnosis.level, "109 of 34" in diagnosis.text, "spans.toml" in diagnosis.remedy) == ("warn", True, True)


def test_instances_named_differently_are_told_before_sizes_differ(
    monkeypatch: pytest.MonkeyPatch, pool_server: PoolServer
) -> None:
    of_cart = [("server", "cart", "", name, 1.0) for name in ("pod-2", "pod-1")]
    rows = [*of_cart, ("server", "shop", "", "x", 9.0)]
    monkeypatch.setattr("sluice.cli.doctor.pool_spans.ask", lambda *_: rows)
    where = addresses({"SLUICE_RECOMMENDER": pool_server.address})
    targets = [TargetSize(instance=name, size=8) for name in ("duo-a", "duo-b")]
    pool_server.explanations = [Explanation(pool_size=size(CART, "BEST", "no other", *targets))]
    diagnosis = alarms.alarms(where, 5)
    assert diagnosis.text.startswith("cart/server INSTANCES_DIFFER: spans have the instances pod-1, pod-2; sizes are")
    assert "`service.instance.id`" in diagnosis.remedy
    targets[0].instance = "pod-1"
    pool_server.explanations = [Explanation(pool_size=size(CART, "BEST", "no other", *targets))]
    assert alarms.alarms(where, 5).level == "ok"


def test_operations_are_counted_in_whole_trees_at_any_depth() -> None:
    inner = '{"service":"cart","operation":"read","stages":[[{"service":"cart","operation":"lock"}]]}'
    tree = '{"service":"shop","operation":"GET /","stages":[[%s,{"service":"cart","operation":"read"}],[%s]]}'
    deep, too_deep = ('{"service":"a","stages":[[' * depth + "{}" + "]]}" * depth for depth in (100, 100_000))
    short = [('{"cut":true}', 5), ('{"service":"cart"}', 1)]
    operations = operations_of([(tree % (inner, inner), 10), *short, (deep, 1), (too_deep, 1)])
    assert operations["shop"] == {"GET /": 10}
    assert operations["cart"] == {"read": 30, "lock": 20, "": 1}
    assert operations["a"] == {"": 100}


def row(operation: str, share: float, action: str = "leave_out", side: str = "server") -> LeftOut:
    return LeftOut("cart", side, operation, "probe-path", action, share)


def test_what_rules_leave_out_is_a_note_up_to_half_of_a_services_spans() -> None:
    assert left_out.judge([]).level == "ok"
    assert left_out.judge([row("GET /healthz", 0.3), row("GET /metrics", 0.004)]) == Diagnosis(
        "ok",
        "left out of pools in the last 10 minutes, by rule: "
        "of cart (server) GET /healthz 30% (probe-path), GET /metrics under 1% (probe-path)",
    )
    assert left_out.judge([row("GET /healthz", 0.25), row("GET /livez", 0.25)]).level == "ok"
    most = left_out.judge([row("GET /healthz", 0.3), row("GET /livez", 0.21), row("connect", 0.5, "waiting", "client")])
    assert most.level == "warn"
    assert most.text.endswith("That is most of what cart (server) does")
    assert "`count`" in most.remedy


@pytest.mark.parametrize(("share", "level"), [(0.5, "ok"), (0.75, "ok"), (0.76, "warn")])
@pytest.mark.parametrize("action", ["waiting", "around"])
def test_of_waits_and_sidecars_one_stands_beside_each_span_that_counts(share: float, level: str, action: str) -> None:
    assert left_out.judge([row("pg.connect", share, action)]).level == level
