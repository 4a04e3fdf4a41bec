"""`sluice doctor` of the actuator's targets: from a small server with a real page's fields, and judged by hand."""

from typing import Any

import pytest

from sluice.cli.doctor import targets
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.targets import Target
from sluice.cli.environment import addresses
from sluice.model.keys import PoolKey
from sluice.pools.nearest.query import PoolInSpans

from .http_server import FixedServer

CART, GONE = PoolKey("cart", "server", ""), PoolKey("gone", "server", "")
REFUSED = 'GET http://127.0.0.1:8099/rows: status 401, want 200: "want Authorization: Bearer TOKEN"'


def target(name: str, key: PoolKey = CART, **more: Any) -> Target:
    fields: dict[str, Any] = {"instance": name, "size": 64, "busy": None, "error": "", "answered": True, "read": True}
    return Target(name=name, key=key, **fields | more)


def test_the_actuators_page() -> None:
    pool = {"service": "cart", "side": "server", "peer": ""}
    rows = [
        {"name": "cart.threads", "instance": "cart-1", "pool": pool, "size": 64, "busy": 64, "read_at": "2026-03-01"},
        {"name": "cart.rows", "instance": "cart.rows", "pool": pool, "read_error": REFUSED, "recommendation": {}},
        {"name": "cart.none", "instance": "cart.none", "pool": pool, "unbounded": True},
    ]
    with FixedServer({"/status": {"name": "local", "targets": rows}}) as server:
        read = targets.read_targets(server.url, 2)
        assert read == [
            target("cart.threads", instance="cart-1", busy=64, answered=False),
            target("cart.rows", size=None, error=REFUSED),
            target("cart.none", size=None, answered=False, read=False),
        ]
        assert [str(one) for one in read] == ["cart.threads (cart-1)", "cart.rows", "cart.none"]
        server.answers["/status"] = {"name": "another program"}
        with pytest.raises(NotAnsweringError, match="is not an actuator's page"):
            targets.read_targets(server.url, 2)


def test_targets_that_are_read_are_well() -> None:
    assert targets.judge([target("cart.threads")], []) == Diagnosis("ok", "1 target, read without an error")
    assert targets.judge([], []).text == "0 targets, read without an error"


def test_each_target_that_cannot_be_read_is_named_with_its_error() -> None:
    refused = target("cart.rows", instance="cart-1", error=REFUSED, answered=False)
    down = target("shop.threads", error="read size: connection refused")
    diagnosis = targets.judge([refused, target("cart.threads"), down], None)
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        f"2 of 3 targets cannot be read: cart.rows (cart-1): {REFUSED}; shop.threads: read size: connection refused"
    )
    assert "`token_file`" in diagnosis.remedy


def test_a_target_whose_service_no_span_shows() -> None:
    in_spans = [PoolInSpans(PoolKey("gone-v2", "server", ""), 1200, ("a",))]
    unseen = target("gone.threads", GONE, busy=64, answered=False)
    diagnosis = targets.judge([unseen], in_spans)
    assert diagnosis.level == "warn"
    assert diagnosis.text == (
        "NOT_IN_SPANS: gone.threads: spans of 10 min show no service gone; "
        "the nearest pools in them: gone-v2/server (1,200 requests)"
    )
    for cause in ("OTEL_EXPORTER_OTLP_ENDPOINT", "protocol", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER"):
        assert cause in diagnosis.remedy
    nothing = targets.judge([unseen, target("x", answered=False)], [])
    assert nothing.text == "NOT_IN_SPANS: gone.threads, x: no spans of any service arrived in 10 min"
    # The check of pools reports those that the recommender decides; a table that cannot be read shows nothing.
    assert targets.judge([target("gone.threads", GONE)], in_spans).level == "ok"
    assert targets.judge([unseen], None).level == "ok"


def test_both_are_told_while_clickhouse_is_down() -> None:
    pool = {"service": "cart", "side": "server", "peer": ""}
    row = {"name": "cart.rows", "instance": "cart.rows", "pool": pool, "read_error": REFUSED}
    with FixedServer({"/status": {"targets": [row]}}) as server:
        where = addresses({"SLUICE_ACTUATOR": server.url, "SLUICE_CLICKHOUSE": "http://127.0.0.1:1"})
        assert targets.targets(where, 2).text == f"1 of 1 target cannot be read: cart.rows: {REFUSED}"
