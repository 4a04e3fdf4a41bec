"""What sizes the pools in a run: the decider's configuration, and the sizes at the start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice_kit.applications.polyglot import Polyglot
from sluice_kit.applications.polyglot_pools import POOLS, Sizes, drawn

SLO_MS = 400
"""Of the gateway. The others' thresholds follow from it: the SLO less what is measured upstream (Sora 3.3)."""
MOST = 200
FIXED = "best fixed"
LIMITER = "gradient2 at the client"
LIMITED = "gateway.catalogue"
"""The pool on which a user would put a limiter of the client: the one HTTP client that has a pool."""


@dataclass(frozen=True)
class Method:
    """model: of the decider, whose sizes an actuator applies; "" for none. published: a model applied without it. The
    autoscaler of CPU limits runs beside every method."""

    name: str
    model: str = ""
    published: str = ""


METHODS = {
    method.name: method
    for method in (
        Method("hardware only"),
        Method("sluice", "belief"),
        Method("scg with our gates", "scg"),
        Method("sct with our gates", "sct"),
        Method("scg as published", published="scg"),
        Method("sct as published", published="sct"),
        Method(FIXED),
        Method(LIMITER),
    )
}


def config(model: str, app: Polyglot) -> dict[str, Any]:
    """The decider's file: the gateway's SLO and all pools. A published model has the product's loop and gates."""
    keys = [pool.key(app) for pool in POOLS]
    # No user waits for a consumer, so no SLO reaches it.
    promise = [{"threshold": "1s"} if pool.service == "shipping" else {"slo": ["shop"]} for pool in POOLS]
    bounds = {"bounds": {"min": 1, "max": MOST}, "model": model or "belief"}
    return {
        "slos": [{"name": "shop", "service": "gateway", "latency": f"{SLO_MS}ms"}],
        "pools": [key | kept | bounds for key, kept in zip(keys, promise, strict=True)],
    }


def first_sizes(method: str, seed: int, best: Mapping[str, int]) -> Sizes:
    """best: sizes of a sweep, of `FIXED` alone."""
    return dict(best) if method == FIXED else drawn(seed)
