"""`sluice pools` against a real server with the generated servicer."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import Result

from sluice.cli.pools.curve_plot import ASCII, CurvePlot, plot_curve
from sluice.cli.pools.message_json import message_to_json
from sluice.cli.pools.selector import SelectorError, parse_selector
from sluice.cli.pools.text import age, seconds
from sluice.common.v1.decision_pb2 import Action, Reason
from sluice.pools.v1.advice_pb2 import Advice
from sluice.pools.v1.evidence_pb2 import (
    LATENCY_SOURCE_CALLER,
    Baseline,
    CurveEvidence,
    CurvePoint,
    Explanation,
)
from sluice.pools.v1.occupancy_pb2 import Occupancy
from sluice.pools.v1.pool_pb2 import SIDE_CLIENT, SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import (
    STATE_GUARDED,
    STATE_NO_DATA,
    STATE_PROVIDED,
    Basis,
    Blame,
    HoldsUp,
    PoolSize,
    State,
    TargetSize,
)

from .pool_server import PoolServer

Run = Callable[..., Result]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def cart() -> Explanation:
    explanation = Explanation(
        pool_size=PoolSize(
            pool=Pool(service="cart", side=SIDE_SERVER),
            state=STATE_PROVIDED,
            action=Action.ACTION_APPLY,
            basis=Basis.BASIS_CURVE,
            current=64,
            target=12,
            lower_bound=10,
            upper_bound=16,
            confidence=0.875,
            reasons=[Reason(code="KNEE", text="the curve bends at 12.4")],
            model="scg",
            revision=7,
        ),
        latency_source=LATENCY_SOURCE_CALLER,
        buckets=600,
        completions=54321,
        instances=2,
        curve=CurveEvidence(
            points=[
                CurvePoint(concurrency=4, goodput_per_s=100, samples=10, fitted_per_s=99),
                CurvePoint(concurrency=12, goodput_per_s=200, samples=20, fitted_per_s=199),
                CurvePoint(concurrency=20, goodput_per_s=150, samples=5),
            ],
            knee=12.4,
            polynomial_degree=6,
        ),
    )
    explanation.threshold.value.FromTimedelta(timedelta(milliseconds=230))
    explanation.threshold.source = "slo"
    explanation.threshold.detail = "slo checkout 250 ms - 20 ms upstream"
    explanation.window_start.FromDatetime(NOW - timedelta(seconds=60))
    explanation.window_end.FromDatetime(NOW)
    explanation.bucket.FromTimedelta(timedelta(milliseconds=100))
    explanation.pool_size.computed_at.FromDatetime(NOW)
    explanation.pool_size.valid_until.FromDatetime(NOW + timedelta(seconds=60))
    return explanation


def client_pool(peer: str) -> Explanation:
    pool = Pool(service="catalogue", side=SIDE_CLIENT, peer=peer)
    return Explanation(pool_size=PoolSize(pool=pool, state=STATE_NO_DATA, model="scg"))


@pytest.fixture
def server(pool_server: PoolServer) -> PoolServer:
    pool_server.explanations = [cart(), client_pool("catalogue-db")]
    return pool_server


def test_list_as_a_table(run: Run, server: PoolServer) -> None:
    result = run("pools", "list", SLUICE_RECOMMENDER=server.address)
    assert result.exit_code == 0, result.output
    header, first, second = result.stdout.splitlines()
    columns = ["POOL", "STATE", "CURRENT", "TARGET", "ACTION", "BASIS", "RANGE", "CONFIDENCE"]
    assert header.split() == [*columns, "HOLDS", "UP", "AGE", "REASONS"]
    assert first.split()[:10] == ["cart/server", "PROVIDED", "64", "12", "APPLY", "CURVE", "10", "to", "16", "0.88"]
    assert "lease over" in first
    assert "the curve bends at 12.4" in first
    # A size that is not known is never shown as 0.
    assert second.split() == ["catalogue/client/catalogue-db", "NO_DATA", "-", "-", "-", "-", "-", "0.00", "-", "-"]


def test_pools_that_hold_up_most_come_first(run: Run, server: PoolServer) -> None:
    """The critical service first, then by share, then those that hold up nobody, or of which it is not known."""
    explanations = [client_pool(name) for name in ("a", "b", "c", "d")]
    held_of = [
        [HoldsUp(root_service="shop", root_operation="GET /", share_of_p95=0.6)],
        [],
        None,
        [
            HoldsUp(root_service="shop", root_operation="POST /orders", share_of_p95=0.34, critical=True),
            HoldsUp(root_service="shop", root_operation="GET /", share_of_p95=0.05),
        ],
    ]
    for explanation, held in zip(explanations, held_of, strict=True):
        if held is not None:
            explanation.pool_size.blame.CopyFrom(Blame(holds_up=held))
    server.explanations = explanations
    lines = run("pools", "list", SLUICE_RECOMMENDER=server.address).stdout.splitlines()[1:]
    assert [line.split()[0][-1] for line in lines] == ["d", "a", "b", "c"]
    assert "shop/POST /orders, 34% of its p95, and 1 more" in lines[0]
    assert "shop/GET /, 60% of its p95" in lines[1]
    assert "nobody" in lines[2]
    explained = run("pools", "explain", "catalogue/client/d", SLUICE_RECOMMENDER=server.address).stdout
    assert "shop/POST /orders, 34% of its p95 (the critical service); shop/GET /, 5% of its p95" in explained


def test_list_as_json_has_the_names_of_the_proto_and_null_for_absent_values(run: Run, server: PoolServer) -> None:
    sizes = json.loads(run("pools", "list", "-o", "json", "--address", server.address).stdout)
    assert sizes[0] == {
        "pool": {"service": "cart", "side": "SIDE_SERVER", "peer": ""},
        "state": "PROVIDED",
        "action": "APPLY",
        "basis": "CURVE",
        "current": 64,
        "target": 12,
        "lower_bound": 10,
        "upper_bound": 16,
        "unguarded_target": None,
        "confidence": 0.875,
        "reasons": [{"code": "KNEE", "text": "the curve bends at 12.4"}],
        "model": "scg",
        "computed_at": "2026-03-01T12:00:00Z",
        "valid_until": "2026-03-01T12:01:00Z",
        "revision": 7,
        "sizes": [],
        "shard": 0,
        "lease_left": None,
        "threshold": None,
        "data_until": None,
        "targets": [],
        "advice": None,
        "blame": None,
        "least": None,
        "most": None,
    }
    assert sizes[1]["state"] == "NO_DATA"
    assert sizes[1]["target"] is None
    assert sizes[1]["computed_at"] is None


def test_a_list_is_read_to_its_last_page(run: Run, server: PoolServer) -> None:
    server.page_size = 1
    sizes = json.loads(run("pools", "list", "-o", "json", "--address", server.address).stdout)
    assert [size["pool"]["service"] for size in sizes] == [
        explanation.pool_size.pool.service for explanation in server.explanations
    ]


def test_list_of_one_service(run: Run, server: PoolServer) -> None:
    sizes = json.loads(run("pools", "list", "--service", "cart", "-o", "json", "--address", server.address).stdout)
    assert [size["pool"]["service"] for size in sizes] == ["cart"]
    assert "no pool of service 'x'" in run("pools", "list", "--service", "x", "--address", server.address).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("catalogue/client/catalogue-db",),
        ("catalogue", "--side", "client", "--peer", "catalogue-db"),
        ("catalogue", "--peer", "catalogue-db"),
        ("catalogue",),  # its only pool
    ],
)
def test_get_by_every_name(run: Run, server: PoolServer, words: tuple[str, ...]) -> None:
    result = run("pools", "get", *words, "-o", "json", "--address", server.address)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["pool"]["peer"] == "catalogue-db"


def test_the_server_pool_is_meant_when_there_is_one(run: Run, server: PoolServer) -> None:
    both = client_pool("cart-db")
    both.pool_size.pool.service = "cart"
    server.explanations.append(both)
    printed = json.loads(run("pools", "get", "cart", "-o", "json", "--address", server.address).stdout)
    assert printed["pool"]["side"] == "SIDE_SERVER"


def test_a_name_that_could_mean_several_pools(run: Run, server: PoolServer) -> None:
    server.explanations.append(client_pool("search"))
    result = run("pools", "get", "catalogue", "--address", server.address)
    assert result.exit_code == 1
    assert "catalogue/client/catalogue-db, catalogue/client/search" in result.stderr


def test_a_pool_that_does_not_exist_names_those_that_do(run: Run, server: PoolServer) -> None:
    for words in (("get", "nothing"), ("explain", "nothing/client/x")):
        result = run("pools", *words, "--address", server.address)
        assert result.exit_code == 1
        assert "no such pool: nothing/" in result.stderr
        assert "Spans show nothing of a service 'nothing'." in result.stderr
        assert "Pools that exist: cart/server, catalogue/client/catalogue-db." in result.stderr


def test_a_recommender_that_is_not_there(run: Run) -> None:
    result = run("pools", "list", "--address", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "cannot reach the recommender at 127.0.0.1:1" in result.stderr
    assert "make up" in result.stderr


def test_wrong_usage(run: Run) -> None:
    assert run("pools", "get").exit_code == 2
    assert run("pools", "get", "a/client").exit_code == 2
    assert run("pools", "get", "a", "-o", "xml").exit_code == 2


def test_explain_shows_threshold_window_curve_and_knee(run: Run, server: PoolServer) -> None:
    result = run("pools", "explain", "cart", "--address", server.address)
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert "230 ms, from the SLO: slo checkout 250 ms - 20 ms upstream" in out
    assert "callers' CLIENT spans" in out
    assert "2026-03-01 11:59:00 to 12:00:00 UTC (1.0 min), 600 buckets of 100 ms, 54,321 completions" in out
    assert "KNEE: the curve bends at 12.4" in out
    assert "at concurrency 12.4" in out
    assert "polynomial of degree 6" in out
    marked = [line.split() for line in out.splitlines() if line.rstrip().endswith("< knee")]
    assert marked == [["12", "200.0", "199.0", "20", "<", "knee"]]
    assert ["20", "150.0", "-", "5"] in [line.split() for line in out.splitlines()]


def test_explain_says_what_the_pool_stands_on(run: Run, server: PoolServer) -> None:
    lines = run("pools", "explain", "cart", "--address", server.address).stdout.splitlines()
    assert "rests on        unknown CPU limit and version" in lines
    explanation = server.explanations[0]
    explanation.baseline.CopyFrom(Baseline(cpu_limit_cores=2, version="v7"))
    explanation.baseline.since.FromSeconds(1_000_000_000)
    lines = run("pools", "explain", "cart", "--address", server.address).stdout.splitlines()
    assert "rests on        2 cores, version v7; since 2001-09-09 01:46:40 UTC" in lines


def test_explain_says_what_was_left_out_of_the_pool(run: Run, server: PoolServer) -> None:
    explanation = server.explanations[0]
    explanation.left_out.add(rule="websocket", spans=1_200)
    explanation.left_out.add(rule="probe-path", spans=40)
    lines = run("pools", "explain", "cart", "--address", server.address).stdout.splitlines()
    text = "1,200 spans (websocket), 40 spans (probe-path) in three minutes, by the rules of spans.toml"
    assert f"left out        {text}" in lines


def test_explain_says_what_the_hardware_could_be(run: Run, server: PoolServer) -> None:
    size = server.explanations[0].pool_size
    size.advice.kind, size.advice.best, size.advice.best_per_s = Advice.KIND_SCALE_OUT, 16, 364
    size.advice.asked_per_s, size.advice.in_time = 450, 0.81
    size.advice.cpu_limit_cores, size.advice.replicas = 4, 2
    size.advice.advised_cpu_limit_cores, size.advice.advised_replicas = 7, 4
    lines = run("pools", "explain", "cart", "--address", server.address).stdout.splitlines()
    text = (
        "SCALE_OUT: no size completes the demand in time on this hardware; demand 450 per second and instance, 81% in "
        "time; size 16 completes 364; 7 cores each or 4 replicas would do, of 4 cores each and 2 replicas"
    )
    assert f"hardware        {text}" in lines
    printed = json.loads(run("pools", "get", "cart", "-o", "json", "--address", server.address).stdout)["advice"]
    assert (printed["kind"], printed["advised_replicas"]) == ("SCALE_OUT", 4)


def test_explain_says_what_targets_tell(run: Run, server: PoolServer) -> None:
    size = server.explanations[0].pool_size

    def tell() -> str:
        lines = run("pools", "explain", "cart", "--address", server.address).stdout.splitlines()
        return next((line for line in lines if line.startswith("occupancy")), "").removeprefix("occupancy").strip()

    size.sizes.add(instance="a", size=32).read_at.FromDatetime(datetime.now(UTC) - timedelta(minutes=90))
    assert tell() == ""
    size.sizes[0].occupancy.CopyFrom(Occupancy(readings=7, full=7, busy=32, busy_mean=32, busy_most=32))
    assert tell() == "32 of 32 busy, full in 7 of 7 readings; 1.5 h ago"
    size.sizes[0].occupancy.waiting = 5
    assert tell() == "32 of 32 busy, full in 7 of 7 readings, 5 waiting; 1.5 h ago"
    printed = json.loads(run("pools", "get", "cart", "-o", "json", "--address", server.address).stdout)
    occupancy = printed["sizes"][0]["occupancy"]
    assert (occupancy["busy"], occupancy["waiting"], occupancy["waiting_mean"]) == (32, 5, None)
    size.sizes.add(instance="b", unbounded=True).occupancy.CopyFrom(Occupancy(readings=7, busy=3))
    assert tell().startswith(
        "a 32 of 32 busy, full in 7 of 7 readings, 5 waiting; b 3 busy, full in 0 of 7 readings; 1.5"
    )
    del size.sizes[1]
    for name in "bcde":
        size.sizes.add(instance=name, size=32).occupancy.CopyFrom(Occupancy(readings=1, busy=2, waiting=1))
    assert tell() == "40 of 160 busy, full in 7 of 11 readings, 9 waiting, all 5 together; 1.5 h ago"


@pytest.mark.parametrize(
    ("source", "ms", "text"),
    [
        ("target", 200, "200 ms, from the target: slo 200 ms of targets a, b"),
        ("derived", 200, "200 ms, derived: slo 200 ms of targets a, b"),
        ("none", None, "not known yet: slo 200 ms of targets a, b"),
    ],
)
def test_explain_names_the_source_of_the_threshold(
    run: Run, server: PoolServer, source: str, ms: int | None, text: str
) -> None:
    threshold = server.explanations[0].threshold
    threshold.source, threshold.detail = source, "slo 200 ms of targets a, b"
    threshold.ClearField("value")
    if ms is not None:
        threshold.value.FromMilliseconds(ms)
    assert text in run("pools", "explain", "cart", "--address", server.address).stdout


def test_explain_without_a_curve(run: Run, server: PoolServer) -> None:
    result = run("pools", "explain", "catalogue", "--address", server.address)
    assert result.exit_code == 0, result.output
    assert "no curve" in result.stdout
    assert "state           NO_DATA: nothing completed for 30 s\n" in result.stdout


def test_explain_as_json(run: Run, server: PoolServer) -> None:
    printed = json.loads(run("pools", "explain", "cart", "-o", "json", "--address", server.address).stdout)
    assert printed["pool_size"]["state"] == "PROVIDED"
    assert printed["threshold"] == {
        "value": "0.230s",
        "source": "slo",
        "detail": "slo checkout 250 ms - 20 ms upstream",
    }
    assert printed["latency_source"] == "LATENCY_SOURCE_CALLER"
    assert printed["completions"] == 54321
    assert (printed["curve"]["knee"], printed["curve"]["polynomial_degree"]) == (12.4, 6)
    assert printed["curve"]["points"][2] == {
        "concurrency": 20.0,
        "goodput_per_s": 150.0,
        "samples": 5,
        "fitted_per_s": None,
    }


def test_plot() -> None:
    # Width 11 and right end 10: a column a unit of concurrency; height 5 and top 8: a row for 2/s.
    scatter = [((0.0, 0.0), "o"), ((5.0, 8.0), "o"), ((10.0, 4.0), "x")]
    assert plot_curve(CurvePlot(scatter, knee=5.0), width=11, height=5, symbols=ASCII) == [
        " 8 |     o",
        "   |     :",
        "   |     :    x",
        "   |     :",
        " 0 |o    :",
        "   +-----------",
        "    0 knee 5 10",
    ]


def test_plot_draws_the_fit_between_its_points() -> None:
    curve = CurvePlot([((0.0, 0.0), "o"), ((4.0, 0.0), "o")], [(0.0, 0.0), (4.0, 4.0)])
    lines = plot_curve(curve, width=5, height=5, symbols=ASCII)
    assert [line[4:].rstrip() for line in lines[:5]] == ["    .", "   .", "  .", " .", "o   o"]


def test_plot_of_nothing_and_of_zeros() -> None:
    assert plot_curve(CurvePlot([])) == []
    assert len(plot_curve(CurvePlot([((0.0, 0.0), "o")]), height=4)) == 6


def test_plot_draws_the_band_behind_all_others_and_cuts_it_off_at_the_top() -> None:
    band = [(0.0, 0.0, 0.0), (4.0, 2.0, 9.0)]
    curve = CurvePlot([((2.0, 3.0), "o")], [(0.0, 0.0), (4.0, 4.0)], band, best=(1.0, 2.0))
    assert plot_curve(curve, width=5, height=5, symbols=ASCII) == [
        " 4 |  ''.",
        "   |  o.'",
        "   | '.''",
        "   | .'",
        " 0 |.'",
        "   +-==--",
        "    0   4",
    ]


@pytest.mark.parametrize(
    ("text", "side", "peer", "expected"),
    [
        ("a", None, None, ("a", None, "")),
        ("a/server", None, None, ("a", "server", "")),
        ("a/consumer", None, None, ("a", "consumer", "")),
        ("a", "consumer", None, ("a", "consumer", "")),
        ("a/client/b/c", None, None, ("a", "client", "b/c")),
        ("team/a", None, None, ("team/a", None, "")),
        ("team/a/client/b", None, None, ("team/a", "client", "b")),
        ("a/client", None, "b", ("a", "client", "b")),
        ("a", None, "b", ("a", "client", "b")),
    ],
)
def test_selector(text: str, side: str | None, peer: str | None, expected: tuple[str, str | None, str]) -> None:
    selector = parse_selector(text, side, peer)
    assert (selector.service, selector.side, selector.peer) == expected


@pytest.mark.parametrize(
    ("text", "side", "peer"),
    [
        ("", None, None),
        ("a/server", "client", None),
        ("a/client/b", None, "c"),
        ("a", "client", None),
        ("a", "server", "b"),
        ("a", "consumer", "b"),
        ("a/consumer", "server", None),
    ],
)
def test_selector_refuses(text: str, side: str | None, peer: str | None) -> None:
    with pytest.raises(SelectorError):
        parse_selector(text, side, peer)


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "250 ms"), (12.3, "12 s"), (90, "1.5 min"), (7200, "2.0 h"), (259200, "3.0 d")]
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


def test_age() -> None:
    size = cart().pool_size
    assert age(size, NOW + timedelta(seconds=12)) == "12 s"
    assert age(size, NOW + timedelta(seconds=90)) == "1.5 min, lease over"
    assert age(PoolSize(), NOW) == "-"


@pytest.mark.parametrize(("state", "target"), [(STATE_PROVIDED, 20), (STATE_GUARDED, 9)])
def test_a_target_that_is_on_the_way_to_the_best_size_shows_that(
    run: Run, server: PoolServer, state: State.ValueType, target: int
) -> None:
    size = server.explanations[0].pool_size
    size.state, size.target, size.unguarded_target = state, target, 13
    assert f"{target} (best 13)" in run("pools", "get", "cart", "--address", server.address).stdout
    # One that is as good as the best, and one that nobody is to take, stand alone.
    size.action = Action.ACTION_HOLD
    assert "(best" not in run("pools", "get", "cart", "--address", server.address).stdout
    size.action, size.target = Action.ACTION_APPLY, 12
    assert "(best" not in run("pools", "get", "cart", "--address", server.address).stdout


def test_explain_as_json_has_the_names_of_the_api(run: Run, server: PoolServer) -> None:
    explanation = server.explanations[0]
    explanation.baseline.CopyFrom(Baseline(cpu_limit_cores=2, version="v7"))
    printed = json.loads(run("pools", "explain", "cart", "-o", "json", "--address", server.address).stdout)
    assert set(printed) == {
        *("pool_size", "threshold", "latency_source", "window_start", "window_end", "bucket", "buckets"),
        "left_out",
        *("completions", "instances", "curve", "baseline", "belief"),
        "advised_curve",
    }
    assert set(printed["curve"]) == {"points", "knee", "polynomial_degree"}
    assert printed["baseline"]["cpu_limit_cores"] == 2
    empty = json.loads(run("pools", "explain", "catalogue", "-o", "json", "--address", server.address).stdout)
    assert (empty["curve"], empty["belief"]) == (None, None)
    assert empty["pool_size"]["action"] == "ACTION_UNSPECIFIED"


SIZES = {
    "12 to 64": [TargetSize(instance="a", size=64), TargetSize(instance="b", size=12)],
    "unbounded": [TargetSize(instance="a", unbounded=True)],
    "12 to unbounded": [TargetSize(instance="a", size=12), TargetSize(instance="b", unbounded=True)],
}


@pytest.mark.parametrize("shown", SIZES)
def test_a_pool_without_one_size_shows_those_of_its_targets(run: Run, server: PoolServer, shown: str) -> None:
    size = server.explanations[0].pool_size
    size.ClearField("current")
    size.sizes.extend(SIZES[shown])
    listed = run("pools", "list", "--address", server.address).stdout
    assert f"  {shown}      12  APPLY" in listed
    explained = run("pools", "explain", "cart", "--address", server.address).stdout
    assert f"current         {shown}\n" in explained
    assert ("targets         a 64, b 12\n" in explained) == (shown == "12 to 64")
    assert "action          APPLY\nbasis           CURVE: evidence on this CPU limit\n" in explained


def test_an_enum_value_newer_than_this_program_is_a_number() -> None:
    size = PoolSize()
    size.state = 99  # type: ignore[assignment]
    assert message_to_json(size)["state"] == 99
