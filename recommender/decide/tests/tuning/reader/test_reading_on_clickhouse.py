"""What trials are measured by, from tables of a real ClickHouse."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sluice.clickhouse.connection import ClickHouse as Connection
from sluice.tuning.measure import MeasuredSpan, ended
from sluice.tuning.names import TrialName
from sluice.tuning.objective.outcome import TrialVerdict
from sluice.tuning.reader.reader import TrialReader
from sluice.tuning.session.events import Applied, Ask
from sluice.tuning.session.session import MeasuredRoot
from sluice.tuning.session.step import step
from sluice_kit.decide.tuning_worlds import index_of, plan
from sluice_kit.servers.clickhouse import ClickHouse

pytestmark = pytest.mark.integration

# A whole window of critical_paths begins here.
NOW_S = 1_800_000_000
WINDOWS = ["side", "service", "peer", "instance", "bucket", "bucket_ms", "completions", "errors", "latency", "version"]
PATHS = [
    *("root_service", "root_operation", "complete", "signature", "window_s", "window", "traces", "latency"),
    *("slowest_trace_id", "median_trace_id", "version"),
]
CONTAINERS = [
    *("service", "instance", "host", "window", "window_s"),
    *("requests", "errors", "ln_sum", "ln_sum2", "latency", "version"),
]
METRICS = [
    *("host", "instance", "role", "metric_rank", "series", "kind", "start_ns", "window", "window_s", "points"),
    *("value_sum", "value_min", "value_max", "first_ns", "last_ns", "version"),
]
EDGES = ["caller", "callee", "window", "window_s", "calls", "errors", "latency", "version"]


@pytest.fixture
def reading(database: ClickHouse) -> TrialReader:
    """web: each second, on each of two instances, 10 requests of 50 ms of which 1 failed, and 10 of 200 ms; but for two
    seconds, in which nothing completed. Rows of a version before are there too, and those of another side."""
    client = database.client("sluice")
    rows = []
    for second in range(NOW_S - 60, NOW_S):
        if second in (NOW_S - 20, NOW_S - 19):
            continue
        at = datetime.fromtimestamp(second + 0.3, UTC)
        latency = {index_of(50): 10, index_of(200): 10}
        for instance in ("web-1", "web-2"):
            rows.append(["server", "web", "", instance, at, 100, 20, 1, latency, 2])
            rows.append(["server", "web", "", instance, at, 100, 3, 0, {index_of(50): 3}, 1])
        rows.append(["client", "web", "db", "web-1", at, 100, 7, 7, {index_of(9): 7}, 1])
    client.insert("windows", rows, column_names=WINDOWS)
    windows = range(NOW_S - 60, NOW_S, 10)
    paths = [
        ["web", operation, complete, "web", 10, datetime.fromtimestamp(start, UTC), 40, {index_of(ms): 40}, "a", "b", 1]
        for start in windows
        for operation, complete, ms in (("GET /home", True, 300), ("GET /home", False, 9_000), ("POST /", True, 5_000))
    ]
    client.insert("critical_paths", paths, column_names=PATHS)
    return TrialReader(Connection(database.url, "sluice_reader"))


def written(database: ClickHouse, second: int, at_s: int) -> None:
    """A request of another service, of that second, and a path of it, written at `at_s`."""
    client, at, written = database.client("sluice"), *(datetime.fromtimestamp(unix_s, UTC) for unix_s in (second, at_s))
    row = ["server", "shop", "", "shop-1", at, 100, 1, 0, {index_of(50): 1}, 1]
    client.insert("windows", [[*row, written]], column_names=[*WINDOWS, "written"])
    path = ["shop", "GET /", True, "shop", 10, at, 1, {index_of(50): 1}, "a", "b", 1]
    client.insert("critical_paths", [[*path, written]], column_names=[*PATHS, "written"])


def one(reading: TrialReader, span: MeasuredSpan, now_s: int) -> tuple[list[tuple[float, dict[int, int], int]], bool]:
    trial = TrialName("first", 0)
    measurement = reading.measured({trial: span}, 1000 * now_s)[trial]
    return [(block.seconds, dict(block.latencies), block.errors) for block in measurement.blocks], measurement.complete


def test_seconds_of_a_service_over_all_instances(reading: TrialReader) -> None:
    blocks, complete = one(
        reading, MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 24) - 600, 1000 * (NOW_S - 14) + 400), NOW_S
    )
    busy = (1.0, {index_of(50): 18, index_of(200): 20}, 2)
    silent = (1.0, {}, 0)
    assert blocks == [busy] * 4 + [silent] * 2 + [busy] * 4, "errors are of the fastest"
    assert complete


def test_what_may_still_come_is_not_read(reading: TrialReader) -> None:
    blocks, complete = one(reading, MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 10), 1000 * (NOW_S + 20)), NOW_S)
    assert (len(blocks), complete) == (7, False), "up to two seconds before the newest that was seen"
    blocks, _ = one(reading, MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 10), 1000 * (NOW_S + 20)), NOW_S + 20)
    assert len(blocks) == 15, "when nothing was seen for so long, that is what is seen"
    assert blocks[-1] == (1.0, {}, 0)


def test_a_pipeline_that_is_behind_is_waited_for(reading: TrialReader, database: ClickHouse) -> None:
    """Found with a pipeline that was 55 s behind: the default was rolled back as nothing had completed."""
    span = MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 10), 1000 * (NOW_S + 20))
    for behind_s in (30, 300):
        written(database, NOW_S - 1, NOW_S + behind_s - 5)
        assert len(one(reading, span, NOW_S + behind_s)[0]) == 7, f"{behind_s} s behind"
    blocks, complete = one(reading, span, NOW_S + 315)
    assert (len(blocks), complete) == (30, True), "when nothing was written for so long"


def test_so_is_one_of_paths(reading: TrialReader, database: ClickHouse) -> None:
    span = MeasuredSpan(MeasuredRoot("web", "GET /home"), 1000 * (NOW_S - 30), 1000 * (NOW_S + 30))
    written(database, NOW_S - 10, NOW_S + 80)
    assert len(one(reading, span, NOW_S + 100)[0]) == 1
    assert len(one(reading, span, NOW_S + 125)[0]) == 6


def test_silence_that_may_be_the_pipeline_s_says_so(reading: TrialReader, database: ClickHouse) -> None:
    trial = TrialName("first", 0)
    span = MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 10), 1000 * (NOW_S + 20))
    measurement = reading.measured({trial: span}, 1000 * (NOW_S + 20))[trial]
    assert measurement.silent
    written(database, NOW_S + 19, NOW_S + 20)
    assert not reading.measured({trial: span}, 1000 * (NOW_S + 20))[trial].silent, "another service's requests ended"


def test_windows_of_an_operation_have_its_own_times_and_the_service_s_share_of_errors(reading: TrialReader) -> None:
    span = MeasuredSpan(MeasuredRoot("web", "GET /home"), 1000 * (NOW_S - 55), 1000 * (NOW_S - 5))
    blocks, complete = one(reading, span, NOW_S)
    assert [seconds for seconds, _, _ in blocks] == [10.0] * 3, "the windows within"
    assert blocks[0] == (10.0, {index_of(300): 38}, 2), "1 of 20 requests of web failed"
    assert not complete, "windows of paths come later"


def used(database: ClickHouse, db_until_s: int) -> None:
    """web calls cart, cart calls db, and shop calls bank. Points of CPU: of each 10 s, 0.2 cores of web-1 and web-2 and
    0.9 of bank; of cart-1 a counter that grows by 15 s in 30, so 0.5; of db until `db_until_s`, of each 10 s, 0.1."""
    client = database.client("sluice")
    calls = [("web", "cart"), ("cart", "db"), ("shop", "bank")]
    containers = {"web-1": "web", "web-2": "web", "cart-1": "cart", "db-1": "db", "bank-1": "bank"}
    levels = {"web-1": 0.2, "web-2": 0.2, "db-1": 0.1, "bank-1": 0.9}
    for start in range(NOW_S - 120, NOW_S + 60, 10):
        at = datetime.fromtimestamp(start, UTC)
        edges = [[caller, callee, at, 10, 40, 0, {index_of(5): 40}, 40] for caller, callee in calls]
        client.insert("call_edges", edges, column_names=EDGES)
        if start < NOW_S:
            busy = [[service, container, "", at, 10, 40, 0, 0, 0, {}, 40] for container, service in containers.items()]
            client.insert("container_latency", busy, column_names=CONTAINERS)
        ns = 10**9 * start + 10**9
        points = [
            ["", level, "container_cpu", 1, "usage", "level", 0, at, 10, 1, int(cores * 1e9), 0, 0, ns, ns, 1]
            for level, cores in levels.items()
            if level != "db-1" or start < db_until_s
        ]
        if start % 30 == 0:
            total = (start - NOW_S + 1_000) * 10**9 // 2
            points.append(
                ["", "cart-1", "container_cpu", 2, "time", "counter", 1, at, 10, 1, 0, total, total, ns, ns, 1]
            )
        client.insert("resource_metrics", points, column_names=METRICS)


def cpu_s(reading: TrialReader, root: MeasuredRoot, now_s: int) -> tuple[list[float | None], bool, list[str]]:
    trial = TrialName("first", 0)
    span = MeasuredSpan(root, 1000 * (NOW_S - 50), 1000 * (NOW_S - 10), cpu=True)
    measurement = reading.measured({trial: span}, 1000 * now_s)[trial]
    spent = [None if block.cpu_s is None else round(block.cpu_s, 6) for block in measurement.blocks]
    assert [block.seconds for block in measurement.blocks] == [10.0] * len(spent)
    return spent, measurement.complete, list(measurement.unknown)


def test_cpu_time_is_of_all_that_the_root_calls(reading: TrialReader, database: ClickHouse) -> None:
    used(database, NOW_S + 60)
    cpu = cpu_s(reading, MeasuredRoot("web"), NOW_S + 30)
    assert cpu == ([10.0] * 4, True, []), "10 s of 0.2 + 0.2 + 0.5 + 0.1 cores"
    written(database, NOW_S + 20, NOW_S + 30)
    spent, whole, _ = cpu_s(reading, MeasuredRoot("web", "GET /home"), NOW_S + 30)
    assert spent == [1.0, 1.0, 1.0, pytest.approx(40 * 10 / 320, abs=1e-6)], "40 of 400 requests, later of 320, are its"
    assert whole


def test_cpu_time_that_did_not_come_yet_is_waited_for_and_then_named(
    reading: TrialReader, database: ClickHouse
) -> None:
    used(database, NOW_S - 30)
    assert cpu_s(reading, MeasuredRoot("web"), NOW_S + 30) == ([10.0, 10.0, None, None], False, [])
    written(database, NOW_S + 69, NOW_S + 70)
    assert cpu_s(reading, MeasuredRoot("web"), NOW_S + 75) == ([10.0, 10.0, None, None], False, [])
    written(database, NOW_S + 79, NOW_S + 80)
    assert cpu_s(reading, MeasuredRoot("web"), NOW_S + 85) == ([10.0, 10.0, None, None], True, ["'db-1' of 'db'"])


def test_without_any_container_cpu_time_is_not_known(reading: TrialReader) -> None:
    assert cpu_s(reading, MeasuredRoot("web"), NOW_S + 120) == ([None] * 4, True, ["any container"])


def test_several_trials_are_one_query_each(reading: TrialReader) -> None:
    spans = {
        TrialName("first", 0): MeasuredSpan(MeasuredRoot("web"), 1000 * (NOW_S - 30), 1000 * (NOW_S - 25)),
        TrialName("second", 3): MeasuredSpan(MeasuredRoot("nobody"), 1000 * (NOW_S - 30), 1000 * (NOW_S - 25)),
        TrialName("third", 1): MeasuredSpan(MeasuredRoot("web", "GET /home"), 1000 * (NOW_S - 60), 1000 * (NOW_S - 30)),
    }
    measurement = reading.measured(spans, 1000 * NOW_S)
    assert {
        trial.session: sum(block.completions for block in measured.blocks) for trial, measured in measurement.items()
    } == {
        "first": 5 * 38,
        "second": 0,
        "third": 3 * 38,
    }


def test_an_objective_without_spans_fails_the_trial_and_says_so(reading: TrialReader) -> None:
    from sluice.tuning.session.create import create
    from sluice.tuning.session.session import Session

    session = create(plan(root=MeasuredRoot("nobody")), (), 1000 * (NOW_S - 40))
    assert isinstance(session, Session)
    session, _ = step(session, Ask(), 1000 * (NOW_S - 40))
    session, _ = step(session, Applied(0, 1000 * (NOW_S - 40)), 1000 * (NOW_S - 39))
    trial = TrialName("first", 0)
    span = MeasuredSpan(MeasuredRoot("nobody"), 1000 * (NOW_S - 38), 1000 * (NOW_S - 26))
    outcome = ended(session, session.trials[0], reading.measured({trial: span}, 1000 * NOW_S)[trial])
    assert outcome is not None
    assert outcome.verdict is TrialVerdict.FAILED
    assert "nobody" in outcome.why
