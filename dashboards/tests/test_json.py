"""The committed JSON is what the code says, and keeps to what makes a dashboard portable; so does the provisioning."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import generate.__main__ as command

PROVISIONING = Path(__file__).resolve().parents[1] / "provisioning"


def test_committed_files_are_current() -> None:
    assert command.stale() == []


def test_check_fails_on_a_file_that_is_not_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 1
    assert list(tmp_path.iterdir()) == []
    assert CliRunner().invoke(command.cli, []).exit_code == 0
    assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 0
    (tmp_path / "sluice.json").write_text("{}")
    assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 1


def test_the_dashboard_is_portable(sluice: dict[str, Any]) -> None:
    assert (sluice["uid"], sluice["timezone"]) == ("sluice", "utc")
    assert "sluice" in sluice["tags"]
    shown = [panel for panel in sluice["panels"] if panel["type"] != "row"]
    ids = [panel["id"] for panel in sluice["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in shown:
        assert panel["title"]
        assert panel["description"]
        for source in (panel["datasource"], *(query["datasource"] for query in panel["targets"])):
            assert source == {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"}
        if panel["type"] != "table":
            assert panel["fieldConfig"]["defaults"].get("unit") or panel["fieldConfig"]["overrides"], panel["title"]


def test_panels_do_not_overlap(sluice: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for panel in sluice["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_provisioning(sluice: dict[str, Any]) -> None:
    sources = yaml.safe_load((PROVISIONING / "datasources/clickhouse.yaml").read_text())
    (source,) = sources["datasources"]
    assert source["type"] == sluice["panels"][1]["datasource"]["type"]
    assert source["jsonData"]["username"] == "sluice_reader"
    providers = yaml.safe_load((PROVISIONING / "dashboards/sluice.yaml").read_text())
    assert providers["providers"][0]["type"] == "file"
