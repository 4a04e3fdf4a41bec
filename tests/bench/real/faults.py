"""Bottlenecks that are put into the running application: what is done, and the service that is to be named.

None is labelled: spans, metrics and tables know nothing of it.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

import psycopg

from sluice_kit.applications.polyglot import Polyglot
from sluice_kit.applications.polyglot_pools import Sizes, resize
from sluice_kit.machine.beside import beside

#: Enough in every pool that none of them is the bottleneck.
AMPLE: Sizes = {
    "gateway.postgresql": 32, "gateway.catalogue": 64, "catalogue.postgresql": 12, "cart.server": 32,
    "cart.postgresql": 32, "orders.server": 32, "orders.postgresql": 12, "shipping.consumer": 8,
    "shipping.postgresql": 8,
}  # fmt: skip
Put = Callable[[Polyglot], AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """culprit: the service whose time it is; a store without spans of its own is its only caller's."""

    kind: str
    culprit: str
    put: Put

    @property
    def name(self) -> str:
        return f"{self.kind} of {self.culprit}"


def locked(table: str, held_s: float = 0.25, free_s: float = 0.15) -> Put:
    """A session that locks a table again and again, as a migration or a batch does."""

    @contextmanager
    def put(app: Polyglot) -> Iterator[None]:
        end = threading.Event()

        def hold() -> None:
            with psycopg.connect(app.database) as session:
                while not end.wait(free_s):
                    session.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
                    end.wait(held_s)
                    session.rollback()

        with beside(hold, end):
            yield

    return put


def slow_query(table: str, takes_s: float = 0.15) -> Put:
    """A view in a table's place, whose plan waits: what a lost index on a large table costs."""

    @contextmanager
    def put(app: Polyglot) -> Iterator[None]:
        with psycopg.connect(app.database, autocommit=True) as session:
            session.execute(f"ALTER TABLE {table} RENAME TO {table}_kept")
            session.execute(f"CREATE VIEW {table} AS SELECT kept.* FROM {table}_kept kept, pg_sleep({takes_s})")
            try:
                yield
            finally:
                session.execute(f"DROP VIEW {table}")
                session.execute(f"ALTER TABLE {table}_kept RENAME TO {table}")

    return put


def few(pool: str, size: int) -> Put:
    @contextmanager
    def put(app: Polyglot) -> Iterator[None]:
        resize(app, {pool: size})
        try:
            yield
        finally:
            resize(app, {pool: AMPLE[pool]})

    return put


def throttled(service: str, cores: float) -> Put:
    @contextmanager
    def put(app: Polyglot) -> Iterator[None]:
        app.cpu[service].limit(cores)
        try:
            yield
        finally:
            app.cpu[service].limit(None)

    return put


def paused(service: str, stopped_s: float = 0.2, runs_s: float = 0.2) -> Put:
    """Its processes stand still half of the time, as in pauses of a collector of garbage or of a shared host."""

    @contextmanager
    def put(app: Polyglot) -> Iterator[None]:
        end = threading.Event()

        def processes(number: signal.Signals) -> None:
            for pid in (app.cpu[service].limits / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), number)

        def turns() -> None:
            while not end.wait(runs_s):
                processes(signal.SIGSTOP)
                end.wait(stopped_s)
                processes(signal.SIGCONT)

        try:
            with beside(turns, end):
                yield
        finally:
            processes(signal.SIGCONT)

    return put


FAULTS = (
    Fault("lock", "catalogue", locked("items")),
    Fault("lock", "cart", locked("carts")),
    Fault("lock", "gateway", locked("sessions")),
    Fault("slow database", "cart", slow_query("carts")),
    Fault("slow database", "catalogue", slow_query("items")),
    Fault("threads", "cart", few("cart.server", 1)),
    Fault("threads", "orders", few("orders.server", 1)),
    Fault("connections", "catalogue", few("catalogue.postgresql", 1)),
    Fault("CPU", "cart", throttled("cart", 0.08)),
    Fault("CPU", "gateway", throttled("gateway", 0.15)),
    Fault("CPU", "catalogue", throttled("catalogue", 0.02)),
    Fault("slow dependency", "orders", paused("orders")),
    Fault("slow dependency", "catalogue", paused("catalogue")),
)
