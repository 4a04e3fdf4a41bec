"""The race on scenarios of some seconds, and its command."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from bench import race
from bench.controllers.racers import HARDWARE, RACERS, SIZES, SLUICE
from bench.racing import Racer, Result, drive, figures
from testbed.single.names import POOL
from testbed.single.reading import load, write
from testbed.single.scenario import Scenario

SCENARIOS = sorted((Path(race.__file__).parent / "scenarios").glob("*.yaml"))


def made(**more: object) -> Scenario:
    """350 users, a request each 1.65 s and a little: 212/s, which 2 threads and 2 cores serve."""
    service = {"cores": 2, "compute_ms": 1.9, "wait_ms": 1.2, "threads": 5}
    usual = {"name": "made", "seconds": 25, "slo_ms": 250, "users": 350, "think_s": 1.65, "load": [[0, 1]]}
    return Scenario.model_validate(usual | {"service": service} | more)


@pytest.mark.parametrize("name", list(RACERS))
def test_every_racer_runs(name: str) -> None:
    scaler = {"lowest": 2, "highest": 4, "step": 2, "every_s": 5}
    result = race.run(race.Task(made(scaler=scaler), name, 1))
    assert 0 < result.p95_ms <= result.p99_ms < 100
    assert result.goodput_per_s == pytest.approx(212, rel=0.1)
    assert result.changes == len(result.sizes) - 1
    if name.startswith("fixed "):
        assert result.sizes == ((0.0, int(name.removeprefix("fixed "))),)
    if name == HARDWARE:
        assert result.sizes == ((0.0, 5),)


def test_held_sizes_are_2_to_192_in_steps_of_about_1_25() -> None:
    ratios = np.array(SIZES[1:]) / np.array(SIZES[:-1])
    assert (SIZES[0], SIZES[-1]) == (2, 192)
    assert all(1.1 <= ratio <= 1.5 for ratio in ratios)
    assert f"fixed {SIZES[5]}" in RACERS


class Recorder:
    """Answers 12 at 4 s, later more than the pool may have; keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[float, int, int, int]] = []

    def decide(self, now_s: float, windows: dict) -> dict[str, int]:
        newest = windows[POOL]
        self.given.append((now_s, newest.since_ns // 10**6, len(newest.sizes), newest.threshold_ns // 10**6))
        return {4.0: {POOL: 12}, 8.0: {POOL: 1000}}.get(now_s, {})


def test_a_racer_is_asked_every_period_with_data_of_its_age_and_the_slo_in_force() -> None:
    recorder = Recorder()
    scenario = made(seconds=13, events=[{"at_s": 8, "slo_ms": 100}])
    run = drive(scenario, Racer(lambda _: recorder, period_s=4.0, window_s=5.0, bucket_ms=50, delay_s=2.0), 1)
    assert recorder.given == [(4.0, 0, 40, 250), (8.0, 1000, 100, 100), (12.0, 5000, 100, 100)]
    assert run.history == [(0.0, 5), (4.0, 12), (8.0, 256)]
    assert run.now == 13.0


def test_a_host_whose_clock_is_ahead_gives_its_buckets_later_times() -> None:
    recorder = Recorder()
    racer = Racer(lambda _: recorder, period_s=4.0, window_s=1.0, delay_s=2.0).on(0.5, 1.0)
    drive(made(seconds=12), racer, 1)
    # At second 4 up to 3.5 instead of 2, from 2.5 on, which the host calls 3.5.
    assert recorder.given[0] == (4.0, 3500, 10, 250)


def test_who_has_fresh_data_has_them_whatever_the_way() -> None:
    assert RACERS[HARDWARE].on(5.0, 1.0) == RACERS[HARDWARE]
    assert RACERS[SLUICE].on(None, 0.0) == RACERS[SLUICE]


@pytest.mark.parametrize("delay_s", [0.0, 5.0])
@pytest.mark.parametrize("clock_s", [-1.0, 1.0])
def test_sluice_runs_on_data_of_any_age_by_any_clock(delay_s: float, clock_s: float) -> None:
    result = race.run(race.Task(made(), SLUICE, 1, delay_s, clock_s))
    assert result.goodput_per_s == pytest.approx(212, rel=0.1)


def test_figures_count_what_comes_after_the_warm_up_and_failures_as_never() -> None:
    """20 s count. Good within 250 ms at 10, 12 and 20 s; at 25 s the SLO is 90 ms, which 100 ms misses."""
    scenario = made(seconds=30, events=[{"at_s": 24, "slo_ms": 90}])
    at = np.array([5.0, 10.0, 12.0, 20.0, 21.0, 22.0, 25.0])
    latency = np.array([9.0, 0.1, 0.2, 0.25, 0.3, np.inf, 0.1])
    p95, p99, goodput = figures(scenario, at, latency)
    assert (p95, p99) == (300, 300)  # of six: the fifth, rank 0.95 * 5 = 4.75 rounded down
    assert goodput == 3 / 20
    assert figures(scenario, at[:1], latency[:1]) == (np.inf, np.inf, 0)


def test_a_time_that_never_ends_is_null_in_json() -> None:
    assert Result("x", 1, 250.0, np.inf, 3.5, 1, ((0.0, 5), (9.0, 6))).document() == {
        "racer": "x",
        "seed": 1,
        "p95_ms": 250.0,
        "p99_ms": None,
        "goodput_per_s": 3.5,
        "changes": 1,
        "sizes": ((0.0, 5), (9.0, 6)),
    }


def test_the_command_prints_json_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(write(made(seconds=12)))
    arguments = [
        "--scenario",
        str(path),
        "--seeds",
        "1,2",
        "--from",
        "7",
        "--racers",
        f"{SLUICE},fixed 3,hardware only",
    ]
    race.main([*arguments, "-o", "json"])
    rows = json.loads(capsys.readouterr().out)
    assert [(row["racer"], row["seed"]) for row in rows] == [
        (racer, seed) for racer in (SLUICE, "fixed 3", HARDWARE) for seed in (1, 2)
    ]
    assert list(rows[0]) == ["racer", "seed", "p95_ms", "p99_ms", "goodput_per_s", "changes", "sizes"]
    assert [row["sizes"][0] for row in rows] == [[0.0, 7]] * 2 + [[0.0, 3]] * 2 + [[0.0, 7]] * 2
    race.main(arguments)
    out = capsys.readouterr().out
    assert re.match(r"## made, from 7 threads, seeds 1, 2\n\n\| racer ", out)
    assert "| fixed 3 | " in out


def test_rows_of_several_scenarios_say_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for path in paths:
        path.write_text(write(made(name=path.stem, seconds=12)))
    scenarios = [argument for path in paths for argument in ("--scenario", str(path))]
    race.main([*scenarios, "--racers", "fixed 3", "-o", "json"])
    assert [row["scenario"] for row in json.loads(capsys.readouterr().out)] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenario", "absent.yaml"], "read absent.yaml"),
        (["--scenario", str(SCENARIOS[0]), "--seeds", "1,x"], "legal: integers, as 1,2,3"),
        (["--scenario", str(SCENARIOS[0]), "--from", "0"], "'0' is not legal; legal: 1 to 1024"),
        (["--scenario", str(SCENARIOS[0]), "--racers", "nobody"], "'nobody' is unknown; legal: sluice, "),
        (["--scenario", str(SCENARIOS[0]), "--delay", "-1"], "legal: seconds, 0 to 60"),
        ([], "--scenario"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        race.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_committed_scenarios_are_legal_and_named_as_their_files(path: Path) -> None:
    assert load(path).name == path.stem
