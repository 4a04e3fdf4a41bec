"""The one typed object behind the YAML file. Unknown keys are errors; ranges stand at their fields."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from sluice.config.groups import check_groups
from sluice.config.subsets import Subsetting, check_subsets
from sluice.model.durations import Milliseconds, format_ms
from sluice.model.hours import QuietHours
from sluice.model.keys import PoolKey, Side
from sluice.pools.estimate.models import BELIEF, DQN, ESTIMATORS


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Slo(_Strict):
    """A promise on response time: of `service`, or of one `operation` of it."""

    name: str = Field(min_length=1)
    service: str = Field(min_length=1)
    operation: str | None = Field(default=None, min_length=1)
    latency: Milliseconds = Field(gt=0, le=3_600_000)


Statistic = Literal["mean", "p50", "p90", "p95", "p99"]


class Upstream(_Strict):
    """What services above the pool take of the SLO, measured: `upstream: {from: traces}`.

    statistic  of the processing times of all services above, waits for their threads included, over the traces whose
               critical path leads to the service
    window     how far back traces count
    floor      share of the SLO that is left to the pool at least, whatever is measured
    """

    source: Literal["traces"] = Field(alias="from")
    statistic: Statistic = "p50"
    window: Milliseconds = Field(default=60_000.0, ge=10_000, le=3_600_000)
    floor: float = Field(default=0.1, ge=0.01, le=1)


# Of a pool that names an SLO and says nothing of what is above it.
BY_DEFAULT = Upstream.model_validate({"from": "traces"})

# `~` marks what tells the kinds of a value apart; it stands in no path of the file (see `load._line`).
FixedOrMeasured = Annotated[
    Annotated[Annotated[Milliseconds, Field(ge=0, le=3_600_000)], Tag("~duration")]
    | Annotated[Upstream, Tag("~measured")],
    Discriminator(lambda value: "~measured" if isinstance(value, dict | Upstream) else "~duration"),
]


def _auto_or_duration(value: object) -> str:
    return "~auto" if value == "auto" else "~duration"


Bucket = Annotated[
    Annotated[Annotated[Milliseconds, Field(ge=10, le=1_000)], Tag("~duration")]
    | Annotated[Literal["auto"], Tag("~auto")],
    Discriminator(_auto_or_duration),
]

Settle = Annotated[
    Annotated[Annotated[Milliseconds, Field(ge=0, le=60_000)], Tag("~duration")]
    | Annotated[Literal["auto"], Tag("~auto")],
    Discriminator(_auto_or_duration),
]


Processes = Annotated[
    Annotated[int, Field(ge=1, le=256), Tag("~number")] | Annotated[Literal["auto"], Tag("~auto")],
    Discriminator(lambda value: "~auto" if value == "auto" else "~number"),
]


class Bounds(_Strict):
    """Sizes that may be recommended, per instance."""

    min: int = Field(default=1, ge=1, le=100_000)
    max: int = Field(default=1_000, ge=1, le=100_000)

    @model_validator(mode="after")
    def _ordered(self) -> Bounds:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}; legal: 1 <= min <= max <= 100000")
        return self


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Backend(_Strict):
    """What a service or database takes from all client pools that lead to it, in connections; with a `group`, its part
    of that."""

    peer: str = Field(min_length=1)
    capacity: int = Field(ge=1, le=10_000_000)
    group: str = ""


class Pool(_Strict):
    """One pool, with the threshold that judges its completions: an SLO less `upstream`, or a `threshold` of its own.

    upstream  an allowance, or what to measure; None: measured where the SLO's service is the root of traces that lead
              to the pool, else nothing is taken off
    bounds  sizes that may be recommended, per instance
    quiet_hours  in which nothing changes
    model  what decides: the belief over the pool's curve, or a published model
    group  which of the groups it belongs to; "": the first
    remember  how long the busiest stretch counts: no size is chosen below what it needed, and a quarter more
    slo  one name, or a list of them for a pool that requests under several SLOs share: the strictest threshold counts
    """

    service: str = Field(min_length=1)
    side: Side
    peer: str = ""
    slo: Annotated[list[str], BeforeValidator(_listed)] = []
    upstream: FixedOrMeasured | None = None
    threshold: Milliseconds | None = Field(default=None, gt=0, le=3_600_000)
    bounds: Bounds = Bounds()
    quiet_hours: list[QuietHours] = []
    model: str = BELIEF
    bucket: Bucket | None = None
    remember: Milliseconds = Field(default=86_400_000.0, ge=3_600_000, le=2_678_400_000)
    group: str = ""

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        legal = (BELIEF, *ESTIMATORS, DQN)
        if model not in legal:
            raise ValueError(f"is not legal; legal: {', '.join(map(repr, legal))}")
        return model

    @property
    def key(self) -> PoolKey:
        return PoolKey(self.service, self.side, self.peer)

    @property
    def measured(self) -> Upstream | None:
        """What to ask traces for; None: nothing."""
        if self.upstream is None and self.slo:
            return BY_DEFAULT
        return self.upstream if isinstance(self.upstream, Upstream) else None

    @model_validator(mode="after")
    def _consistent(self) -> Pool:
        if self.side == "client" and not self.peer:
            raise ValueError("peer is missing; a client pool names the service or database that it leads to")
        if self.side != "client" and self.peer:
            raise ValueError(f"peer {self.peer!r} is not legal with side {self.side}; legal: side client, or no peer")
        if bool(self.slo) == (self.threshold is not None):
            raise ValueError("exactly one of slo and threshold is legal")
        if self.threshold is not None and self.upstream:
            raise ValueError("upstream is legal with slo only; a threshold is the pool's own already")
        return self


class Learning(_Strict):
    """Of pools with `model: dqn`. directory: of the files that their agents are kept in, which every decider that may
    take their shard reads and writes."""

    directory: str = Field(min_length=1)


class Config(_Strict):
    """The whole file.

    period  from one decision to the next; longer where there are so many pools that it takes longer
    subsets  applications whose containers are connected by subsets, one a group at most
    window  span of buckets behind an estimate of a published model
    bucket  length of the buckets behind such an estimate, or auto: chosen per pool and period; a pool may have its own
    stored_bucket  length of the buckets that the streaming job writes; default: `bucket`, or 100 ms where that is auto
    settle  age that a bucket must have behind the newest one to be whole, as spans arrive when they end; auto: as late
            as they are seen to come, per pool
    lease   how long an answer may be applied after the period that computed it
    processes  that pools are decided in; auto: one a core where there are many pools. Read at the start
    groups  of pools, each of which one decider decides: the first is shard 0 of the log, and so on
    generation  grows with each change of a file that several deciders read: one with an older file takes no shard
    """

    slos: list[Slo] = []
    backends: list[Backend] = []
    pools: list[Pool] = Field(min_length=1)
    subsets: list[Subsetting] = []
    learning: Learning | None = None
    period: Milliseconds = Field(default=1_000.0, ge=1_000, le=600_000)
    window: Milliseconds = Field(default=60_000.0, ge=10_000, le=3_600_000)
    bucket: Bucket = 100.0
    stored_bucket: Milliseconds | None = Field(default=None, ge=10, le=1_000)
    settle: Settle = "auto"
    lease: Milliseconds = Field(default=30_000.0, ge=1_000, le=86_400_000)
    processes: Processes = "auto"
    groups: list[Annotated[str, Field(min_length=1)]] = Field(default=["default"], min_length=1, max_length=256)
    generation: int = Field(default=0, ge=0, le=2**63 - 1)

    def slos_of(self, pool: Pool) -> list[Slo]:
        """The SLOs that the pool names, in the order of the file; none when it has a threshold of its own."""
        return [slo for slo in self.slos if slo.name in pool.slo]

    @property
    def stored_ms(self) -> int:
        if self.stored_bucket is not None:
            return int(self.stored_bucket)
        return 100 if self.bucket == "auto" else int(self.bucket)

    def bucket_of(self, pool: Pool) -> float | Literal["auto"]:
        return self.bucket if pool.bucket is None else pool.bucket

    def of_shard(self, number: int) -> Config:
        """The pools of one group, and what binds them."""
        if len(self.groups) == 1:
            return self
        group = self.groups[number]
        pools = [pool for pool in self.pools if (pool.group or self.groups[0]) == group]
        backends = [each for each in self.backends if each.group in ("", group)]
        subsets = [each for each in self.subsets if (each.group or self.groups[0]) == group]
        return self.model_copy(update={"pools": pools, "backends": backends, "subsets": subsets})

    @model_validator(mode="after")
    def _sums_of_stored_buckets(self) -> Config:
        """Longer buckets are sums of stored ones; shorter ones cannot be had."""
        asked = [("bucket", self.bucket), *((f"pools[{i}].bucket", pool.bucket) for i, pool in enumerate(self.pools))]
        for path, bucket in asked:
            if isinstance(bucket, float) and bucket % self.stored_ms:
                stored = format_ms(self.stored_ms)
                raise ValueError(
                    f"{path} {format_ms(bucket)} cannot be made of stored buckets of {stored}; "
                    f"legal: auto, or a multiple of {stored} up to 1000 ms"
                )
        return self

    @model_validator(mode="after")
    def _references(self) -> Config:
        names = [slo.name for slo in self.slos]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(f"slos[{i}].name {name!r} stands there twice; legal: each name once")
        peers = [(backend.peer, backend.group) for backend in self.backends]
        for i, peer in enumerate(peers):
            if peer in peers[:i]:
                raise ValueError(f"backends[{i}].peer {peer[0]!r} stands there twice; legal: each peer once")
        seen: dict[PoolKey, int] = {}
        for i, pool in enumerate(self.pools):
            if pool.key in seen:
                raise ValueError(
                    f"pools[{i}] {pool.key} is the pool of pools[{seen[pool.key]}] again; legal: each once"
                )
            seen[pool.key] = i
            for name in pool.slo:
                if name not in names:
                    raise ValueError(f"pools[{i}].slo {name!r} is not defined; legal: {', '.join(names) or 'none'}")
            for slo in self.slos_of(pool):
                if isinstance(pool.upstream, float) and pool.upstream >= slo.latency:
                    raise ValueError(
                        f"pools[{i}].upstream {format_ms(pool.upstream)} leaves nothing of slo {slo.name!r}; "
                        f"legal: 0 ms to under {format_ms(slo.latency)}"
                    )
            if pool.model == DQN and self.learning is None:
                raise ValueError(
                    f"learning is missing: pools[{i}].model 'dqn' keeps its agent in files; legal: learning:"
                    " {directory: PATH}"
                )
        if self.lease < self.period:
            raise ValueError(
                f"lease {format_ms(self.lease)} is under period {format_ms(self.period)}; legal: lease >= period"
            )
        return self

    @model_validator(mode="after")
    def _grouped(self) -> Config:
        check_groups(self.groups, self.pools, self.backends)
        check_subsets(self.groups, self.subsets)
        return self
