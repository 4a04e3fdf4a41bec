"""Settings of the streaming jobs: addresses from the environment, everything else from options of run.py."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import kafka
import span_rules
import starts

FLINK_JOB = "sluice-streaming"  # the one that has every job

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")


class SettingsError(ValueError):
    """A setting is outside its legal range; the message names the option and the range."""


@dataclass(frozen=True)
class Setting:
    """One numeric setting: its default, its legal range, and its meaning."""

    default: int
    low: int
    high: int
    help: str


# Every setting by the name of its option (--bucket-ms) and of the job parameter that the Java functions read
# (sluice.bucket-ms).
SETTINGS: Mapping[str, Setting] = {
    "bucket-ms": Setting(100, 10, 1_000, "length of a fine window; must divide 1000"),
    "max-spread-ms": Setting(
        10 * MINUTE_MS, SECOND_MS, HOUR_MS, "longest part of a span that is spread over windows; the rest is cut"
    ),
    "max-age-ms": Setting(
        7 * DAY_MS,
        MINUTE_MS,
        36_500 * DAY_MS,
        "a span older than this against Kafka's record time becomes a dead letter; raise it to replay old traces "
        "that keep their times",
    ),
    "max-ahead-ms": Setting(
        10 * MINUTE_MS, 0, DAY_MS, "a span further ahead of Kafka's record time than this becomes a dead letter"
    ),
    "lateness-ms": Setting(
        MINUTE_MS,
        0,
        7 * DAY_MS,
        "a span that ends longer than this before Kafka's record time counts as accepted_late: the job adds it, but "
        "may have forgotten the sum of its windows",
    ),
    "repeat-window-ms": Setting(
        10 * MINUTE_MS,
        0,
        DAY_MS,
        "the job does not use a message whose bytes came before within this much record time; 0: it uses all, and "
        "hashes none",
    ),
    "peers-from-traces": Setting(
        1,
        0,
        1,
        "1: client spans move to the service that their trace shows, and the job takes back spans that the trace shows "
        "as nested; 0: client spans stay with the peer of their attributes, and only one message shows nesting",
    ),
    "state-ttl-ms": Setting(
        HOUR_MS, MINUTE_MS, 30 * DAY_MS, "the job keeps the sum of a window for this long after its last change"
    ),
    "mini-batch-ms": Setting(100, 10, 10_000, "rows gather for this long before the job updates sums"),
    "windows-flush-ms": Setting(200, 10, 60_000, "rows of the fine windows are written after this time, at most"),
    "flush-ms": Setting(
        500,
        10,
        60_000,
        "rows that decisions read every few seconds, and of the graph, are written after this time, at most",
    ),
    "summary-flush-ms": Setting(
        5 * SECOND_MS, 10, 60_000, "rows of all other tables are written after this time, at most"
    ),
    "edge-window-ms": Setting(10_000, 1_000, HOUR_MS, "length of a window of the call graph; whole seconds"),
    "graph-max-age-ms": Setting(
        HOUR_MS,
        MINUTE_MS,
        365 * DAY_MS,
        "the job removes an element of the graph that did not occur for this long before the newest window",
    ),
    "graph-age-every-ms": Setting(
        10 * SECOND_MS, 100, HOUR_MS, "the job looks for elements to remove this long after the last time"
    ),
    "path-window-ms": Setting(10_000, 1_000, HOUR_MS, "length of a window of critical paths; whole seconds"),
    "sample-window-ms": Setting(
        10_000, 1_000, MINUTE_MS, "length of a window of container latencies and resource metrics; whole seconds"
    ),
    "trace-quiet-ms": Setting(5_000, 100, HOUR_MS, "the job closes a trace after this much record time without a span"),
    "trace-max-age-ms": Setting(60_000, 1_000, DAY_MS, "the job closes a trace this long after its first span"),
    "trace-late-ms": Setting(
        MINUTE_MS,
        0,
        HOUR_MS,
        "a trace id that comes again within this much record time after its trace ended is late",
    ),
    "trace-max-spans": Setting(10_000, 10, 1_000_000, "spans of one trace that the job keeps; it only counts the rest"),
    "max-parallelism": Setting(
        128,
        1,
        32_768,
        "number of groups of keys: it bounds the parallelism and is part of every savepoint, so the first start "
        "chooses it",
    ),
    "trace-open-spans": Setting(
        500_000,
        10_000,
        100_000_000,
        "spans of open traces that a task keeps; beyond it the task closes early the traces that end first, and counts "
        "them as closed_early",
    ),
    "trace-heap-percent": Setting(
        30,
        1,
        80,
        "the part of a TaskManager's heap, divided by its slots, that a task's open traces may take, by an estimate; "
        "beyond it as with --trace-open-spans. A third of it is for the ids of closed traces",
    ),
    "clock-records-ms": Setting(
        SECOND_MS,
        0,
        MINUTE_MS,
        "how often the job writes a record without a byte to every partition of the spans' topic, so that a silent one "
        "does not hold up the closing of traces; 0 if it may not write there: see --idle-ms",
    ),
    "message-traces": Setting(
        20_000, 100, 1_000_000, "trace ids of one message that the job assembles; spans of the rest are too_many_traces"
    ),
    "root-variants": Setting(
        200,
        1,
        10_000,
        "call trees, and paths through the services, that count separately for each root operation and window; the "
        "rest counts as one",
    ),
    "bounds-window-ms": Setting(
        MINUTE_MS,
        SECOND_MS,
        HOUR_MS,
        "record time in which each partition may bring the numbers of names and rows of the next seven settings; a "
        "name keeps its place as long as it occurs in each window",
    ),
    "most-services": Setting(5_000, 10, 1_000_000, "services that count separately; the rest counts as (more)"),
    "most-instances": Setting(50_000, 10, 1_000_000, "instances that count separately; the rest counts as (more)"),
    "most-hosts": Setting(10_000, 10, 1_000_000, "hosts that count separately; the rest counts as (more)"),
    "most-peers": Setting(20_000, 10, 1_000_000, "peers of services that count separately; the rest counts as (more)"),
    "most-operations": Setting(
        20_000, 10, 1_000_000, "operations by which requests enter services that count separately; the rest is (more)"
    ),
    "most-series": Setting(
        100_000,
        10,
        1_000_000,
        "series of metrics that count separately; the rest counts as (more)",
    ),
    "most-spread-rows": Setting(
        600_000,
        0,
        1_000_000_000,
        "rows that spans longer than 100 fine windows may make; beyond it only a span's newest 100 windows count "
        "(accepted_cut)",
    ),
    "idle-ms": Setting(
        5_000,
        100,
        HOUR_MS,
        "only with --clock-records-ms 0: the job does not wait for a partition without records for this long, and "
        "closes traces this far behind the machine's clock; the parts of a trace then depend on the speed of reading",
    ),
}


@dataclass(frozen=True)
class ClickHouse:
    """A database of ClickHouse.

    password: an option with its place; {} for none. quorum: number of copies that must have a row; "": the server's.
    """

    url: str
    database: str
    user: str
    password: Mapping[str, str]
    authority: str
    quorum: str

    def options(self) -> dict[str, str]:
        """Options of a sink; with a prefix, those of the table that counts rejected rows."""
        more = {"ca": self.authority, "insert-quorum": self.quorum}
        return {
            "url": self.url,
            "database": self.database,
            "username": self.user,
            **self.password,
            **{key: value for key, value in more.items() if value},
        }


@dataclass(frozen=True)
class Neo4j:
    """As ClickHouse."""

    uri: str
    database: str
    user: str
    password: Mapping[str, str]
    authority: str

    def options(self) -> dict[str, str]:
        options = {"uri": self.uri, "database": self.database, "username": self.user, **self.password}
        return options | ({"ca": self.authority} if self.authority else {})


def password(environment: Mapping[str, str], name: str) -> dict[str, str]:
    """Options with the place of a password, the file NAME_FILE. Raises SettingsError for a password in NAME.

    They never hold the password, because options are part of the plan, of the job graph and of checkpoints.
    """
    if environment.get(name):
        raise SettingsError(f"{name} is not legal: must be {name}_FILE=PATH, of a file that holds the password")
    file = environment.get(f"{name}_FILE")
    return {"password.file": file} if file else {}


@dataclass(frozen=True)
class Addresses:
    """Where the neighbours are. Defaults are the local stack's."""

    kafka: kafka.Kafka
    clickhouse: ClickHouse
    neo4j: Neo4j

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Addresses":
        def variable(name: str, default: str = "") -> str:
            return environment.get(f"SLUICE_{name}") or default

        try:
            log = kafka.from_environment(environment)
        except kafka.KafkaSettingsError as error:
            raise SettingsError(str(error)) from error
        return cls(
            kafka=log,
            clickhouse=ClickHouse(
                variable("CLICKHOUSE", "http://127.0.0.1:8123"),
                variable("CLICKHOUSE_DATABASE", "sluice"),
                variable("CLICKHOUSE_USER", "default"),
                password(environment, "SLUICE_CLICKHOUSE_PASSWORD"),
                variable("CLICKHOUSE_CA"),
                variable("CLICKHOUSE_QUORUM"),
            ),
            neo4j=Neo4j(
                variable("NEO4J", "bolt://127.0.0.1:7687"),
                variable("NEO4J_DATABASE", "neo4j"),
                variable("NEO4J_USER", "neo4j"),
                password(environment, "SLUICE_NEO4J_PASSWORD"),
                variable("NEO4J_CA"),
            ),
        )

    def __post_init__(self) -> None:
        # They become SQL string literals: a quote must be an error here, because the parser's would not name it.
        for store in ("clickhouse", "neo4j"):
            for key, value in getattr(self, store).options().items():
                if "'" in value:
                    raise SettingsError(f"{store} {key}: must not contain a single quote")


@dataclass(frozen=True)
class Settings:
    """The settings of one Flink job. `values` holds every key of SETTINGS.

    flink_job: name of the Flink job, and of its consumer group. start: one of starts.FORMS. rules: file of span_rules.
    """

    addresses: Addresses
    values: Mapping[str, int]
    flink_job: str = FLINK_JOB
    start: str = starts.EARLIEST
    rules: Path = span_rules.FILE

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            setting = SETTINGS[name]
            if not setting.low <= value <= setting.high:
                raise SettingsError(f"--{name} is {value}: must be {setting.low} to {setting.high}")
        if 1000 % self["bucket-ms"]:
            raise SettingsError(f"--bucket-ms is {self['bucket-ms']}: must divide 1000")
        for name in ("edge-window-ms", "path-window-ms", "sample-window-ms"):
            if self[name] % SECOND_MS:
                raise SettingsError(f"--{name} is {self[name]}: must be whole seconds")
        if self["trace-max-age-ms"] < self["trace-quiet-ms"]:
            raise SettingsError("--trace-max-age-ms: must not be less than --trace-quiet-ms")
        if self["graph-max-age-ms"] < self["max-ahead-ms"] + 2 * self["edge-window-ms"]:
            # Else one clock that is as far ahead as allowed would remove everything else from the graph.
            raise SettingsError("--graph-max-age-ms: must not be less than --max-ahead-ms and two --edge-window-ms")
        self._check_state_outlives_what_it_sums()
        self._check_name_and_start()
        self._span_rules()

    def _check_state_outlives_what_it_sums(self) -> None:
        """The last change of a window comes from a long, late span: its oldest part, then its move to another peer."""
        needed = ["max-spread-ms", "lateness-ms"]
        if self["peers-from-traces"]:
            needed.append("trace-max-age-ms")
        least = sum(self[name] for name in needed)
        if self["state-ttl-ms"] < least:
            names = " + ".join(f"--{name}" for name in needed)
            raise SettingsError(f"--state-ttl-ms is {self['state-ttl-ms']}: must be at least {names}, {least}")
        if self["state-ttl-ms"] < self["repeat-window-ms"]:
            raise SettingsError(
                f"--state-ttl-ms is {self['state-ttl-ms']}: must be at least "
                f"--repeat-window-ms, {self['repeat-window-ms']}"
            )

    def _check_name_and_start(self) -> None:
        if not NAME.fullmatch(self.flink_job):
            raise SettingsError(f"--name is {self.flink_job!r}: must match {NAME.pattern}")
        try:
            starts.options(self.start)
        except ValueError as error:
            raise SettingsError(f"--start {error}") from error

    def __getitem__(self, name: str) -> int:
        return self.values[name]

    def job_parameters(self) -> dict[str, str]:
        """The job parameters that the Java functions read: `sluice.NAME`."""
        numbers = {f"sluice.{name}": str(value) for name, value in self.values.items()}
        return numbers | {"sluice.span-rules": span_rules.encoded(self._span_rules())}

    def _span_rules(self) -> tuple[span_rules.Rule, ...]:
        try:
            return span_rules.load(self.rules)
        except span_rules.SpanRulesError as error:
            raise SettingsError(f"--span-rules: {error}") from error
