"""A CPU shared by all runnable threads, which loses speed as they grow in number."""

from heapq import heappop, heappush
from typing import Any

from .engine import Action, Engine
from .host import Host


def total_rate(runnable: int, cores: float, contention: float, crosstalk: float) -> float:
    """Work done per second of time by ``runnable`` threads together, in seconds of work.

    The universal scalability law, its linear speed-up bounded by the cores::

        R(n) = min(n, cores) / (1 + contention * (n - 1) + crosstalk * n * (n - 1))

    Contention is the share of work that is serialised (locks, the scheduler); crosstalk is what each pair of
    threads costs in coherency (cache lines, context switches). Worked values for cores = 2, contention = 0.01,
    crosstalk = 0.0005::

        n        1      2      4      8      16     32     64
        R(n)     1.000  1.978  1.931  1.821  1.575  1.107  0.549

    With R = 1.575 each of 16 threads runs at 1.575 / 16 = 0.098 of a free core.

    Source: N. J. Gunther, Guerrilla Capacity Planning (2007), equation 4.24, where the bound by cores is absent.
    """
    if runnable <= 0:
        return 0.0
    n = runnable
    return min(n, cores) / (1.0 + contention * (n - 1) + crosstalk * n * (n - 1))


class Cpu:
    """Processor sharing in virtual time: an arrival or a departure costs O(log n), not O(n).

    Every runnable job progresses at the same rate r(n) = R(n) / n. The virtual clock V advances by r(n) a
    second, so a job of work w that arrives at V ends when the virtual clock reads V + w, whatever comes and goes
    meanwhile: jobs wait in a heap by that reading, and only the first one has an event in the engine. When the
    set changes, that event is superseded (its epoch is old) and ignored when it fires.

    On a host that is short of cores the rate is r(n) times the share that the host gives, and times its speed where
    other tenants slow it.
    """

    __slots__ = (
        "_engine",
        "_epoch",
        "_host",
        "_jobs",
        "_rates",
        "_share",
        "_since",
        "_speed",
        "_started",
        "_virtual",
        "contention",
        "core_seconds",
        "cores",
        "crosstalk",
    )

    def __init__(
        self,
        engine: Engine,
        cores: float,
        contention: float = 0.0,
        crosstalk: float = 0.0,
        host: Host | None = None,
    ) -> None:
        if not (cores > 0 and contention >= 0 and crosstalk >= 0):
            raise ValueError(
                f"build a CPU: cores must be > 0, contention and crosstalk >= 0; got {cores}, {contention}, {crosstalk}"
            )
        self._engine = engine
        self.cores = cores
        self.contention = contention
        self.crosstalk = crosstalk
        self.core_seconds = 0.0
        """Seconds of cores occupied up to the last change, the penalty included; see ``used``."""
        self._host = host
        self._share = 1.0
        self._speed = host.speed if host is not None else 1.0
        self._jobs: list[tuple[float, int, Action, Any]] = []
        self._rates = [0.0]
        self._virtual = 0.0
        self._since = 0.0
        self._started = 0
        self._epoch = 0

    @property
    def runnable(self) -> int:
        return len(self._jobs)

    def run(self, work: float, done: Action, argument: Any) -> None:
        """Makes a thread runnable with ``work`` seconds of work; ``done(argument)`` runs when it is finished."""
        self._advance()
        self._started += 1
        heappush(self._jobs, (self._virtual + work, self._started, done, argument))
        self._schedule()

    def set_share(self, share: float) -> None:
        """The host gives this part of the cores from now on, 0..1."""
        self._advance()
        self._share = share
        self._schedule_next()

    def used(self) -> float:
        """Seconds of cores occupied since the start, the penalty included: what a container's CPU counter shows.

        Looking changes nothing: the clocks stay where they are, down to the last bit.
        """
        return self.core_seconds + (self._engine.now - self._since) * min(len(self._jobs), self.cores) * self._share

    def _rate(self, runnable: int) -> float:
        rates = self._rates
        while len(rates) <= runnable:
            n = len(rates)
            rates.append(self._speed * total_rate(n, self.cores, self.contention, self.crosstalk) / n)
        return rates[runnable]

    def _advance(self) -> None:
        now = self._engine.now
        n = len(self._jobs)
        if n:
            elapsed = now - self._since
            self._virtual += elapsed * self._rate(n) * self._share
            self.core_seconds += elapsed * min(n, self.cores) * self._share
        else:
            self._virtual = 0.0  # an idle CPU starts afresh: the reading keeps its precision on long runs
        self._since = now

    def _schedule(self) -> None:
        """After a change of what is runnable."""
        if self._host is not None:
            self._share = self._host.wants(self, min(len(self._jobs), self.cores))
        self._schedule_next()

    def _schedule_next(self) -> None:
        self._epoch += 1
        n = len(self._jobs)
        if n:
            remaining = max(0.0, self._jobs[0][0] - self._virtual)
            self._engine.after(remaining / (self._rate(n) * self._share), self._complete, self._epoch)

    def _complete(self, epoch: int) -> None:
        if epoch != self._epoch:
            return
        self._advance()
        self._virtual, _, done, argument = heappop(self._jobs)
        self._schedule()
        done(argument)
