"""Closed-loop users: each thinks, sends one request, waits for the response, and thinks again."""

from collections.abc import Callable

from .application import Application
from .distributions import Distribution, stream
from .mix import Mix
from .request import Request

REFRESH = 0.25
"""Seconds between two looks at the load shape."""

Outcome = Callable[[float, float, bool], None]
"""Called as (time of the response, response time seen by the user, failed), seconds."""


class ClosedLoop:
    """Keeps ``shape(now) * most`` users in the system.

    Users who come start with a think time; users who are too many go when their think time ends, so that a fall
    takes about one think time to show.
    """

    def __init__(
        self,
        application: Application,
        mix: Mix,
        think: Distribution,
        most: int,
        shape: Callable[[float], float],
        seed: int,
        outcome: Outcome,
    ) -> None:
        self._application = application
        self._engine = application.engine
        self._mix = mix
        self._choose = stream(seed, "users", "mix")
        self._think = think.sampler(stream(seed, "users", "think"))
        self._shape = shape
        self._outcome = outcome
        self.most = most
        self.present = 0
        self._wanted = 0
        self._refresh(None)

    def _refresh(self, _: None) -> None:
        self._wanted = round(self._shape(self._engine.now) * self.most)
        while self.present < self._wanted:
            self.present += 1
            self._engine.after(self._think(), self._wake, None)
        self._engine.after(REFRESH, self._refresh, None)

    def _wake(self, _: None) -> None:
        if self.present > self._wanted:
            self.present -= 1
            return
        self._application.submit(self._mix.choose(self._choose), self._answered)

    def _answered(self, request: Request) -> None:
        now = self._engine.now
        self._outcome(now, now - request.submitted, request.failed)
        self._engine.after(self._think(), self._wake, None)
