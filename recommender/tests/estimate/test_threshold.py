from sluice.config import Pool, Slo
from sluice.estimate.threshold import threshold_of


def test_an_slo_less_what_upstream_takes() -> None:
    """Sora 3.2: an SLA of 150 ms and 10 ms in the front-end leave 140 ms."""
    slo = Slo(name="cart", service="front-end", latency="150ms")  # type: ignore[arg-type]
    pool = Pool(service="cart", side="server", slo="cart", upstream="10ms")  # type: ignore[arg-type]
    threshold = threshold_of(pool, slo)
    assert (threshold.value_ms, threshold.value_ns, threshold.source) == (140.0, 140_000_000, "slo")
    assert threshold.detail == "slo cart 150 ms - 10 ms upstream"


def test_a_threshold_of_the_pools_own() -> None:
    threshold = threshold_of(Pool(service="cart", side="server", threshold="12.5ms"), None)  # type: ignore[arg-type]
    assert (threshold.value_ns, threshold.source, threshold.detail) == (12_500_000, "pool", "set on the pool: 12.5 ms")
