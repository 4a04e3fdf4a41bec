"""The patterns by name."""

from __future__ import annotations

from .chains import Callee, MaxSockets
from .clients import Held, Limited, PgNode, PgPlain
from .pattern import Pattern
from .servers import Ahead, Light, LightSurge, Mixed, Nested, PetClinic, Plain, Probes, Steady, Stream

PATTERNS: dict[str, type[Pattern]] = {
    item.name: item
    for item in (
        Plain,
        Nested,
        Light,
        Steady,
        Ahead,
        LightSurge,
        Mixed,
        Stream,
        PetClinic,
        Probes,
        PgPlain,
        PgNode,
        Limited,
        Held,
        Callee,
        MaxSockets,
    )
}
