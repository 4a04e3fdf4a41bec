"""Sluice's command line, run against one stack."""

import subprocess

from stack import environment
from stack.layout import SLUICE_PYTHON
from stack.settings import REPOSITORY, Settings


def sluice(settings: Settings, *words: str, timeout_s: float = 30.0) -> subprocess.CompletedProcess[str]:
    """Runs `sluice WORDS`. A timeout is exit code 124, with a message on stderr."""
    command = [str(SLUICE_PYTHON), "-m", "sluice.cli", *words]
    variables = environment.addresses(settings) | {
        "PYTHONPATH": str(REPOSITORY / "recommender/decide/src"),
        "COLUMNS": "120",
        "LC_ALL": "C.UTF-8",
    }
    try:
        return subprocess.run(command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"sluice {words[0]} took more than {timeout_s:.0f} s")
