"""All dashboards of Sluice, by the name of the file."""

from grafana_foundation_sdk.builders import dashboard

from generate import (
    bad_input,
    calls,
    containers,
    left_out,
    lost,
    marks,
    overview,
    paths,
    pool,
    pools,
    processes,
    prometheus,
    recommender,
    resources,
    stages,
    subsets,
    tuning,
    variables,
)
from generate.frame import Board, Row, service_link
from generate.variables import several, source, text

_JOBS = 'label_values({__name__=~"(sluice|otelcol|flink_(job|task)manager|ClickHouseAsyncMetrics_Max).+"}, job)'


def boards() -> dict[str, Board]:
    return {
        "sluice": _overview(),
        "sluice-pool": _pool(),
        "sluice-critical-paths": _critical_paths(),
        "sluice-call-graph": _call_graph(),
        "sluice-containers": _containers(),
        "sluice-subsets": _subsets(),
        "sluice-tuning": _tuning(),
        "sluice-pipeline": _pipeline(),
    }


def _overview() -> Board:
    return Board(
        "sluice",
        "Sluice",
        "Pools by state, changes that wait, what changes gained, freshness of the data.",
        [
            Row("Pools", overview.panels()),
            Row("Freshness", [stages.freshness(), stages.lag_now()]),
            Row("All pools", pools.panels()),
            Row("Candidates", [pools.candidates()], collapsed=True),
        ],
        [source(), variables.services()],
        marks.of_services("services"),
    )


def _pool() -> Board:
    ways = paths.ways(f"has(splitByString(' > ', signature), {text('service')})")
    return Board(
        "sluice-pool",
        "Sluice: pool",
        "One pool: sizes, goodput curve, goodput, wait before it, queue and CPU.",
        [
            Row("Pool: $service $side $peer", pool.panels()),
            Row("Queue and CPU", resources.panels()),
            Row("Decisions", [resources.decisions()], collapsed=True),
            Row("Traces through $service", [ways], collapsed=True),
        ],
        variables.pool(),
        marks.of_pool(),
        start="now-15m",
        links=[
            service_link("Calls of $service", "sluice-call-graph"),
            service_link("Containers of $service", "sluice-containers"),
        ],
    )


def _critical_paths() -> Board:
    roots = "SELECT DISTINCT root_service FROM sluice.critical_paths WHERE $__timeFilter(window) ORDER BY root_service"
    return Board(
        "sluice-critical-paths",
        "Sluice: critical paths",
        "Which service holds up each root operation, and how that moved.",
        [Row("Critical paths", paths.panels())],
        [source(), several("roots", "Root services", roots), *variables.traces()],
        marks.of_all(),
    )


def _call_graph() -> Board:
    known = (
        "SELECT DISTINCT arrayJoin([caller, callee]) AS service FROM sluice.call_edges "
        "WHERE window >= $__toTime - INTERVAL 10 MINUTE AND window <= $__toTime ORDER BY service"
    )
    return Board(
        "sluice-call-graph",
        "Sluice: call graph",
        "Services, and the calls between them.",
        [Row("Call graph", calls.panels())],
        [source(), several("services", "Services", known)],
        marks.of_services("services"),
    )


def _containers() -> Board:
    known = (
        "SELECT DISTINCT service FROM sluice.container_latency "
        "WHERE window >= $__toTime - INTERVAL 1 HOUR AND window <= $__toTime ORDER BY service"
    )
    return Board(
        "sluice-containers",
        "Sluice: containers",
        "Latency and CPU of containers, and contention on their hosts.",
        [Row("Containers", containers.panels()), Row("Contention", containers.contention())],
        [source(), several("services", "Services", known)],
        marks.of_services("services"),
    )


def _subsets() -> Board:
    known = "SELECT DISTINCT upstream FROM sluice.subsets ORDER BY upstream"
    return Board(
        "sluice-subsets",
        "Sluice: subsets",
        "Which container connects to which, and how well latency is predicted.",
        [Row("Subsets", subsets.panels())],
        [source(), several("upstreams", "Upstream services", known)],
        marks.of_services("upstreams"),
    )


def _tuning() -> Board:
    known = "SELECT DISTINCT session FROM sluice.tuning_trials WHERE $__timeFilter_ms(asked_at) ORDER BY session"
    return Board(
        "sluice-tuning",
        "Sluice: tuning",
        "Trials of tuning sessions: values, the best so far, configurations.",
        [Row("Sessions", tuning.panels()), Row("Configurations", [tuning.configurations()])],
        [source(), several("sessions", "Sessions", known)],
        start="now-24h",
    )


def _pipeline() -> Board:
    job = (
        dashboard.QueryVariable("job")
        .label("Jobs of Prometheus")
        .datasource(prometheus.PROMETHEUS)
        .query({"query": _JOBS, "refId": "A"})
        .include_all(True)
        .multi(True)
        .all_value(".+")
    )
    metrics = dashboard.DatasourceVariable("prometheus").label("Prometheus").type(prometheus.PLUGIN)
    return Board(
        "sluice-pipeline",
        "Sluice: pipeline",
        "Throughput, lag and losses of each stage, and the processes' own metrics (Prometheus).",
        [
            Row("Stages", stages.panels()),
            Row("Bad input", bad_input.panels(), collapsed=True),
            Row("Lost behind the topic", lost.panels(), collapsed=True),
            Row("Spans that no window counts", left_out.panels(), collapsed=True),
            Row("Collector (Prometheus)", processes.collector(), collapsed=True),
            Row("Flink (Prometheus)", processes.flink(), collapsed=True),
            Row("ClickHouse (Prometheus)", processes.clickhouse(), collapsed=True),
            Row("Recommender (Prometheus)", recommender.recommender(), collapsed=True),
            Row("Actuators (Prometheus)", recommender.actuator(), collapsed=True),
        ],
        [source(), metrics, job],
        tags=("clickhouse", "prometheus"),
    )
