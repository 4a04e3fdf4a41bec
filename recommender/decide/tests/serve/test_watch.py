"""Watching over a real loopback port."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import grpc
import pytest

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.control.loop import ControlLoop
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.serve.server import Server
from sluice.serve.service import PoolSizeService

HEARTBEAT_S = 0.3
# How long an answer may take on a busy machine.
PATIENCE_S = 100.0


@dataclass
class Served:
    stub: rpc.PoolSizeServiceStub
    service: PoolSizeService
    server: Server
    loop: ControlLoop
    collector: FakeCollector
    clock: FakeClock

    def watch(self, token: str = "", service: str = "") -> Iterator[api.WatchPoolSizesResponse]:
        return iter(
            self.stub.WatchPoolSizes(api.WatchPoolSizesRequest(service=service, resume_token=token), timeout=PATIENCE_S)
        )


@pytest.fixture
def served() -> Iterator[Served]:
    clock, history, store, sizes = FakeClock(), FakeHistory(), Store(), Sizes()
    collector = FakeCollector({CART: hump()})
    loop = ControlLoop(config(), collector, history, MemoryStateLog(), store, sizes, clock)
    service = PoolSizeService(store, sizes, history, clock, HEARTBEAT_S)
    server = Server(service, "127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Served(rpc.PoolSizeServiceStub(channel), service, server, loop, collector, clock)
    server.stop(0)


def batch(stream: Iterator[api.WatchPoolSizesResponse]) -> list[api.WatchPoolSizesResponse]:
    """Events up to and with the next snapshot or heartbeat."""
    events = []
    for event in stream:
        events.append(event)
        if event.resume_token:
            return events
    raise AssertionError("the stream ended")


def test_state_changes_and_heartbeats_agree_with_get(served: Served) -> None:
    served.loop.step()
    stream = served.watch()
    first = batch(stream)
    assert [event.WhichOneof("event") for event in first] == ["pool_size", "pool_size", "snapshot"]
    listed = served.stub.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes
    assert [event.pool_size for event in first[:-1]] == list(listed)

    served.clock.pass_s(5)
    served.loop.step()
    (beat,) = batch(stream)
    assert beat.heartbeat.computed_at.ToMilliseconds() == served.clock()
    assert beat.heartbeat.valid_until.ToMilliseconds() == served.clock() + 30_000

    served.collector.pools[CART] = hump(top=20)
    served.clock.pass_s(5)
    served.loop.step()
    change, _ = batch(stream)
    now = served.stub.GetPoolSize(api.GetPoolSizeRequest(pool=change.pool_size.pool)).pool_size
    assert change.pool_size == now
    assert now.revision == 2


def test_a_loop_that_hangs_is_seen_by_heartbeats_whose_time_stands_still(served: Served) -> None:
    served.loop.step()
    stream = served.watch()
    batch(stream)
    (one,), (two,) = batch(stream), batch(stream)
    assert one.heartbeat.computed_at == two.heartbeat.computed_at


def test_resuming_sends_only_what_changed_meanwhile(served: Served) -> None:
    served.loop.step()
    token = batch(served.watch())[-1].resume_token
    served.collector.pools[CART] = hump(top=20)
    served.loop.step()
    events = batch(served.watch(token))
    assert [event.WhichOneof("event") for event in events] == ["pool_size", "heartbeat"]
    assert events[0].pool_size.pool.service == "cart"


def test_a_bad_token_and_a_server_that_is_not_ready_are_told_apart(served: Served) -> None:
    def code(token: str) -> grpc.StatusCode:
        with pytest.raises(grpc.RpcError) as caught:
            next(served.watch(token))
        return caught.value.code()  # type: ignore[no-any-return]

    assert code("nonsense") == grpc.StatusCode.INVALID_ARGUMENT
    assert code("") == grpc.StatusCode.UNAVAILABLE


def test_many_watchers_hear_of_one_period_and_leave_nothing_behind(served: Served) -> None:
    served.loop.step()
    streams = [served.watch() for _ in range(200)]
    for stream in streams:
        batch(stream)
    assert served.service.watchers == 200
    served.collector.pools[CART] = hump(top=20)
    served.loop.step()
    # A heartbeat may have come in between on a busy machine: the first answer counts.
    answers = [next(event for event in stream if event.HasField("pool_size")) for stream in streams]
    assert {answer.pool_size.revision for answer in answers} == {2}
    for stream in streams:
        stream.cancel()  # type: ignore[attr-defined]
    gone = threading.Event()
    for _ in range(100):
        if served.service.watchers == 0:
            break
        gone.wait(0.1)
    assert served.service.watchers == 0


def test_watchers_that_come_all_at_once_are_all_taken(served: Served) -> None:
    """As after a restart. By default gRPC cancels calls at random once 1,000 wait, and all from 3,000 on."""
    served.loop.step()
    asyncio.run(_watch_at_once(served.server.port, 3500))


async def _watch_at_once(port: int, watchers: int) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = rpc.PoolSizeServiceStub(channel)
        streams = [stub.WatchPoolSizes(api.WatchPoolSizesRequest(), timeout=PATIENCE_S) for _ in range(watchers)]
        firsts = await asyncio.gather(*(stream.read() for stream in streams), return_exceptions=True)
    failed = [first for first in firsts if not isinstance(first, api.WatchPoolSizesResponse)]
    assert not failed, f"{len(failed)} of {watchers} watches failed, the first with {failed[0]}"


def test_a_stop_ends_watches_at_once_and_says_that_it_is_worth_trying_again(served: Served) -> None:
    served.loop.step()
    stream = served.watch()
    batch(stream)
    stopping = threading.Thread(target=served.server.stop, args=(5,))
    stopping.start()
    with pytest.raises(grpc.RpcError) as caught:
        for _ in stream:
            pass
    stopping.join(3)
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert not stopping.is_alive()
