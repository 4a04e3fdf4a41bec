"""The pauses of one instance while a run goes on (``laws.Pauses``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .laws import Pauses

if TYPE_CHECKING:
    from .service import Instance

EVERY_S = 1.0


class PauseAgent:
    """Stops the instance's threads every second, from one second after it was built."""

    def __init__(self, instance: Instance, pauses: Pauses) -> None:
        self._instance = instance
        self._pauses = pauses
        instance.engine.after(EVERY_S, self._pause, None)

    def _pause(self, _: None) -> None:
        instance = self._instance
        engine = instance.engine
        engine.after(EVERY_S, self._pause, None)
        in_flight = instance.threads.in_use if instance.threads else instance.cpu.runnable
        if in_flight:
            instance.resumes = engine.now + self._pauses.seconds(in_flight)
            instance.cpu.stop()
            engine.at(instance.resumes, self._resume, None)

    def _resume(self, _: None) -> None:
        self._instance.cpu.go()
