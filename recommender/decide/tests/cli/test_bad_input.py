"""Bad input of each command: one sentence with the field and the legal range, exit code 1 or 2, no traceback."""

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from sluice.cli.lazy import LazyGroup

from .test_help import ALL

Run = Callable[..., Result]
NOWHERE = {"SLUICE_RECOMMENDER": "127.0.0.1:1", "SLUICE_CLICKHOUSE": "http://127.0.0.1:1", "SLUICE_STATE": "/nowhere"}
#: Words in the place of each argument; files that do not exist.
WORDS = {
    "POOL": "cart",
    "ID": "6f0c",
    "FILE...": "none.json",
    "[FILE...]": "none.json",
    "APP.yaml": "none.yaml",
    "[QUERY]": "SELECT 1",
}
NEEDED = {"pools pause": ["--why", "x"], "estimate": ["--pairs", "none"], "tuning start": ["--name", "x"]} | {
    "subsets solve": ["--input", "none.json"]
}
#: Those that need neither a file nor a server; doctor reports what does not answer.
ALONE = {"sluice completion", "sluice doctor"}
LEAVES = [
    each for each in ALL if each.parent and not isinstance(each.command, LazyGroup) and each.command_path not in ALONE
]


@pytest.mark.parametrize("context", LEAVES, ids=lambda context: context.command_path.replace(" ", "-"))
def test_without_file_and_server_each_command_fails_with_a_sentence(context: click.Context, run: Run) -> None:
    name = context.command_path.removeprefix("sluice ")
    arguments = [param.make_metavar(context) for param in context.command.params if isinstance(param, click.Argument)]
    words = [*name.split(), *(WORDS.get(metavar, "x") for metavar in arguments), *NEEDED.get(name, [])]
    done = run(*words, **NOWHERE)
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code in (1, 2)
    error = done.stderr.partition("Error: ")[2]
    assert any(cause in error for cause in ("127.0.0.1:1", "No such file", "does not exist", "make ")), error


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("pools pause cart --why x --size ten", "'--size': 'ten' is no whole number; legal: 1<=x<=100000"),
        ("pools pause cart --why x --size 0", "'--size': 0 is not in the range 1<=x<=100000"),
        ("doctor --timeout nan", "'--timeout': 'nan' is no number; legal: 0.1<=x<=60"),
        ("report x.json --threshold inf", "'--threshold': 'inf' is no number; legal: x>0"),
        ("doctor --timeout soon", "'--timeout': 'soon' is no number; legal: 0.1<=x<=60"),
        ("pools list --address recommender", "'--address': 'recommender' is not HOST:PORT; legal ports: 1 to 65535"),
        ("pools list --address host:65536", "'--address': 'host:65536' is not HOST:PORT"),
        ("tuning watch first --picture none/a.png", "'--picture': none/a.png: its folder does not exist"),
    ],
)
def test_an_illegal_value_is_named_with_what_is_legal(run: Run, words: str, error: str) -> None:
    done = run(*words.split(), **NOWHERE)
    assert done.exit_code == 2
    assert f"Invalid value for {error}" in done.stderr


def test_an_illegal_variable_is_named(run: Run) -> None:
    done = run("pools", "list", SLUICE_RECOMMENDER="none")
    assert "SLUICE_RECOMMENDER: 'none' is not HOST:PORT" in done.stderr


@pytest.mark.parametrize("words", ["sql --file", "estimate --pairs", "tuning space", "subsets solve --input"])
def test_a_file_that_is_no_text_is_named(run: Run, tmp_path: Path, words: str) -> None:
    file = tmp_path / "binary"
    file.write_bytes(b"\x7fELF\xd0")
    done = run(*words.split(), file)
    assert done.exit_code == 1
    assert f"{file}: " in done.stderr
    assert "'utf-8' codec" in done.stderr


def test_a_file_that_is_no_yaml_has_one_problem(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "app.yaml"
    file.write_text("target: [1\n")
    done = run("tuning", "space", file)
    assert done.exit_code == 1
    assert done.stderr == f"Error: parse {file}: line 2, column 1: expected ',' or ']', but got '<stream end>'\n"
