"""The six re-drawn shapes, and the recorded ones."""

import pytest

from testbed.bursty import BURSTY, LENGTH
from testbed.recorded import DEFAULT, load

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


def test_a_recorded_shape_is_read_and_interpolated(tmp_path):
    path = tmp_path / "shapes.csv"
    path.write_text("t_s,a,b\n0,0.2,1\n1,0.4,0\n2,1.0,0.5\n")
    shapes = load(path)
    assert set(shapes) == {"a", "b"}
    # Half way up, and from the last row back to the first.
    assert [shapes["a"](t) for t in (0.5, 1.0, 2.5, 3.0)] == pytest.approx([0.3, 0.4, 0.6, 0.2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 must be t_s,NAME"),
        ("t_s,a\n", "with rows below it"),
        ("t,a\n0,1\n", "line 1 must be t_s,NAME"),
        ("t_s,a\n0,1\n2,1\n", "line 3 must be second 1 and 1 shares from 0 to 1, got 2,1"),
        ("t_s,a\n0,1.5\n", "line 2 must be second 0 and 1 shares from 0 to 1, got 0,1.5"),
        ("t_s,a\n0,nan\n", "line 2 must be second 0"),
        ("t_s,a\n0,x\n", "line 2 must hold numbers"),
        ("t_s,a,b\n0,1\n", "2 shares from 0 to 1"),
    ],
)
def test_a_file_that_is_no_table_of_shapes_is_refused(tmp_path, text, message):
    path = tmp_path / "shapes.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"absent\.csv: No such file"):
        load(tmp_path / "absent.csv")


@pytest.mark.skipif(not DEFAULT.exists(), reason="the recorded shapes are not beside the repository")
def test_the_recorded_shapes_are_scaled_to_their_peak():
    for name, shape in load().items():
        values = [shape(second) for second in SECONDS]
        assert max(values) == 1.0, name
        assert min(values) >= 0.0, name
