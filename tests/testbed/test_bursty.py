"""The six re-drawn shapes."""

import pytest

from testbed.bursty import BURSTY, LENGTH

SECONDS = range(int(LENGTH))

SORA_TABLE_3 = {
    "large_variation": 1207,
    "quickly_varying": 1686,
    "slowly_varying": 1007,
    "big_spike": 677,
    "dual_phase": 1251,
    "steep_tri_phase": 1222,
}
"""Sora's goodput within 250 ms: it kept up, so these stand to each other as the loads did."""


def mean(name):
    return sum(BURSTY[name](second + 0.5) for second in SECONDS) / LENGTH


@pytest.mark.parametrize("name", BURSTY)
def test_a_shape_stays_within_its_peak_and_reaches_it(name):
    values = [BURSTY[name](second) for second in SECONDS]
    assert 0 < min(values) < 0.65
    assert max(values) == pytest.approx(1.0, abs=0.005)
    assert BURSTY[name](LENGTH) == BURSTY[name](0.0)


def test_their_means_stand_to_each_other_as_the_papers_goodputs_do():
    scale = sum(SORA_TABLE_3.values()) / sum(mean(name) for name in SORA_TABLE_3)
    for name, goodput in SORA_TABLE_3.items():
        assert mean(name) * scale == pytest.approx(goodput, rel=0.08)


@pytest.mark.parametrize(
    ("name", "overload"),
    [
        ("large_variation", [(52, 82), (225, 280), (510, 575)]),
        ("steep_tri_phase", [(272, 400), (490, 605)]),
    ],
)
def test_they_are_high_where_the_papers_report_overload_and_low_elsewhere(name, overload):
    inside = [second for second in SECONDS if any(begin <= second <= end for begin, end in overload)]
    assert min(BURSTY[name](second) for second in inside) >= 0.79
    outside = [s for s in SECONDS if all(not begin - 35 <= s <= end + 35 for begin, end in overload)]
    assert max(BURSTY[name](second) for second in outside) <= 0.55
