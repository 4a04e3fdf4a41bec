"""Waits for what has to come, for as long as anything moves: speed is not tested, and what is at rest does not change.

A wait is given up when neither its value nor any count of the stack has changed for STILL_S
(watchdog/watch.py).
"""

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeVar

Key = TypeVar("Key", bound=Hashable)

#: Neither the awaited value nor any count of the stack changed for this long: nothing more will come. A busy machine
#: takes three times as long as an idle one, on which the longest gap (a worker that was killed is replaced) is 20 s.
STILL_S = 75.0
#: Where no stack is watched, and where all moves but the awaited value: something else is being sent.
PATIENCE_S = 300.0
#: Twice the time between two writes of a table on the tests' stack (summary-flush-ms), and some.
STEADY_S = 1.2
POLL_S = 0.3


class Watch(Protocol):
    """What a wait asks of whoever watches the stack."""

    def moved_at(self) -> float:
        """When a count of the stack last changed, by time.monotonic()."""

    def gave_up(self, still_s: float) -> None:
        """A wait was given up, after nothing had moved for so long."""


#: None where no stack is watched.
watch: Watch | None = None


class Patience:
    """Of one wait."""

    def __init__(self) -> None:
        self._moved_at = time.monotonic()
        self._value: Any = None

    def is_over(self, value: Any) -> bool:
        """True when nothing has moved for too long, the awaited `value` included."""
        now = time.monotonic()
        if value != self._value:
            self._value, self._moved_at = value, now
        same_s = now - self._moved_at
        if watch is None:
            return same_s >= PATIENCE_S
        still_s = now - max(self._moved_at, watch.moved_at())
        if still_s < STILL_S and same_s < PATIENCE_S:
            return False
        watch.gave_up(same_s)
        return True


def eventually(probe: Callable[[], Any], expected: Any, steady_s: float = STEADY_S) -> Any:
    """Polls until `probe() == expected`, and it is so still `steady_s` later; returns the last value either way.

    The steady time lets a count that is still rising overshoot: "exactly" must not pass on its way to too many.
    """
    patience = Patience()
    while True:
        value = probe()
        if value == expected:
            if not steady_s:
                return value
            time.sleep(steady_s)
            value = probe()
            if value == expected:
                return value
        if patience.is_over(value):
            return value
        time.sleep(POLL_S)


def settled(probes: Mapping[Key, Callable[[], list[str]]], steady_s: float = STEADY_S) -> dict[Key, list[str]]:
    """Asks all until none has differences, and none has any still after one steady time; each one's last answer.

    A wait for several probes, one after the other, would have a steady time each.
    """
    patience = Patience()
    differences: dict[Key, list[str]] = {}
    open_ones = list(probes)
    while True:
        began = time.monotonic()
        differences |= {key: probes[key]() for key in open_ones}
        open_ones = [key for key in open_ones if differences[key]]
        if not open_ones:
            time.sleep(steady_s)
            differences = {key: probe() for key, probe in probes.items()}
            open_ones = [key for key in probes if differences[key]]
            if not open_ones:
                return differences
        if patience.is_over(dict(differences)):
            return differences
        time.sleep(max(POLL_S, time.monotonic() - began))  # what is waited for needs the processor, too


def until(what: str, condition: Callable[[], bool]) -> None:
    """Polls until `condition()` is true; fails, naming `what`, when nothing moves any more."""
    patience = Patience()
    while not condition():
        assert not patience.is_over(None), f"{what}: nothing moves any more"
        time.sleep(POLL_S)
