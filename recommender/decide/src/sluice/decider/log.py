"""The decider's log: a line a record, whatever names it has."""

from __future__ import annotations

import logging

from sluice.cli.printable import printable


class EscapedLines(logging.Formatter):
    """Escapes control characters of messages: senders of spans choose names, and could write lines of their own. A
    traceback keeps its lines."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the name is logging's)
        return printable(super().formatMessage(record))


def begin() -> None:
    """Sends records of INFO and above to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(EscapedLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
