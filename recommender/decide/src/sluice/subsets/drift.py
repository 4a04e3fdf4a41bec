"""Drift: the contention and the loads that a solution was made for, beside those of now."""

from __future__ import annotations

from sluice.subsets.application import Application, Host
from sluice.subsets.calls import rates
from sluice.subsets.state import Drift, SolverTrigger


def drift(was: Application, now: Application, when: SolverTrigger) -> Drift:
    """Worked, with the usual triggers: CPU from 0.1 to 0.7 and 0.3 to 0.35, and calls from 100 to 300: (1, 1)."""
    before = {host.name: host for host in was.hosts}
    used = {container.host for service in now.services for container in service.containers}
    hosts = sum(
        host.name in used and host.name in before and _moved(before[host.name], host) >= when.drift
        for host in now.hosts
    )
    before_rates, now_rates = rates(was), rates(now)
    pairs = sum(
        abs(now_rates[pair] / rate - 1) >= when.load for pair, rate in before_rates.items() if pair in now_rates
    )
    return Drift(hosts, pairs)


def _moved(previous: Host, now: Host) -> float:
    return max(
        abs(previous.cpu - now.cpu),
        abs(previous.memory_bandwidth - now.memory_bandwidth),
        abs(previous.network - now.network),
    )
