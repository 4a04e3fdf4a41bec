"""Checkpoints as files of one directory, written atomically. The journal names the valid one."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path

from sluice.model.keys import PoolKey
from sluice.pools.learned.agent import Agent
from sluice.pools.learned.checkpoint import VERSION, CheckpointError, checksum, restored, written
from sluice.pools.learned.settings import LearnerSettings
from sluice.pools.learned.sizes import Ints
from sluice.pools.policy.state import Checkpoint

# Files of a pool. The journal names one of the newest two, since a commit may be under way.
KEPT = 3
SUFFIX = ".dqn"


def write(directory: Path, key: PoolKey, agent: Agent, now_ms: int) -> Checkpoint:
    """Writes a checkpoint. Raises OSError when it cannot be written."""
    directory.mkdir(parents=True, exist_ok=True)
    data, begins = written(agent), _begins(key)
    name = f"{begins}-{now_ms:015d}{SUFFIX}"
    with tempfile.NamedTemporaryFile(dir=directory, prefix=f".{begins}-", delete=False) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, directory / name)
    for old in sorted(directory.glob(f"{begins}-*{SUFFIX}"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return Checkpoint(name, checksum(data), VERSION, agent.learner.steps, now_ms)


def read(directory: Path, checkpoint: Checkpoint, sizes: Ints, settings: LearnerSettings) -> Agent:
    """Reads a checkpoint. Raises CheckpointError where the file is missing, or differs from the journal's entry."""
    if checkpoint.version != VERSION:
        raise CheckpointError(f"version {checkpoint.version} is not legal; legal: {VERSION}")
    if Path(checkpoint.name).name != checkpoint.name:
        raise CheckpointError(f"{checkpoint.name!r} is not the name of a file")
    try:
        data = (directory / checkpoint.name).read_bytes()
    except OSError as cause:
        raise CheckpointError(f"it cannot be read: {cause.strerror}") from cause
    return restored(data, checkpoint.sha256, sizes, settings)


def _begins(key: PoolKey) -> str:
    """The start of a pool's file names: a hash, since a service's name may have any characters."""
    return sha256(repr(tuple(key)).encode()).hexdigest()[:24]
