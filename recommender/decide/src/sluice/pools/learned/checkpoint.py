"""Writes an agent as bytes and reads it: versioned, with a checksum, complete with replay memories and random state."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import numpy as np

from sluice.pools.learned.agent import Agent
from sluice.pools.learned.learner import Learner
from sluice.pools.learned.network import Array
from sluice.pools.learned.settings import LearnerSettings
from sluice.pools.learned.sizes import Ints
from sluice.pools.learned.trials import COLUMNS, Trials

VERSION = 1


class CheckpointError(ValueError):
    """A checkpoint is not restored; the message says why."""


def checksum(data: bytes) -> str:
    return sha256(data).hexdigest()


def written(agent: Agent) -> bytes:
    head = {
        "version": VERSION,
        "settings": asdict(agent.settings),
        "until_ms": agent.until_ms,
        "asked_per_s": agent.asked_per_s,
        "label": agent.label,
        "trials": [[label, trials.most_per_s] for label, trials in agent.trials.items()],
        "learners": [[label, learner.adam.steps, learner.owed] for label, learner in agent.learners.items()],
        "random": agent.random.bit_generator.state,
    }
    arrays: dict[str, Array] = {"sizes": agent.sizes, "state": agent.state}
    arrays |= {f"trials_{i}": trials.rows for i, trials in enumerate(agent.trials.values())}
    for i, learner in enumerate(agent.learners.values()):
        arrays |= {f"{name}_{i}": array for name, array in _of(learner).items()}
        arrays[f"replay_{i}"] = learner.replay.rows
    out = io.BytesIO()
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def restored(data: bytes, digest: str, sizes: Ints, settings: LearnerSettings) -> Agent:
    """The agent in `data`. CheckpointError where it is another file than the journal names, of another version, or for
    other sizes."""
    if checksum(data) != digest:
        raise CheckpointError("its checksum differs from the journal's: the file is damaged, or of another time")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            head = json.loads(arrays["head"].tobytes())
            if head["version"] != VERSION:
                raise CheckpointError(f"version {head['version']} is not legal; legal: {VERSION}")
            if not np.array_equal(arrays["sizes"], sizes):
                raise CheckpointError("it was trained for other sizes than the pool's bounds give")
            if head["settings"] != asdict(settings):
                raise CheckpointError("it was trained with other settings")
            return _agent(head, {name: arrays[name] for name in arrays.files}, sizes, settings)
    except CheckpointError:
        raise
    except Exception as cause:
        raise CheckpointError(f"it cannot be read: {type(cause).__name__}: {cause}") from cause


def _agent(head: dict[str, Any], arrays: dict[str, Array], sizes: Ints, settings: LearnerSettings) -> Agent:
    agent = Agent(sizes, 0, settings)
    agent.state[:] = _like(arrays["state"], agent.state.shape, "state")
    agent.until_ms, agent.asked_per_s, agent.label = int(head["until_ms"]), float(head["asked_per_s"]), head["label"]
    for i, (label, steps, owed) in enumerate(head["learners"]):
        learner = agent.learners[label] = agent.learner = agent.begun()
        for name, into in _of(learner).items():
            into[:] = _like(arrays[f"{name}_{i}"], into.shape, name)
        learner.replay.restore(arrays[f"replay_{i}"])
        learner.adam.steps, learner.owed = int(steps), int(owed)
    for i, (label, most) in enumerate(head["trials"]):
        rows = arrays[f"trials_{i}"]
        agent.trials[label] = Trials(_like(rows, (len(rows), len(COLUMNS)), "trials"), float(most))
    agent.random.bit_generator.state = head["random"]
    return agent


def _of(learner: Learner) -> dict[str, Array]:
    return {
        "theta": learner.theta,
        "target": learner.target,
        "mean": learner.adam.mean,
        "square": learner.adam.square,
    }


def _like(array: Array, shape: tuple[int, ...], name: str) -> Array:
    if array.shape != shape or not np.isfinite(array).all():
        raise CheckpointError(f"{name} of shape {array.shape} is not legal; legal: {shape}, finite")
    return array
