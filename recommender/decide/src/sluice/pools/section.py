"""The configuration of pools: SLOs, pools, backends and their measurement. Each field has its legal range."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from sluice.document import Strict
from sluice.model.durations import Milliseconds, format_ms
from sluice.model.hours import QuietHours
from sluice.model.keys import PoolKey, Side
from sluice.model.patterns import ANY, matches
from sluice.pools.discovery.selection import Discovery
from sluice.pools.estimate.models import BELIEF, ESTIMATORS


def _root_name(fields: dict[str, Any]) -> str:
    service, operation = fields["service"], fields["operation"]
    return f"{service}/{operation}" if operation else str(service)


class Slo(Strict):
    """A promised response time of `service`, or of one `operation` of it. Both may be patterns: `web-*`, `*`.

    name  by default the service, or SERVICE/OPERATION
    latency  the promised response time
    """

    service: str = Field(min_length=1)
    operation: str | None = Field(default=None, min_length=1)
    name: str = Field(default_factory=_root_name, min_length=1)
    latency: Milliseconds = Field(gt=0, le=3_600_000)

    @property
    def is_pattern(self) -> bool:
        return ANY in self.service or ANY in (self.operation or "")


@lru_cache(maxsize=1 << 16)
def _of_service(slo: Slo, service: str) -> Slo:
    """A pattern's SLO for one service that it matches. Its name is of the service: no other shares it."""
    return slo.model_copy(update={"service": service, "name": f"{slo.name} of {service}"})


Statistic = Literal["mean", "p50", "p90", "p95", "p99"]


class Upstream(Strict):
    """The share of the SLO that services above the pool take, measured: `upstream: {from: traces}`.

    statistic  of the processing times of all services above, waits for their threads included, over the traces whose
               critical path leads to the service
    window     age of the oldest traces that count
    floor      smallest share of the SLO that remains for the pool, whatever the measurement
    """

    source: Literal["traces"] = Field(alias="from")
    statistic: Statistic = "p50"
    window: Milliseconds = Field(default=60_000.0, ge=10_000, le=3_600_000)
    floor: float = Field(default=0.1, ge=0.01, le=1)


# For a pool with an SLO and without `upstream`.
BY_DEFAULT = Upstream.model_validate({"from": "traces"})

# `~` marks the tags of a value's kinds; paths in messages leave them out (see `load._line`).
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


class Bounds(Strict):
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


class Backend(Strict):
    """The connections that a service or database accepts from all client pools together, or, with a `group`, the
    group's part of them."""

    peer: str = Field(min_length=1)
    capacity: int = Field(ge=1, le=10_000_000)
    group: str = ""


class Pool(Strict):
    """One pool, and the threshold for its completions: an SLO less `upstream`, or a `threshold` of its own. Without
    both, the SLO of its service counts; without such an SLO, a derived threshold.

    service, side, peer  the pool's key; a client pool has a peer, no other has one
    threshold  longest response time of a completion in time, in place of an SLO
    bucket  as in the file, for this pool
    upstream  an allowance, or the measurement of one; None: measured where the SLO's service is the root of traces that
              lead to the pool, else 0; also 0 for an SLO of the pool's own service that `slo` does not name
    bounds  legal sizes, per instance
    quiet_hours  times of day without changes
    model  the estimator: the belief over the pool's curve, or a published model. `scg-kneedle` serves comparison, and
           nobody is to apply its size.
    group  the pool's group; "": the first
    remember  the horizon: no size is chosen below the need of the busiest stretch within it, plus a quarter
    metrics  the pool's name in the metrics that agents send; "": found by its peer, or as the only one
    slo  a name, or a list of names for a pool that requests under several SLOs share: the strictest threshold counts
    """

    service: str = Field(min_length=1)
    side: Side
    peer: str = ""
    slo: Annotated[list[str], BeforeValidator(_listed)] = Field(default=[])
    upstream: FixedOrMeasured | None = None
    threshold: Milliseconds | None = Field(default=None, gt=0, le=3_600_000)
    bounds: Bounds = Bounds()
    quiet_hours: list[QuietHours] = Field(default=[])
    model: str = BELIEF
    bucket: Bucket | None = None
    remember: Milliseconds = Field(default=86_400_000.0, ge=3_600_000, le=2_678_400_000)
    group: str = ""
    metrics: str = Field(default="", max_length=256)

    @field_validator("model")
    @classmethod
    def _known(cls, model: str) -> str:
        legal = (BELIEF, *ESTIMATORS)
        if model not in legal:
            raise ValueError(f"is not legal; legal: {', '.join(map(repr, legal))}")
        return model

    @property
    def key(self) -> PoolKey:
        return PoolKey(self.service, self.side, self.peer)

    @property
    def measured(self) -> Upstream | None:
        """The measurement from traces; None: no measurement."""
        if self.upstream is None and self.slo:
            return BY_DEFAULT
        return self.upstream if isinstance(self.upstream, Upstream) else None

    @model_validator(mode="after")
    def _consistent(self) -> Pool:
        if self.side == "client" and not self.peer:
            raise ValueError("peer is missing; a client pool names the service or database that it leads to")
        if self.side != "client" and self.peer:
            raise ValueError(f"peer {self.peer!r} is not legal with side {self.side}; legal: side client, or no peer")
        if self.slo and self.threshold is not None:
            raise ValueError("slo and threshold exclude each other; legal: one of them, or neither")
        if self.threshold is not None and self.upstream:
            raise ValueError("upstream is legal with slo only; a threshold is already the pool's own")
        return self


class DerivedSlo(Strict):
    """The thresholds of pools without an SLO or a threshold of their own (estimate/derived.py).

    apply  decisions on them may be applied
    """

    apply: bool = False


class PoolsSection(Strict):
    """The pools' part of the file.

    slos  promised response times
    backends  services and databases with a limit of connections
    derived_slo  thresholds of pools without an SLO
    pools   by name, or auto: found from spans
    discovery  how pools are found, also beside those named; None: they are not
    window  span of buckets behind an estimate of a published model
    bucket  length of the buckets behind such an estimate, or auto: chosen per pool and period; a pool may have its own
    stored_bucket  length of the buckets that the streaming job writes; default: `bucket`, or 100 ms where that is auto
    settle  a bucket is complete at this age behind the newest one, since spans arrive when they end; auto: the delay
            observed, per pool
    processes  number of processes that decide pools; auto: one a core where there are many pools. Read at the start
    unsampled  services whose spans are all there, although their trace ids or metrics look like a sample
    """

    slos: list[Slo] = Field(default=[])
    backends: list[Backend] = Field(default=[])
    pools: list[Pool] = Field(default=[])
    discovery: Discovery | None = None
    derived_slo: DerivedSlo = DerivedSlo()
    window: Milliseconds = Field(default=60_000.0, ge=10_000, le=3_600_000)
    bucket: Bucket = 100.0
    stored_bucket: Milliseconds | None = Field(default=None, ge=10, le=1_000)
    settle: Settle = "auto"
    processes: Processes = "auto"
    unsampled: list[str] = Field(default=[])

    @model_validator(mode="before")
    @classmethod
    def _automatic(cls, document: Any) -> Any:
        """`pools: auto`, and no `pools` at all, is an empty list with discovery."""
        pools = document.get("pools", "auto") if isinstance(document, dict) else None
        if pools == "auto":
            return {"discovery": {}, **document, "pools": []}
        if isinstance(pools, str):
            raise ValueError(f"pools {pools!r} is not legal; legal: auto, or a list of pools")
        return document

    def slos_of(self, pool: Pool) -> list[Slo]:
        """The SLOs that the pool names, in the order of the file; none for a pool with a threshold of its own.

        A pool with neither has the SLOs of its service without a pattern; without any, the first pattern that matches.
        """
        if pool.slo or pool.threshold is not None:
            return [slo for slo in self.slos if slo.name in pool.slo]
        own = [slo for slo in self.slos if matches(slo.service, pool.service)]
        exact = [slo for slo in own if not slo.is_pattern]
        return exact or [_of_service(slo, pool.service) for slo in own[:1]]

    def is_derived(self, pool: Pool) -> bool:
        """Whether the file gives the pool neither an SLO nor a threshold."""
        return pool.threshold is None and not self.slos_of(pool)

    def slo_names(self, pool: Pool) -> list[str]:
        return [slo.name for slo in self.slos_of(pool)]

    @property
    def stored_ms(self) -> int:
        if self.stored_bucket is not None:
            return int(self.stored_bucket)
        return 100 if self.bucket == "auto" else int(self.bucket)

    def bucket_of(self, pool: Pool) -> float | Literal["auto"]:
        return self.bucket if pool.bucket is None else pool.bucket

    @model_validator(mode="after")
    def _sums_of_stored_buckets(self) -> PoolsSection:
        """Checks that longer buckets are sums of stored ones. Shorter ones do not exist."""
        widths = [("bucket", self.bucket), *((f"pools[{i}].bucket", pool.bucket) for i, pool in enumerate(self.pools))]
        for path, bucket in widths:
            if isinstance(bucket, float) and bucket % self.stored_ms:
                stored = format_ms(self.stored_ms)
                raise ValueError(
                    f"{path} {format_ms(bucket)} cannot be made of stored buckets of {stored}; "
                    f"legal: auto, or a multiple of {stored} up to 1000 ms"
                )
        return self

    @model_validator(mode="after")
    def _some(self) -> PoolsSection:
        if not self.pools and self.discovery is None:
            raise ValueError("pools has no pool, and nothing finds them; legal: auto, or at least one pool")
        return self

    @model_validator(mode="after")
    def _references(self) -> PoolsSection:
        names = [slo.name for slo in self.slos]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(f"slos[{i}].name {name!r} is defined twice; legal: each name once")
        peers = [(backend.peer, backend.group) for backend in self.backends]
        for i, peer in enumerate(peers):
            if peer in peers[:i]:
                raise ValueError(f"backends[{i}].peer {peer[0]!r} is defined twice; legal: each peer once")
        counts: dict[PoolKey, int] = {}
        for i, pool in enumerate(self.pools):
            if pool.key in counts:
                raise ValueError(
                    f"pools[{i}] {pool.key} is the pool of pools[{counts[pool.key]}] again; legal: each once"
                )
            counts[pool.key] = i
            for j in range(i if pool.metrics else 0):
                if (self.pools[j].service, self.pools[j].metrics) == (pool.service, pool.metrics):
                    raise ValueError(
                        f"pools[{i}].metrics {pool.metrics!r} is that of pools[{j}] too; legal: each once in a service"
                    )
            for name in pool.slo:
                if name not in names:
                    raise ValueError(f"pools[{i}].slo {name!r} is not defined; legal: {', '.join(names) or 'none'}")
            for slo in self.slos_of(pool):
                if isinstance(pool.upstream, float) and pool.upstream >= slo.latency:
                    raise ValueError(
                        f"pools[{i}].upstream {format_ms(pool.upstream)} leaves nothing of slo {slo.name!r}; "
                        f"legal: 0 ms to under {format_ms(slo.latency)}"
                    )
        return self
