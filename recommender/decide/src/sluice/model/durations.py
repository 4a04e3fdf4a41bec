"""Parses and prints durations: "250ms", "15s", "2m", "1.5s"."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

_UNIT_MS = {"ms": 1.0, "s": 1_000.0, "m": 60_000.0, "h": 3_600_000.0}
_PATTERN = re.compile(r"(-?\d+(?:\.\d+)?)(ms|s|m|h)")


def parse_ms(value: object) -> float:
    """Milliseconds of a duration with a unit. Raises ValueError for other values, also bare numbers."""
    match = _PATTERN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError('must be a number with a unit (ms, s, m, h), as "250ms" or "15s"')
    return float(match[1]) * _UNIT_MS[match[2]]


def format_ms(ms: float) -> str:
    """250.0 -> "250 ms"; 12.5 -> "12.5 ms"."""
    return f"{ms:.12g} ms"


Milliseconds = Annotated[float, BeforeValidator(parse_ms)]
