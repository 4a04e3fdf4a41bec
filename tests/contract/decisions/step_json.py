"""States, observations and decisions of `step` as JSON, one field a name; for the vectors of `step.json`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from sluice.model.demand import Demand
from sluice.model.states import State
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence, Level, Second
from sluice.pools.estimate.model import Estimate
from sluice.pools.policy.decision import Basis, Decision
from sluice.pools.policy.observation import NO_BUCKETS, Buckets, Constraints, Observation, Occupancy
from sluice.pools.policy.pace import Beat
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState, Scaled
from sluice.pools.policy.trust import OperatorLook, RefusedSize, SizeRecord, Trust
from sluice.pools.sampling.verdict import Kind, Sampling

Json = Mapping[str, Any]


def state_of(given: Json) -> PoolState:
    """facts and learnt; levels as [cores, full, saturated, step, completions, seconds, in_flight_s], beats as [second,
    size, good, failed, in_flight_s, length_s], with judged, in_time and callers_s behind them where callers judge the
    pool; a field that is absent has its default."""
    facts, scaled = dict(given.get("facts", {})), given.get("scaled")
    if facts.get("change"):
        change = facts["change"]
        given_to = tuple(change.get("targets", ()))
        facts["change"] = Change(
            change["from_size"], change["to_size"], change["at_ms"], Basis(change["basis"]), given_to
        )
    if facts.get("state"):
        facts["state"] = State(facts["state"])
    if "trust" in facts:
        facts["trust"] = _trust(facts["trust"])
    return PoolState(
        Facts(**facts),
        _learnt(given.get("learnt", {})),
        Scaled(scaled["kept"], _learnt(scaled["learnt"])) if scaled else None,
    )


def _learnt(given: Json) -> Learnt:
    learnt = dict(given)
    levels = learnt.pop("levels", [])
    doubt = learnt.pop("doubt", {"score": 0.0, "aside": []})
    return Learnt(
        evidence=Evidence(tuple(Level(*level) for level in levels)),
        doubt=Doubt(doubt["score"], tuple(Second(*second) for second in doubt["aside"])),
        full=tuple(learnt.pop("full", ())),
        beats=tuple(Beat(*beat) for beat in learnt.pop("beats", ())),
        **learnt,
    )


def _trust(given: Json) -> Trust:
    """As `trust_json` has it: each figure by its name."""
    check = given.get("check")
    return Trust(
        **{
            **given,
            "measured": tuple(SizeRecord(**values) for values in given.get("measured", ())),
            "refused": tuple(RefusedSize(**values) for values in given.get("refused", ())),
            "check": OperatorLook(**check) if check else None,
        }
    )


def trust_json(trust: Trust) -> dict[str, Any]:
    """What is not as of a new pool."""
    values, new = asdict(trust), asdict(Trust())
    values = {name: value for name, value in values.items() if value != new[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def observation_of(given: Json) -> Observation:
    """buckets: one value for all of them, or a list; cores and sizes null where nobody told; good and callers
    absent where nobody judges."""
    buckets = given.get("buckets", {"start_ms": [], "bucket_s": 0.1})
    start_ms = np.array(buckets["start_ms"], dtype=np.int64)

    def column(name: str) -> Any:
        value = np.array(buckets.get(name, np.nan), dtype=np.float64)
        return np.broadcast_to(value, start_ms.shape).copy()

    return Observation(
        sizes=dict(given["sizes"]),
        buckets=Buckets(
            start_ms,
            column("concurrency"),
            column("completions"),
            buckets["bucket_s"],
            column("size"),
            column("cores"),
            good=column("good"),
            callers=column("callers"),
        ),
        cores=float("nan") if given["cores"] is None else given["cores"],
        slo_s=given["slo_s"],
        version=given.get("version", ""),
        constraints=Constraints(**given.get("constraints", {})),
        named=_estimate(given["named"]) if "named" in given else None,
        demand=Demand(**given["demand"]) if "demand" in given else None,
        occupancy=Occupancy(**given["occupancy"]) if "occupancy" in given else None,
        sampling=Sampling(**given["sampling"] | {"kind": Kind(given["sampling"]["kind"])})
        if "sampling" in given
        else None,
        sampled=NO_BUCKETS if given.get("sampling", {}).get("uniform") else None,
    )


def _estimate(given: Json) -> Estimate:
    """Of a published model: its state, and the sizes that it names."""
    return Estimate(**{**given, "state": State(given["state"])}, reasons=())


def decision_json(decision: Decision) -> dict[str, Any]:
    """What an actuator and people have of it; figures of the belief are not held to the digit."""
    return {
        "target": decision.target,
        "basis": decision.basis.value,
        "action": decision.action.value,
        "state": decision.state.value,
        "reasons": [code for code, _ in decision.reasons],
        **({"targets": list(decision.targets)} if decision.targets else {}),
    }
