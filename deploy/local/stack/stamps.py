"""Stamps: a set-up step is skipped when the hash of its inputs is the one of its last success."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def fingerprint(files: Iterable[Path], values: Iterable[str] = ()) -> str:
    """SHA-256 over values and over the names and contents of files; a directory stands for all files in it.

    The order of `files` does not matter. A file that is missing counts as missing, which differs from empty.
    """
    digest = hashlib.sha256()
    for value in values:
        digest.update(f"value {value}\0".encode())
    for path in sorted(_expand(files)):
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
        digest.update(f"file {path} {content}\0".encode())
    return digest.hexdigest()


def _expand(files: Iterable[Path]) -> Iterable[Path]:
    for path in files:
        if path.is_dir():
            yield from (child for child in path.rglob("*") if child.is_file() and "__pycache__" not in child.parts)
        else:
            yield path


class Stamps:
    """One file a step under `directory`, holding the fingerprint of its last success."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def current(self, step: str, inputs: str, outputs: Iterable[Path]) -> bool:
        """True when `step` last succeeded on the same inputs and all that it made is still there."""
        stamp = self._directory / step
        return stamp.is_file() and stamp.read_text() == inputs and all(path.exists() for path in outputs)

    def record(self, step: str, inputs: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        (self._directory / step).write_text(inputs)

    def forget(self, step: str) -> None:
        (self._directory / step).unlink(missing_ok=True)
