"""The tuning dashboard on the shop's session: its default takes 120 ms, its best trial that no repeat refuted 90 ms."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from pictures.page import draw
from PIL import Image

from sluice_kit.fakes.grafana import Scope

from .frames import run, shown


def answer(boards: dict[str, Any], title: str, reader: Client, scope: Scope) -> list[dict[str, Any]]:
    (panel,) = (panel for panel in shown(boards["sluice-tuning"]) if panel["title"] == title)
    columns, rows = run(reader, panel["targets"][0]["rawSql"], scope)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def test_the_best_trial_against_the_default(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    rows = answer(boards, "Best trial against the default", reader, scope)
    assert rows == [{"session": "shop", "better_by": pytest.approx(30 / 120)}]


def test_trials_with_an_outcome_have_best_and_baseline(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    rows = answer(boards, "Trials of $sessions", reader, scope)
    assert [tuple(row.values()) for row in rows] == [
        (0, 120, 110, 130, 120, 120),
        (1, None, None, None, 120, 120),
        (2, 60, 55, 65, 120, 120),
        (3, 90, 84, 96, 90, 120),
        (4, None, None, None, 90, 120),
    ]


def test_the_newest_trial_comes_first(boards: dict[str, Any], reader: Client, scope: Scope) -> None:
    rows = answer(boards, "Trials", reader, scope)
    assert [row["number"] for row in rows] == [5, 4, 3, 2, 1, 0]
    assert (rows[0]["verdict"], rows[0]["configuration"]) == ("IN FLIGHT", "cart.threads=16")


def test_a_session_keeps_its_default_when_the_time_range_begins_later(
    boards: dict[str, Any], reader: Client, scope: Scope
) -> None:
    late = replace(scope, from_ms=scope.until_ms - 40_000)
    assert len(answer(boards, "Trials", reader, late)) == 6
    before = replace(scope, until_ms=scope.from_ms)
    assert answer(boards, "Trials", reader, before) == []


def test_a_picture_of_the_dashboard(boards: dict[str, Any], reader: Client, scope: Scope, tmp_path: Path) -> None:
    draw(boards["sluice-tuning"], reader, scope, tmp_path / "tuning.png")
    assert len(Image.open(tmp_path / "tuning.png").convert("RGB").getcolors(1000)) > 20
