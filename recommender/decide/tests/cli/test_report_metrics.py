"""`sluice report --metrics`: sizes and use of pools, from each form of OTLP, to the verdict."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import Result
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.report.command import POOLS
from sluice.cli.traces.report.facts.pool_table import peer_of, read_table
from sluice.cli.traces.report.reading.metrics import read_metrics
from sluice.pools.metrics.pool_metric import MetricsReading, PoolOfInstance

from .jaeger_traces import jaeger_span, jaeger_trace, write_lines

JAVA = POOLS.parents[5] / "test/java/dev/sluice/otlp/PoolPeerTest.java"
EXAMPLES = Path(__file__).parents[3] / "examples"
Run = Callable[..., Result]
START_S = 1_700_000_000
EXEMPLARS = [{"traceId": "5b"}]
OLD, NEW = "db.client.connections", "db.client.connection"
NAMED = {"pool.name": "HikariPool-1"}


def metric(name: str, *points: tuple[int, float], monotonic: bool = False, **attributes: str) -> dict[str, Any]:
    """points: (second, value), of a cumulative sum. attributes: `_` stands for a dot."""
    pairs = [{"key": key.replace("_", "."), "value": {"stringValue": text}} for key, text in attributes.items()]
    data = [
        {
            "attributes": pairs,
            "timeUnixNano": str((START_S + at) * 10**9),
            "asDouble": value,
            "exemplars": [{"traceId": "5b"}],
        }
        for at, value in points
    ]
    return {"name": name, "sum": {"aggregationTemporality": 2, "isMonotonic": monotonic, "dataPoints": data}}


def message(*metrics: dict[str, Any], service: str = "shop", instance: str = "shop-0") -> dict[str, Any]:
    pairs = {"service.name": service, "service.instance.id": instance}
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in pairs.items()]
    return {"resourceMetrics": [{"resource": {"attributes": attributes}, "scopeMetrics": [{"metrics": list(metrics)}]}]}


def hikari(size: int = 10) -> dict[str, Any]:
    times = [(at, float(size)) for at in range(5, 66, 10)]
    full = {"pool_name": "HikariPool-1"}
    return message(
        metric(f"{OLD}.max", *times, **full),
        metric(f"{OLD}.usage", *times, **full, state="used"),
        metric(f"{OLD}.usage", *((at, 0.0) for at, _ in times), **full, state="idle"),
        metric(f"{OLD}.pending_requests", *((at, 12.0) for at, _ in times), **full),
        metric("jvm.memory.used", (0, 5.0)),
    )


def read(*paths: Path) -> tuple[MetricsReading, Totals]:
    totals = Totals()
    return read_metrics([str(path) for path in paths], read_table(POOLS), totals, lambda skipped: None), totals


def files(folder: Path, content: dict[str, Any]) -> dict[str, Path]:
    """The content as the collector's file exporter writes it, and by hand."""
    text = json.dumps(content)
    binary = ParseDict(_without_ids(content), MetricsData()).SerializeToString()
    forms = {
        "lines.jsonl": f"{text}\n{text}\n".encode(),
        "document.json": json.dumps(content, indent=2).encode(),
        "packed.json.gz": gzip.compress(text.encode()),
        "framed.pb": len(binary).to_bytes(4, "big") + binary,
        "framed.pb.gz": gzip.compress(len(binary).to_bytes(4, "big") + binary),
    }
    for name, data in forms.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in forms}


def _without_ids(content: dict[str, Any]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        json.dumps(content).replace('"exemplars": [{"traceId": "5b"}]', '"exemplars": []')
    )
    return loaded


def test_every_form_has_the_same_sizes(tmp_path: Path) -> None:
    found = {name: read(path) for name, path in files(tmp_path, hikari()).items()}
    of = PoolOfInstance("shop", "shop-0", "client", "HikariPool-1", "")
    for name, (reading, totals) in found.items():
        assert totals.skipped == []
        assert [size.low for size in reading.sizes] == [10] * (14 if name == "lines.jsonl" else 7)
        assert {size.of for size in reading.sizes} == {of}
        use = reading.uses[of]
        assert {figure: use[figure].readings[-1].mean for figure in use} == {"used": 10, "pending": 12} or (
            name == "lines.jsonl"
        )


def test_what_a_level_is_not(tmp_path: Path) -> None:
    """-1 and NaN are not known, Java's largest int is no limit; a counter is no level; another state passes no row."""
    path = tmp_path / "m.json"
    limits = [
        metric("tomcat.thread.limit", (at, value), tomcat_thread_pool_name='"http"')
        for at, value in enumerate((-1.0, 2.0**31 - 1, 8.0))
    ]
    counter = metric(f"{NEW}.max", (0, 5.0), monotonic=True)
    path.write_text(json.dumps(message(*limits, counter)))
    reading, _ = read(path)
    assert [(size.pool, size.side, size.low) for size in reading.sizes] == [
        ("http", "server", 0),
        ("http", "server", 8),
    ]


def test_what_is_no_metric_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"resourceSpans": []}\n{"resourceMetrics": [{"scopeMetrics": 5}]}\nbroken\n')
    reading, totals = read(path)
    assert reading.sizes == []
    assert totals.records_skipped == 3
    assert totals.skipped[0] == f"{path}:1: is not OTLP metrics (`resourceMetrics`)"


def of_java(test: str) -> list[str]:
    """The rows of a CSV source in PoolPeerTest.java, which stand before the test's name."""
    rows = JAVA.read_text().partition(f"void {test}(")[0].rpartition("@CsvSource({")[2].partition("})")[0]
    return re.findall(r'^ *"(.*)",?$', rows, re.MULTILINE)


@pytest.mark.parametrize("row", of_java("theNameOfAPoolMayHaveItsPeer"))
def test_the_name_of_a_pool_may_have_its_peer(row: str) -> None:
    pool, peer = row.split(", ")
    assert peer_of({}, pool) == peer


@pytest.mark.parametrize("name", of_java("anotherNameHasNone"))
def test_another_name_has_none(name: str) -> None:
    assert peer_of({}, name.strip("'")) == ""


@pytest.mark.parametrize(
    ("attributes", "pool", "peer"),
    [
        ({"server.address": "pg", "server.port": "5433", "db.namespace": "shop"}, "db:5432/other", "pg:5433/shop"),
        ({"net.peer.name": "pg", "db.name": "shop"}, "x", "pg/shop"),
        ({"server.address": "pg", "server.port": "many"}, "x", "pg"),
        ({"db.namespace": "shop"}, "db:5432", "db/shop"),
        ({"db.namespace": "shop"}, "HikariPool-1", ""),
    ],
)
def test_attributes_go_before_the_name(attributes: dict[str, str], pool: str, peer: str) -> None:
    """As in PoolPeerTest.java."""
    assert peer_of(attributes, pool) == peer


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten queries at a time for 70 s, of 100 ms each, of shop to db/shop."""
    named = {"span.kind": "client", "server.address": "db", "db.namespace": "shop"}
    tags = [{"key": key, "type": "string", "value": text} for key, text in named.items()]
    chance = Random(1)
    numbers = [(10 * at + lane + 1, START_S * 10**6 + at * 100_000) for at in range(700) for lane in range(10)]
    spans = [
        jaeger_trace(chance.getrandbits(128), jaeger_span(number, start_us, 100_000, tags=tags, operationName="query"))
        for number, start_us in numbers
    ]
    return write_lines(tmp_path_factory.mktemp("shop") / "t.jsonl", *spans)


def test_a_pool_whose_size_metrics_have_is_decided_by_the_belief(run: Run, traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(hikari()))
    result = run("report", traces, "--metrics", path, "-o", "json")
    assert result.exit_code == 0, result.output
    (pool,) = json.loads(result.stdout)["pools"]
    assert (pool["peer"], pool["current"], pool["model"]) == ("db/shop", 10, "belief")
    assert pool["belief"]["evidence"][0]["full"]
    assert pool["belief"]["evidence"][0]["throughput_per_s"] == pytest.approx(100, rel=0.02)
    assert {of["size"]: of for of in pool["belief"]["curve"]}[10]["throughput_per_s"] == pytest.approx(100, rel=0.03)
    texts = {reason["code"]: reason["text"] for reason in pool["reasons"]}
    assert texts["CALLERS_WAIT"] == f"12 callers wait for a connection, by {OLD}.pending_requests"
    assert {"NO_ACTUATOR", "SLO_UNKNOWN"} <= texts.keys()
    assert "SIZE_UNKNOWN" not in texts
    text = run("report", traces, "--metrics", path).stdout
    assert "shop/client/db/shop" in text
    assert "belief" in text
    page = tmp_path / "r.html"
    assert run("report", traces, "--metrics", path, "-o", "html", "--output-file", page).exit_code == 0
    assert "the belief of a full pool" in page.read_text()


def test_two_pools_of_one_service_are_in_doubt(run: Run, traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    other = metric(f"{OLD}.max", (60, 5.0), pool_name="HikariPool-2")
    path.write_text(json.dumps(hikari()) + "\n" + json.dumps(message(other)))
    (pool,) = json.loads(run("report", traces, "--metrics", path, "-o", "json").stdout)["pools"]
    assert (pool["current"], pool["model"]) == (None, "scg-top")
    assert {"POOL_AMBIGUOUS", "SIZE_UNKNOWN"} <= {reason["code"] for reason in pool["reasons"]}


def test_the_threshold_is_derived_from_the_minutes_in_which_the_pool_was_not_full(run: Run, tmp_path: Path) -> None:
    """Five minutes with 2 in flight of 10 for 50 ms each: 3 x 50 ms from the three whole minutes after the first."""
    tags = [
        {"key": key, "type": "string", "value": text}
        for key, text in (("span.kind", "client"), ("server.address", "db"), ("db.namespace", "shop"))
    ]
    chance = Random(2)
    spans = [
        jaeger_trace(
            chance.getrandbits(128),
            jaeger_span(2 * at + lane + 1, START_S * 10**6 + at * 50_000, 50_000, tags=tags, operationName="query"),
        )
        for at in range(6_000)
        for lane in range(2)
    ]
    traces = write_lines(tmp_path / "t.jsonl", *spans)
    path = tmp_path / "m.jsonl"
    sizes = [(at, 10.0) for at in range(0, 301, 60)]
    path.write_text(json.dumps(message(metric(f"{OLD}.max", *sizes, pool_name="HikariPool-1"))))
    (pool,) = json.loads(run("report", traces, "--metrics", path, "-o", "json").stdout)["pools"]
    texts = {reason["code"]: reason["text"] for reason in pool["reasons"]}
    assert texts["SLO_DERIVED"].startswith("no SLO is of the pool's service: 3 x 50 ms, the median p95 of ")
    assert "SLO_UNKNOWN" not in texts
    given = run("report", traces, "--metrics", path, "--threshold", "80", "-o", "json")
    (pool,) = json.loads(given.stdout)["pools"]
    assert "SLO_DERIVED" not in {reason["code"] for reason in pool["reasons"]}


def test_the_example_of_the_readme(run: Run, tmp_path: Path) -> None:
    """24 connections, of which 9 complete most; all are in use in the last minute."""
    subprocess.run([sys.executable, EXAMPLES / "make_recording.py", tmp_path], check=True)
    traces, metrics = tmp_path / "traces.jsonl.gz", tmp_path / "metrics.jsonl.gz"
    pools = json.loads(run("report", traces, "--metrics", metrics, "-o", "json").stdout)["pools"]
    (pool,) = [pool for pool in pools if pool["side"] == "client"]
    assert (pool["current"], pool["spans"]) == (24, 26_150)
    assert pool["target"] < 24
    assert pool["lower_bound"] <= 9
    assert [reason["code"] for reason in pool["reasons"]] == ["BETTER", "NO_ACTUATOR", "CALLERS_WAIT", "SLO_DERIVED"]
