"""The launcher `./sluice`: whom it talks to."""

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def sluice(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run([REPOSITORY / "sluice", *words], env=environment, capture_output=True, text=True, timeout=60)


def test_a_stack_file_that_cannot_be_read_is_an_error_and_not_the_default_stack(tmp_path: Path) -> None:
    answer = sluice("pools", "list", SLUICE_STACK=str(tmp_path / "absent.toml"))
    assert answer.returncode == 1
    assert f"cannot read SLUICE_STACK={tmp_path / 'absent.toml'}" in answer.stderr


def test_the_stack_file_names_the_addresses_and_the_callers_variables_win(tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text("[ports]\nrecommender = 1\n")
    stack = str(tmp_path / "stack.toml")
    assert "127.0.0.1:1:" in sluice("pools", "list", SLUICE_STACK=stack).stderr
    assert "127.0.0.1:2:" in sluice("pools", "list", SLUICE_STACK=stack, SLUICE_RECOMMENDER="127.0.0.1:2").stderr
