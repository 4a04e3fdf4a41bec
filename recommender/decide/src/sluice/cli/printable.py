"""Escapes control characters: names come from senders of spans, and a terminal would obey such characters."""

import json
import re

_CANDIDATE = re.compile(r"[^ -~]")
_CANDIDATE_IN_JSON = re.compile(r"[^ -~\n]")


def printable(text: str) -> str:
    r"""`text` with escapes for all that moves a cursor, breaks a line or changes the direction of writing.

    `a\tb` with a tab -> `a\tb` with a backslash and a t; ESC -> `\x1b`; letters of all scripts stay.
    """
    return text if text.isprintable() else _CANDIDATE.sub(_escape, text)


def printable_json(text: str) -> str:
    r"""JSON with the same meaning, with such characters written as `\u001b`. Line breaks stay."""
    return _CANDIDATE_IN_JSON.sub(_escape_json, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else repr(character)[1:-1]


def _escape_json(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]
