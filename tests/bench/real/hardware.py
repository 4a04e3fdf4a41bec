"""A vertical autoscaler of real services: the rules of testbed/autoscale.py on the CPU limits of control groups."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sluice_kit.machine.beside import beside
from sluice_kit.machine.cgroups import Group
from testbed.autoscale import VerticalScaler

PERIOD_S = 15.0
"""As Kubernetes' controllers."""
FIRST, LOWEST, HIGHEST, STEP = 0.3, 0.1, 1.0, 0.2
"""Cores. All services share one core, so the highest is what there is."""
UNLIMITED = ("stores",)


@dataclass
class Accounts:
    """limits: (s since the start, service, cores) of each change, first those at the start."""

    limits: list[tuple[float, str, float]] = field(default_factory=list)
    used_s: float = 0.0
    seconds: float = 0.0

    @property
    def cores_used(self) -> float:
        return self.used_s / self.seconds if self.seconds else 0.0

    def cores_limited(self) -> float:
        """The mean of all limits together over the run.

        Worked: 0.3 cores for 10 s, then 0.5 for 10 s are 0.4.
        """
        total, now = 0.0, dict[str, tuple[float, float]]()
        for at, service, cores in self.limits:
            since, before = now.get(service, (at, 0.0))
            total += before * (at - since)
            now[service] = (at, cores)
        total += sum(cores * (self.seconds - since) for since, cores in now.values())
        return total / self.seconds if self.seconds else 0.0


@contextmanager
def scaled(groups: Mapping[str, Group]) -> Iterator[Accounts]:
    """Every service but its stores is scaled for the length of the block; then no limit is left."""
    accounts, end = Accounts(), threading.Event()
    limited = {name: group for name, group in groups.items() if name not in UNLIMITED}
    scalers = {name: VerticalScaler(LOWEST, HIGHEST, STEP) for name in limited}
    cores = dict.fromkeys(limited, FIRST)
    start = time.monotonic()
    first = {name: group.core_seconds() for name, group in groups.items()}

    def follow() -> None:
        before, since = {name: first[name] for name in limited}, start
        while not end.wait(PERIOD_S):
            now = time.monotonic()
            for name, group in limited.items():
                used = group.core_seconds()
                share = (used - before[name]) / (now - since) / cores[name]
                before[name] = used
                if (wanted := scalers[name].decide(cores[name], share)) != cores[name]:
                    cores[name] = wanted
                    group.limit(wanted)
                    accounts.limits.append((now - start, name, wanted))
            since = now

    for name, group in limited.items():
        group.limit(FIRST)
        accounts.limits.append((0.0, name, FIRST))
    try:
        with beside(follow, end):
            yield accounts
    finally:
        accounts.seconds = time.monotonic() - start
        accounts.used_s = sum(group.core_seconds() - first[name] for name, group in groups.items())
        for group in limited.values():
            group.limit(None)
