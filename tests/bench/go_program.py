"""The benches' own program in Go."""

import os
import shutil
import subprocess
from pathlib import Path

GO = Path(__file__).parents[2] / ".cache/venvs/go/bin"


def built(name: str, folder: Path) -> Path:
    """The program of the folder `name` beside this file, built into `folder`. AssertionError: there is no Go."""
    go = shutil.which("go", path=f"{GO}{os.pathsep}{os.environ['PATH']}")
    assert go is not None, "no go on PATH: `make setup` installs it"
    source, program = Path(__file__).with_name(name), folder / name
    subprocess.run([go, "build", "-o", program, "."], cwd=source, check=True, env=os.environ | {"CGO_ENABLED": "0"})
    return program
