"""What the benchmark reads from ClickHouse is what was drawn."""

from pathlib import Path

import numpy as np
import pytest

from bench.loaded_windows import BUCKETS, Loaded
from bench.loop_scale.queried import Queried
from bench.loop_scale.windows import BUCKET_MS, NOW_MS
from migrate.__main__ import schema_up
from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.windows import PoolWindow
from sluice_kit.decide.humps import Samples, draw_samples, draw_service
from sluice_kit.servers.clickhouse import clickhouse

# A period asks for the pools' rows, and for those of what their services call, which are none here.
OWN_AND_CALLEES = 2


@pytest.mark.integration
def test_pools_repeat_the_drawn_curves(tmp_path: Path) -> None:
    """Three pools of two curves: the third is the first again. 600 buckets are drawn, more are stored, and 3 s come."""
    rng = np.random.default_rng(5)
    services = [draw_service(rng) for _ in range(2)]
    drawn = [draw_samples(rng, service, highest=3.0 * service.best()) for service in services]
    names = [f"service-{i:05}" for i in range(3)]
    given = [{"service": name, "side": "server", "threshold": "100ms"} for name in names]
    config = Config.model_validate({"pools": given})
    with clickhouse(tmp_path) as server:
        schema_up(server.writer_url, "sluice", wait_s=30)
        loaded = Loaded(server.client("sluice"), drawn, 3, NOW_MS, BUCKET_MS, 100_000_000)
        collector = Queried(server.url)
        keys = [PoolKey(name, "server", "") for name in names]
        thresholds = dict.fromkeys(keys, 100_000_000)
        assert loaded.fill() == 3 * 2 * BUCKETS
        result = collector.collect(config, thresholds, NOW_MS).pools
        assert collector.database.queries == OWN_AND_CALLEES
        assert collector.database.returned == 3 * 2 * BUCKETS
        assert_drawn([result[key] for key in keys], drawn)
        # Two INSERTs of 30 buckets, of which the second writes 20 of the first again: 40 buckets are new.
        assert loaded.go_on(2) == 2 * 30 * 3 * 2
        collector.now_ms += 2_000
        window = collector.collect(config, thresholds, NOW_MS)
        assert collector.database.queries == OWN_AND_CALLEES
        assert collector.database.returned == 3 * 2 * 40
        assert_drawn([window.pools[key] for key in keys], drawn)
        # The newest bucket begins 1,900 ms later than NOW_MS; of a pool that was read twice, 1 s behind it is left out.
        for whole in map(window.complete.__getitem__, keys):
            assert whole is not None
            assert whole.start_ms[-1] == NOW_MS + 1_900 - 1_000 - BUCKET_MS
        assert loaded.go_on(1) == 30 * 3 * 2
        collector.now_ms += 1_000
        whole = collector.collect(config, thresholds, NOW_MS).complete[keys[0]]
        assert whole is not None
        assert whole.start_ms[-1] == NOW_MS + 2_900 - 1_000 - BUCKET_MS


def assert_drawn(collected: list[PoolWindow | None], drawn: list[Samples]) -> None:
    for measured, curve in zip(collected, (drawn[0], drawn[1], drawn[0]), strict=True):
        assert measured is not None
        assert measured.samples.caller_judged
        at = (measured.bucket_start_ms - (NOW_MS - BUCKETS * BUCKET_MS)) // BUCKET_MS % len(curve.concurrency)
        assert len(at) == 600
        np.testing.assert_allclose(measured.samples.concurrency, curve.concurrency[at], atol=1e-6)
        np.testing.assert_array_equal(measured.samples.goodput_per_s, 10 * np.rint(curve.goodput_per_s[at] / 10))
