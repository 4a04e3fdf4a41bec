"""Waits until ClickHouse has the schema that the jobs need.

As a program it looks once: exit code 0 when the schema is there; else 1, and the cause.
"""

import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from settings import Addresses, ClickHouse, SettingsError

# The newest migration of storage/clickhouse; 0 is the first schema.
NEEDED = 9
QUERY = "SELECT count(), max(version) FROM schema_migrations FORMAT TabSeparated"
# ClickHouse's error codes for an unknown table and an unknown database.
MISSING = {"60", "81"}
ANSWER_S, LOOK_S, SAY_S = 10.0, 2.0, 30.0


def missing(database: ClickHouse, needed: int = NEEDED) -> str:
    """Why the jobs cannot write yet, with the remedy; "" once they can. Asks the servers in turn, until one answers.

    The migrator records a version after all statements of its migration, so a recorded version is there as a whole.
    """
    causes = []
    for url in database.url.split(","):
        try:
            records, newest = map(int, _answer(url, database).split())
        except (OSError, ValueError, ssl.SSLError) as error:  # URLError is an OSError
            causes.append(f"{url.rpartition('@')[2]}: {error}")
            continue
        if records and newest >= needed:
            return ""
        return f"have {newest if records else 'none'}, need {needed}; run `sluice-migrate up`"
    return "ask ClickHouse: " + "; ".join(causes)


def wait(
    missing: Callable[[], str],
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Calls `missing` every 2 s until it returns "", and says every 30 s why it waits."""
    due = clock()
    while cause := missing():
        if clock() >= due:
            due = clock() + SAY_S
            say(f"waiting for the schema: {cause}")
        sleep(LOOK_S)


def _answer(url: str, database: ClickHouse) -> str:
    """The answer to QUERY; that of an empty table where there is none. Raises OSError."""
    parameters = urlencode({"database": database.database, "query": QUERY})
    file = database.password.get("password.file", "")
    password = Path(file).read_text().removesuffix("\n") if file else ""
    headers = {"X-ClickHouse-User": database.user, "X-ClickHouse-Key": password}
    request = urllib.request.Request(f"{url.rstrip('/')}/?{parameters}", headers=headers)
    context = ssl.create_default_context(cafile=database.authority or None) if url.startswith("https:") else None
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S, context=context) as answer:
            text: str = answer.read().decode()
        return text
    except urllib.error.HTTPError as error:
        if error.headers.get("X-ClickHouse-Exception-Code") in MISSING:
            return "0 0"
        raise OSError(error.read(200).decode(errors="replace").strip() or str(error)) from error


def main() -> int:
    try:
        cause = missing(Addresses.from_environment().clickhouse)
    except SettingsError as error:
        cause = str(error)
    if cause:
        print(cause)
    return 1 if cause else 0


if __name__ == "__main__":
    sys.exit(main())
