"""What logs say of files that a process cannot read, and what to do about each."""

import re
from collections.abc import Sequence

#: What a line of a log has, with the file's path as its first group, and the remedy.
BROKEN = (
    (
        r"Malformed line in checkpoint file \[(.+?)\]",
        "delete {file}, which is broken, then `make up`: Kafka reads its segments from their start instead",
    ),
)


def remedy(lines: Sequence[str]) -> str:
    """That of the last line which names a broken file; "" where none does."""
    for line in reversed(lines):
        for pattern, what in BROKEN:
            if found := re.search(pattern, line):
                return what.format(file=found[1])
    return ""
