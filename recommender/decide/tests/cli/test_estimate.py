"""`sluice estimate --pairs`: rows of any source to one JSON object."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sluice.cli.main import cli
from sluice_kit.decide.humps import draw_samples, draw_service


def run(*arguments: str, text: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["estimate", *arguments], input=text)
    return result.exit_code, result.stdout, result.stderr


def rows(reach: float, header: str = "concurrency,goodput") -> str:
    rng = np.random.default_rng(3)
    service = draw_service(rng)
    samples = draw_samples(rng, service, reach * service.best())
    pairs = zip(samples.concurrency.tolist(), samples.goodput_per_s.tolist(), strict=True)
    return "\n".join([header, *(f"{q},{goodput}" for q, goodput in pairs)]) + "\n"


def test_a_hump_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "cart.csv"
    file.write_text(rows(3))
    code, out, _ = run("--pairs", str(file))
    answer = json.loads(out)
    assert (code, answer["state"], answer["model"]) == (0, "PROVIDED", "scg-top")
    assert answer["lower_bound"] <= answer["target"] <= answer["upper_bound"]
    assert {reason["code"] for reason in answer["reasons"]} >= {"CURVE_FALLS"}


@pytest.mark.parametrize("model", ["scg", "scg-unimodal", "sct"])
def test_a_rise_has_a_null_target(model: str) -> None:
    code, out, _ = run("--pairs", "-", "--model", model, text=rows(0.5))
    answer = json.loads(out)
    assert (code, answer["state"], answer["target"]) == (0, "UNSATURATED", None)
    assert answer["lower_bound"] is answer["upper_bound"] is None


def test_columns_by_name_in_any_order_and_empty_lines() -> None:
    plain = run("--pairs", "-", text=rows(3))[1]
    lines = rows(3).splitlines()[1:]
    swapped = "time, Goodput ,concurrency\n\n" + "\n".join(",".join(["x", *line.split(",")[::-1]]) for line in lines)
    assert run("--pairs", "-", text=swapped)[1] == plain
    assert run("--pairs", "-", text="\n".join(lines))[1] == plain


@pytest.mark.parametrize(
    ("text", "state"), [("", "NO_DATA"), ("concurrency,goodput\n", "NO_DATA"), ("3,4\n", "LEARNING")]
)
def test_too_little_is_a_state_and_not_an_error(text: str, state: str) -> None:
    code, out, _ = run("--pairs", "-", text=text)
    answer = json.loads(out)
    assert (code, answer["state"], answer["target"]) == (0, state, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("concurrency,goodput\n1,2\n3,fast\n", ("line 3", "goodput 'fast'", ">= 0")),
        ("1,2\n-3,4\n", ("line 2", "concurrency '-3'", ">= 0")),
        ("1,2\n3\n", ("line 2", "goodput is missing")),
        ("1,nan\n", ("goodput 'nan'",)),
        ("1,inf\n", ("goodput 'inf'",)),
        ("q,goodput\n1,2\n", ("no column 'concurrency'",)),
    ],
)
def test_a_bad_row_is_named_with_its_line(text: str, words: tuple[str, ...]) -> None:
    code, out, err = run("--pairs", "-", text=text)
    assert (code, out) == (1, "")
    assert all(word in err for word in words), err


def test_a_file_that_is_not_there_and_one_that_is_no_text(tmp_path: Path) -> None:
    assert "No such file" in run("--pairs", str(tmp_path / "none.csv"))[2]
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01\n")
    code, _, err = run("--pairs", str(binary))
    assert code == 1
    assert "binary.csv" in err


def test_an_unknown_model_is_wrong_usage_that_names_the_legal_ones() -> None:
    code, _, err = run("--pairs", "-", "--model", "magic", text="")
    assert code == 2
    assert "scg-unimodal" in err


def test_a_pool_that_was_full_does_not_look_like_a_fall() -> None:
    rising = [(q, 10 * q) for q in np.linspace(0.5, 10.5, 400)] + [(12.0, 20.0)] * 200
    text = "\n".join(f"{q},{goodput}" for q, goodput in rising)
    assert json.loads(run("--pairs", "-", text=text)[1])["state"] == "PROVIDED"
    assert json.loads(run("--pairs", "-", "--limit", "12", text=text)[1])["state"] == "UNSATURATED"
