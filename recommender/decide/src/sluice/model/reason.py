"""Why an answer is as it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One ground: `code` is stable and for machines, `text` for people."""

    code: str
    text: str
