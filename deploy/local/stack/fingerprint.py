"""The fingerprint of a step's inputs. Contents count, not times: a fresh checkout does not repeat a step."""

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
