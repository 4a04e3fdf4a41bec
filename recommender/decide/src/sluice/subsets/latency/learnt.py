"""A trained latency model with its version and its error."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sluice.subsets.fleet import Ints
from sluice.subsets.latency.held_out import HeldOut, held_out
from sluice.subsets.latency.missing import complete
from sluice.subsets.latency.model import LatencyModel
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.latency.training import latency_model


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """version: the time of the request to train it, ms of Unix time, so that versions grow. accuracy: by service, for
    those with a model of their own."""

    model: LatencyModel
    version: int
    accuracy: Mapping[str, HeldOut] = field(default_factory=dict)


def learn(
    samples: Mapping[str, tuple[LatencySamples, Ints]], services: Collection[str], usual_rate_per_s: float, version: int
) -> TrainedModels:
    """Trains a model of `services`. samples: by service, with the starts of their windows. It trains twice: once
    without the samples that are held out."""
    accuracy = {name: how for name in services if name in samples and (how := _held_out(*samples[name])) is not None}
    model = latency_model({name: sample for name, (sample, _) in samples.items()}, services, usual_rate_per_s)
    return TrainedModels(model, version, accuracy)


def _held_out(samples: LatencySamples, window: Ints) -> HeldOut | None:
    complete_samples, chosen = complete(samples)
    return held_out(complete_samples, window[chosen])
