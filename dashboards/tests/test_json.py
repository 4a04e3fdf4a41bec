"""The committed JSON is what the code says, and keeps to what makes a dashboard portable; so does the provisioning."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import generate.__main__ as command

from .frames import asked, queries, shown

PROVISIONING = Path(__file__).resolve().parents[1] / "provisioning"


def test_committed_files_are_current() -> None:
    assert command.stale() == []


def test_check_fails_on_a_file_that_is_not_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 1
    assert list(tmp_path.iterdir()) == []
    assert CliRunner().invoke(command.cli, []).exit_code == 0
    assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 0
    for name in ("sluice.json", "of-no-dashboard.json"):
        (tmp_path / name).write_text("{}")
        assert CliRunner().invoke(command.cli, ["--check"]).exit_code == 1
        assert CliRunner().invoke(command.cli, []).exit_code == 0
    assert not (tmp_path / "of-no-dashboard.json").exists()


SOURCES = [
    {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"},
    {"type": "prometheus", "uid": "${prometheus}"},
]


def test_each_dashboard_has_a_stable_uid(boards: dict[str, Any]) -> None:
    assert {name: board["uid"] for name, board in boards.items()} == {name: name for name in boards}
    assert set(boards) >= {"sluice", "sluice-pool", "sluice-critical-paths", "sluice-call-graph", "sluice-containers"}
    assert len({board["title"] for board in boards.values()}) == len(boards)


def test_the_dashboard_is_portable(board: dict[str, Any]) -> None:
    assert board["timezone"] == "utc"
    assert "sluice" in board["tags"]
    rows = [panel for panel in board["panels"] if panel["type"] == "row"]
    assert rows
    ids = [panel["id"] for panel in (*rows, *shown(board))]
    assert len(set(ids)) == len(ids)
    for panel in shown(board):
        assert panel["title"]
        assert panel["description"]
        targets = panel.get("targets", [])
        assert targets or panel["type"] == "alertlist"
        for source in (query["datasource"] for query in targets):
            assert source == panel["datasource"]
            assert source in SOURCES
        if panel["type"] not in ("table", "alertlist", "nodeGraph"):
            assert panel["fieldConfig"]["defaults"].get("unit") or panel["fieldConfig"]["overrides"], panel["title"]


def test_a_panel_without_data_says_why(board: dict[str, Any]) -> None:
    panels = [panel for panel in shown(board) if panel["type"] != "alertlist"]
    assert [panel["title"] for panel in panels if not panel["fieldConfig"]["defaults"].get("noValue")] == []


def test_a_cell_without_a_value_has_not_the_text_of_an_empty_panel(board: dict[str, Any]) -> None:
    """Grafana writes the panel's `noValue` into both."""
    wanted = {"matcher": {"id": "byRegexp", "options": ".*"}, "properties": [{"id": "noValue", "value": "-"}]}
    panels = [panel for panel in shown(board) if panel["type"] in ("table", "timeseries")]
    assert [panel["title"] for panel in panels if wanted not in panel["fieldConfig"]["overrides"]] == []


def test_dashboards_link_to_each_other(board: dict[str, Any]) -> None:
    (link,) = [link for link in board["links"] if link["type"] == "dashboards"]
    assert (link["type"], link["tags"], link["keepTime"], link["includeVars"]) == ("dashboards", ["sluice"], True, True)


def test_links_lead_to_dashboards(boards: dict[str, Any]) -> None:
    found = set(re.findall(r"/d/([\w-]+)", str(boards)))
    assert found
    assert found <= set(boards)


def test_a_pool_leads_to_the_calls_and_containers_of_its_service(boards: dict[str, Any]) -> None:
    """Those dashboards choose `services`, several, and not `service`."""
    links = {link["url"]: link["keepTime"] for link in boards["sluice-pool"]["links"] if link["type"] == "link"}
    rest = "?var-services=${service:percentencode}&${datasource:queryparam}"
    assert links == {f"/d/sluice-call-graph{rest}": True, f"/d/sluice-containers{rest}": True}


def test_panels_say_which_grafana_they_are_for(board: dict[str, Any]) -> None:
    """Without it Grafana 12 takes an XY chart for its form of before 11.1, and shows `Err`."""
    versions = {panel["title"]: panel.get("pluginVersion", "") for panel in shown(board)}
    assert all(re.fullmatch(r"1[2-9]\.\d+\.\d+", version) for version in versions.values()), versions


def test_panels_that_colour_a_value_state_their_thresholds(board: dict[str, Any]) -> None:
    """Grafana's own: green below 80, red from there, whatever the unit."""
    coloured = [panel for panel in shown(board) if panel["type"] in ("stat", "bargauge", "gauge")]
    for panel in coloured:
        thresholds = panel["fieldConfig"]["defaults"].get("thresholds", {})
        values = [step["value"] for step in thresholds.get("steps", [])]
        assert len(values) >= 2, panel["title"]
        assert (thresholds["mode"], values[0]) == ("absolute", None)
        assert values[1:] == sorted(values[1:])
        assert 80 not in values


def test_a_line_that_is_not_drawn_has_no_points_either(boards: dict[str, Any]) -> None:
    overrides = [override for panel in shown(boards["sluice-pool"]) for override in panel["fieldConfig"]["overrides"]]
    properties = [{each["id"]: each["value"] for each in override["properties"]} for override in overrides]
    bounds = [found for found in properties if found.get("custom.lineWidth") == 0]
    assert len(bounds) == 2
    assert all(found["custom.showPoints"] == "never" for found in bounds)


def test_variables_reach_sql_percent_encoded(board: dict[str, Any]) -> None:
    """Whatever is typed or comes in a link then stays within its quotes."""
    texts = [query["rawSql"] for panel in shown(board) for query in queries(panel)]
    texts += [annotation["target"]["rawSql"] for annotation in board["annotations"]["list"]]
    texts += [each["query"]["rawSql"] for each in asked(board)]
    names = "|".join(each["name"] for each in board["templating"]["list"])
    safe = re.compile(rf"'\$\{{(?:{names}):percentencode\}}'|\$\{{__(?:from|to)\}}|\$__\w+")
    for text in texts:
        assert "$" not in safe.sub("", text), text


def test_panels_do_not_overlap(board: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_provisioning(boards: dict[str, Any]) -> None:
    sources = {file.stem: yaml.safe_load(file.read_text()) for file in (PROVISIONING / "datasources").glob("*.yaml")}
    types = {name: source["datasources"][0]["type"] for name, source in sources.items()}
    assert types == {"clickhouse": SOURCES[0]["type"], "prometheus": SOURCES[1]["type"]}
    assert sources["clickhouse"]["datasources"][0]["jsonData"]["username"] == "sluice_reader"
    (provider,) = yaml.safe_load((PROVISIONING / "dashboards/sluice.yaml").read_text())["providers"]
    assert (provider["type"], provider["folder"]) == ("file", "Sluice")
