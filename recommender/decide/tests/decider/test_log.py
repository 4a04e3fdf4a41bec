import io
import logging

from sluice.decider.log import EscapedLines


def test_a_name_writes_no_line_of_its_own() -> None:
    """A name from spans is in many messages; a newline in it began a line that looked like another record."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(EscapedLines())
    log = logging.Logger("sluice.test")
    log.addHandler(handler)
    log.error("skipped %s", "cart\n2026-01-01 00:00:00,000 INFO sluice: all is well\x1b[2J\u202e🧵\0")
    (line,) = out.getvalue().splitlines()
    assert line.endswith(
        r"ERROR sluice.test: skipped cart\n2026-01-01 00:00:00,000 INFO sluice: all is well\x1b[2J\u202e🧵\x00"
    )
    try:
        raise ValueError("a\nb")
    except ValueError:
        log.exception("fails")
    assert len(out.getvalue().splitlines()) > 4
