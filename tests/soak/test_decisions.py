"""kill -9 of what decides, serves and records, in the whole stack: decisions go on, under revisions that never fall,
and become rows. On a log of their own they die in `make test`: `recommender/decide/tests`, served and decider."""

import grpc

from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1.pool_pb2 import SIDE_SERVER, Pool
from sluice.pools.v1.pool_size_pb2 import STATE_PAUSED, PoolSize
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub
from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.victims import Victims
from sluice_kit.waiting import until

CART = Pool(service="cart", side=SIDE_SERVER)


def ask(stack: Stack) -> PoolSize | None:
    """None while nobody serves, or nothing was decided."""
    with grpc.insecure_channel(stack.address["SLUICE_RECOMMENDER"]) as channel:
        try:
            return PoolSizeServiceStub(channel).GetPoolSize(api.GetPoolSizeRequest(pool=CART), timeout=20).pool_size
        except grpc.RpcError:
            return None


def pause(stack: Stack, paused: bool) -> None:
    with grpc.insecure_channel(stack.address["SLUICE_RECOMMENDER"]) as channel:
        stub = PoolSizeServiceStub(channel)
        if paused:
            stub.PausePool(api.PausePoolRequest(pool=CART, by="test", why="a kill"), timeout=60)
        else:
            stub.ResumePool(api.ResumePoolRequest(pool=CART, by="test"), timeout=60)


def test_decisions_go_on_over_each_kill(stack: Stack) -> None:
    victims = Victims(stack)
    until("the pool is decided", lambda: ask(stack) is not None)
    revision, paused = 0, False
    for name in ("decider", "server", "records", ""):
        if name:
            victims.wait_back(name, victims.kill(name))
        until("it is served", lambda: ask(stack) is not None)
        paused = not paused
        pause(stack, paused)

        def knows(wanted: bool = paused) -> bool:
            now = ask(stack)
            return now is not None and (now.state == STATE_PAUSED) == wanted

        until(f"the decider heard it, after {name or 'nothing'} was killed", knows)
        now = ask(stack)
        assert now is not None
        assert now.revision > revision
        revision = now.revision
        rows = f"SELECT max(revision) >= {revision} FROM recommendations WHERE service = 'cart'"
        until("it is recorded", lambda query=rows: stack.value(query) == 1)
    query = "SELECT count() FROM pool_pauses FINAL WHERE service = 'cart' AND by = 'test' AND why IN ('a kill', '')"
    until("so are the pauses", lambda: stack.value(query) >= 4)
