"""The generated reference: what stands on its pages, and that `make lint` finds a page that is not current."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from docs.generate import __main__ as command
from docs.generate import api, chart, flink_metrics, metrics

PROTO = """
syntax = "proto3";
package sluice.tea.v1;
// Brews. INVALID_ARGUMENT: no such tea.
service Kettle {
  // Brews a cup.
  rpc Brew(BrewRequest) returns (stream BrewResponse);
}
message BrewRequest {
  // From 1 to 9.
  optional uint32 minutes = 3;
  repeated Tea teas = 4;
}
message BrewResponse { oneof event { string done = 1; } }
message Unused {}
// A kind | of leaf.
enum Tea {
  TEA_UNSPECIFIED = 0;
  // Green.
  TEA_GREEN = 1;
}
"""


def test_check_fails_on_a_page_that_is_not_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "PAGES", {"page.md": lambda: "new\n"})
    (tmp_path / "page.md").write_text("old\n")
    checked = CliRunner().invoke(command.cli, ["--check"])
    assert (checked.exit_code, "page.md" in checked.output) == (1, True)
    assert (tmp_path / "page.md").read_text() == "old\n"
    assert [CliRunner().invoke(command.cli, words).exit_code for words in ([], ["--check"])] == [0, 0]


def test_the_page_of_the_api(tmp_path: Path) -> None:
    (tmp_path / "tea.proto").write_text(PROTO)
    words = ["", f"-I{tmp_path}", "--include_source_info", f"--descriptor_set_out={tmp_path}/out", "tea.proto"]
    assert protoc.main(words) == 0
    page = api.render(FileDescriptorSet.FromString((tmp_path / "out").read_bytes()))
    assert "## sluice.tea.v1.Kettle\n\nBrews. INVALID_ARGUMENT: no such tea.\n" in page
    call = "| `Brew` | [BrewRequest](#sluiceteav1brewrequest) | stream of [BrewResponse](#sluiceteav1brewresponse) |"
    assert f"{call} Brews a cup. |\n" in page
    assert "| `minutes` | 3 | optional uint32 | From 1 to 9. |\n" in page
    assert "| `teas` | 4 | repeated [Tea](#sluiceteav1tea) |  |\n" in page
    assert "| `done` | 1 | string, one of `event` |  |\n" in page
    assert "## sluice.tea.v1.Tea\n\nA kind | of leaf.\n" in page
    assert "| `TEA_GREEN` | 1 | Green. |\n" in page
    assert "Unused" not in page


def test_metrics_of_a_listing() -> None:
    lines = """kind sluice_a_seconds HISTOGRAM
Desc{fqName: "sluice_a_seconds", help: "Of \\"a\\".", constLabels: {}, variableLabels: {}}
Desc{fqName: "sluice_b_total", help: "B.", constLabels: {x="y"}, variableLabels: {one,two}}
Desc{fqName: "go_goroutines", help: "Go's.", constLabels: {}, variableLabels: {}}
"""
    wanted = [("sluice_a_seconds", "histogram", "", 'Of "a".'), ("sluice_b_total", "counter", "one, two", "B.")]
    assert list(metrics.go_metrics(lines)) == wanted


def test_a_metric_that_no_process_exposes_is_refused() -> None:
    read = ("alert", "rate(flink_b[5m]) / sluice_a > 0"), ("board", "flink_b")
    assert metrics.foreign({"sluice_a"}, iter(read)) == [("`flink_b`", "Flink", "alert, board")]
    with pytest.raises(ValueError, match="alert reads sluice_a, which no process exposes"):
        metrics.foreign(set(), iter(read))


def test_a_metric_of_a_job_needs_its_meaning() -> None:
    comment = "<ul> * <li>{@code lag}: how far\n *     behind * </ul>"
    source = f'{comment}\nMetricGroup g = m.addGroup("own");\ng.gauge("lag", (Gauge<String>) x);'
    name = "clock/ClockStatus.java"
    assert list(flink_metrics.registered(name, source)) == [("own_lag", "text", "readers of spans", "How far behind.")]
    for place, text in ((name, source.replace("{@code lag}", "")), ("Other.java", source)):
        with pytest.raises(ValueError, match="lag needs"):
            list(flink_metrics.registered(place, text))


def test_legal_values_of_a_chart() -> None:
    named = {"port": {"type": "integer", "minimum": 1, "maximum": 9}, "box": {"type": "object", "properties": {}}}
    assert chart.legal({"$ref": "#/$defs/port"}, named) == "integer from `1` to `9`"
    assert chart.legal({"$ref": "#/$defs/box"}, named) == "object of box"
    assert chart.legal({"enum": ["a", "b"]}, named) == "`a`, `b`"
    assert chart.legal({"type": ["string", "array"], "items": {"type": "string"}}, named) == "string or array of string"
