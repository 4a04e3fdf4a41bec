"""Paths in the repository and in its cache, where set-up installs."""

import os
import shutil
from pathlib import Path

from stack.settings import REPOSITORY

LOCAL = REPOSITORY / "deploy/local"
CACHE = REPOSITORY / ".cache"
BIN = CACHE / "bin"
STAMPS = CACHE / "stamps"
SETUP_LOGS = CACHE / "logs"

SLUICE_PYTHON = CACHE / "venvs/sluice/bin/python"
FLINK_PYTHON = CACHE / "venvs/flink/bin/python"
TOOLS_PYTHON = CACHE / "venvs/tools/bin/python"
UV = CACHE / "venvs/tools/bin/uv"
FLINK_HOME = CACHE / "flink/home"
JOBS_JAR = REPOSITORY / "streaming-jobs/functions/target/sluice-functions.jar"


def java_home() -> Path:
    """The Java that runs everything: the one that set-up chose, else the first on PATH."""
    chosen = CACHE / "java-home"
    if chosen.is_symlink():
        return chosen.resolve()
    java = shutil.which("java", path=os.environ.get("PATH"))
    return Path(java).resolve().parents[1] if java else Path("/usr")
