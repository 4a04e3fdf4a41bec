"""Open-loop arrivals: a Poisson process whose rate follows a shape, whatever the application makes of it."""

from collections.abc import Callable

from .application import Application
from .distributions import stream
from .mix import Mix
from .request import Request
from .users import Outcome


class OpenLoop:
    """Requests at rate ``shape(now) * most_per_s``, exact by thinning (Lewis and Shedler, 1979).

    Candidates come at the highest rate, and each is kept with probability shape(now): at 0.25 every fourth.
    """

    def __init__(
        self,
        application: Application,
        mix: Mix,
        most_per_s: float,
        shape: Callable[[float], float],
        seed: int,
        outcome: Outcome,
    ) -> None:
        if not 0 < most_per_s < float("inf"):
            raise ValueError(f"build open-loop arrivals: most_per_s must be > 0 and finite, got {most_per_s}")
        self._application = application
        self._engine = application.engine
        self._mix = mix
        self._most = most_per_s
        self._shape = shape
        self._outcome = outcome
        self._gaps = stream(seed, "arrivals", "gaps")
        self._kept = stream(seed, "arrivals", "kept")
        self._choose = stream(seed, "arrivals", "mix")
        self._engine.after(self._gaps.expovariate(self._most), self._arrive, None)

    def _arrive(self, _: None) -> None:
        self._engine.after(self._gaps.expovariate(self._most), self._arrive, None)
        if self._kept.random() < self._shape(self._engine.now):
            self._application.submit(self._mix.choose(self._choose), self._answered)

    def _answered(self, request: Request) -> None:
        now = self._engine.now
        self._outcome(now, now - request.submitted, request.failed)
