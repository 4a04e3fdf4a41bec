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
    """One numeric setting: its default, its legal range, and what it means."""

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
        "a span older than this against Kafka's record time is dead-lettered; raise it to replay old traces with "
        "their times kept",
    ),
    "max-ahead-ms": Setting(
        10 * MINUTE_MS, 0, DAY_MS, "a span further ahead of Kafka's record time than this is dead-lettered"
    ),
    "lateness-ms": Setting(
        MINUTE_MS,
        0,
        7 * DAY_MS,
        "a span that ends longer than this before Kafka's record time is counted as accepted_late: added, but its "
        "windows may have been forgotten",
    ),
    "repeat-window-ms": Setting(
        10 * MINUTE_MS,
        0,
        DAY_MS,
        "a message whose bytes came before within this much record time is a repeat and not used; 0: none is, and "
        "messages are not hashed",
    ),
    "peers-from-traces": Setting(
        1,
        0,
        1,
        "1: client spans move to the service that their trace shows, and spans that it shows to be nested are taken "
        "back; 0: they stay with their attributes' peer, and are nested only in spans of their own message",
    ),
    "state-ttl-ms": Setting(
        HOUR_MS, MINUTE_MS, 30 * DAY_MS, "the sum of a window is kept for this long after its last change"
    ),
    "mini-batch-ms": Setting(200, 10, 10_000, "rows are gathered for this long before sums are updated"),
    "flush-ms": Setting(500, 10, 60_000, "rows wait for this long, at most, before they are written to a store"),
    "edge-window-ms": Setting(10_000, 1_000, HOUR_MS, "length of a window of the call graph; whole seconds"),
    "graph-max-age-ms": Setting(
        HOUR_MS,
        MINUTE_MS,
        365 * DAY_MS,
        "what is in Neo4j and was not seen for this long before the newest window is removed",
    ),
    "graph-age-every-ms": Setting(
        10 * SECOND_MS, 100, HOUR_MS, "what is too old for Neo4j is looked for this long after the last time"
    ),
    "path-window-ms": Setting(10_000, 1_000, HOUR_MS, "length of a window of critical paths; whole seconds"),
    "sample-window-ms": Setting(
        10_000, 1_000, MINUTE_MS, "length of a window of container latencies and resource metrics; whole seconds"
    ),
    "trace-quiet-ms": Setting(5_000, 100, HOUR_MS, "a trace is closed after this much record time without a span"),
    "trace-max-age-ms": Setting(60_000, 1_000, DAY_MS, "a trace is closed this long after its first span"),
    "trace-late-ms": Setting(
        MINUTE_MS, 0, HOUR_MS, "a trace id that comes again within this much record time after it was closed is late"
    ),
    "trace-max-spans": Setting(10_000, 10, 1_000_000, "spans of one trace that are kept; more are counted, not used"),
    "max-parallelism": Setting(
        128,
        1,
        32_768,
        "keys are spread over this many groups: it bounds the parallelism and is part of every savepoint, so that the "
        "first start chooses it",
    ),
    "trace-open-spans": Setting(
        500_000,
        10_000,
        100_000_000,
        "spans of open traces that a task keeps; beyond it traces that were due first are closed early, and counted "
        "as closed_early",
    ),
    "trace-heap-percent": Setting(
        30,
        1,
        80,
        "of a TaskManager's heap, divided by its slots, a task's open traces take no more, by an estimate; beyond it "
        "as with --trace-open-spans. A third of it is for the ids of closed traces",
    ),
    "clock-records-ms": Setting(
        SECOND_MS,
        0,
        MINUTE_MS,
        "a record without a byte is written to every partition of the spans' topic so often, so that a silent one does "
        "not hold up the closing of traces; 0, for who may not write there: see --idle-ms",
    ),
    "message-traces": Setting(
        20_000, 100, 1_000_000, "trace ids of one message that are assembled; spans of more are too_many_traces"
    ),
    "root-variants": Setting(
        200,
        1,
        10_000,
        "call trees, and ways of critical paths, that are told apart of each root operation and window; more count "
        "as one",
    ),
    "bounds-window-ms": Setting(
        MINUTE_MS,
        SECOND_MS,
        HOUR_MS,
        "record time in which each partition may bring as many names and rows as the next seven say; a name keeps its "
        "place as long as each window has it",
    ),
    "most-services": Setting(5_000, 10, 1_000_000, "services that are told apart; more count as (more)"),
    "most-instances": Setting(50_000, 10, 1_000_000, "instances of services that are told apart; more count as (more)"),
    "most-hosts": Setting(10_000, 10, 1_000_000, "hosts that are told apart; more count as (more)"),
    "most-peers": Setting(20_000, 10, 1_000_000, "peers of services that are told apart; more count as (more)"),
    "most-operations": Setting(
        20_000, 10, 1_000_000, "operations of services by which requests enter that are told apart; more are (more)"
    ),
    "most-series": Setting(
        100_000, 10, 1_000_000, "series of hosts' and containers' metrics that are told apart; more count as (more)"
    ),
    "most-spread-rows": Setting(
        600_000,
        0,
        1_000_000_000,
        "rows that spans longer than 100 fine windows make; of more spans the newest 100 windows count (accepted_cut)",
    ),
    "idle-ms": Setting(
        5_000,
        100,
        HOUR_MS,
        "with --clock-records-ms 0 only: a partition without records for this long is not waited for, and traces are "
        "closed this far behind the machine's clock; which parts make a trace then depends on how fast they are read",
    ),
}


@dataclass(frozen=True)
class ClickHouse:
    """password: options that say where it is; {} for none. quorum: of copies that must have a row; "": the server's."""

    url: str
    database: str
    user: str
    password: Mapping[str, str]
    authority: str
    quorum: str

    def options(self) -> dict[str, str]:
        """Of a sink; the same with a prefix are those of who counts what a sink refuses."""
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
        found = {"uri": self.uri, "database": self.database, "username": self.user, **self.password}
        return found | ({"ca": self.authority} if self.authority else {})


def password(environment: Mapping[str, str], name: str) -> dict[str, str]:
    """Options that say where Flink's processes find a password: in the file NAME_FILE, else in their variable NAME.

    Never the password: options are part of the plan, of the job graph and of what Flink keeps of it.
    """
    if file := environment.get(f"{name}_FILE"):
        return {"password.file": file}
    return {"password.variable": name} if environment.get(name) else {}


@dataclass(frozen=True)
class Addresses:
    """Where the neighbours are. Defaults are the local stack's."""

    kafka: kafka.Kafka
    clickhouse: ClickHouse
    neo4j: Neo4j

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Addresses":
        def told(name: str, usual: str = "") -> str:
            return environment.get(f"SLUICE_{name}") or usual

        try:
            log = kafka.from_environment(environment)
        except kafka.KafkaSettingsError as error:
            raise SettingsError(str(error)) from error
        return cls(
            kafka=log,
            clickhouse=ClickHouse(
                told("CLICKHOUSE", "http://127.0.0.1:8123"),
                told("CLICKHOUSE_DATABASE", "sluice"),
                told("CLICKHOUSE_USER", "default"),
                password(environment, "SLUICE_CLICKHOUSE_PASSWORD"),
                told("CLICKHOUSE_CA"),
                told("CLICKHOUSE_QUORUM"),
            ),
            neo4j=Neo4j(
                told("NEO4J", "bolt://127.0.0.1:7687"),
                told("NEO4J_DATABASE", "neo4j"),
                told("NEO4J_USER", "neo4j"),
                password(environment, "SLUICE_NEO4J_PASSWORD"),
                told("NEO4J_CA"),
            ),
        )

    def __post_init__(self) -> None:
        # They become SQL string literals: a quote must end in an error here, not in a parser's riddle.
        for store in ("clickhouse", "neo4j"):
            for key, value in getattr(self, store).options().items():
                if "'" in value:
                    raise SettingsError(f"{store} {key}: must not contain a single quote")


@dataclass(frozen=True)
class Settings:
    """All that the jobs' definitions depend on. `values` holds every key of SETTINGS.

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
            # One clock that is as far ahead as it may be would remove everybody else.
            raise SettingsError("--graph-max-age-ms: must not be less than --max-ahead-ms and two --edge-window-ms")
        self._check_state_outlives_what_it_sums()
        self._check_name_and_start()
        self._span_rules()

    def _check_state_outlives_what_it_sums(self) -> None:
        """A window is changed last by a span that lies on it with its oldest part and comes late, then is moved."""
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
        """What the Java functions read: `sluice.NAME`."""
        numbers = {f"sluice.{name}": str(value) for name, value in self.values.items()}
        return numbers | {"sluice.span-rules": span_rules.encoded(self._span_rules())}

    def _span_rules(self) -> tuple[span_rules.Rule, ...]:
        try:
            return span_rules.load(self.rules)
        except span_rules.SpanRulesError as error:
            raise SettingsError(f"--span-rules: {error}") from error
