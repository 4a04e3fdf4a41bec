"""Passwords: made once, kept closed, and those of the stack's file first."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from stack import environment, private, secrets
from stack.settings import Settings, load
from stack.steps import StepError

NAMES = ("clickhouse_password", "neo4j_password")


@pytest.fixture
def stack(tmp_path: Path) -> Settings:
    return replace(load({}), state=tmp_path / "stack")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_passwords_are_made_once(stack: Settings) -> None:
    assert secrets.known(stack) == dict.fromkeys(NAMES, "")
    secrets.make(stack)
    made = secrets.known(stack)
    assert all(len(made[name]) == 64 for name in NAMES)  # 256 random bits
    assert made["clickhouse_password"] != made["neo4j_password"]
    secrets.make(stack)
    assert secrets.known(stack) == made
    assert [mode(stack.state / "secrets" / name) for name in NAMES] == [0o600, 0o600]
    assert mode(stack.state / "secrets") == 0o700
    for name in NAMES:
        file = stack.state / "secrets.d" / name
        assert (file.read_text(), mode(file)) == (made[name] + "\n", 0o600)
    assert (stack.state / "secrets.d/clickhouse_reader_password").read_text() == "\n"


@pytest.mark.parametrize("cut_short", [b"", b"\n", b"\xff\xfe"])
def test_a_file_that_lost_its_password_is_refused_by_name(stack: Settings, cut_short: bytes) -> None:
    secrets.make(stack)
    before = (stack.state / "secrets/clickhouse_password").read_text()
    (path := stack.state / "secrets/neo4j_password").write_bytes(cut_short)
    with pytest.raises(StepError, match=str(path)) as refused:
        secrets.make(stack)
    assert "make clean" in refused.value.advice
    assert (stack.state / "secrets/clickhouse_password").read_text() == before
    assert path.read_bytes() == cut_short


def test_processes_get_the_places_of_passwords(stack: Settings) -> None:
    secrets.make(stack)
    variables = environment.supervised(stack, {"SLUICE_NEO4J_PASSWORD": "of-a-shell"})
    assert not secrets.FILES.keys() & variables.keys()
    places = {variables[f"{name}_FILE"] for name in secrets.FILES}
    assert places == {str(stack.state / "secrets.d" / file) for file in secrets.FILES.values()}
    assert environment.addresses(stack)["SLUICE_NEO4J_PASSWORD"] == secrets.known(stack)["neo4j_password"]


def test_processes_read_files_that_only_their_owner_reads(stack: Settings, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("the-first ann operate\nthe-second\n")
    told = replace(stack, access={"tokens": tmp_path / "tokens"})
    secrets.make(told)
    files = {path.name: path.read_text() for path in (stack.state / "secrets.d").iterdir()}
    made = secrets.known(told)
    assert files == {
        "clickhouse_password": made["clickhouse_password"] + "\n",
        "clickhouse_reader_password": "\n",
        "neo4j_password": made["neo4j_password"] + "\n",
        "token": "the-first\n",
    }
    assert {mode(path) for path in (stack.state / "secrets.d").iterdir()} == {0o600}
    assert mode(stack.state / "secrets.d") == 0o700
    given = secrets.by_file(
        {"SLUICE_TOKEN": "the-first", "SLUICE_CLICKHOUSE_PASSWORD": "x", "PATH": "/bin"}, stack.state
    )
    assert Path(given["SLUICE_TOKEN_FILE"]).read_text() == "the-first\n"
    assert {"SLUICE_TOKEN", "SLUICE_CLICKHOUSE_PASSWORD"}.isdisjoint(given)
    assert "SLUICE_TOKEN_FILE" not in secrets.by_file({"SLUICE_TOKEN": ""}, stack.state)


def test_the_stack_file_wins_and_is_not_copied(stack: Settings) -> None:
    told = replace(stack, secrets={"clickhouse_password": "", "neo4j_password": "told-by-the-file"})
    secrets.make(told)
    assert secrets.known(told)["neo4j_password"] == "told-by-the-file"
    assert (told.state / "secrets.d/neo4j_password").read_text() == "told-by-the-file\n"
    assert [path.name for path in (stack.state / "secrets").iterdir()] == ["clickhouse_password"]


def test_a_private_file_is_closed_whatever_it_was(tmp_path: Path) -> None:
    path = tmp_path / "conf" / "env"
    path.parent.mkdir(mode=0o755)
    path.write_text("old")
    path.chmod(0o644)
    private.write(path, "new")
    assert (path.read_text(), mode(path), mode(path.parent)) == ("new", 0o600, 0o700)
    assert [each.name for each in path.parent.iterdir()] == ["env"]
