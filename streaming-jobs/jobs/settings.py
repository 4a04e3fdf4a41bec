"""Settings of the streaming jobs: addresses from the environment, everything else from options of run.py."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

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
        "messages are not shuffled",
    ),
    "peers-from-traces": Setting(
        1, 0, 1, "1: client spans move to the service that their trace shows; 0: they stay with their attributes' peer"
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
    "idle-ms": Setting(
        5_000,
        100,
        HOUR_MS,
        "a partition without records for this long no longer holds back the closing of traces; the job's clock runs "
        "this far behind on a silent topic",
    ),
}


@dataclass(frozen=True)
class Addresses:
    """Where the neighbours are. Defaults are the local stack's."""

    kafka: str
    clickhouse: str
    clickhouse_user: str
    clickhouse_password: str
    neo4j: str
    neo4j_password: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Addresses":
        return cls(
            kafka=environment.get("SLUICE_KAFKA", "127.0.0.1:9092"),
            clickhouse=environment.get("SLUICE_CLICKHOUSE", "http://127.0.0.1:8123"),
            clickhouse_user=environment.get("SLUICE_CLICKHOUSE_USER", "default"),
            clickhouse_password=environment.get("SLUICE_CLICKHOUSE_PASSWORD", ""),
            neo4j=environment.get("SLUICE_NEO4J", "bolt://127.0.0.1:7687"),
            neo4j_password=environment.get("SLUICE_NEO4J_PASSWORD", ""),
        )

    def __post_init__(self) -> None:
        # They become SQL string literals: a quote must end in an error here, not in a parser's riddle.
        for field in fields(self):
            if "'" in getattr(self, field.name):
                raise SettingsError(f"{field.name}: must not contain a single quote")


@dataclass(frozen=True)
class Settings:
    """All that the jobs' definitions depend on. `values` holds every key of SETTINGS.

    flink_job: name of the Flink job, and of its consumer group. start: one of starts.FORMS. traced: whether one of its
    jobs assembles traces.
    """

    addresses: Addresses
    values: Mapping[str, int]
    flink_job: str = FLINK_JOB
    start: str = starts.EARLIEST
    traced: bool = True

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
        return {f"sluice.{name}": str(value) for name, value in self.values.items()}
