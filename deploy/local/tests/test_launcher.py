"""The launcher `./sluice`: whom it talks to."""

import os
import signal
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


LAUNCHER = REPOSITORY / "sluice"


def sluice(*words: str, launcher: Path = LAUNCHER, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | variables
    return subprocess.run([launcher, *words], env=environment, capture_output=True, text=True, timeout=60)


def test_a_stack_file_that_cannot_be_read_is_an_error_and_not_the_default_stack(tmp_path: Path) -> None:
    answer = sluice("pools", "list", SLUICE_STACK=str(tmp_path / "absent.toml"))
    assert answer.returncode == 1
    assert f"cannot read SLUICE_STACK={tmp_path / 'absent.toml'}" in answer.stderr


def test_the_stack_file_names_the_addresses_and_the_callers_variables_win(tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text("[ports]\nrecommender = 1\n")
    stack = str(tmp_path / "stack.toml")
    assert "127.0.0.1:1:" in sluice("pools", "list", SLUICE_STACK=stack).stderr
    assert "127.0.0.1:2:" in sluice("pools", "list", SLUICE_STACK=stack, SLUICE_RECOMMENDER="127.0.0.1:2").stderr


def test_an_empty_variable_leaves_the_stacks_address(tmp_path: Path) -> None:
    (tmp_path / "stack.toml").write_text("[ports]\nrecommender = 1\n")
    stack = str(tmp_path / "stack.toml")
    assert "127.0.0.1:1:" in sluice("pools", "list", SLUICE_STACK=stack, SLUICE_RECOMMENDER="").stderr


def test_it_runs_through_a_link_and_from_the_path(tmp_path: Path) -> None:
    (tmp_path / "sluice").symlink_to(LAUNCHER)
    assert sluice("--version", launcher=tmp_path / "sluice").stdout.startswith("sluice, version ")
    found = sluice("--version", launcher=Path("sluice"), PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert found.stdout.startswith("sluice, version ")


def test_ctrl_c_while_it_starts_is_quiet(tmp_path: Path) -> None:
    # In place of the library that is imported first.
    (tmp_path / "click.py").write_text("import time; print('importing', flush=True); time.sleep(60)")
    default = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", default, str(LAUNCHER), "--help"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (-signal.SIGINT, b"")
