"""The state of a service drifts, its pool left alone or sized (Sora 5.3, Figure 12; ConScale III-C).

Two drifts: users of post-storage ask for ten posts instead of two (at 450 s of 720, as Figure 12), beside the
horizontal autoscaler; and the data set of catalogue's database grows, so that its wait is three times as long. In the
first the load is the preset's own, 4,500 users and 10 connections per replica; in the second that of `bench.profiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bench.plots import plot
from bench.profiled import PROFILED
from bench.results import OUT
from bench.timeline import Scale, Timeline, drive
from bench.timeline_table import figures
from testbed.autoscale import HorizontalScaler
from testbed.autoscale_agent import HorizontalAgent
from testbed.bursty import LENGTH
from testbed.events import RequestMix, ServiceTime
from testbed.presets.preset import Preset
from testbed.presets.social_network import CONNECTIONS, HEAVY, POST_STORAGE
from testbed.presets.sock_shop import CATALOGUE_CONNECTIONS
from testbed.simulation import Scenario, Simulation

MOST_REPLICAS = 4
HARDWARE, SLUICE = "hardware only", "hardware and Sluice"
CATALOGUE = next(preset for preset in PROFILED if preset.name == "catalogue")


@dataclass(frozen=True)
class Drift:
    """at_s: when; marked: in words; build: the scenario with a drift at a given second."""

    preset: Preset
    pool: str
    title: str
    at_s: float
    marked: str
    build: Callable[[float], Scenario]
    scale: Scale


def requests(at_s: float) -> Scenario:
    scenario = POST_STORAGE.build(POST_STORAGE.users, {CONNECTIONS: 10})
    return replace(scenario, events=(RequestMix(at_s, {HEAVY: 1.0}),))


def data(at_s: float) -> Scenario:
    scenario = CATALOGUE.build(CATALOGUE.users, {CATALOGUE_CONNECTIONS: 16})
    return replace(scenario, events=(ServiceTime(at_s, "catalogue-db", wait=3.0),))


def horizontally(simulation: Simulation) -> HorizontalAgent:
    return HorizontalAgent(simulation, "post-storage", HorizontalScaler(highest=MOST_REPLICAS))


DRIFTS = {
    "drift-requests": Drift(
        POST_STORAGE,
        CONNECTIONS,
        "Post-storage, large variation, 4,500 users: from 2 to 10 posts a request, beside the HPA; pool per replica",
        450.0,
        "light to heavy",
        requests,
        horizontally,
    ),
    "drift-data": Drift(
        CATALOGUE,
        CATALOGUE_CONNECTIONS,
        "Catalogue, bursts, 395 users: its database waits three times as long",
        360.0,
        "data set grows",
        data,
        lambda simulation: None,
    ),
}


def runs(drift: Drift, seconds: float, at_s: float) -> dict[str, Timeline]:
    preset, pool = drift.preset, drift.pool
    limits = (preset.threshold_ms[pool], preset.user_threshold_ms)
    return {
        name: drive(drift.build(at_s), pool, *limits, seconds, drift.scale, tuned)
        for name, tuned in ((HARDWARE, False), (SLUICE, True))
    }


def run(quick: bool) -> str:
    """The tables as Markdown; the pictures go to `out/`."""
    seconds = 120.0 if quick else LENGTH
    sections = []
    for name, drift in DRIFTS.items():
        at_s = drift.at_s * seconds / LENGTH
        found = runs(drift, seconds, at_s)
        slo_s = drift.preset.user_threshold_ms / 1e3
        plot(OUT / f"{name}.png", drift.title, found, slo_s, [(at_s, drift.marked)], "replicas")
        half = (at_s + seconds) / 2
        spans = {
            "before": (drift.preset.warm_up_s, at_s),
            f"{at_s:.0f} to {half:.0f} s": (at_s, half),
            f"{half:.0f} to {seconds:.0f} s": (half, seconds),
        }
        sections.append(f"### {drift.title}\n\n{figures(found, spans)}\n![{name}]({name}.png)\n")
    return "\n".join(sections)
