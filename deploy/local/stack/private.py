"""Files and directories that only their owner reads, whatever the umask and their former mode."""

import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Replaces `path` at once by a file of mode 0600, after a power cut too; directories that are lacking are made with
    0700."""
    directory(path.parent)
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)


def directory(path: Path) -> None:
    """Makes `path`, or closes it: mode 0700."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
