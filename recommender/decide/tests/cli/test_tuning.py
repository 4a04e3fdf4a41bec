"""`sluice tuning` without a recommender: what is refused before one is asked, tables and the picture. With one:
tests/served/test_tuning.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sluice.cli.main import cli
from sluice.cli.tuning.picture import draw, objective_text
from sluice.cli.tuning.space import figures_of
from sluice.cli.tuning.start import durations_s
from sluice.cli.tuning.text import gain_text, trial_line
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.message import write_objective
from sluice.tuning.objective.objective import Objective
from sluice.tuning.objective.outcome import Outcome, TrialVerdict
from sluice.tuning.session.create import create
from sluice.tuning.session.events import Ask, Tell
from sluice.tuning.session.message import session_message
from sluice.tuning.session.session import Session
from sluice.tuning.session.step import step
from sluice_kit.decide.tuning_worlds import plan

SHOP = Path(__file__).parents[1] / "tuning/shop.yaml"


def ended() -> Session:
    """Good, hopeless, unsafe and failed trials."""
    session = create(plan(budget=3, pairs=0), (), 0)
    assert isinstance(session, Session)
    for number, outcome in enumerate(
        (
            Outcome(TrialVerdict.GOOD, 100.0, 95.0, 105.0),
            Outcome(TrialVerdict.HOPELESS, 300.0, why="at least 200; the best is at most 105"),
            Outcome(TrialVerdict.UNSAFE, excess=0.5, why="p99_ms 1350, its limit 900"),
            Outcome(TrialVerdict.FAILED, why="the target refused\tit"),
        )
    ):
        session, _ = step(session, Ask(), 1_000 * number)
        session, _ = step(session, Tell(number, outcome), 1_000 * number + 500)
    return session


def test_start_is_a_dry_run_that_says_what_it_would_do() -> None:
    done = CliRunner().invoke(cli, ["tuning", "start", str(SHOP), "--name", "first"])
    assert done.exit_code == 0, done.output
    assert "gaussian_process, 30 trials of frontend GET /home" in done.output
    assert "web.threads" in done.output
    assert "nothing was created" in done.output


def test_how_long_a_session_takes() -> None:
    """16 trials of 10 + 30 s, and 26 of 10 + 120 s; CPU time comes 10 to 90 s later."""
    fifteen = plan(budget=15, pairs=5, window=TrialLength())
    assert durations_s(fifteen) == (16 * 40, 26 * 130)
    assert durations_s(replace(fifteen, objective=Objective(((Metric.CPU, 1.0),)))) == (16 * 50, 26 * 220)


@pytest.mark.parametrize("name", ["constraint_impossible", "no_root", "unknown_method"])
def test_a_bad_file_ends_with_its_mistake(name: str) -> None:
    path = SHOP.parent / f"bad/{name}.yaml"
    done = CliRunner().invoke(cli, ["tuning", "start", str(path), "--name", "first"])
    assert done.exit_code == 1
    assert path.read_text().splitlines()[0].removeprefix("# error: ") in done.output


def test_a_recommender_that_is_away_is_named() -> None:
    for words in (["list"], ["status", "first"], ["watch", "first"], ["stop", "first"], ["apply", "first"]):
        done = CliRunner().invoke(cli, ["tuning", *words, "--address", "127.0.0.1:1"])
        assert done.exit_code == 1, words
        assert "cannot reach the recommender at 127.0.0.1:1" in done.output


def test_the_picture_is_a_png(tmp_path: Path) -> None:
    draw(session_message(ended()), tmp_path / "first.png")
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")


def test_trials_objectives_and_gains_as_people_read_them() -> None:
    message = session_message(ended())
    lines = [trial_line(trial, message.trials[0]) for trial in message.trials]
    assert "GOOD        100 (95 to 105)  the default" in lines[0]
    assert "UNSAFE      -  p99_ms 1350, its limit 900" in lines[2]
    assert gain_text(message) == "-"
    both = Objective(((Metric.P95, 1.0), (Metric.GOODPUT, -0.5)))
    assert objective_text(write_objective(both)) == "p95_ms - 0.5 goodput_per_s"


def test_figures_of_services() -> None:
    """web: 3 traces of 4, of 1, 2 and 3 ms: mean 2 ms, deviation sqrt(2/3) ms."""
    ms = 10**6
    rows = [["web", "4", "3", str(6 * ms), str(14 * ms**2)], ["db", "4", "4", "0", "0"]]
    by_metric = figures_of(rows)
    assert by_metric["web"].share == 0.75
    assert by_metric["web"].self_ms == 2.0
    assert by_metric["web"].variation == pytest.approx((2 / 3) ** 0.5 / 2)
    assert by_metric["db"].variation != by_metric["db"].variation
