"""Reasons of decisions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One reason: `code` is stable and for programs, `text` is for people."""

    code: str
    text: str
