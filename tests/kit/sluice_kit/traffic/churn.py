"""Services whose instances come and go, under the names that the local stack's pools and subsets have."""

import random
from dataclasses import replace

from sluice_kit.traffic.made_trace import MadeTrace
from sluice_kit.traffic.messages import SentSpan

S = 1_000_000_000
SERVICES = ("frontend", "cart", "catalogue", "suggest", "suggest-index")
# 5 services x 40 places, each with another instance every minute: 200 new instances a minute.
PLACES, LIFE_S = 40, 60
# 20 deployments an hour: all instances have another version, in their names as a ReplicaSet's pods have.
VERSION_S = 180


def trace(rng: random.Random, prefix: str, end_ns: int) -> list[SentSpan]:
    """frontend calls cart, which calls catalogue, which calls its database; beside it suggest calls suggest-index."""
    made = MadeTrace(rng, end_ns, parts=16)
    names = {service: f"{prefix}{service}" for service in SERVICES}
    root = made.span(names["frontend"], "SERVER", 0, 15)
    call = made.span(names["frontend"], "CLIENT", 1, 9, root, peer_service=names["cart"])
    served = made.span(names["cart"], "SERVER", 2, 8, call)
    call = made.span(names["cart"], "CLIENT", 3, 7, served, peer_service=names["catalogue"])
    served = made.span(names["catalogue"], "SERVER", 4, 6, call)
    made.span(names["catalogue"], "CLIENT", 4, 5, served, peer_service=f"{prefix}catalogue-db")
    call = made.span(names["suggest"], "CLIENT", 10, 14, root, peer_service=names["suggest-index"])
    made.span(names["suggest-index"], "SERVER", 11, 13, call)
    instances = {service: instance(service, rng.randrange(PLACES), end_ns // S) for service in names.values()}
    return [replace(span, instance=instances[span.service]) for span in made.spans]


def instance(service: str, place: int, second: int) -> str:
    """Who has this place of a service at this Unix time. Places change one after another, a version all at once."""
    generation = (second * PLACES // LIFE_S + place) // PLACES
    return f"{service}-{second // VERSION_S:x}-{generation}-{place}"
