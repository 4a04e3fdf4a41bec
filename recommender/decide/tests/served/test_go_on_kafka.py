"""The Go tests of the server once more, on a real broker instead of one in memory. In `make test`, of the server, those
that stand or fall with what a log does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sluice_kit.servers.kafka import Broker

REPOSITORY = Path(__file__).resolve().parents[4]
LIMIT_S = 400
# Of the server: owners of targets, tokens, another log, what callers tell and what deciders write.
OF_THE_LOG = "SecondReporter|AllWereRestarted|ALogThat|IntoTheLog|FromTheLog|InTheLog|MovedToAnotherShard|ASession"

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    "tests",
    [
        pytest.param(["./internal/topics"], id="topics"),
        pytest.param(["./internal/server", "-run", OF_THE_LOG], id="server"),
        pytest.param(["./internal/server"], id="server_all", marks=pytest.mark.long),
    ],
)
def test_go_on_kafka(broker: Broker, tests: list[str]) -> None:
    go = shutil.which("go", path=f"{REPOSITORY / '.cache/venvs/go/bin'}{os.pathsep}{os.environ['PATH']}")
    assert go is not None, "no go on PATH: `make setup` installs it"
    done = subprocess.run(
        [go, "test", "-count=1", *tests],
        cwd=REPOSITORY / "recommender/serve",
        env=os.environ | {"SLUICE_TEST_KAFKA": broker.bootstrap, "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
