"""Makes the latency model of all services: trained where there are enough samples, pooled where there are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sluice.subsets.latency.boosted import FEWEST, train
from sluice.subsets.latency.missing import complete
from sluice.subsets.latency.model import LatencyModel, ServiceLatency
from sluice.subsets.latency.pooled import pooled_latency, unknown_latency
from sluice.subsets.latency.samples import LatencySamples, pooled


def latency_model(
    samples: Mapping[str, LatencySamples], services: Iterable[str], usual_rate_per_s: float = 1.0
) -> LatencyModel:
    """The model of `services`. Services without samples use those of all services.

    usual_rate_per_s: the mean rate of a container, for the case that there are no samples at all.
    """
    known = {name: samples[name] for name in sorted(services) if name in samples and len(samples[name])}
    everything = [samples[name] for name in sorted(samples) if len(samples[name])]
    notes, few, strangers = [], [], []
    by_service: dict[str, ServiceLatency] = {}
    for name, of_service in known.items():
        complete_samples, chosen = complete(of_service)
        if not chosen.all():
            strangers.append(f"{name} ({len(of_service) - len(complete_samples)} of {len(of_service)})")
        if len(complete_samples) >= FEWEST:
            by_service[name] = train(complete_samples)
            continue
        by_service[name] = pooled_latency(of_service, f"pooled: {len(of_service)} samples, scaled by utilization")
        few.append(f"{name} ({len(of_service)})")
    if strangers:
        notes.append(
            f"latency samples with an unknown utilization of their host: {', '.join(strangers)}; the model is trained"
            " without them"
        )
    if few:
        notes.append(
            f"fewer than {FEWEST} latency samples of {', '.join(few)}: no model is trained, and their pooled"
            " distribution is scaled by utilization"
        )
    if not everything:
        notes.append("no latency samples: the solver compares containers by the utilization of their hosts alone")
        return LatencyModel({}, unknown_latency(usual_rate_per_s), False, tuple(notes))
    other = pooled_latency(pooled(everything), "pooled: the samples of all services, scaled by utilization")
    strange = sorted(set(services) - known.keys())
    if strange:
        notes.append(
            f"no latency samples of {', '.join(strange)}: those of all services, scaled by utilization, replace them"
        )
    return LatencyModel(by_service, other, True, tuple(notes))
