"""`sluice doctor`: against closed ports, real small servers, and answers judged by hand."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import Result
from grpc_health.v1.health_pb2 import HealthCheckResponse

from sluice.cli.doctor import clickhouse, collector, decider, ends, flink, kafka, neo4j, recommender, sinks, subsets
from sluice.cli.doctor.command import CHECKS
from sluice.cli.doctor.finding import Check, NotAnsweringError, Verdict
from sluice.cli.doctor.prometheus import sums
from sluice.cli.doctor.run import run_checks
from sluice.cli.environment import DEFAULTS, addresses
from sluice.common.v1.decision_pb2 import Reason
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_size_pb2 import STATE_NO_DATA, STATE_PROVIDED, STATE_STALE, PoolSize
from sluice.subsets.v1.explanation_pb2 import Run as SubsetRun
from sluice.subsets.v1.subset_pb2 import STATE_HELD, STATE_LEARNING, Subset, SubsetKey
from sluice.subsets.v1.subset_pb2 import STATE_PROVIDED as SUBSET_PROVIDED
from support.ports import free_ports

from .http_server import FixedServer
from .pool_server import PoolServer

Run = Callable[..., Result]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NOW_S = NOW.timestamp()


def closed() -> dict[str, str]:
    """Every address on a port of its own that nothing listens on."""
    names = [name for name in DEFAULTS if name != "SLUICE_NEO4J_PASSWORD"]
    return {
        name: f"{DEFAULTS[name].rpartition(':')[0]}:{port}"
        for name, port in zip(names, free_ports(len(names)), strict=True)
    }


def test_with_everything_down_each_stage_fails_with_its_address_and_a_remedy(run: Run) -> None:
    variables = closed()
    before = time.monotonic()
    # Patient with a busy machine: what is closed says so at once.
    result = run("doctor", "-o", "json", "--timeout", "30", **variables)
    assert time.monotonic() - before < 30
    assert result.exit_code == 1
    findings = json.loads(result.stdout)
    assert [f["stage"] for f in findings] == [check.stage for check in CHECKS]
    first_of = {f["stage"]: f for f in reversed(findings)}
    for stage, variable in {
        "collector": "SLUICE_COLLECTOR_HEALTH",
        "kafka": "SLUICE_KAFKA",
        "flink": "SLUICE_FLINK",
        "clickhouse": "SLUICE_CLICKHOUSE",
        "neo4j": "SLUICE_NEO4J",
        "decider": "SLUICE_DECIDER",
        "recommender": "SLUICE_RECOMMENDER",
        "actuator": "SLUICE_ACTUATOR",
    }.items():
        finding = first_of[stage]
        assert finding["level"] == "fail", finding
        assert variables[variable] in finding["text"]
        assert "make up" in finding["remedy"]
    assert first_of["demo"]["level"] == "ok"
    # What lies behind a stage that does not answer is unknown, not failed and not fine.
    assert {
        f["level"]
        for f in findings
        if f["what"]
        in ("counters", "large spans", "spans on the topic", "lag", "restarts", "newest window", "pools", "subsets")
    } == {"unknown"}


def test_the_table_has_a_line_a_check_and_the_counts(run: Run) -> None:
    result = run("doctor", "--timeout", "30", **closed())
    assert result.exit_code == 1
    assert "-> start the stack with `make up`" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 ok, 9 fail, 18 unknown"


def test_a_check_that_hangs_or_breaks_is_unknown_and_does_not_hold_up_the_others() -> None:
    def hang(*_: object) -> Verdict:
        time.sleep(30)
        return Verdict("ok", "")

    def crash(*_: object) -> Verdict:
        raise ValueError("no such key")

    checks = [
        Check("a", "hangs", hang),
        Check("b", "breaks", crash),
        Check("c", "works", lambda *_: Verdict("ok", "well")),
    ]
    before = time.monotonic()
    findings = run_checks(checks, addresses({}), timeout_s=0.1)
    assert time.monotonic() - before < 15
    assert [finding.level for finding in findings] == ["unknown", "unknown", "ok"]
    assert findings[1].text == "the check itself failed: ValueError: no such key"


def test_a_server_that_does_not_answer_in_time() -> None:
    with FixedServer({"/": None, "/healthz": None}) as server:
        where = addresses({"SLUICE_COLLECTOR_HEALTH": server.address, "SLUICE_ACTUATOR": server.url})
        assert "did not answer within 0.2 s" in collector.health(where, 0.2).text
        assert ends.actuator(where, 0.2).level == "fail"


METRICS = """\
# HELP otelcol_exporter_queue_size Current size
# TYPE otelcol_exporter_queue_size gauge
otelcol_exporter_queue_size{data_type="traces",exporter="kafka"} 5
otelcol_exporter_queue_size{data_type="metrics",exporter="kafka"} 1
otelcol_exporter_queue_capacity{data_type="traces",exporter="kafka"} 50
otelcol_exporter_queue_capacity{data_type="metrics",exporter="kafka"} 50
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 1e+03
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 34
otelcol_receiver_refused_spans__spans__total{receiver="otlp",odd="}\\"{ "} 0
otelcol_exporter_sent_spans{exporter="kafka"} 1034 1700000000000
"""


def test_prometheus_sums_over_labels_and_forgives_suffixes() -> None:
    found = sums(METRICS + "broken line\notelcol_x NaNsense\n")
    assert found["otelcol_exporter_queue_size"] == 6
    assert found["otelcol_receiver_accepted_spans"] == 1034
    assert found["otelcol_receiver_refused_spans"] == 0
    assert found["otelcol_exporter_sent_spans"] == 1034


def test_collector_counters() -> None:
    with FixedServer({"/metrics": METRICS}) as server:
        found = collector.counters(addresses({"SLUICE_COLLECTOR_METRICS": server.address}), 2)
    assert found.level == "ok"
    assert found.text == "spans since its start: 1,034 accepted, 1,034 sent, 0 failed, 0 refused; queue 6.0% full"
    queue = {"otelcol_exporter_queue_size": 90.0, "otelcol_exporter_queue_capacity": 100.0}
    assert collector.judge(queue).level == "warn"
    assert collector.judge(queue | {"otelcol_exporter_queue_size": 0.0}).level == "ok"
    failed = queue | {"otelcol_exporter_queue_size": 0.0, "otelcol_exporter_send_failed_spans": 3.0}
    assert collector.judge(failed).level == "warn"
    assert collector.judge({}).level == "unknown"


def test_collector_health_and_ports() -> None:
    with FixedServer({"/": "{}"}) as server:
        where = addresses({f"SLUICE_{name}": server.address for name in ("COLLECTOR_HEALTH", "OTLP_GRPC", "OTLP_HTTP")})
        assert collector.health(where, 2).level == "ok"
        assert collector.ports(where, 2).level == "ok"
        server.answers["/"] = (503, "{}")
        assert collector.health(where, 2).level == "fail"


def test_kafka_topics() -> None:
    expected = {"otlp_spans": 2, "otlp_metrics": 1}
    ok = kafka.judge_topics(
        expected, {"otlp_spans": 2, "otlp_metrics": 1, "x": 9}, {"otlp_spans": 1500, "otlp_metrics": 0}
    )
    assert (ok.level, ok.text) == (
        "ok",
        "otlp_spans 2 partitions, end offset 1,500; otlp_metrics 1 partitions, end offset 0",
    )
    assert kafka.judge_topics(expected, {"otlp_spans": 2}, {}).text == "topics missing: otlp_metrics"
    assert (
        kafka.judge_topics(expected, {"otlp_spans": 3, "otlp_metrics": 1}, dict.fromkeys(expected, 0)).level == "warn"
    )
    assert kafka.expected_topics() == {
        "otlp_spans": 2,
        "otlp_metrics": 1,
        "otlp_dead_letter": 1,
        "sluice_state": 1,
        "sluice_decisions": 1,
        "sluice_explanations": 1,
        "sluice_observed": 1,
        "sluice_reports": 1,
    }


def test_kafka_lag() -> None:
    assert kafka.judge_lag({}).level == "unknown"
    assert kafka.judge_lag({"a": 1000}).level == "ok"
    assert kafka.judge_lag({"a": 0, "b": 1001}).level == "warn"


def test_flink_record_limit() -> None:
    def config(options: str) -> list[dict[str, str]]:
        return [{"key": "env.java.opts.taskmanager", "value": options}, {"key": "rest.port", "value": "8081"}]

    limited = config("-XX:+UseParallelGC -javaagent:/opt/sluice-functions-record-limit.jar=max-record-bytes=5000000")
    assert flink.judge_record_limit(limited).level == "ok"
    missing = flink.judge_record_limit(config("-XX:+UseParallelGC"))
    assert missing.level == "warn"
    assert "env.java.opts.taskmanager" in missing.remedy


def flink_job(**more: Any) -> dict[str, Any]:
    return {"jid": "j1", "name": "sluice-streaming", "state": "RUNNING", "start-time": 1, "duration": 90_000} | more


def test_flink_over_http() -> None:
    answers: dict[str, Any] = {
        "/jobs/overview": {"jobs": [flink_job(jid="j0", state="CANCELED"), flink_job()]},
        "/jobs/j1/metrics?get=numRestarts": [{"id": "numRestarts", "value": "0"}],
        "/jobs/j1/exceptions": {"exceptionHistory": {"entries": []}},
        "/jobs/j1/checkpoints": {
            "counts": {"completed": 5, "failed": 0},
            "latest": {"completed": {"latest_ack_timestamp": int(time.time() * 1000) - 7_200_000}, "failed": None},
            "history": [{"id": 7, "status": "IN_PROGRESS"}, {"id": 6, "status": "COMPLETED"}],
        },
        "/jobs/j1/checkpoints/config": {"interval": 3_600_000},
        "/jobs/j1": {
            "start-time": 1000,
            "vertices": [{"id": "v1", "name": "Source: otlp_spans"}, {"id": "v2", "name": "calls[59]: Writer"}],
        },
        "/jobs/j1/vertices/v2/metrics": [{"id": "0.calls[59]__Writer.trouble"}, {"id": "0.Shuffle.x"}],
        "/jobs/j1/vertices/v2/metrics?get=0.calls%5B59%5D__Writer.trouble": [
            {"id": "0.calls[59]__Writer.trouble", "value": ""}
        ],
        "/jobs/j1/checkpoints/details/7": {
            "tasks": {
                "v1": {"num_acknowledged_subtasks": 2, "num_subtasks": 2},
                "v2": {"num_acknowledged_subtasks": 0, "num_subtasks": 1},
            }
        },
    }
    with FixedServer(answers) as server:
        where = addresses({"SLUICE_FLINK": server.url})
        assert flink.job(where, 2) == Verdict("ok", "sluice-streaming runs since 1.5 min")
        assert flink.restarts(where, 2) == Verdict("ok", "0 restarts")
        good = "last checkpoint 2.0 h ago, 5 completed, 0 failed"
        assert flink.checkpoints(where, 2) == Verdict("ok", good)
        assert flink.sinks(where, 2) == Verdict("ok", "every store takes its rows")
        answers["/jobs/j1/checkpoints/config"] = {"interval": 1000}
        held = flink.checkpoints(where, 2)
        assert (held.level, held.text) == ("fail", f"{good}; held up by checkpoint 7 waits for calls[59]: Writer")
        answers["/jobs/j1/vertices/v2/metrics?get=0.calls%5B59%5D__Writer.trouble"][0]["value"] = "Neo4j: away"
        assert flink.sinks(where, 2).text == "calls: Neo4j: away"
        held = flink.checkpoints(where, 2)
        assert (held.level, held.text) == ("fail", f"{good}; held up by calls: Neo4j: away")
        answers["/jobs/overview"] = (500, "no")
        assert flink.job(where, 2).level == "fail"
        answers["/jobs/overview"] = "<html>"
        with pytest.raises(NotAnsweringError, match="did not answer JSON"):
            flink.restarts(where, 2)


def test_flink_job() -> None:
    assert flink.judge_job([]).text == "no job sluice-streaming"
    assert flink.judge_job([{"name": "other"}]).text == "no job sluice-streaming; jobs there: other"
    failed = flink.judge_job([flink_job(state="FAILED", **{"start-time": 9}), flink_job(state="CANCELED")])
    assert (failed.level, failed.text) == ("fail", "sluice-streaming is FAILED")
    assert flink.judge_job([flink_job(), flink_job()]).level == "warn"
    assert flink.judge_job([flink_job(state="INITIALIZING")]).level == "warn"
    assert flink.judge_job([flink_job(state="RESTARTING")]).level == "fail"


def test_flink_restarts() -> None:
    entry = {"timestamp": (NOW_S - 30) * 1000, "exceptionName": "X", "stacktrace": "java.io.IOException: no\n\tat y"}
    found = flink.judge_restarts([{"value": "2"}], {"exceptionHistory": {"entries": [entry]}}, NOW_S)
    assert (found.level, found.text) == ("warn", "2 restarts; 30 s ago: java.io.IOException: no")
    assert flink.judge_restarts([], {}, NOW_S).level == "unknown"
    # A job that has failed for good reports no metrics any more, but its last exception.
    failed = flink.judge_restarts([], {"exceptionHistory": {"entries": [entry]}}, NOW_S)
    assert (failed.level, "IOException: no" in failed.text) == ("warn", True)


def checkpoint_answer(age_s: float | None, failed: int, failed_ago_s: float = 1) -> dict[str, Any]:
    completed = None if age_s is None else {"latest_ack_timestamp": (NOW_S - age_s) * 1000}
    failure = {"failure_message": "timed out\nmore", "failure_timestamp": (NOW_S - failed_ago_s) * 1000}
    latest = {"completed": completed, "failed": failure if failed else None}
    return {"counts": {"completed": 3, "failed": failed}, "latest": latest}


def test_flink_checkpoints() -> None:
    assert flink.judge_checkpoints(checkpoint_answer(5, 0), NOW_S).level == "ok"
    assert flink.judge_checkpoints(checkpoint_answer(None, 0), NOW_S).level == "unknown"
    assert flink.judge_checkpoints(checkpoint_answer(None, 2), NOW_S).level == "warn"
    found = flink.judge_checkpoints(checkpoint_answer(5, 1), NOW_S)
    assert (found.level, found.text) == (
        "warn",
        "last checkpoint 5 s ago, 3 completed, 1 failed; last failure: timed out",
    )
    over = flink.judge_checkpoints(checkpoint_answer(5, 1, failed_ago_s=6), NOW_S)
    assert (over.level, over.text) == ("ok", found.text)
    found = flink.judge_checkpoints(checkpoint_answer(16, 0), NOW_S, overdue=True, held_by="calls: away")
    assert (found.level, found.text) == (
        "fail",
        "last checkpoint 16 s ago, 3 completed, 0 failed; held up by calls: away",
    )


def test_checkpoints_are_overdue_after_three_periods() -> None:
    started = NOW_S - 1000
    assert not flink.overdue(checkpoint_answer(15, 0), 5.0, started, NOW_S)
    assert flink.overdue(checkpoint_answer(15.1, 0), 5.0, started, NOW_S)
    assert not flink.overdue(checkpoint_answer(29, 0), 10.0, started, NOW_S)
    # The first may take a minute.
    assert not flink.overdue(checkpoint_answer(None, 0), 5.0, NOW_S - 60, NOW_S)
    assert flink.overdue(checkpoint_answer(None, 3), 5.0, NOW_S - 61, NOW_S)
    assert not flink.overdue(checkpoint_answer(None, 3), 30.0, NOW_S - 61, NOW_S)


def test_sinks_tell_what_is_wrong_each_once() -> None:
    metrics = [
        {"id": "0.calls[59]__Writer.trouble", "value": "Neo4j: has failed for 9 s: refused"},
        {"id": "1.calls[59]__Writer.trouble", "value": "Neo4j: has failed for 9 s: refused"},
        {"id": "0.seen[61]__Writer.ageing.trouble", "value": "nothing is removed"},
        {"id": "0.windows[9]__Writer.trouble", "value": ""},
    ]
    found = sinks.told(metrics)
    assert found == ["calls: Neo4j: has failed for 9 s: refused", "seen: nothing is removed"]
    assert sinks.judge_sinks(found).level == "warn"
    assert sinks.judge_sinks([]).level == "ok"


def test_clickhouse_judgements() -> None:
    known = {1: "0001_a.sql", 2: "0002_b.sql"}
    assert clickhouse.judge_migrations(known, {1, 2}).level == "ok"
    assert clickhouse.judge_migrations(known, {1}).text == "not applied: 0002_b.sql"
    assert clickhouse.judge_migrations(known, {1, 2, 3}).level == "warn"
    assert clickhouse.judge_freshness(0, 0, NOW_S).level == "warn"
    assert clickhouse.judge_freshness(1, NOW_S - 29, NOW_S).level == "ok"
    assert clickhouse.judge_freshness(1, NOW_S - 31, NOW_S).level == "warn"
    ahead = clickhouse.judge_freshness(1, NOW_S + 20, NOW_S)
    assert (ahead.level, "20 s ahead" in ahead.text) == ("ok", True)
    assert clickhouse.judge_dead_letters([("x", 0, 0)]).level == "ok"


def test_neo4j_judgement() -> None:
    assert neo4j.judge_edges(0, None, NOW_S).level == "warn"
    assert neo4j.judge_edges(5, NOW_S - 15, NOW_S) == Verdict("ok", "5 CALLS edges, newest window began 15 s ago")


def test_neo4j_over_http() -> None:
    path = "/db/neo4j/tx/commit"
    row = [7, time.time() - 15]
    with FixedServer({path: {"results": [{"columns": [], "data": [{"row": row}]}], "errors": []}}) as server:
        where = addresses({"SLUICE_NEO4J": f"bolt://{server.address}", "SLUICE_NEO4J_HTTP": server.url})
        assert neo4j.edges(where, 5) == Verdict("ok", "7 CALLS edges, newest window began 15 s ago")
        server.answers[path] = {"results": [], "errors": [{"code": "x", "message": "database\nis away"}]}
        assert neo4j.edges(where, 5).text.endswith("answered: database is away")
        server.answers[path] = (401, "{}")
        assert neo4j.edges(where, 5).remedy == "set SLUICE_NEO4J_PASSWORD"
        server.answers[path] = "<html>"
        assert neo4j.edges(where, 5).level == "fail"
        elsewhere = addresses({"SLUICE_NEO4J": f"bolt://{server.address}", "SLUICE_NEO4J_HTTP": "http://10.0.0.1:7474"})
        with pytest.raises(NotAnsweringError, match="another host"):
            neo4j.edges(elsewhere, 5)


def test_recommender_over_grpc(pool_server: PoolServer) -> None:
    where = addresses({"SLUICE_RECOMMENDER": pool_server.address})
    assert recommender.health(where, 2).level == "ok"
    assert recommender.pools(where, 2).text == "no pool is configured"
    pool_server.explanations = [Explanation(pool_size=PoolSize(state=STATE_PROVIDED))]
    pool_server.explanations[0].pool_size.computed_at.GetCurrentTime()
    assert recommender.pools(where, 2).level == "ok"
    pool_server.serve(HealthCheckResponse.NOT_SERVING)
    found = recommender.health(where, 2)
    assert (found.level, found.text.endswith("is NOT_SERVING")) == ("fail", True)


def test_recommender_judgement() -> None:
    def size(state: Any, age_s: float) -> PoolSize:
        made = PoolSize(state=state)
        made.computed_at.FromDatetime(NOW - timedelta(seconds=age_s))
        return made

    ok = recommender.judge_pools([size(STATE_PROVIDED, 9), size(STATE_PROVIDED, 3)], NOW)
    assert (ok.level, ok.text) == ("ok", "2 pools: 2 PROVIDED; newest answer 3 s old")
    assert recommender.judge_pools([size(STATE_PROVIDED, 61)], NOW).level == "warn"
    assert "service.name" in recommender.judge_pools([size(STATE_PROVIDED, 1), size(STATE_NO_DATA, 1)], NOW).remedy
    assert recommender.judge_pools([size(STATE_STALE, 1)], NOW).level == "warn"
    assert recommender.judge_pools([PoolSize(state=STATE_PROVIDED)], NOW).text.endswith("nothing was computed yet")


def test_subsets_say_what_they_are_made_without() -> None:
    key = SubsetKey(upstream="shop", instance="shop-1", downstream="cart")
    good = Subset(key=key, state=SUBSET_PROVIDED)
    good.computed_at.FromDatetime(NOW - timedelta(seconds=5))
    assert subsets.judge([], [], 0, NOW).level == "ok"
    none = subsets.judge([], [], 1, NOW)
    assert (none.level, "subsets of" in none.remedy) == ("warn", True)
    assert subsets.judge([good], [SubsetRun()], 0, NOW) == Verdict(
        "ok", "1 of 1 pair: 1 PROVIDED; the newest is 5 s old"
    )
    pooled = Subset(
        key=key,
        state=STATE_LEARNING,
        reasons=[
            Reason(code="FEW_SAMPLES", text="too few latencies of cart were seen: its containers are compared"),
            Reason(code="NO_ADDRESS", text="nobody told the address of some of these containers"),
        ],
    )
    lacking = ["no cpu utilization of any host: it counts for nothing", "cart: no host of cart-1: each counts"]
    found = subsets.judge(
        [pooled, good], [SubsetRun(missing=[*lacking, "cart: no address of cart-1: proxies"])], 0, NOW
    )
    assert found.level == "warn"
    for text in (*lacking, "too few latencies of cart were seen", "cart: nobody told the address"):
        assert found.text.count(text) == 1
    for remedy in ("`addresses`", "20 windows", "metrics of these hosts", "`host.name`"):
        assert remedy in found.remedy
    held = Subset(key=key, state=STATE_HELD, reasons=[Reason(code="HELD", text="a calls itself in a circle")])
    assert "a calls itself in a circle" in subsets.judge([held], [], 0, NOW).text


def test_decider_judgement() -> None:
    def page(**numbers: float) -> dict[str, float]:
        return {f"sluice_decider_{name}": number for name, number in numbers.items()}

    well = page(shards=1, pools=2, newest_period_timestamp_seconds=1_000.0, period_seconds=0.25)
    ok = decider.judge(well, 1_003.0)
    assert (ok.level, ok.text) == ("ok", "2 pools of 1 shard; a period 3.0 s ago took 0.25 s")
    assert decider.judge(well, 1_061.0).level == "fail"
    assert decider.judge(well | page(not_renewed=1), 1_003.0).text.endswith("1 pools without an answer")
    assert decider.judge(page(shards=1, pools=2), 1_003.0).text.endswith("nothing was decided yet")
    assert "no shard" in decider.judge({}, 1_003.0).text


def test_decider_pages() -> None:
    page = "sluice_decider_shards 1.0\nsluice_decider_pools 2.0\n"
    with FixedServer({"/healthz": "{}", "/metrics": page}) as server:
        where = addresses({"SLUICE_DECIDER": server.address})
        assert decider.health(where, 2).level == "ok"
        assert "2 pools of 1 shard" in decider.periods(where, 2).text
        server.answers["/healthz"] = (503, "{}")
        assert "a period hangs" in decider.health(where, 2).text


def test_actuator_and_demo() -> None:
    with FixedServer({"/healthz": "ok"}) as server:
        where = addresses({"SLUICE_ACTUATOR": server.url, "SLUICE_DEMO": server.url})
        assert ends.actuator(where, 2).level == "ok"
        assert ends.demo(where, 2).level == "ok"
        server.answers["/healthz"] = (503, "the recommender is lost")
        assert "the recommender is lost" in ends.actuator(where, 2).text
        assert ends.demo(where, 2).level == "warn"


@pytest.mark.parametrize("address", ["nothing", "127.0.0.1:x", "::"])
def test_an_address_that_is_none(address: str, run: Run) -> None:
    result = run("doctor", "-o", "json", **closed() | {"SLUICE_OTLP_GRPC": address, "SLUICE_KAFKA": address})
    by_check = {(f["stage"], f["what"]): f for f in json.loads(result.stdout)}
    assert by_check["collector", "ports"]["level"] == "fail"
    assert "is not HOST:PORT" in by_check["kafka", "topics"]["text"]
