"""Runs that are done: a file each, so that an interrupted bench goes on where it was."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def keep(path: Path, made: Callable[[], Any]) -> None:
    """Writes what `made()` gives as JSON, whole or not at all; does nothing where the file is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(made()))
    os.replace(new, path)
    print(f"kept {path.parent.name}/{path.name}", flush=True)


def kept(path: Path) -> Any:
    return json.loads(path.read_text())
