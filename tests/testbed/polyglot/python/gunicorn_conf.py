"""gunicorn's configuration: its threads and SQLAlchemy's connections can be resized by an actuator.

POOLS (HOST:PORT) and TOKEN (a file) in the environment.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sluice_pools import serve

worker_class = "gthread"
workers = 1
threads = 4
keepalive = 75  # callers keep their connections
GRACE_S = 1.0


class Threads:
    """The executor of a gthread worker, which has no size to set: another one takes its place.

    Requests that the old one has, also waiting ones, end there. So for a moment more threads run than the new size.
    """

    def __init__(self, worker: Any) -> None:
        self._worker, self._limit = worker, int(worker.cfg.threads)

    def sizes(self) -> tuple[int, int]:
        return self._limit, len(self._worker.tpool._threads)

    def use(self) -> tuple[int | None, int | None]:
        return None, self._worker.tpool._work_queue.qsize()

    def resize(self, limit: int) -> None:
        old, self._worker.tpool = self._worker.tpool, ThreadPoolExecutor(max_workers=limit)
        self._limit = limit
        # The worker's loop may have read the old one, and is about to submit to it.
        threading.Timer(GRACE_S, old.shutdown, kwargs={"wait": False}).start()


def post_worker_init(worker: Any) -> None:
    from cart import engine

    host, _, port = os.environ["POOLS"].rpartition(":")
    serve(host, int(port), os.environ["TOKEN"], {"threads": Threads(worker), "connections": engine.pool})
