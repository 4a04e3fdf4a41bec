"""`sluice subsets solve`: a file in, connections out, and no stack."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sluice.cli.main import cli
from sluice.cli.subsets.solve import STRATEGIES
from sluice.subsets import strategy

from .processes import imported

EXAMPLE = str(Path(__file__).parents[3] / "examples/shop.json")


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["subsets", "solve", *arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_strategy_answers_with_the_documented_object_and_nothing_else(name: str) -> None:
    code, out, _ = run("--input", EXAMPLE, "--strategy", name, "-o", "json")
    printed = json.loads(out)
    assert (code, printed["strategy"], len(printed["pairs"])) == (0, name, 6)
    assert printed["predicted_ms"] > 0


def test_the_strategies_are_those_that_there_are() -> None:
    assert STRATEGIES == strategy.STRATEGIES


def test_a_table_has_a_line_a_pair_and_what_all_come_to() -> None:
    code, out, _ = run("--input", EXAMPLE, "--strategy", "full")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split()[:4] == ["PAIR", "CALLS/S", "CONTAINERS", "QUOTA"]
    assert [line.partition("  ")[0] for line in lines[1:7]] == [
        "cart -> stock",
        "catalogue -> prices",
        "catalogue -> stock",
        "frontend -> cart",
        "frontend -> catalogue",
        "frontend -> prices",
    ]
    assert lines[8].startswith("full: p95 ")
    assert "372 connections of 372" in lines[8]


def test_churn_is_against_the_previous_solution(tmp_path: Path) -> None:
    earlier = tmp_path / "before.json"
    earlier.write_text(run("--input", EXAMPLE, "--strategy", "sre", "-o", "json")[1])
    same = json.loads(run("--input", EXAMPLE, "--strategy", "sre", "--previous", str(earlier), "-o", "json")[1])
    other = json.loads(run("--input", EXAMPLE, "--strategy", "a68", "--previous", str(earlier), "-o", "json")[1])
    assert same["churn"] == 0.0
    assert 0.3 < other["churn"] < 1
    _, out, _ = run("--input", EXAMPLE, "--strategy", "a68", "--previous", str(earlier))
    assert "CHANGED" in out.splitlines()[0]


def test_paths_are_relative_to_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--input", EXAMPLE, "--strategy", "full")[0] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hosts": [{"name": "h1", "cpu": -1}]}, "hosts 'h1': cpu -1 is not legal; legal: 0 to 1"),
        ({"quota": 3}, "quota 3 is not legal"),
        ({"roots": 7}, "roots 7 is not legal; legal: a list of objects"),
        ({"latency": {"samples": "nowhere.csv"}}, "nowhere.csv: No such file or directory"),
    ],
)
def test_bad_input_is_named_and_ends_with_1(tmp_path: Path, change: dict[str, object], message: str) -> None:
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**json.loads(Path(EXAMPLE).read_text()), "latency": {}, **change}))
    code, out, err = run("--input", str(file))
    assert (code, out) == (1, "")
    assert f"cannot solve {file}" in err
    assert message in err


def test_several_faults_are_a_list(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    change = {"hosts": [{"name": "h1", "cpu": -1}], "quota": -1, "latency": {}}
    file.write_text(json.dumps({**json.loads(Path(EXAMPLE).read_text()), **change}))
    code, _, err = run("--input", str(file))
    first, *faults = err.splitlines()
    assert (code, first) == (1, f"Error: {len(faults)} problems:")
    assert len(faults) >= 2
    assert all(fault.startswith(f"- cannot solve {file}: ") for fault in faults)
    assert "\\n" not in err


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff\xfe"])
def test_what_is_no_application_is_no_traceback(tmp_path: Path, text: str) -> None:
    file = tmp_path / "app.json"
    file.write_bytes(text.encode("latin-1"))
    code, _, err = run("--input", str(file))
    assert code == 1
    assert "Traceback" not in err


def test_keys_that_mean_nothing_are_said(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    file.write_text(json.dumps({**json.loads(Path(EXAMPLE).read_text()), "latency": {}, "quata": 9}))
    assert "unknown key quata is ignored" in run("--input", str(file), "--strategy", "full", "-o", "json")[2]


def test_help_imports_no_numbers() -> None:
    assert not imported("subsets", "solve", "--help") & {"numpy", "scipy", "numba", "xgboost"}
