"""Timelines: figures on responses made by hand, a run of each kind, and a picture that is one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from bench.controllers.collected import in_force
from bench.controllers.in_loop import Course
from bench.plots import plot
from bench.results import keep
from bench.timeline import Timeline, changes, drive
from bench.timeline_table import answers, figures
from testbed.events import CpuLimit
from testbed.presets.shop import CART_THREADS, shop
from testbed.simulation import Simulation


def timeline() -> Timeline:
    """100 responses of 1 to 100 ms in the first 10 s, and one of 900 ms, too late, at 15 s; 8 threads, 12 from 12 s."""
    return Timeline(
        seconds=20.0,
        at_s=np.array([*np.linspace(0, 9.9, 100), 15.0]),
        latency_s=np.array([*np.arange(1, 101) / 1000, 0.9]),
        good=np.array([True] * 100 + [False]),
        size=[(0.0, 8.0), (12.0, 12.0)],
        cores=[(0.0, 2.0), (5.0, 4.0)],
        replicas=[(0.0, 1.0)],
        course=(
            Course(5.0, "LEARNING", None, 8, ("TOO_LITTLE",), "HELD", 8),
            Course(12.0, "PROVIDED", 12, 12, ("BETTER",), "CURVE", 8),
        ),
    )


def test_figures_of_a_span_of_time() -> None:
    run = timeline()
    assert run.rate_per_s(0, 10) == 10
    assert run.goodput_per_s(10, 20) == 0
    # numpy's linear quantile: 0.99 * 99 = 98.01 between the 99th and the 100th of 100.
    assert run.p99_s(0, 10) == pytest.approx(0.09901)
    assert np.isnan(run.p99_s(16, 20))


def test_the_table_has_a_row_per_run_and_span() -> None:
    text = figures({"tuned": timeline()}, {"first": (0.0, 10.0), "second": (10.0, 20.0)})
    assert "| tuned | first | 99 | 10.0 | 100.0% | 8 |" in text
    assert "| tuned | second | 900 | 0.0 | 0.0% | 8 to 12 |" in text


def test_answers_tell_states_targets_and_moves() -> None:
    text = answers("tuned", timeline())
    assert "2 periods, 1 LEARNING, 1 PROVIDED; believed to be best: 12 to 12 in 1" in text
    assert "Sizes: 12 s 12 (CURVE)." in text


def test_only_changes_are_kept() -> None:
    assert changes([(0, 1.0), (1, 1.0), (2, 3.0), (3, 3.0), (4, 1.0)]) == [(0, 1.0), (2, 3.0), (4, 1.0)]


def test_a_count_is_in_force_from_when_it_was_seen() -> None:
    assert in_force([(5.0, 1), (10.0, 2)], np.array([3.0, 7.0, 10.0, 12.0])).tolist() == [1, 1, 2, 2]


def test_a_picture_and_its_table_are_kept_together(tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    plot(picture, "title", {"a": timeline(), "b": timeline()}, 0.25, [(5.0, "4 cores")], "cores", [(0.0, 10.0, "best")])
    pixels = imread(picture)
    assert pixels.shape[1] > 1000
    assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 20
    (tmp_path / "other.png").write_bytes(b"")
    kept = keep("x", "![x](x.png)\n", tmp_path, tmp_path / "kept")
    assert [path.name for path in kept] == ["x.md", "x.png"]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["x.md", "x.png"]


@pytest.mark.timeout(300)
def test_a_tuned_run_shrinks_cart_s_threads_and_an_untuned_one_does_not() -> None:
    scenario = replace(shop(), events=(CpuLimit(70.0, "cart", 3.0),))
    seen: list[Simulation] = []
    runs = [drive(scenario, CART_THREADS, 150.0, 250.0, 80.0, seen.append, tuned) for tuned in (False, True)]
    assert len(seen) == 2
    untuned, tuned = runs
    assert (untuned.size, untuned.course) == ([(0.0, 64.0)], ())
    assert tuned.cores == untuned.cores == [(0.0, 2.0), (70.0, 3.0)]
    assert min(size for at, size in tuned.size if at < 70) <= 20
    assert [each.at_s for each in tuned.course] == list(range(1, 81))
    moved = {at for at, _ in tuned.size[1:]}
    assert moved <= {each.at_s for each in tuned.course if each.target != each.current}
