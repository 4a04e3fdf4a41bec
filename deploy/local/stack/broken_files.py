"""What logs say of files that a process cannot read, and what to do about each."""

import re
from collections.abc import Sequence

LOOKED_AT = 300
"""Lines at the end of a log: the last crashes of a program, with traces, and not those of another day."""
#: What a line of a log has, and the remedy, in which {0} is the whole and {1} the first group.
BROKEN = (
    (
        r"Malformed line in checkpoint file \[(.+?)\]",
        "delete {1}, which is broken, then `make up`: Kafka makes it again from its segments",
    ),
    (
        r"Neo\.TransientError\.General\.DatabaseUnavailable",
        "Neo4j cannot open its database; logs/neo4j/debug.log says why. Where a file is broken: `make down`, delete "
        "data/neo4j in the stack's folder, `make up`; the call graph comes back from the traffic. The rest runs on",
    ),
)


def remedy(lines: Sequence[str]) -> str:
    """That of the last line which names a broken file; "" where none does since the last command's begin."""
    for line in reversed(lines):
        if line.startswith("$ "):  # as steps.run logs it
            break
        for pattern, what in BROKEN:
            if found := re.search(pattern, line):
                return what.format(found[0], *found.groups())
    return ""
