"""supervisord, with one more call over its socket: `restarts.counts`, how often it restarted each program."""

from collections import Counter
from typing import Any

from supervisor import events, supervisord
from supervisor.states import ProcessStates


class Restarts:
    """An interface of supervisord's XML-RPC: clients can call each public method."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        events.subscribe(events.ProcessStateStartingEvent, self._starting)

    def _starting(self, event: Any) -> None:
        if event.from_state in (ProcessStates.EXITED, ProcessStates.BACKOFF):  # a first start comes from STOPPED
            self._counts[event.process.config.name] += 1

    def counts(self) -> dict[str, int]:
        return dict(self._counts)


def make(_supervisord: Any, **_options: str) -> Restarts:
    """Called by supervisord, as its configuration says."""
    return Restarts()


if __name__ == "__main__":
    supervisord.main()
