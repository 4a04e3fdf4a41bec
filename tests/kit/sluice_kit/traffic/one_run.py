"""One run of the simulated shop, seen in two ways: by fine windows inside it, and by the spans that it emits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from bench.controllers.bridge import samples_of
from sluice.clickhouse.connection import READER, ClickHouse
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.estimate import Estimate, Samples
from sluice.pools.estimate.models import ESTIMATORS
from sluice.pools.windows import Collector, PoolWindow
from testbed.fine import FineWindows
from testbed.presets.shop import THRESHOLD_MS, shop
from testbed.simulation import Simulation
from testbed.spans import Span, SpanSite

SECONDS = 75.0
WINDOW_S, BUCKET_MS = 60.0, 100
MS = 1_000_000


class OneRun:
    """75 s of the shop at its first sizes. `spans`, in the order of their ends, are rebased and renamed for the world.

    base_ns: Unix time of the run's begin, a multiple of 100 ms, so that buckets have the same borders; prefix: of the
    services' names.
    """

    def __init__(self, base_ns: int, prefix: str) -> None:
        assert base_ns % (BUCKET_MS * MS) == 0
        self.base_ns, self.prefix = base_ns, prefix
        self.spans: list[Span] = []
        self._fine = FineWindows()
        self.simulation = Simulation(shop(), 1, self._record)
        self._fine.watch(self.simulation.pools.values())
        self.simulation.run_until(SECONDS)

    def _record(self, span: Span) -> None:
        self._fine.add(span)
        start_ns, end_ns = self.base_ns + span.start_ns, self.base_ns + span.end_ns
        self.spans.append(span._replace(site=renamed(span.site, self.prefix), start_ns=start_ns, end_ns=end_ns))

    def key(self, pool: str) -> PoolKey:
        model = self.simulation.pools[pool]
        return PoolKey(self.prefix + model.service, model.side, self.prefix + model.peer if model.peer else "")  # type: ignore[arg-type]

    @property
    def config(self) -> Config:
        pools = [{**self.key(pool)._asdict(), "threshold": f"{ms:g}ms"} for pool, ms in THRESHOLD_MS.items()]
        return Config.model_validate({"pools": pools})

    def directly(self, pool: str, until_ms: int) -> Samples:
        """The samples of the fine windows of the minute before a Unix time."""
        until_s = until_ms / 1000 - self.base_ns / 1e9
        model = self.simulation.pools[pool]
        samples = samples_of(self._fine.last(model, round(until_s, 1), WINDOW_S, BUCKET_MS, THRESHOLD_MS[pool]))
        assert samples is not None
        return samples

    def stored(self, url: str) -> Mapping[str, PoolWindow]:
        """What the recommender's own query finds of the last minute in ClickHouse, with the pools' sizes."""
        config = self.config
        thresholds = {pool.key: round((pool.threshold or 0.0) * MS) for pool in config.pools}
        now_ms = self.base_ns // MS + round(SECONDS * 1000)
        window = Collector(ClickHouse(url, READER)).collect(config, thresholds, now_ms)
        evidence = {}
        for name, pool in self.simulation.pools.items():
            measured = window.pools[self.key(name)]
            assert measured is not None, f"nothing of {name} in ClickHouse"
            limit = np.full(len(measured.samples), float(pool.size))
            evidence[name] = replace(measured, samples=replace(measured.samples, limit=limit))
        return evidence


@cache
def renamed(site: SpanSite, prefix: str) -> SpanSite:
    attributes = tuple((key, f"{prefix}{value}" if key == "peer.service" else value) for key, value in site.attributes)
    return replace(
        site, service=prefix + site.service, peer=prefix + site.peer if site.peer else "", attributes=attributes
    )


def batches(spans: list[Span], size: int = 512) -> Iterator[list[Span]]:
    for begin in range(0, len(spans), size):
        yield spans[begin : begin + size]


def check(run: OneRun, url: str) -> Mapping[str, Estimate]:
    """Fails unless both ways give the same samples, to the last bit, and so the same recommendation; returns it."""
    answers = {}
    for pool, measured in run.stored(url).items():
        direct = run.directly(pool, measured.end_ms)
        for column in ("concurrency", "goodput_per_s", "throughput_per_s", "completions", "limit"):
            ours, theirs = getattr(direct, column), getattr(measured.samples, column)
            assert np.array_equal(ours, theirs), f"{pool}: {column} differs in {differing(ours, theirs)} buckets"
        assert (direct.instances, direct.caller_judged) == (measured.samples.instances, measured.samples.caller_judged)
        assert len(direct) > 500
        for model in ESTIMATORS.values():
            one, other = model.estimate(direct), model.estimate(measured.samples)
            assert brief(one) == brief(other)
        answers[pool] = ESTIMATORS["scg"].estimate(measured.samples)
    return answers


def differing(ours: np.ndarray, theirs: np.ndarray) -> str:
    return f"{(ours != theirs).sum()}" if len(ours) == len(theirs) else f"{len(ours)} against {len(theirs)}"


def brief(estimate: Estimate) -> tuple[object, ...]:
    return (estimate.state, estimate.target, estimate.lower_bound, estimate.upper_bound, estimate.confidence)


def summed(lines: Iterable[str]) -> dict[tuple[str, str, str, str, int], list[object]]:
    """Partial rows of `WindowRows.java`, summed by key as the job's SQL does: busy_ns, completions, errors, latency."""
    table: dict[tuple[str, str, str, str, int], list[object]] = {}
    for line in lines:
        side, service, peer, instance, bucket_ms, busy_ns, completions, errors, latency = line.rstrip("\n").split("\t")
        row = table.setdefault((side, service, peer, instance, int(bucket_ms)), [0, 0, 0, {}])
        for i, value in enumerate((busy_ns, completions, errors)):
            row[i] += int(value)  # type: ignore[operator]
        for entry in filter(None, latency.strip("{}").split(", ")):
            index, count = map(int, entry.split("="))
            row[3][index] = row[3].get(index, 0) + count  # type: ignore[index, attr-defined]
    return table
