"""`clean`: what it removes, and when it refuses to."""

import dataclasses
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stack import clean, settings
from stack.environment import SUPERVISED
from stack.report import Report
from stack.steps import StepError


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> settings.Settings:
    """A repository in which every removable directory is there, beside a source file."""
    monkeypatch.setattr(clean, "REPOSITORY", tmp_path)
    monkeypatch.setattr(clean, "CACHE", tmp_path / ".cache")
    monkeypatch.setattr(clean, "JOBS_JAR", tmp_path / "target/jobs.jar")
    for name in (".cache/stack/data", "target", *clean.CHECKERS):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "source.py").touch()
    return dataclasses.replace(settings.load({}), state=tmp_path / ".cache/stack")


def test_data_and_every_cache_go_and_sources_stay(tmp_path: Path, stack: settings.Settings) -> None:
    clean.clean(stack, Report(io.StringIO()))
    assert [path.name for path in tmp_path.iterdir()] == ["source.py"]


def test_nothing_goes_while_a_process_of_the_stack_is_up(tmp_path: Path, stack: settings.Settings) -> None:
    up = "print('up', flush=True); import time; time.sleep(60)"
    marked = os.environ | {SUPERVISED: str(stack.state)}
    child = subprocess.Popen([sys.executable, "-c", up], env=marked, stdout=subprocess.PIPE)
    try:
        assert child.stdout
        child.stdout.readline()  # for an instant after it was started, the kernel does not show its environment yet
        with pytest.raises(StepError, match="1 processes of the stack are up"):
            clean.clean(stack, Report(io.StringIO()))
    finally:
        child.kill()
        child.communicate()
    assert (tmp_path / ".cache/stack/data").exists()
