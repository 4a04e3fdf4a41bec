"""A decider's membership in the group that distributes the shards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from sluice.journal.broker import Broker
from sluice.journal.codec import Codec, Commit, Received, Values
from sluice.journal.names import Topics
from sluice.journal.shard import Identity

Clock = Callable[[], float]
"""Seconds; only grows."""


@dataclass(frozen=True)
class Membership(Generic[Values, Received, Commit]):
    """The same for each shard of a decider: broker, topics, identity, codec and clock."""

    broker: Broker
    topics: Topics
    me: Identity
    codec: Codec[Values, Received, Commit]
    clock: Clock = time.monotonic
