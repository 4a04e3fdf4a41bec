"""Applications of the size of Microns 7.5, and latency models for them."""

from __future__ import annotations

import numpy as np

from sluice.subsets.application import Application, Call, Container, Host, Root, Service
from sluice.subsets.latency.samples import LatencySamples

#: Microns 7.5: 425 services, 100 containers each, 2,000 hosts.
SERVICES, CONTAINERS, HOSTS = 425, 100, 2_000
#: Different services, as far as latency goes: training is no part of what is measured.
KINDS = 20
SAMPLES = 300
RATE_PER_S = 20.0


def large(services: int, containers: int, hosts: int) -> Application:
    """A tree of `services` under one root, each called by one of the later two thirds of those before it, by twos in
    parallel; utilizations of hosts between 10 and 70 % (Microns, figure 1a: most between 30 and 80 %)."""
    drawn = np.random.default_rng(12)
    machines = tuple(
        Host(f"h{number}", *map(float, item)) for number, item in enumerate(drawn.uniform(0.1, 0.7, (hosts, 3)))
    )
    on = drawn.integers(hosts, size=(services, containers))
    all_of = tuple(
        Service(
            name(number), tuple(Container(f"{name(number)}-{at}", f"h{on[number, at]}") for at in range(containers))
        )
        for number in range(services)
    )
    below: dict[int, list[int]] = {}
    for number in range(1, services):
        below.setdefault(int(drawn.integers(number // 3, number)), []).append(number)
    calls: dict[int, Call] = {}
    for number in reversed(range(services)):
        called = [calls[item] for item in below.get(number, [])]
        calls[number] = Call(name(number), tuple(tuple(called[at : at + 2]) for at in range(0, len(called), 2)))
    return Application(machines, all_of, (Root("read", RATE_PER_S * containers, calls[0]),))


def name(number: int) -> str:
    return f"s{number:05d}"


def samples(kind: int) -> LatencySamples:
    """Drawn: five times as long at 60 % utilization (Microns, 2.2), and 1 / (1 - busy) under load."""
    drawn = np.random.default_rng(100 + kind)
    rate, contention = RATE_PER_S * drawn.uniform(0.05, 4, SAMPLES), drawn.uniform(0.05, 0.8, (SAMPLES, 3))
    takes_ms = drawn.uniform(2, 10) * np.exp(np.log(5) / 0.6 * contention.max(axis=1))
    busy = np.minimum(rate * takes_ms / 1000 / 4, 0.95)
    mu = np.log(takes_ms / (1 - busy)) + drawn.normal(0, 0.03, SAMPLES)
    return LatencySamples(rate, contention, mu, (0.4 + 0.5 * busy) * drawn.uniform(0.95, 1.05, SAMPLES))
