"""Vertical scaling as in Sora 5.2 (Figure 11): cart from 2 to 4 cores, its threads left alone or sized.

The testbed's cart under the paper's large variation, the threshold scaler of its ConScale comparison (80 %; 2 or 4
cores), and threads that fit 2 cores to start with. Users think for 0.5 s, as in `bench.profiled`; 440 of them ask for
up to 840 a second, more than 4 cores do with any number of threads.
"""

from __future__ import annotations

from dataclasses import replace

from bench.plots import plot
from bench.profiled import THINK_S
from bench.results import OUT
from bench.timeline import Timeline, drive
from bench.timeline_table import figures
from testbed.autoscale import VerticalScaler
from testbed.autoscale_agent import VerticalAgent
from testbed.bursty import LARGE_VARIATION, LENGTH
from testbed.distributions import Exponential
from testbed.presets.sock_shop import CART, CART_THREADS
from testbed.simulation import Scenario, Simulation

USERS, THREADS = 440, 12
HARDWARE, SLUICE = "hardware only", "hardware and Sluice"


def scenario() -> Scenario:
    return replace(CART.build(USERS, {CART_THREADS: THREADS}, LARGE_VARIATION), think=Exponential(THINK_S))


def scale(simulation: Simulation) -> VerticalAgent:
    return VerticalAgent(simulation, "cart", VerticalScaler(lowest=2, highest=4, step=2))


def runs(seconds: float) -> dict[str, Timeline]:
    return {
        name: drive(
            scenario(), CART_THREADS, CART.threshold_ms[CART_THREADS], CART.user_threshold_ms, seconds, scale, tuned
        )
        for name, tuned in ((HARDWARE, False), (SLUICE, True))
    }


def run(quick: bool) -> str:
    """The table as Markdown; the picture goes to `out/`."""
    seconds = 120.0 if quick else LENGTH
    found = runs(seconds)
    marks = [(at, f"{cores:g} cores") for at, cores in found[HARDWARE].cores[1:]]
    title = f"Cart, large variation, {USERS} users: CPU limit scaled by a threshold, {THREADS} threads to start with"
    plot(OUT / "scaling.png", title, found, CART.user_threshold_ms / 1e3, marks, "cores")
    overloads = ((45.0, 95.0), (215.0, 300.0), (500.0, 590.0))
    spans = {"all": (CART.warm_up_s, seconds)} | {
        f"{since:.0f} to {until:.0f} s": (since, until) for since, until in overloads if until <= seconds
    }
    return figures(found, spans) + "\n![scaling](scaling.png)\n"
