"""The committed JSON is what the code says, and keeps to what makes a dashboard portable; so does the provisioning."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import generate.__main__ as command

PROVISIONING = Path(__file__).resolve().parents[1] / "provisioning"


def shown(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


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
    ids = [panel["id"] for panel in sluice["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in shown(sluice):
        assert panel["title"]
        assert panel["description"]
        for source in (panel["datasource"], *(query["datasource"] for query in panel["targets"])):
            assert source == {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"}
        if panel["type"] != "table":
            assert panel["fieldConfig"]["defaults"].get("unit") or panel["fieldConfig"]["overrides"], panel["title"]


def test_panels_say_which_grafana_they_are_for(sluice: dict[str, Any]) -> None:
    """Without it Grafana 12 takes an XY chart for its form of before 11.1, and shows `Err`."""
    versions = {panel["title"]: panel.get("pluginVersion", "") for panel in shown(sluice)}
    assert all(re.fullmatch(r"1[2-9]\.\d+\.\d+", version) for version in versions.values()), versions


def test_panels_that_colour_a_value_state_their_thresholds(sluice: dict[str, Any]) -> None:
    """Grafana's own: green below 80, red from there, whatever the unit."""
    coloured = [panel for panel in shown(sluice) if panel["type"] in ("stat", "bargauge", "gauge")]
    assert coloured
    for panel in coloured:
        thresholds = panel["fieldConfig"]["defaults"].get("thresholds", {})
        values = [step["value"] for step in thresholds.get("steps", [])]
        assert len(values) >= 2, panel["title"]
        assert (thresholds["mode"], values[0]) == ("absolute", None)
        assert values[1:] == sorted(values[1:])
        assert 80 not in values


def test_a_line_that_is_not_drawn_has_no_points_either(sluice: dict[str, Any]) -> None:
    overrides = [override for panel in shown(sluice) for override in panel["fieldConfig"]["overrides"]]
    properties = [{each["id"]: each["value"] for each in override["properties"]} for override in overrides]
    bounds = [found for found in properties if found.get("custom.lineWidth") == 0]
    assert len(bounds) == 2
    assert all(found["custom.showPoints"] == "never" for found in bounds)


def test_variables_reach_sql_percent_encoded(sluice: dict[str, Any]) -> None:
    """Whatever is typed or comes in a link then stays within its quotes."""
    texts = [query["rawSql"] for panel in shown(sluice) for query in panel["targets"]]
    texts += [annotation["target"]["rawSql"] for annotation in sluice["annotations"]["list"]]
    texts += [each["query"]["rawSql"] for each in sluice["templating"]["list"] if each["type"] == "query"]
    names = "|".join(each["name"] for each in sluice["templating"]["list"])
    safe = re.compile(rf"'\$\{{(?:{names}):percentencode\}}'|\$\{{__(?:from|to)\}}|\$__\w+")
    assert any("percentencode" in text for text in texts)
    for text in texts:
        assert "$" not in safe.sub("", text), text


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
