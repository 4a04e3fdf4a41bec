"""Pictures of the dashboards: the parts with hand-worked results, and a picture of a dashboard on the real engine."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from pictures.answers import Answer, interval_ms, series
from pictures.boxes import _widths
from pictures.graph import layers
from pictures.page import draw, folded
from pictures.units import COLOURS, step_colour, written
from PIL import Image

from sluice_kit.fakes.grafana import Scope

IMAGES = Path(__file__).resolve().parents[2] / "docs/images/dashboards"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1490, "ms", "1.49 s"),
        (0.0000009, "ms", "0 ms"),
        (0.624, "percentunit", "62.4 %"),
        (1234, "cps", "1.23K c/s"),
        (12749, None, "12749"),
        (None, "ms", ""),
        (float("nan"), "reqps", "nan"),
        (True, None, "true"),
        (["a", "b"], None, "a, b"),
        (datetime(2026, 11, 27, 1, 42), None, "2026-11-27 01:42:00"),
    ],
)
def test_values_as_texts(value: Any, unit: str | None, text: str) -> None:
    assert written(value, unit) == text


def test_a_value_has_the_colour_of_its_threshold() -> None:
    steps = [{"color": name, "value": value} for name, value in (("green", None), ("yellow", 10), ("red", 30))]
    found = [step_colour(value, {"steps": steps}) for value in (None, 9, 10, 31)]
    assert found == [COLOURS[name] for name in ("green", "green", "yellow", "red")]


def test_a_series_for_each_label_and_column() -> None:
    panel: dict[str, Any] = {"fieldConfig": {"defaults": {}, "overrides": []}}
    answer = Answer(["time", "host", "cpu"], [(1, "a", 0.5), (1, "b", 0.7), (2, "a", None)])
    assert series(panel, answer) == {"a": ([1, 2], [0.5, None]), "b": ([1], [0.7])}
    panel["fieldConfig"]["defaults"]["displayName"] = "on ${__field.labels.host}"
    assert set(series(panel, answer)) == {"on a", "on b"}
    assert set(series(panel, Answer(["time", "x", "y"], [(1, 2, 3)]))) == {"on"}


def test_intervals() -> None:
    assert interval_ms(600_000, 24) == 1000
    assert interval_ms(86_400_000, 12) == 120_000  # 86,400 s over 720 pixels


def test_a_collapsed_row_hides_its_panels() -> None:
    row, hidden, open_row, panel = (
        {"type": kind, "gridPos": {"x": 0, "y": y, "h": h}}
        for kind, y, h in (("row", 0, 1), ("table", 1, 8), ("row", 9, 1), ("table", 10, 8))
    )
    found = folded([{**row, "panels": [hidden]}, {**open_row, "panels": []}, panel])
    assert [each["gridPos"]["y"] for each in found] == [0, 1, 2]


def test_layers_of_a_graph_that_has_a_circle() -> None:
    assert layers(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")]) == {"a": 0, "b": 1, "c": 2}
    assert max(layers(["a", "b"], [("a", "b"), ("b", "a")]).values()) <= 1


def test_the_widest_columns_give_way() -> None:
    assert _widths([["a", "b"], ["1" * 30, "22"]], 20) == [16, 4]


def test_a_picture_of_a_dashboard(boards: dict[str, Any], reader: Client, scope: Scope, tmp_path: Path) -> None:
    draw(boards["sluice-pool"], reader, scope, tmp_path / "pool.png")
    picture = Image.open(tmp_path / "pool.png")
    assert picture.width == 1440
    assert len(picture.convert("RGB").getcolors(1000)) > 20


def test_pictures_of_the_documents_are_small_and_of_dashboards(boards: dict[str, Any]) -> None:
    files = list(IMAGES.glob("*.png"))
    assert files
    assert {file.stem for file in files} <= set(boards)
    assert max(file.stat().st_size for file in files) <= 150_000
    page = (IMAGES.parents[1] / "dashboards.md").read_text()
    assert [file.name for file in files if f"(images/dashboards/{file.name})" not in page] == []
