"""The command `sluice report`: its forms, its files, its faults."""

import gzip
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from sluice_kit.traffic import hotel

from .jaeger_traces import jaeger_span, jaeger_trace, write_lines

Run = Callable[..., Result]
#: Keys of the document, and of its parts: scripts rely on them.
KEYS = [
    *("recording", "threshold_ms", "quality", "operations", "operations_left_out", "pools", "pools_left_out"),
]
POOL_KEYS = [
    *("service", "side", "peer", "instances", "spans", "errors", "p50_ms", "p99_ms", "most_in_flight", "judged_by"),
    *("current", "state", "target", "lower_bound", "upper_bound", "confidence", "model", "reasons", "curve", "belief"),
    "concurrency",
]
OPERATION_KEYS = [
    *("service", "operation", "traces", "errors", "p50_ms", "p95_ms", "p99_ms", "critical_paths", "localization"),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 traces of a hotel, of 12 s."""
    return write_lines(tmp_path_factory.mktemp("hotel") / "t.gz", *hotel.traces(600, seed=3), packed=True)


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


def test_json_has_operations_pools_and_quality(run: Run, recorded: Path) -> None:
    report = document(run("report", recorded, "-o", "json"))
    assert list(report) == KEYS
    assert report["recording"]["spans"] == 600 * hotel.SPANS_PER_TRACE
    assert (report["recording"]["traces"], report["recording"]["services"]) == (600, 6)
    assert [list(operation) for operation in report["operations"]] == [OPERATION_KEYS]
    (operation,) = report["operations"]
    assert (operation["service"], operation["operation"], operation["traces"]) == ("frontend", "GET /hotels", 600)
    assert operation["critical_paths"][0]["services"][0] == "frontend"
    assert sum(ranked["share_of_end_to_end"] for ranked in operation["localization"]["ranking"]) == pytest.approx(1)
    pools = {(pool["service"], pool["side"], pool["peer"]): pool for pool in report["pools"]}
    assert len(pools) == 6 + len(hotel.EDGES)
    assert {tuple(pool) for pool in pools.values()} == {tuple(POOL_KEYS)}
    server = pools["search", "server", ""]
    assert (server["judged_by"], server["spans"], server["instances"]) == ("callers", 600, ["search-0"])
    assert "SIZE_UNKNOWN" in [reason["code"] for reason in server["reasons"]]
    # All of its time in flight is on the line: 600 spans of 29.4 ms.
    line = server["concurrency"]
    assert sum(line["mean"]) * line["step_ms"] == pytest.approx(600 * 29.4, rel=0.001)
    assert sum(point["buckets"] for point in server["curve"]) <= 12_100 / 100


def test_the_same_files_give_the_same_report(run: Run, recorded: Path) -> None:
    assert run("report", recorded, "-o", "json").stdout == run("report", recorded, "-o", "json").stdout


def test_a_trace_may_come_in_parts_and_files(run: Run, tmp_path: Path) -> None:
    whole = hotel.traces(40, seed=4)
    parts = [trace | {"spans": part} for trace in whole for part in (trace["spans"][:4], trace["spans"][4:])]
    one = write_lines(tmp_path / "whole.jsonl", *whole)
    files = [write_lines(tmp_path / f"{at}.jsonl", *parts[at::2]) for at in (0, 1)]
    expected, found = document(run("report", one, "-o", "json")), document(run("report", *files, "-o", "json"))
    assert found["operations"] == expected["operations"]
    assert found["pools"] == expected["pools"]


def test_text_names_the_operation_the_pools_and_what_is_missing(run: Run, recorded: Path) -> None:
    result = run("report", recorded)
    assert result.exit_code == 0, result.output
    for word in ("6,600 spans of 600 traces", "frontend/GET /hotels", "frontend/client/search", "SIZE_UNKNOWN"):
        assert word in result.stdout


def test_the_page_is_whole_and_loads_nothing(run: Run, recorded: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("report", recorded, "-o", "html", "--output-file", page)
    assert (result.exit_code, result.stdout) == (0, "")
    text = page.read_text()
    body = ElementTree.fromstring(text[text.index("<body>") : text.rindex("</html>")])
    assert len(body.findall(".//figure")) == 2 * (6 + len(hotel.EDGES))
    assert "<script" not in text
    assert not any(word in text for word in ("http:", "https:", "url(", "@import", "src="))


def test_names_cannot_become_markup(run: Run, tmp_path: Path) -> None:
    name = "</title><script>alert(1)</script>\x1b[2J&amp;"
    spans = [jaeger_span(1, 0, 50_000, operationName=name, tags=[{"key": "span.kind", "value": "server"}])]
    trace = jaeger_trace(1, *spans) | {"processes": {"p1": {"serviceName": name}}}
    path = write_lines(tmp_path / "t.jsonl", trace)
    html = run("report", path, "-o", "html").stdout
    assert "<script" not in html
    assert "\x1b" not in html + run("report", path).stdout + run("report", path, "-o", "json").stdout
    ElementTree.fromstring(html[html.index("<body>") : html.rindex("</html>")])


def test_a_threshold_judges_completions(run: Run, recorded: Path) -> None:
    strict = document(run("report", recorded, "-o", "json", "--threshold", "1"))
    assert strict["threshold_ms"] == 1
    assert all(point["goodput_per_s"] == 0 for pool in strict["pools"] for point in pool["curve"])
    codes = {reason["code"] for pool in strict["pools"] for reason in pool["reasons"]}
    assert "SLO_UNKNOWN" not in codes


def test_pools_beyond_the_limit_are_counted(run: Run, recorded: Path) -> None:
    report = document(run("report", recorded, "-o", "json", "--pools", "3"))
    assert (len(report["pools"]), report["pools_left_out"]) == (3, 6 + len(hotel.EDGES) - 3)


def test_a_sample_gets_no_size(run: Run, tmp_path: Path) -> None:
    traces = hotel.traces(400, seed=6)
    for trace in traces:
        trace["spans"][0]["tags"] += [
            {"key": "sampler.type", "type": "string", "value": "probabilistic"},
            {"key": "sampler.param", "type": "float64", "value": 0.1},
        ]
    report = document(run("report", write_lines(tmp_path / "t.jsonl", *traces), "-o", "json"))
    assert report["quality"][0]["code"] == "SAMPLED"
    assert all(pool["target"] is None for pool in report["pools"])
    assert all("SAMPLED" in {reason["code"] for reason in pool["reasons"]} for pool in report["pools"])


def test_a_bad_trace_is_named_and_fails_the_command_unless_skip_bad(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", jaeger_trace(1), "{", jaeger_trace(2))
    result = run("report", path, "-o", "json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert (report["recording"]["spans"], report["recording"]["records_skipped"]) == (2, 1)
    assert report["quality"][0]["code"] == "RECORDS_SKIPPED"
    assert f"{path}:2: is not JSON" in result.stderr
    assert run("report", path, "--skip-bad").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [(b"", "holds no record"), (b"not json\n", "is not JSON"), (b"\x00\x01binary", "is not JSON"), (b"[]", "holds no")],
)
def test_a_file_without_a_span_fails(run: Run, tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "bad"
    path.write_bytes(text)
    result = run("report", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr
    assert "cannot report: no span" in result.stderr


def test_a_gzip_stream_that_is_cut_off_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"\n".join(json.dumps(jaeger_trace(n)).encode() for n in range(1, 3_000)))[:-500])
    result = run("report", path)
    assert result.exit_code == 1
    assert "cut off" in result.stderr
    assert "traces" in result.stdout


def test_files_that_cannot_be_read_or_written(run: Run, tmp_path: Path, recorded: Path) -> None:
    missing = run("report", tmp_path / "missing")
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "cannot read" in missing.stderr
    result = run("report", recorded, "--output-file", tmp_path / "no" / "such")
    assert result.exit_code == 1
    assert "cannot write" in result.stderr
    assert run("report").exit_code == 2
    assert run("report", recorded, "--threshold", "0").exit_code == 2


def test_span_rules_of_another_file(run: Run, tmp_path: Path, recorded: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nname = "no-search"\naction = "leave_out"\nservice = "search"\nside = "server"\n')
    report = document(run("report", recorded, "-o", "json", "--span-rules", rules))
    assert ("search", "server") not in {(pool["service"], pool["side"]) for pool in report["pools"]}
    assert {"LEFT_OUT"} == {finding["code"] for finding in report["quality"]}
    rules.write_text('[[rule]]\nname = "x"\naction = "drop"\n')
    bad = run("report", recorded, "--span-rules", rules)
    assert bad.exit_code == 1
    assert "action 'drop' is not legal; legal: count" in bad.stderr


def test_a_recording_without_a_usable_span_says_so(run: Run, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", jaeger_trace(1, jaeger_span(1, 1_000_000, -5)))
    for form in ("text", "json", "html"):
        result = run("report", path, "-o", form)
        assert result.exit_code == 0, result.output
        assert "ENDS_BEFORE_START" in result.stdout


def test_half_of_a_surrogate_pair_is_a_bad_record(run: Run, tmp_path: Path) -> None:
    bad = json.dumps(jaeger_trace(2, jaeger_span(1, 1_000_000, 5, operationName="bad \ud800")))
    result = run("report", write_lines(tmp_path / "t.jsonl", jaeger_trace(1), bad), "-o", "json", "--skip-bad")
    assert document(result)["recording"]["spans"] == 1
    assert "surrogate" in result.stderr
