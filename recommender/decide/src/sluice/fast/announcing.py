"""Announces that loops are compiled: it takes long, and happens where Numba's cache does not have them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener


class _Compilations(Listener):
    """say: called once, before the first loop is compiled."""

    def __init__(self, say: Callable[[str], object], expected: str) -> None:
        self._say, self._expected = say, expected
        self.began_s: float | None = None

    def on_start(self, event: Event) -> None:
        if self.began_s is not None:
            return
        self.began_s = time.monotonic()
        folder = event.data["dispatcher"].stats.cache_path
        kept = (
            f"it keeps them for the next process, the first in {folder}"
            if folder
            else "no folder is writable to keep them"
        )
        self._say(f"compiling loops, which takes {self._expected}; {kept}")

    def on_end(self, event: Event) -> None: ...


@contextmanager
def announcing(say: Callable[[str], object], expected: str) -> Iterator[None]:
    """Gives `say` a line before the block's first loop is compiled, and one behind the block. expected: the time in
    words. Without a loop to compile it is silent."""
    compilations = _Compilations(say, expected)
    with install_listener("numba:compile", compilations):
        yield
    if compilations.began_s is not None:
        say(f"compiled the loops in {time.monotonic() - compilations.began_s:.0f} s")
