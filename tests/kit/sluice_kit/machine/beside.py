"""Work that goes on in a thread while something else is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event


@contextmanager
def beside(work: Callable[[], None], end: Event) -> Iterator[None]:
    """Runs `work`, which ends once `end` is set. Raises its error at the end: a run without it shows nothing."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work)
        try:
            yield
        finally:
            end.set()
            running.result()
