"""A real gRPC server of sluice.pools.v1 that says what a test wants said, and keeps what is reported to it."""

# ruff: noqa: N802 (method names are those of the service)

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import grpc

from sluice.common.v1.decision_pb2 import Action
from sluice.common.v1.scaling_pb2 import ScalingEvent
from sluice.common.v1.watch_pb2 import Heartbeat, Snapshot
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.actuation_pb2 import Actuation
from sluice.pools.v1.pool_pb2 import Pool
from sluice.pools.v1.pool_size_pb2 import PoolSize, State
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceServicer, add_PoolSizeServiceServicer_to_server

LEASE = timedelta(minutes=10)


class PoolSizesServer(PoolSizeServiceServicer):
    """Serves at `address` for the length of a `with` block. Every size has a lease of 10 minutes."""

    def __init__(self) -> None:
        self.reports: list[Actuation] = []
        self.scalings: list[ScalingEvent] = []
        #: Called with each event before it is taken: it may say another size.
        self.on_scaling: Callable[[ScalingEvent], object] = lambda event: None
        self._published: list[PoolSize] = []
        self._news = threading.Condition()
        self._stopping = False
        self._server = grpc.server(ThreadPoolExecutor(8))
        add_PoolSizeServiceServicer_to_server(self, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> "PoolSizesServer":
        self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._news:
            self._stopping = True
            self._news.notify_all()
        self._server.stop(None).wait()

    def publish(self, pool: Pool, target: int, targets: Sequence[str] = ()) -> int:
        """The revision of the size, which reports about it carry. targets: instances that it is for; none: for all."""
        now = datetime.now(UTC)
        with self._news:
            size = PoolSize(
                pool=pool,
                state=State.STATE_PROVIDED,
                action=Action.ACTION_APPLY,
                target=target,
                targets=targets,
                confidence=0.9,
                revision=len(self._published) + 1,
            )
            size.computed_at.FromDatetime(now)
            size.valid_until.FromDatetime(now + LEASE)
            self._published.append(size)
            self._news.notify_all()
            return size.revision

    def WatchPoolSizes(
        self, request: api.WatchPoolSizesRequest, context: grpc.ServicerContext
    ) -> Iterator[api.WatchPoolSizesResponse]:
        """First what is said last of each pool, then what is said."""
        with self._news:
            newest = {size.pool.SerializeToString(): size for size in self._published}
            count = len(self._published)
        for size in newest.values():
            yield api.WatchPoolSizesResponse(pool_size=size, resume_token=str(count))
        snapshot = Snapshot(answers=len(newest))
        yield api.WatchPoolSizesResponse(snapshot=snapshot, resume_token=str(count))
        while context.is_active() and not self._stopping:
            with self._news:
                self._news.wait(1.0)
                fresh, count = self._published[count:], len(self._published)
            for size in fresh:
                yield api.WatchPoolSizesResponse(pool_size=size)
            yield api.WatchPoolSizesResponse(heartbeat=self._heartbeat(), resume_token=str(count))

    @staticmethod
    def _heartbeat() -> Heartbeat:
        """A set of answers is complete with it."""
        beat = Heartbeat()
        beat.computed_at.FromDatetime(datetime.now(UTC))
        beat.valid_until.FromDatetime(datetime.now(UTC) + LEASE)
        return beat

    def NotifyScaling(
        self, request: api.NotifyScalingRequest, context: grpc.ServicerContext
    ) -> api.NotifyScalingResponse:
        self.on_scaling(request.scaling_event)
        self.scalings.append(request.scaling_event)
        return api.NotifyScalingResponse(pools=1)

    def ReportActuation(
        self, request: api.ReportActuationRequest, context: grpc.ServicerContext
    ) -> api.ReportActuationResponse:
        self.reports.append(request.actuation)
        return api.ReportActuationResponse()
