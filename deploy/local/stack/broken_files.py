"""What logs say of files that a process cannot read, and what to do about each."""

import re
from pathlib import Path

#: What a line of a log has, and the remedy, in which {0} is the first group.
BROKEN = (
    (
        r"Malformed line in checkpoint file \[(.+?)\]",
        "delete {0}, which is broken, then `make up`: Kafka makes it again from its segments",
    ),
    (
        r"Neo\.TransientError\.General\.DatabaseUnavailable",
        "Neo4j cannot open its database; logs/neo4j/debug.log says why. Where a file is broken: `make down`, delete "
        "data/neo4j in the stack's folder, `make up`; the call graph comes back from the traffic. The rest runs on",
    ),
)


def remedy(log: Path, begins: int) -> str:
    """That of the last line which names a broken file; "" where none does.

    begins: the log's bytes before the process started; what it says of a file that was mended since is behind it. Of a
    log that was rotated since then, all counts.
    """
    if not log.exists():
        return ""
    with log.open("rb") as stream:
        stream.seek(begins if begins <= log.stat().st_size else 0)
        lines = stream.read().decode(errors="replace").splitlines()
    for line in reversed(lines):
        for pattern, what in BROKEN:
            if found := re.search(pattern, line):
                return what.format(*found.groups())
    return ""


def size(log: Path) -> int:
    """Bytes of a log that may not exist yet."""
    return log.stat().st_size if log.exists() else 0
