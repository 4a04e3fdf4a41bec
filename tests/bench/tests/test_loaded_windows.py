"""What the benchmark reads from ClickHouse is what was drawn."""

from pathlib import Path

import numpy as np
import pytest

from bench.loaded_windows import BUCKETS, load
from bench.loop_scale import BUCKET_MS, NOW_MS, Queried
from humps import draw_samples, draw_service
from migrate.__main__ import schema_up
from sluice.config import Config, PoolKey
from support.clickhouse import clickhouse


@pytest.mark.integration
def test_pools_repeat_the_drawn_curves(tmp_path: Path) -> None:
    """Three pools of two curves: the third is the first again; 600 buckets are drawn, 720 stored."""
    rng = np.random.default_rng(5)
    services = [draw_service(rng) for _ in range(2)]
    drawn = [draw_samples(rng, service, highest=3.0 * service.best()) for service in services]
    names = [f"service-{i:05}" for i in range(3)]
    given = [{"service": name, "side": "server", "threshold": "100ms"} for name in names]
    config = Config.model_validate({"pools": given})
    with clickhouse(tmp_path) as server:
        schema_up(server.url, "sluice", wait_s=30)
        stored = load(server.client("sluice"), drawn, 3, NOW_MS, BUCKET_MS, 100_000_000)
        collector = Queried(server.url)
        keys = [PoolKey(name, "server", "") for name in names]
        found = collector.collect(config, dict.fromkeys(keys, 100_000_000), NOW_MS + 60_000).pools
    assert stored == 3 * 2 * BUCKETS
    assert collector.database.queries == 1
    assert collector.database.returned == 3 * BUCKETS
    for key, curve in zip(keys, (drawn[0], drawn[1], drawn[0]), strict=True):
        measured = found[key]
        assert measured is not None
        assert measured.samples.caller_judged
        at = (measured.bucket_start_ms - (NOW_MS - BUCKETS * BUCKET_MS)) // BUCKET_MS % len(curve.concurrency)
        assert len(at) == 600
        np.testing.assert_allclose(measured.samples.concurrency, curve.concurrency[at], atol=1e-6)
        np.testing.assert_array_equal(measured.samples.goodput_per_s, 10 * np.rint(curve.goodput_per_s[at] / 10))
