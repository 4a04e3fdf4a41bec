"""Names come from whoever sends spans: on a terminal, control characters in them would be obeyed."""

import json
import re

_CANDIDATE = re.compile(r"[^ -~]")
_CANDIDATE_IN_JSON = re.compile(r"[^ -~\n]")


def printable(text: str) -> str:
    r"""`text` with everything that moves a cursor, breaks a line or turns the direction of writing as an escape.

    `a\tb` with a tab -> `a\tb` with a backslash and a t; ESC -> `\x1b`; letters of all scripts stay.
    """
    return text if text.isprintable() else _CANDIDATE.sub(_escape, text)


def printable_json(text: str) -> str:
    r"""JSON with the same meaning, in which such characters are written as `\u001b`; line breaks stay."""
    return _CANDIDATE_IN_JSON.sub(_escape_json, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else repr(character)[1:-1]


def _escape_json(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]
