"""The simulated application to tune: its laws by hand, its spaces, and that a trial is repeatable."""

from pathlib import Path

import pytest

from bench.tuning.measured import measured
from bench.tuning.methods import one_seed, read, report, searches
from bench.tuning.network import Laws, _capacity, _misses, applied, paths, space
from bench.tuning.search import Run, Search
from bench.tuning.spaces import (
    ALL,
    BOTTLENECKS,
    CRITICAL_PATH,
    KNOWN,
    MOST_OF_PATH,
    badly_begun,
    of_service,
    services,
    spaces,
)
from sluice.tuning.space.check import check_space


def test_capacity_is_whole_at_the_best_number_of_threads() -> None:
    assert _capacity(8, 8.0) == 1.0
    # u(1) = 1; u(8) = 8 / (1 + 0.05 x 7 + 0.95 / 64 x 56) = 8 / 2.18125 = 3.668.
    assert _capacity(1, 8.0) == pytest.approx((1 + 1 / 3.668) / 2, abs=1e-3)
    assert 0.5 < _capacity(128, 8.0) < _capacity(16, 8.0) < 1.0


def test_a_cache_four_times_as_large_misses_half_as_often_beside_what_always_does() -> None:
    assert _misses(64.0) == pytest.approx(0.4)
    assert _misses(256.0) == pytest.approx(0.05 + 0.175)


def test_the_spaces_are_legal_and_parts_of_the_whole() -> None:
    found = spaces()
    whole = {each.name for each in found[ALL].parameters}
    for name in (CRITICAL_PATH, BOTTLENECKS, MOST_OF_PATH):
        check_space(found[name])
        assert {each.name for each in found[name].parameters} < whole
    assert {each.service for each in found[ALL].parameters} == set(Laws.drawn(1).best)
    assert set(services(found[BOTTLENECKS])) == set(KNOWN)


def test_one_service_after_the_other_covers_the_space_once() -> None:
    tuned = spaces()[CRITICAL_PATH]
    order = services(tuned)
    assert order.index("home-timeline") < order.index("post-storage"), "requests reach it first"
    parts = [each.name for service in order for each in of_service(tuned, service).parameters]
    assert sorted(parts) == sorted(each.name for each in tuned.parameters)


def test_a_bad_beginning_is_legal_and_bad() -> None:
    begun = badly_begun(space())
    check_space(begun)
    assert begun.default["nginx.workers"] == 1
    assert begun.default["post-storage-memcached.memory_mb"] == 16.0
    usual, bad = (measured(each, Laws.drawn(1), 7).value or 0.0 for each in (space().default, begun.default))
    assert bad > 1.1 * usual


def test_every_request_passes_nginx_and_parallel_calls_leave_one_on_the_path() -> None:
    found = paths(applied(space().default, Laws.drawn(1))[0])
    assert found["nginx"][0] == pytest.approx(1.0)
    assert "ads" not in found  # beside post-storage, which takes longer


def test_a_trial_is_the_same_each_time_and_settings_matter() -> None:
    laws, default = Laws.drawn(1), space().default
    once = measured(default, laws, 7, seconds=1.0)
    assert once == measured(default, laws, 7, seconds=1.0)
    assert once != measured({**default, "home-timeline.threads": 1}, laws, 7, seconds=1.0)


def test_a_seed_is_searched_once_and_kept(tmp_path: Path) -> None:
    asked = [Search(BOTTLENECKS, "dds", 2), Search(BOTTLENECKS, "dds", 1, "in turn")]
    one_seed(tmp_path, 3, asked)
    joint, serial = (read(tmp_path)[search][3] for search in asked)
    assert (joint.trials, serial.trials) == (3, 2 * len(KNOWN)), "each search begins with its default"
    assert joint.parameters == serial.parameters == len(spaces()[BOTTLENECKS].parameters)
    before = (tmp_path / "3.json").read_text()
    one_seed(tmp_path, 3, asked)
    assert (tmp_path / "3.json").read_text() == before


def test_the_report_has_the_best_first_and_only_what_was_run() -> None:
    found = {
        Search(CRITICAL_PATH, "dds"): {1: Run(3, 10, 9, 16, 0.5), 2: Run(3, 20, 14, 16, 0.7)},
        Search(CRITICAL_PATH, "swarm"): {1: Run(3, 10, 7, 16, 0.001), 2: Run(3, 20, 14, 16, 0.003)},
        Search(CRITICAL_PATH, "dds", 100): {2: Run(3, 20, 12, 101, 2.0)},
    }
    rows = [row for row in report(found).splitlines() if row.startswith("| the critical path")]
    # t(0.975, 1) = 12.706; the deviation of 0.1 and 0.3 is 0.1414, by the root of 2 is 0.1: 127.1 points.
    path = "| the critical path | 3 |"
    one, held = "| 30.0 ± nan % | 30.0 % | 30.0 to 30.0 % ", "| 0 of 1 | 0 of 0 "
    assert rows == [
        f"{path} `swarm` | 16 | 2 | 30.0 ± 0.0 % | 30.0 % | 30.0 to 30.0 % | 0 of 2 | 0 of 0 | 2 ms |",
        f"{path} `dds` | 16 | 2 | 20.0 ± 127.1 % | 20.0 % | 15.0 to 25.0 % | 0 of 2 | 0 of 0 | 600 ms |",
        f"{path} `dds` | 16 | 1 {one}{held}| 700 ms |",
        f"{path} `dds` | 101 | 1 {one.replace('30', '40')}{held}| 2.0 s |",
        f"{path} `swarm` | 16 | 1 {one}{held}| 3 ms |",
    ]


def test_a_load_that_is_not_held_is_counted_and_where_the_default_does_not_hold_it_there_is_no_gain() -> None:
    """Default and what is found: 10 and 8 ms; 10 ms and never; never and 8 ms; neither ever."""
    runs = [
        Run(3, 10, 8, 16, 1.0),
        Run(3, 10, 5_000, 16, 1.0),
        Run(3, 5_000, 8, 16, 1.0),
        Run(3, 5_000, 5_000, 16, 1.0),
    ]
    found = {Search(CRITICAL_PATH, method): dict(enumerate(runs)) for method in ("dds", "swarm")}
    row = next(row for row in report(found).splitlines() if "`dds`" in row)
    # Gains of 20 and -49,900 %.
    assert "| 4 | -24940.0 ± " in row
    assert row.endswith("| -24940.0 % | -37420.0 to -12460.0 % | 1 of 2 | 1 of 2 | 1.0 s |")


def test_the_dearer_searches_are_of_the_first_seeds() -> None:
    first, last = searches(1), searches(100)
    assert len(set(first)) == len(first)
    assert {each for each in first if each not in last} == {
        *(Search(CRITICAL_PATH, "gaussian_process", how=how) for how in ("in turn", "in reverse")),
        *(Search(CRITICAL_PATH, method, 100) for method in ("dds", "swarm", "gaussian_process")),
    }
