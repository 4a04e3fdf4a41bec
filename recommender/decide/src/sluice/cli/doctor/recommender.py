"""The recommender's server: whether it serves, and how old and in which states its decisions are."""

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sluice.cli.calls import pages
from sluice.cli.doctor.finding import Diagnosis, NoStageError, NotAnsweringError, limited
from sluice.cli.doctor.probe import START
from sluice.cli.environment import NONE, Addresses
from sluice.cli.output import CliError
from sluice.cli.pools.channel import open_channel
from sluice.cli.pools.text import moment, seconds, state_name
from sluice.pools.v1.candidate_pb2 import FOUND_BY_CONFIGURATION, FOUND_BY_UNSPECIFIED
from sluice.pools.v1.pool_pb2 import Pool
from sluice.pools.v1.pool_size_pb2 import STATE_NO_DATA, PoolSize
from sluice.pools.v1.pool_size_service_pb2 import ListCandidatesRequest, ListPoolSizesRequest
from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

_FRESH_S = 60.0
_SHOWN = 3
_UNSEEN = "name the pools in the configuration as the spans do, then `./sluice reload`"
_REMEDIES = {
    "NO_DATA": "spans show these pools, and nothing completes: see freshness, and whether the application has traffic",
    "STALE": "the decider makes no decisions: see decider, clickhouse and flink",
}


def health(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        with channel_of(where) as channel:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", str(error), "see `./sluice pools --help` for SLUICE_TLS_CA and SLUICE_TOKEN")
    except grpc.RpcError as error:
        return Diagnosis("fail", f"{where.recommender} does not answer ({error.code().name})", START)
    name = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    if name != "SERVING":
        return Diagnosis("fail", f"{where.recommender} is {name}", "read the log of the program `server`")
    return Diagnosis("ok", f"serving at {where.recommender}")


def pools(where: Addresses, timeout_s: float) -> Diagnosis:
    sizes = listed(where, timeout_s)
    silent = any(size.state == STATE_NO_DATA for size in sizes)
    return judge_pools(sizes, datetime.now(UTC), _found(where, timeout_s) if silent else [])


def _found(where: Addresses, timeout_s: float) -> list[Pool]:
    """The pools that were found from spans; none at a server of an earlier version."""
    try:
        with channel_of(where) as channel:
            stub = PoolSizeServiceStub(channel)
            candidates = list(pages(stub.ListCandidates, ListCandidatesRequest(), "candidates", timeout_s))
    except grpc.RpcError:
        return []
    return [one.pool for one in candidates if one.found_by not in (FOUND_BY_UNSPECIFIED, FOUND_BY_CONFIGURATION)]


def listed(where: Addresses, timeout_s: float) -> list[PoolSize]:
    """The newest decision of each pool."""
    try:
        with channel_of(where) as channel:
            stub = PoolSizeServiceStub(channel)
            return list(pages(stub.ListPoolSizes, ListPoolSizesRequest(), "pool_sizes", timeout_s))
    except grpc.RpcError as error:
        raise NotAnsweringError(f"the recommender does not list pools ({error.code().name})") from None


def channel_of(where: Addresses) -> grpc.Channel:
    """Raises NotAnsweringError where the environment's settings of the connection are wrong, NoStageError for NONE."""
    if where.recommender == NONE:
        raise NoStageError
    try:
        return open_channel(where.recommender)
    except CliError as error:
        raise NotAnsweringError(str(error)) from None


def judge_pools(sizes: list[PoolSize], now: datetime, found: Collection[Pool] = ()) -> Diagnosis:
    """now: with time zone. found: pools from spans; without spans these go by themselves."""
    if not sizes:
        return Diagnosis("warn", "there is no pool", "./sluice pools discover: why no candidate is one; or name pools")
    states = Counter(state_name(size.state) for size in sizes)
    text = f"{len(sizes)} pools: " + ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    computed = [moment(size.computed_at) for size in sizes if size.HasField("computed_at")]
    if not computed:
        return Diagnosis("warn", f"{text}; no decision yet", "wait one control period")
    age_s = (now - max(computed)).total_seconds()
    text += f"; newest decision {seconds(age_s)} old"
    if age_s > _FRESH_S:
        return Diagnosis("warn", text, "the decider makes no decisions: read its log")
    named = [size for size in sizes if size.pool not in found]
    unseen = {reason.text: None for size in named for reason in size.reasons if reason.code == "NOT_IN_SPANS"}
    if unseen:
        return Diagnosis("warn", f"{text}; {'; '.join(limited(list(unseen), _SHOWN, 'pools'))}", _UNSEEN)
    for state, remedy in _REMEDIES.items():
        if any(state_name(size.state) == state for size in (named if state == "NO_DATA" else sizes)):
            return Diagnosis("warn", text, remedy)
    return Diagnosis("ok", text)
