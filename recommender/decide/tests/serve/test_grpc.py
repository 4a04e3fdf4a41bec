"""The API over a real loopback port."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from fakes import CART, FakeClock, FakeCollector, FakeHistory, config, hump
from sluice.common.v1 import scaling_pb2
from sluice.common.v1.decision_pb2 import Action
from sluice.control.loop import ControlLoop
from sluice.control.pauses import Pauses
from sluice.control.scalings import Scaling, Scalings
from sluice.control.sizes import Sizes
from sluice.control.store import Store
from sluice.log.memory import MemoryStateLog
from sluice.pools.v1 import actuation_pb2, evidence_pb2, pool_pb2, pool_size_pb2
from sluice.pools.v1 import pool_size_service_pb2 as api
from sluice.pools.v1 import pool_size_service_pb2_grpc as rpc
from sluice.serve.server import AddressError, Server
from sluice.serve.service import PoolSizeService

CART_POOL = pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_SERVER)
DB_POOL = pool_pb2.Pool(service="catalogue", side=pool_pb2.SIDE_CLIENT, peer="catalogue-db")


@dataclass
class Served:
    stub: rpc.PoolSizeServiceStub
    channel: grpc.Channel
    server: Server
    loop: ControlLoop
    history: FakeHistory
    clock: FakeClock


@pytest.fixture
def served() -> Iterator[Served]:
    clock, history, store, sizes = FakeClock(), FakeHistory(), Store(), Sizes()
    loop = ControlLoop(config(), FakeCollector({CART: hump()}), history, MemoryStateLog(), store, sizes, clock)
    server = Server(PoolSizeService(store, sizes, history, clock), "127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Served(rpc.PoolSizeServiceStub(channel), channel, server, loop, history, clock)
    server.stop(0)


@pytest.fixture
def ready(served: Served) -> Served:
    served.loop.step()
    served.server.serving(True)
    return served


def refused(call: object, request: object) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=5)  # type: ignore[operator]
    return caught.value.code(), caught.value.details() or ""


def test_get(ready: Served) -> None:
    size = ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size
    assert size.pool == CART_POOL
    assert size.state == pool_size_pb2.STATE_PROVIDED
    assert 11 <= size.target <= 14
    assert size.lower_bound <= size.target <= size.upper_bound
    assert not size.HasField("current")
    assert size.unguarded_target == size.target
    assert 0 < size.confidence <= 1
    # Without a size in force a published model names one.
    assert [reason.code for reason in size.reasons] == ["NO_SIZE", "CURVE_FALLS", "TOP"]
    assert (size.model, size.revision) == ("belief", 1)
    assert size.computed_at.ToMilliseconds() == ready.clock()
    assert size.valid_until.ToMilliseconds() == ready.clock() + 30_000


def test_a_pool_without_data_has_no_target_rather_than_zero(ready: Served) -> None:
    size = ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=DB_POOL)).pool_size
    assert size.state == pool_size_pb2.STATE_NO_DATA
    assert not size.HasField("target")


def test_list_is_ordered_and_can_be_narrowed(ready: Served) -> None:
    sizes = ready.stub.ListPoolSizes(api.ListPoolSizesRequest()).pool_sizes
    assert [size.pool for size in sizes] == [CART_POOL, DB_POOL]
    sizes = ready.stub.ListPoolSizes(api.ListPoolSizesRequest(service="catalogue")).pool_sizes
    assert [size.pool for size in sizes] == [DB_POOL]
    assert not ready.stub.ListPoolSizes(api.ListPoolSizesRequest(service="nobody")).pool_sizes


def test_explain(ready: Served) -> None:
    given = ready.stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART_POOL)).explanation
    assert given.pool_size == ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size
    assert given.threshold.value.ToMilliseconds() == 230
    assert (given.threshold.source, given.threshold.detail) == ("slo", "slo checkout 250 ms - 20 ms upstream")
    assert given.latency_source == evidence_pb2.LATENCY_SOURCE_CALLER
    assert (given.buckets, given.instances, given.bucket.ToMilliseconds()) == (600, 1, 100)
    assert (given.window_start.ToMilliseconds(), given.window_end.ToMilliseconds()) == (0, 60_000)
    # 0.5 rounds up: levels 1 to 36.
    assert [round(point.concurrency) for point in given.curve.points] == list(range(1, 37))
    assert sum(point.samples for point in given.curve.points) == 600
    assert all(point.HasField("fitted_per_s") for point in given.curve.points)
    assert given.curve.knee <= given.pool_size.target < given.curve.knee + 1
    assert 5 <= given.curve.polynomial_degree <= 8


def test_a_report_becomes_the_current_size_and_is_audited(ready: Served) -> None:
    actuation = actuation_pb2.Actuation(
        pool=CART_POOL,
        target_name="cart.threads",
        actuator="a-1",
        outcome=actuation_pb2.ACTUATION_OUTCOME_APPLIED,
        revision=1,
        requested=12,
        previous=64,
        read_back=12,
    )
    ready.stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))
    assert ready.history.reported == [(CART, actuation, ready.clock())]
    ready.loop.step()
    assert ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size.current == 12


def test_a_report_that_only_observed_tells_the_size_too(ready: Served) -> None:
    actuation = actuation_pb2.Actuation(
        pool=DB_POOL, target_name="db", actuator="a-1", outcome=actuation_pb2.ACTUATION_OUTCOME_OBSERVED, previous=20
    )
    ready.stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))
    ready.loop.step()
    assert ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=DB_POOL)).pool_size.current == 20


def report(instance: str, size: int | None) -> api.ReportActuationRequest:
    """OBSERVED at one of several targets; None: it has no limit."""
    return api.ReportActuationRequest(
        actuation=actuation_pb2.Actuation(
            pool=CART_POOL,
            instance=instance,
            target_name="cart.threads",
            actuator="a-1",
            outcome=actuation_pb2.ACTUATION_OUTCOME_OBSERVED,
            read_back=size,
            unbounded=size is None,
        )
    )


def test_sizes_are_known_for_each_target(ready: Served) -> None:
    for instance, size in (("cart-2", 64), ("cart-1", 12), ("", 12)):
        ready.stub.ReportActuation(report(instance, size))
    ready.loop.step()
    answer = ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size
    # Without an instance the target's name stands in.
    found = [(each.instance, each.size, each.unbounded) for each in answer.sizes]
    assert found == [("cart-1", 12, False), ("cart-2", 64, False), ("cart.threads", 12, False)]
    assert answer.sizes[0].read_at.ToMilliseconds() == ready.clock()
    assert not answer.HasField("current")
    assert "MIXED" in [reason.code for reason in answer.reasons]
    # Nothing was ever decided for them, and they never had one size: there is none to bring them to.
    assert (answer.basis, answer.action) == (pool_size_pb2.BASIS_HELD, Action.ACTION_HOLD)


def test_a_pool_without_a_limit_is_no_pool_of_size_0(ready: Served) -> None:
    ready.stub.ReportActuation(report("cart-1", None))
    ready.loop.step()
    answer = ready.stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size
    (seen,) = answer.sizes
    assert (seen.unbounded, seen.HasField("size"), answer.HasField("current")) == (True, False, False)
    assert "UNBOUNDED" in [reason.code for reason in answer.reasons]


def test_a_size_observed_again_is_not_audited_again(ready: Served) -> None:
    def report(outcome: actuation_pb2.ActuationOutcome.ValueType, size: int) -> None:
        actuation = actuation_pb2.Actuation(
            pool=DB_POOL, target_name="db", actuator="a-1", outcome=outcome, read_back=size
        )
        ready.stub.ReportActuation(api.ReportActuationRequest(actuation=actuation))

    for size in (20, 20, 20, 12, 12):
        report(actuation_pb2.ACTUATION_OUTCOME_OBSERVED, size)
    report(actuation_pb2.ACTUATION_OUTCOME_FAILED, 12)
    report(actuation_pb2.ACTUATION_OUTCOME_FAILED, 12)
    assert [actuation.read_back for _, actuation, _ in ready.history.reported] == [20, 12, 12, 12]


@pytest.mark.parametrize(
    ("pool", "field"),
    [
        (pool_pb2.Pool(), "pool.service is empty"),
        (pool_pb2.Pool(service="cart"), "pool.side 0 is not legal; legal: SIDE_SERVER, SIDE_CLIENT"),
        (pool_pb2.Pool(service="cart", side=9), "pool.side 9 is not legal"),  # type: ignore[arg-type]
        (pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_SERVER, peer="x"), "pool.peer 'x' is set for SIDE_SERVER"),
        (pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_CLIENT), "pool.peer is empty for SIDE_CLIENT"),
    ],
)
def test_an_invalid_pool_is_named_by_its_field(ready: Served, pool: pool_pb2.Pool, field: str) -> None:
    for call, request in (
        (ready.stub.GetPoolSize, api.GetPoolSizeRequest(pool=pool)),
        (ready.stub.ExplainPoolSize, api.ExplainPoolSizeRequest(pool=pool)),
    ):
        code, text = refused(call, request)
        assert code == grpc.StatusCode.INVALID_ARGUMENT
        assert text.startswith(field)
    code, text = refused(
        ready.stub.ReportActuation, api.ReportActuationRequest(actuation=actuation_pb2.Actuation(pool=pool))
    )
    assert (code, text.startswith("actuation." + field)) == (grpc.StatusCode.INVALID_ARGUMENT, True)


def test_an_unknown_pool_is_named(ready: Served) -> None:
    pool = pool_pb2.Pool(service="cart", side=pool_pb2.SIDE_CLIENT, peer="cart-db")
    code, text = refused(ready.stub.GetPoolSize, api.GetPoolSizeRequest(pool=pool))
    assert (code, text) == (grpc.StatusCode.NOT_FOUND, "pool cart/client/cart-db is not in the configuration")


APPLIED = actuation_pb2.ACTUATION_OUTCOME_APPLIED
REPORT: dict[str, Any] = {"pool": CART_POOL, "target_name": "t", "actuator": "a", "outcome": APPLIED}


@pytest.mark.parametrize(
    ("actuation", "field"),
    [
        (actuation_pb2.Actuation(pool=CART_POOL, actuator="a", outcome=APPLIED, read_back=1), "actuation.target_name"),
        (actuation_pb2.Actuation(pool=CART_POOL, target_name="t", outcome=APPLIED, read_back=1), "actuation.actuator"),
        (actuation_pb2.Actuation(pool=CART_POOL, target_name="t", actuator="a"), "actuation.outcome"),
        (
            actuation_pb2.Actuation(pool=CART_POOL, target_name="t", actuator="a", outcome=APPLIED),
            "actuation.read_back",
        ),
        (actuation_pb2.Actuation(**REPORT, read_back=1, unbounded=True), "actuation.read_back is set, and unbounded"),
        (actuation_pb2.Actuation(**REPORT, read_back=0), "actuation.read_back 0 is not legal; legal: >= 1"),
        (actuation_pb2.Actuation(**REPORT, read_back=1, previous=0), "actuation.previous 0 is not legal; legal: >= 1"),
        (
            actuation_pb2.Actuation(**REPORT, read_back=1, at=Timestamp(seconds=-1)),
            "actuation.at -1 s is not legal; legal: 1970",
        ),
        (
            actuation_pb2.Actuation(**REPORT, read_back=1, at=Timestamp(seconds=2**60)),
            "actuation.at 1152921504606846976 s",
        ),
    ],
)
def test_an_invalid_report_is_named_by_its_field(ready: Served, actuation: actuation_pb2.Actuation, field: str) -> None:
    code, text = refused(ready.stub.ReportActuation, api.ReportActuationRequest(actuation=actuation))
    assert (code, text.startswith(field)) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    assert not ready.history.reported


def health(served: Served, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(served.channel)
    return int(stub.Check(health_pb2.HealthCheckRequest(service=service)).status)


def test_before_the_first_period_it_is_unavailable_not_empty(served: Served) -> None:
    assert refused(served.stub.ListPoolSizes, api.ListPoolSizesRequest())[0] == grpc.StatusCode.UNAVAILABLE
    request = api.GetPoolSizeRequest(pool=CART_POOL)
    assert refused(served.stub.GetPoolSize, request)[0] == grpc.StatusCode.UNAVAILABLE
    assert health(served) == health_pb2.HealthCheckResponse.NOT_SERVING


def test_health_knows_the_server_and_the_service(ready: Served) -> None:
    for name in ("", "sluice.pools.v1.PoolSizeService"):
        assert health(ready, name) == health_pb2.HealthCheckResponse.SERVING


def test_who_watches_health_is_told_of_changes_only(served: Served) -> None:
    watch = health_pb2_grpc.HealthStub(served.channel).Watch(health_pb2.HealthCheckRequest(), timeout=20)
    assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
    for ready in (False, True, True, True, False):
        served.server.serving(ready)
    assert [next(watch).status for _ in range(2)] == [
        health_pb2.HealthCheckResponse.SERVING,
        health_pb2.HealthCheckResponse.NOT_SERVING,
    ]
    watch.cancel()


def test_reflection_lists_the_service(ready: Served) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(ready.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    [answer] = stub.ServerReflectionInfo(iter([request]))
    names = {service.name for service in answer.list_services_response.service}
    assert names >= {"sluice.pools.v1.PoolSizeService", "grpc.health.v1.Health"}


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "example.org:50051", ":50051", "50051"])
def test_without_credentials_only_loopback_is_legal(address: str) -> None:
    service = PoolSizeService(Store(), Sizes(), FakeHistory(), FakeClock())
    with pytest.raises(AddressError, match="loopback"):
        Server(service, address)


def test_a_port_that_is_taken_is_an_error(served: Served) -> None:
    service = PoolSizeService(Store(), Sizes(), FakeHistory(), FakeClock())
    with pytest.raises(AddressError, match=f"127.0.0.1:{served.server.port}"):
        Server(service, f"127.0.0.1:{served.server.port}")


def test_pausing_and_resuming_are_stored_and_wake_the_loop() -> None:
    clock, history, store, sizes, pauses = FakeClock(), FakeHistory(), Store(), Sizes(), Pauses()
    loop = ControlLoop(config(), FakeCollector({CART: hump()}), history, MemoryStateLog(), store, sizes, clock, pauses)
    service = PoolSizeService(store, sizes, history, clock, pauses=pauses, wake=loop.step)
    server = Server(service, "127.0.0.1:0")
    server.start()
    loop.step()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = rpc.PoolSizeServiceStub(channel)

        def state() -> pool_size_pb2.State.ValueType:
            return stub.GetPoolSize(api.GetPoolSizeRequest(pool=CART_POOL)).pool_size.state

        stub.PausePool(api.PausePoolRequest(pool=CART_POOL, by="ada", why="release"))
        assert state() == pool_size_pb2.STATE_PAUSED
        assert history.paused_pools[CART].why == "release"
        assert stub.ResumePool(api.ResumePoolRequest(pool=CART_POOL, by="ada")).was_paused
        assert state() == pool_size_pb2.STATE_PROVIDED
        assert history.paused_pools == {}
        assert not stub.ResumePool(api.ResumePoolRequest(pool=CART_POOL, by="ada")).was_paused
        code, text = refused(stub.PausePool, api.PausePoolRequest(pool=CART_POOL))
        assert (code, text) == (grpc.StatusCode.INVALID_ARGUMENT, "by is empty; legal: who asks for it")
        history.problem = ConnectionError("down")
        code, _ = refused(stub.PausePool, api.PausePoolRequest(pool=CART_POOL, by="ada"))
        assert (code, state()) == (grpc.StatusCode.UNAVAILABLE, pool_size_pb2.STATE_PROVIDED)
    server.stop(0)


@dataclass
class Told:
    stub: rpc.PoolSizeServiceStub
    history: FakeHistory
    loop: ControlLoop
    clock: FakeClock


@pytest.fixture
def told() -> Iterator[Told]:
    """Scalings reach the loop, which is woken by each."""
    clock, history, store, sizes, scalings = FakeClock(), FakeHistory(), Store(), Sizes(), Scalings()
    loop = ControlLoop(
        config(), FakeCollector({CART: hump()}), history, MemoryStateLog(), store, sizes, clock, scalings=scalings
    )
    service = PoolSizeService(store, sizes, history, clock, wake=loop.step, scalings=scalings)
    server = Server(service, "127.0.0.1:0")
    server.start()
    loop.step()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield Told(rpc.PoolSizeServiceStub(channel), history, loop, clock)
    server.stop(0)


def event(**fields: Any) -> api.NotifyScalingRequest:
    return api.NotifyScalingRequest(
        scaling_event=scaling_pb2.ScalingEvent(**({"service": "cart", "source": "vpa"} | fields))
    )


def test_a_scaling_is_stored_and_explained_at_once(told: Told) -> None:
    told.clock.pass_s(5)
    assert told.stub.NotifyScaling(event(cpu_limit_cores=2.0, version="v7")).pools == 1
    assert told.history.told == [Scaling(told.clock(), "cart", 2.0, None, "v7", "vpa")]
    explained = told.stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART_POOL)).explanation
    assert (explained.baseline.cpu_limit_cores, explained.baseline.version) == (2.0, "v7")
    assert explained.baseline.since.ToMilliseconds() == told.clock()
    assert not explained.HasField("remembered_curve")
    told.clock.pass_s(5)
    told.stub.NotifyScaling(event(cpu_limit_cores=4.0))
    told.loop.step()
    told.stub.NotifyScaling(event(service="catalogue-db", replicas=3))
    assert told.stub.NotifyScaling(event(service="catalogue-db", replicas=3)).pools == 1  # of those who lead to it
    assert told.stub.NotifyScaling(event(service="nobody", replicas=0)).pools == 0


def test_a_scaling_that_will_be_is_one_of_now(told: Told) -> None:
    told.stub.NotifyScaling(event(replicas=1, at=Timestamp(seconds=9_000_000_000)))
    told.stub.NotifyScaling(event(replicas=2, at=Timestamp(seconds=7)))
    assert [scaling.at_ms for scaling in told.history.told] == [told.clock(), 7_000]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"service": "", "replicas": 1}, "scaling_event.service is empty"),
        ({"source": "", "replicas": 1}, "scaling_event.source is empty"),
        ({}, "scaling_event says nothing; legal: cpu_limit_cores, replicas or version set"),
        ({"cpu_limit_cores": 0.0}, "scaling_event.cpu_limit_cores 0 is not legal; legal: > 0 to 10000"),
        ({"cpu_limit_cores": float("nan")}, "scaling_event.cpu_limit_cores nan is not legal"),
        ({"replicas": 1, "at": Timestamp(seconds=-1)}, "scaling_event.at -1 s is not legal"),
    ],
)
def test_an_invalid_scaling_is_named_by_its_field(told: Told, fields: dict[str, Any], words: str) -> None:
    code, details = refused(told.stub.NotifyScaling, event(**fields))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert words in details
    assert told.history.told == []


def test_a_scaling_that_is_not_stored_is_not_taken_up(told: Told) -> None:
    told.history.problem = ConnectionError("down")
    code, _ = refused(told.stub.NotifyScaling, event(version="v7"))
    assert code == grpc.StatusCode.UNAVAILABLE
    told.history.problem = None
    told.loop.step()
    explained = told.stub.ExplainPoolSize(api.ExplainPoolSizeRequest(pool=CART_POOL)).explanation
    assert explained.baseline == evidence_pb2.Baseline()
