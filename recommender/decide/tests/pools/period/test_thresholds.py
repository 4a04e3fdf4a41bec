"""Thresholds over periods: what traces say moves them by no less than windows can tell."""

import pytest

from sluice.config import Config
from sluice.model.keys import PoolKey
from sluice.pools.estimate.threshold import LONGEST_MS, Threshold, UpstreamRequest, UpstreamTime
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.period.thresholds import BUCKET, Thresholds

CART = PoolKey("cart", "server", "")


def config(slo_ms: float = 250, **pool: object) -> Config:
    slo = {"name": "checkout", "service": "frontend", "latency": f"{slo_ms:g}ms"}
    return Config.model_validate(
        {"slos": [slo], "pools": [{"service": "cart", "side": "server", "slo": "checkout", **pool}]}
    )


def period(thresholds: Thresholds, upstream_ms: float, given: Config | None = None) -> Threshold:
    seen = {UpstreamRequest(CART, "checkout"): UpstreamTime(upstream_ms, 900)}
    return thresholds.of(given or config(), seen, 0, {}, {})[CART]


def test_a_threshold_stands_until_it_is_off_by_a_bucket_of_the_histograms() -> None:
    """A bucket of 1.09 % about 200 ms is 197.9 to 202.2 ms."""
    thresholds = Thresholds()
    assert period(thresholds, 50).value_ms == 200
    for upstream_ms in (48, 52, 50.5, 48, 52):
        held = period(thresholds, upstream_ms)
        assert held.value_ms == 200
        assert held.detail == (
            f"slo checkout 250 ms - {upstream_ms:g} ms upstream (p50 of 900 traces); 200 ms stand, less than 1.1% off"
        )
    assert period(thresholds, 50).detail == "slo checkout 250 ms - 50 ms upstream (p50 of 900 traces)"
    assert period(thresholds, 47).value_ms == 203
    assert period(thresholds, 49).value_ms == 203
    assert period(thresholds, 50).value_ms == 200
    assert 203 / 201 < BUCKET < 203 / 200


def test_what_moves_slowly_is_followed() -> None:
    thresholds = Thresholds()
    for upstream_ms in range(100):
        assert period(thresholds, upstream_ms).value_ms == pytest.approx(250 - upstream_ms, rel=BUCKET - 1)


def test_another_slo_or_another_statistic_counts_at_once() -> None:
    thresholds = Thresholds()
    assert period(thresholds, 50).value_ms == 200
    assert period(thresholds, 50, config(slo_ms=251)).value_ms == 201
    mean = config(slo_ms=251, upstream={"from": "traces", "statistic": "mean"})
    assert period(thresholds, 49, mean).value_ms == 202


def test_what_the_file_sets_is_not_held() -> None:
    thresholds = Thresholds()
    period(thresholds, 50)
    assert period(thresholds, 0, config(upstream="49ms")).value_ms == 201
    assert period(thresholds, 48).value_ms == 202


NO_SLO = Config.model_validate({"pools": [{"service": "cart", "side": "server"}]})
DERIVED = Threshold(132.0, "derived", "3 x 44 ms", applies=False)
NONE = Threshold(LONGEST_MS, "none", "not seen", applies=False)


def declared(
    thresholds: Thresholds, *slos_ms: float | None, given: Config = NO_SLO, derived: Threshold = DERIVED
) -> Threshold:
    """By targets a, b, ... with these SLOs."""
    targets = [TargetSize(name, 8, 0, slo_ms=slo) for name, slo in zip("abcdefgh", slos_ms, strict=False)]
    without = {CART: derived} if given.is_derived(given.pools[0]) else {}
    return thresholds.of(given, {}, 0, without, {CART: targets})[CART]


@pytest.mark.parametrize("derived", [DERIVED, NONE])
def test_the_strictest_slo_of_targets_replaces_a_derived_threshold(derived: Threshold) -> None:
    """Targets without an SLO do not count; without any, the derived threshold does."""
    thresholds = Thresholds()
    seen = [declared(thresholds, *slos, derived=derived) for slos in ((200,), (300, None, 200, 200), (None,), ())]
    assert seen == [
        Threshold(200, "target", "slo 200 ms of target a"),
        Threshold(200, "target", "slo 200 ms of targets c, d; strictest of it and 300 ms of target a"),
        derived,
        derived,
    ]
    assert seen[0].applies


def test_what_the_file_sets_precedes_targets() -> None:
    of_service = {"slos": [{"service": "cart", "latency": "500ms"}], "pools": [{"service": "cart", "side": "server"}]}
    own = {"pools": [{"service": "cart", "side": "server", "threshold": "90ms"}]}
    seen = [declared(Thresholds(), 200, given=Config.model_validate(file)) for file in (of_service, own)]
    assert [(threshold.value_ms, threshold.source) for threshold in seen] == [(500, "slo"), (90, "pool")]


def test_slos_of_targets_that_differ_by_less_than_a_bucket_move_nothing() -> None:
    """As pods of 200 and 201 ms come and go. Targets without an SLO for a period end that."""
    thresholds = Thresholds()
    assert [declared(thresholds, slo).value_ms for slo in (201, 200, 203, 202, 199)] == [201, 201, 201, 201, 201]
    assert declared(thresholds, 199).detail == "slo 199 ms of target a; 201 ms stand, less than 1.1% off"
    assert declared(thresholds, 198).value_ms == 198
    assert declared(thresholds).source == "derived"
    assert declared(thresholds, 199).value_ms == 199
