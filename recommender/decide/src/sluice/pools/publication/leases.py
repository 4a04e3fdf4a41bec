"""Ends of answers' leases, by heartbeats."""

from __future__ import annotations

from collections.abc import Collection

from sluice.engine.records import Heartbeat
from sluice.model.keys import PoolKey
from sluice.model.times import timestamp
from sluice.pools.names import key_of, message_of
from sluice.pools.v1.log_pb2 import NotRenewed, ShardHeartbeat


class Leases:
    """Counts leases from the start of a period, earlier than servers, which count from the heartbeat's record."""

    def __init__(self, newest: ShardHeartbeat | None) -> None:
        """newest: the heartbeat of the previous decider."""
        self._until_ms = 0
        self._own_ms: dict[PoolKey, int] = {}
        if newest is not None:
            self._until_ms = newest.computed_at.ToMilliseconds() + newest.lease.ToMilliseconds()
            self._own_ms = {key_of(pool.pool): pool.valid_until.ToMilliseconds() for pool in newest.not_renewed}

    @property
    def until_ms(self) -> int:
        """The end of all leases except those named in the heartbeat; 0 before the first."""
        return self._until_ms

    def of(self, not_renewed: Collection[PoolKey]) -> list[NotRenewed]:
        """The entries of the next heartbeat for answers that it does not renew."""
        return [NotRenewed(pool=message_of(key), valid_until=timestamp(self._of(key))) for key in sorted(not_renewed)]

    def renewed(self, beat: Heartbeat, but: Collection[PoolKey]) -> None:
        """Records a committed heartbeat."""
        self._own_ms = {key: self._of(key) for key in but}
        self._until_ms = beat.computed_at_ms + beat.lease_ms

    def _of(self, key: PoolKey) -> int:
        return self._own_ms.get(key, self._until_ms)
