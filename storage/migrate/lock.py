"""One migrator at a time on a database: a table is the lock, because a server creates it once.

Its comment holds the holder's name and a count, which the holder raises every BEAT_S. A lock whose comment stays the
same for STALE_S is of a migrator that was killed: the next one renames the table to the name of that holder, which can
be done once, and creates its own. No clock is compared.
"""

import threading
import time
import uuid
from collections.abc import Callable
from types import TracebackType
from typing import Self

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from migrate.cluster import Cluster
from migrate.errors import MigrateError

TABLE = "schema_lock"
BEAT_S, STALE_S, LOOK_S, SAY_S = 10.0, 60.0, 1.0, 30.0
EXISTS = "TABLE_ALREADY_EXISTS"


class Lock:
    """A context. It waits for a holder that lives, however long that takes."""

    def __init__(
        self,
        client: Client,
        database: str,
        cluster: Cluster | None = None,
        *,
        beat_s: float = BEAT_S,
        stale_s: float = STALE_S,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """client: of this lock alone, since a thread uses it. say: gets a line every 30 s of waiting."""
        self._client, self._database, self._say = client, database, say
        self._cluster = f" {cluster.clause}" if cluster else ""
        self._beat_s, self._stale_s = beat_s, stale_s
        self.holder = uuid.uuid4().hex
        self._lost, self._count, self._aside = "", 0, ""
        self._over = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        seen, since, said = "", time.monotonic(), 0.0
        while not self._created():
            comment, now = self._comment(), time.monotonic()
            if comment != seen:
                seen, since = comment, now
            if comment and now - since > self._stale_s:
                self._say(f"the lock {comment} is of a migrator that no longer lives: taking it")
                self._set_aside(comment.split()[0])
                continue
            if now - said > SAY_S:
                self._say(f"another migrator holds the lock ({comment}): waiting")
                said = now
            time.sleep(LOOK_S)
        self._beats.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._beats.join()
        for table in (TABLE if not self._lost else "", self._aside):
            if table:
                self._command(f"DROP TABLE IF EXISTS {self._name(table)}{self._cluster} SYNC")

    def check(self) -> None:
        """Raises MigrateError when another migrator has taken the lock: call it before each statement."""
        if self._lost:
            raise MigrateError(f"keep the lock: {self._lost}; run it again")

    def _created(self) -> bool:
        create = f"CREATE TABLE {self._name(TABLE)}{self._cluster} (nothing UInt8) ENGINE = Memory"
        try:
            self._client.command(f"{create} COMMENT '{self.holder} 0'")
        except ClickHouseError as error:
            if EXISTS in str(error):
                return False
            raise MigrateError(f"take the lock: {error}") from error
        return True

    def _set_aside(self, holder: str) -> None:
        """The table of that name stays until the end: another migrator that is late cannot rename this one's lock."""
        aside = f"{TABLE}_{holder}"
        try:
            self._client.command(f"RENAME TABLE {self._name(TABLE)} TO {self._name(aside)}{self._cluster}")
        except ClickHouseError:
            return  # another one was faster
        self._aside = aside

    def _comment(self) -> str:
        """ "" without a lock."""
        query = "SELECT comment FROM system.tables WHERE database = {database:String} AND name = {name:String}"
        try:
            rows = self._client.query(query, parameters={"database": self._database, "name": TABLE}).result_rows
        except ClickHouseError as error:
            raise MigrateError(f"read the lock: {error}") from error
        return str(rows[0][0]) if rows else ""

    def _beat(self) -> None:
        while not self._over.wait(self._beat_s):
            try:
                if self._comment().split()[:1] != [self.holder]:
                    self._lost = "another migrator has it"
                    return
                self._count += 1
                text = f"{self.holder} {self._count}"
                self._client.command(f"ALTER TABLE {self._name(TABLE)}{self._cluster} MODIFY COMMENT '{text}'")
            except (ClickHouseError, MigrateError, OSError):
                continue  # the server is away: the statements fail too, or it is back before the lock is stale

    def _command(self, text: str) -> None:
        try:
            self._client.command(text)
        except ClickHouseError as error:
            raise MigrateError(f"release the lock: {error}") from error

    def _name(self, table: str) -> str:
        return f"`{self._database}`.{table}"
