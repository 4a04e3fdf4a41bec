import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.config import Pool, Slo
from sluice.pools.estimate.threshold import Threshold, UpstreamTime, target_threshold, threshold_of

CHECKOUT = Slo(name="checkout", service="frontend", operation="POST /orders", latency="250ms")  # type: ignore[arg-type]


def measured(seen: UpstreamTime | None, **asked: object) -> Threshold:
    upstream = {"from": "traces", **asked}
    pool = Pool.model_validate({"service": "cart", "side": "server", "slo": "checkout", "upstream": upstream})
    return threshold_of(pool, [CHECKOUT], [seen])


def codes(threshold: Threshold) -> list[str]:
    return [reason.code for reason in threshold.reasons]


def test_an_slo_less_what_traces_say_of_the_services_above() -> None:
    threshold = measured(UpstreamTime(31.4, 1240))
    assert (threshold.value_ms, threshold.source, threshold.reasons) == (218.6, "slo", ())
    assert threshold.detail == "slo checkout 250 ms - 31.4 ms upstream (p50 of 1,240 traces)"
    assert "(mean of 20 traces)" in measured(UpstreamTime(8.0, 20), statistic="mean").detail


def test_without_traces_the_slo_itself_stands_and_says_so() -> None:
    threshold = measured(None)
    assert (threshold.value_ms, codes(threshold)) == (250.0, ["UPSTREAM_UNKNOWN"])
    assert threshold.reasons[0].text == (
        "no traces of frontend/POST /orders lead to the pool: all of slo checkout 250 ms is taken as its own"
    )


def test_what_was_last_known_is_used_and_dated() -> None:
    threshold = measured(UpstreamTime(50.0, 300, age_ms=35_000))
    assert (threshold.value_ms, codes(threshold)) == (200.0, ["UPSTREAM_LAST_KNOWN"])
    assert threshold.detail == "slo checkout 250 ms - 50 ms upstream (p50 of 300 traces, known 35 s ago)"


@pytest.mark.parametrize(("floor", "least_ms"), [(0.1, 25.0), (0.4, 100.0)])
def test_services_above_that_take_it_all_leave_the_floor(floor: float, least_ms: float) -> None:
    threshold = measured(UpstreamTime(400.0, 300), floor=floor)
    assert (threshold.value_ms, codes(threshold)) == (least_ms, ["UPSTREAM_FLOOR"])
    assert f"at least {floor:.0%}: {least_ms:g} ms" in threshold.detail
    assert "waits for threads of services above it are in it" in threshold.reasons[0].text


@given(st.floats(0, 1e9), st.floats(0.01, 1), st.integers(0, 10**7))
def test_a_measured_threshold_lies_between_the_floor_and_the_slo(above_ms: float, floor: float, age_ms: int) -> None:
    threshold = measured(UpstreamTime(above_ms, 100, age_ms), floor=floor)
    assert floor * 250 <= threshold.value_ms <= 250
    assert threshold.value_ns >= 2_500_000
    assert ("UPSTREAM_FLOOR" in codes(threshold)) == (250 - above_ms < floor * 250)


def test_an_slo_less_what_upstream_takes() -> None:
    """Sora 3.2: an SLA of 150 ms and 10 ms in the front-end leave 140 ms."""
    slo = Slo(name="cart", service="front-end", latency="150ms")  # type: ignore[arg-type]
    pool = Pool(service="cart", side="server", slo="cart", upstream="10ms")  # type: ignore[arg-type]
    threshold = threshold_of(pool, [slo])
    assert (threshold.value_ms, threshold.value_ns, threshold.source) == (140.0, 140_000_000, "slo")
    assert threshold.detail == "slo cart 150 ms - 10 ms upstream"


def by_default(seen: UpstreamTime | None) -> Threshold:
    return threshold_of(Pool(service="cart", side="server", slo="checkout"), [CHECKOUT], [seen])  # type: ignore[arg-type]


def test_a_pool_that_says_nothing_of_upstream_times_is_judged_by_traces_where_they_begin_at_its_slo() -> None:
    assert by_default(UpstreamTime(31.4, 1240)) == measured(UpstreamTime(31.4, 1240))
    assert by_default(UpstreamTime(400.0, 300)) == measured(UpstreamTime(400.0, 300))
    whole = by_default(None)
    assert (whole.value_ms, whole.reasons) == (250.0, ())
    assert whole.detail == "slo checkout 250 ms, not less: no traces of frontend/POST /orders lead to the pool"


def test_an_slo_that_a_pool_has_of_its_own_service_counts_in_full() -> None:
    slo = Slo(service="cart", latency="90ms")  # type: ignore[arg-type]
    pool = Pool(service="cart", side="client", peer="db")
    assert (pool.measured, threshold_of(pool, [slo]).value_ms) == (None, 90.0)
    assert threshold_of(pool, [slo]).detail == "slo cart 90 ms, of the pool's own service"
    fixed = Pool(service="cart", side="client", peer="db", upstream="20ms")  # type: ignore[arg-type]
    assert threshold_of(fixed, [slo]).value_ms == 70.0


def test_an_slo_that_traces_do_not_begin_at_stands_beside_one_that_they_begin_at() -> None:
    """An SLO of cart itself, 90 ms, that nobody can measure; checkout leaves 250 - 100 = 150 ms."""
    own = Slo(name="own", service="cart", latency="90ms")  # type: ignore[arg-type]
    pool = Pool(service="cart", side="server", slo=["checkout", "own"])
    threshold = threshold_of(pool, [CHECKOUT, own], [UpstreamTime(100.0, 300), None])
    assert threshold.value_ms == 90.0
    assert threshold.detail == (
        "slo own 90 ms, not less: no traces of cart lead to the pool; "
        "strictest of it and slo checkout 250 ms - 100 ms upstream (p50 of 300 traces)"
    )
    assert threshold_of(pool, [CHECKOUT, own], [UpstreamTime(180.0, 300), None]).value_ms == 70.0


def test_a_threshold_of_the_pools_own() -> None:
    threshold = threshold_of(Pool(service="cart", side="server", threshold="12.5ms"), [])  # type: ignore[arg-type]
    assert (threshold.value_ns, threshold.source, threshold.detail) == (12_500_000, "pool", "set on the pool: 12.5 ms")


BROWSE = Slo(name="browse", service="frontend", operation="GET /items", latency="120ms")  # type: ignore[arg-type]


def shared(*seen: UpstreamTime | None, upstream: object = None) -> Threshold:
    """Of a pool that checkout and browse share."""
    given = {"from": "traces"} if upstream is None else upstream
    pool = Pool.model_validate({"service": "cart", "side": "server", "slo": ["checkout", "browse"], "upstream": given})
    return threshold_of(pool, [CHECKOUT, BROWSE], seen)


def test_a_pool_of_several_slos_keeps_the_strictest() -> None:
    """checkout leaves 250 - 100 = 150 ms, browse 120 - 20 = 100 ms."""
    threshold = shared(UpstreamTime(100.0, 300), UpstreamTime(20.0, 900))
    assert (threshold.value_ms, threshold.reasons) == (100.0, ())
    assert threshold.detail == (
        "slo browse 120 ms - 20 ms upstream (p50 of 900 traces); "
        "strictest of it and slo checkout 250 ms - 100 ms upstream (p50 of 300 traces)"
    )
    # The longer SLO is the stricter one where more stands above the pool.
    assert shared(UpstreamTime(180.0, 300), UpstreamTime(20.0, 900)).value_ms == 70.0
    assert shared(upstream="50ms").value_ms == 70.0


def test_an_slo_whose_traces_do_not_lead_to_the_pool_sets_nothing() -> None:
    threshold = shared(UpstreamTime(100.0, 300), None)
    assert (threshold.value_ms, threshold.reasons) == (150.0, ())
    assert threshold.detail.endswith("strictest of it and slo browse 120 ms, upstream unknown")
    unknown = shared(None, None)
    assert (unknown.value_ms, codes(unknown)) == (120.0, ["UPSTREAM_UNKNOWN"])


@given(st.lists(st.none() | st.floats(0, 300), min_size=2, max_size=2))
def test_the_strictest_is_one_of_them_and_none_is_stricter(above_ms: list[float | None]) -> None:
    seen = [None if ms is None else UpstreamTime(ms, 100) for ms in above_ms]
    pool = Pool.model_validate({"service": "cart", "side": "server", "slo": "x", "upstream": {"from": "traces"}})
    alone = [threshold_of(pool, [slo], [one]).value_ms for slo, one in zip((CHECKOUT, BROWSE), seen, strict=True)]
    known = [value for value, one in zip(alone, seen, strict=True) if one is not None]
    assert shared(*seen).value_ms == min(known or alone)


def test_a_detail_names_three_targets_and_three_other_slos_at_most() -> None:
    slos_ms = {f"pod-{i}": 200.0 for i in range(5)} | {f"old-{i}": 300.0 + i for i in range(4)}
    threshold = target_threshold(slos_ms)
    assert threshold is not None
    assert (threshold.value_ns, threshold.detail) == (
        200_000_000,
        "slo 200 ms of targets pod-0, pod-1, pod-2 and 2 more; strictest of it and 300 ms of target old-0,"
        " 301 ms of target old-1, 302 ms of target old-2 and 1 more",
    )
    assert target_threshold({}) is None
