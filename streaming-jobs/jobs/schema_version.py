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
# Those for an unknown user, and for a wrong or missing password, in all versions.
LOGIN = {"192", "193", "194", "516"}
ANSWER_S, LOOK_S, SAY_S = 10.0, 2.0, 30.0


def missing(database: ClickHouse, needed: int = NEEDED) -> str:
    """Why the jobs cannot write yet, with the remedy; "" once they can. Asks the servers in turn, until one answers.

    The migrator records a version after all statements of its migration, so a recorded version is there as a whole.
    """
    causes = []
    for url in database.url.split(","):
        try:
            records, newest = map(int, _answer(url, database).split())
        except (OSError, ValueError) as error:  # URLError and SSLError are OSErrors
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
    """The answer to QUERY; that of an empty table where there is none. Raises OSError that names the wrong setting."""
    parameters = urlencode({"database": database.database, "query": QUERY})
    file = database.password.get("password.file", "")
    password = Path(file).read_text().removesuffix("\n") if file else ""
    headers = {"X-ClickHouse-User": database.user, "X-ClickHouse-Key": password}
    request = urllib.request.Request(f"{url.rstrip('/')}/?{parameters}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_S, context=_tls(url, database.authority)) as answer:
            text: str = answer.read().decode()
        return text
    except urllib.error.HTTPError as error:
        code = error.headers.get("X-ClickHouse-Exception-Code")
        if code in MISSING:
            return "0 0"
        cause = error.read(200).decode(errors="replace").strip() or str(error)
        if code in LOGIN:
            login = f"the password of {file}" if file else "no password (SLUICE_CLICKHOUSE_PASSWORD_FILE)"
            cause = f"refuses SLUICE_CLICKHOUSE_USER={database.user} with {login}: {cause}"
        raise OSError(cause) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLError):
            raise OSError(f"TLS fails, {_trusted(database.authority)}: {error.reason}") from error
        raise


def _tls(url: str, authority: str) -> ssl.SSLContext | None:
    try:
        return ssl.create_default_context(cafile=authority or None) if url.startswith("https:") else None
    except OSError as error:
        raise OSError(f"{_trusted(authority)}: {error}") from error


def _trusted(authority: str) -> str:
    return f"SLUICE_CLICKHOUSE_CA={authority}" if authority else "SLUICE_CLICKHOUSE_CA is not set"


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
