"""Waits until the schema is the one that this source tree needs."""

import time
from collections.abc import Callable, Mapping, Sequence

from migrate.errors import MigrateError
from migrate.migrations import Applied, Migration

LOOK_S, SAY_S = 2.0, 30.0


def missing(migrations: Sequence[Migration], applied: Mapping[int, Applied]) -> str:
    """What is missing, with the remedy; "" if the newest migration, or a newer one, is recorded."""
    needed = migrations[-1].version
    if applied and max(applied) >= needed:
        return ""
    return f"have {max(applied) if applied else 'none'}, need {needed}; run `sluice-migrate up`"


def wait(
    missing: Callable[[], str],
    limit_s: float,
    say: Callable[[str], None],
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Calls `missing` until it returns "", and says every 30 s why it waits. Raises MigrateError after limit_s.

    A server that is away or refuses the login is waited for too: its address or password may be mended meanwhile.
    """
    start, said = clock(), -SAY_S
    while cause := _cause(missing):
        now = clock()
        if now - start >= limit_s:
            raise MigrateError(f"wait for the schema: not ready after {limit_s:g} s: {cause}")
        if now - start - said >= SAY_S:
            said = now - start
            say(f"waiting for the schema: {cause}")
        sleep(min(LOOK_S, start + limit_s - now))


def _cause(missing: Callable[[], str]) -> str:
    try:
        return missing()
    except MigrateError as error:
        return str(error)
