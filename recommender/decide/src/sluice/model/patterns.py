"""Patterns of names in the configuration: `*` stands for any text, also none; all other characters for themselves."""

from __future__ import annotations

import re
from functools import lru_cache

ANY = "*"


@lru_cache(maxsize=1 << 16)
def matches(pattern: str, name: str) -> bool:
    """Worked: `web-*` matches `web-` and `web-shop`, and not `my-web-shop`."""
    if ANY not in pattern:
        return pattern == name
    return re.fullmatch(".*".join(map(re.escape, pattern.split(ANY))), name, re.DOTALL) is not None


def like(pattern: str) -> str:
    """The pattern of SQL's LIKE: `web_*` -> `web\\_%`."""
    return re.sub(r"([\\%_])", r"\\\1", pattern).replace(ANY, "%")
