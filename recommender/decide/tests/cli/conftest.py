"""Fixtures of the command line's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sluice.cli.environment import DEFAULTS
from sluice.cli.main import cli

from .otlp_receiver import OtlpReceiver
from .pool_server import PoolServer


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `sluice words...` in this process, with no SLUICE_* variable but those given by name."""

    def invoke(*words: str | Path, stdin: bytes | None = None, **environment: str) -> Result:
        for name in DEFAULTS:
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(cli, [str(word) for word in words], input=stdin, prog_name="sluice")

    return invoke


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


@pytest.fixture
def pool_server() -> Iterator[PoolServer]:
    with PoolServer() as running:
        yield running
