"""An agent as bytes, and back: versioned, under a checksum, complete with replay memory and random state."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import numpy as np

from sluice.pools.learn.agent import Agent
from sluice.pools.learn.network import Array
from sluice.pools.learn.settings import Settings
from sluice.pools.learn.sizes import Ints
from sluice.pools.learn.trials import COLUMNS, Trials

VERSION = 1


class CheckpointError(ValueError):
    """It is not taken up, and why."""


def checksum(data: bytes) -> str:
    return sha256(data).hexdigest()


def written(agent: Agent) -> bytes:
    head = {
        "version": VERSION,
        "settings": asdict(agent.settings),
        "until_ms": agent.until_ms,
        "adam_steps": agent.adam.steps,
        "asked_per_s": agent.asked_per_s,
        "owed": agent.owed,
        "labels": list(agent.trials),
        "most_per_s": [each.most_per_s for each in agent.trials.values()],
        "random": agent.random.bit_generator.state,
    }
    arrays = {
        "sizes": agent.sizes,
        "theta": agent.theta,
        "target": agent.target,
        "mean": agent.adam.mean,
        "square": agent.adam.square,
        "state": agent.state,
        "replay": agent.replay.rows,
    }
    arrays |= {f"trials_{i}": each.rows for i, each in enumerate(agent.trials.values())}
    out = io.BytesIO()
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def restored(data: bytes, digest: str, sizes: Ints, settings: Settings) -> Agent:
    """CheckpointError where it is another file than the log names, of another version, or for other sizes."""
    if checksum(data) != digest:
        raise CheckpointError("its checksum is another one than in the log: it is damaged, or of another time")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            head = json.loads(found["head"].tobytes())
            if head["version"] != VERSION:
                raise CheckpointError(f"version {head['version']} is not legal; legal: {VERSION}")
            if not np.array_equal(found["sizes"], sizes):
                raise CheckpointError("it has other sizes than the pool's bounds give")
            if head["settings"] != asdict(settings):
                raise CheckpointError("it was trained with other settings")
            return _agent(head, {name: found[name] for name in found.files}, sizes, settings)
    except CheckpointError:
        raise
    except Exception as cause:
        raise CheckpointError(f"it cannot be read: {type(cause).__name__}: {cause}") from cause


def _agent(head: dict[str, Any], found: dict[str, Array], sizes: Ints, settings: Settings) -> Agent:
    agent = Agent(sizes, 0, settings)
    for name, into in (("theta", agent.theta), ("target", agent.target), ("state", agent.state)):
        into[:] = _like(found[name], into.shape, name)
    agent.adam.mean[:] = _like(found["mean"], agent.theta.shape, "mean")
    agent.adam.square[:] = _like(found["square"], agent.theta.shape, "square")
    agent.adam.steps, agent.until_ms, agent.owed = (int(head[name]) for name in ("adam_steps", "until_ms", "owed"))
    agent.asked_per_s = float(head["asked_per_s"])
    agent.random.bit_generator.state = head["random"]
    agent.replay.restore(found["replay"])
    for i, (label, most) in enumerate(zip(head["labels"], head["most_per_s"], strict=True)):
        rows = found[f"trials_{i}"]
        agent.trials[label] = Trials(_like(rows, (len(rows), len(COLUMNS)), "trials"), float(most))
        agent.label = label
    return agent


def _like(array: Array, shape: tuple[int, ...], name: str) -> Array:
    if array.shape != shape or not np.isfinite(array).all():
        raise CheckpointError(f"{name} of shape {array.shape} is not legal; legal: {shape}, finite")
    return array
