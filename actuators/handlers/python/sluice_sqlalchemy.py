"""SQLAlchemy's pool, with a size that can be changed while it runs: create_engine(url, poolclass=ResizablePool)."""

from typing import Any

from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.util.queue import Empty


class ResizablePool(QueuePool):
    """Without overflow: pool_size is the limit. SQLAlchemy 2.0 and 2.1; `_overflow` is what exceeds the queue."""

    def __init__(self, creator: Any, pool_size: int = 5, max_overflow: int = 0, **options: Any) -> None:
        super().__init__(creator, pool_size=pool_size + max(0, max_overflow), max_overflow=0, **options)

    def sizes(self) -> tuple[int, int]:
        """The limit and the connections that there are."""
        with self._overflow_lock:
            return self._pool.maxsize, self._pool.maxsize + self._overflow

    def use(self) -> tuple[int, int | None]:
        """Connections that are checked out, and threads that wait for one; None where the queue does not tell these."""
        waiters = getattr(getattr(self._pool, "not_empty", None), "_waiters", None)
        with self._overflow_lock:
            return max(0, self.checkedout()), None if waiters is None else len(waiters)

    def resize(self, limit: int) -> None:
        """Idle connections beyond the limit are closed at once, those in use as they come back.

        When all are in use, what a larger limit allows is opened at once: who waits looks at the queue alone.
        """
        with self._overflow_lock:
            there = self._pool.maxsize + self._overflow
            self._pool.maxsize, self._overflow = limit, there - limit
        all_used = there > 0 and not self._pool.qsize()
        for _ in range(limit - there if all_used else 0):
            if not self._inc_overflow():
                return
            try:
                self._pool.put(self._create_connection(), False)
            except Exception:  # it is told to whom it happens next, as where nobody resizes
                self._dec_overflow()
                return
        while self._overflow > 0:
            try:
                record = self._pool.get(False)
            except Empty:
                return
            self._close(record)

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        if self._overflow > 0:
            self._close(record)
        else:
            super()._do_return_conn(record)

    def _close(self, record: ConnectionPoolEntry) -> None:
        try:
            record.close()
        finally:
            self._dec_overflow()
