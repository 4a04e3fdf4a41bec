"""Pauses and scalings, which hold until callers report others, as records of `sluice_state`."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

from google.protobuf.message import DecodeError

from sluice.common.v1.scaling_pb2 import ScalingEvent, ServiceContainer
from sluice.model.containers import NotifiedContainer
from sluice.model.keys import PoolKey
from sluice.model.pauses import Pause
from sluice.model.scaling import Scaling
from sluice.model.times import timestamp
from sluice.pools.names import key_of, message_of, pool_name, pool_of
from sluice.pools.policy.state_message import StateError
from sluice.pools.v1.state_pb2 import PoolPause, ServiceScalings

PAUSE, SCALING = "pause/", "scaling/"


def pause_name(key: PoolKey) -> str:
    return pool_name(key, PAUSE)


def scaling_name(service: str) -> str:
    return SCALING + quote(service, safe="")


def pause_value(key: PoolKey, pause: Pause) -> bytes:
    at = timestamp(pause.at_ms)
    return PoolPause(pool=message_of(key), at=at, by=pause.by, why=pause.why, size=pause.size).SerializeToString()


def scalings_value(service: str, events: Sequence[Scaling]) -> bytes:
    """events: oldest first."""
    return ServiceScalings(service=service, events=map(event_of, events)).SerializeToString()


def read_pause(name: str, value: bytes) -> tuple[PoolKey, Pause]:
    """The pause in a record. StateError when it is none, or of another pool than its name says."""
    try:
        message = PoolPause.FromString(value)
        key = pool_of(name, PAUSE)
        if key_of(message.pool) != key:
            raise ValueError(f"the record is of {key_of(message.pool)}")
        at_ms = message.at.ToMilliseconds()
    except (DecodeError, ValueError) as cause:
        raise StateError(f"read {name}: {cause}") from cause
    size = message.size if message.HasField("size") else None
    return key, Pause(at_ms, message.by, message.why, size)


def read_scalings(name: str, value: bytes) -> list[Scaling]:
    """The scalings in a record. StateError when it is none, or of another service than its name says."""
    try:
        message = ServiceScalings.FromString(value)
        if scaling_name(message.service) != name or unquote(name.removeprefix(SCALING)) != message.service:
            raise ValueError(f"the record is of {message.service}")
        return [scaling_of(event) for event in message.events]
    except (DecodeError, ValueError) as cause:
        raise StateError(f"read {name}: {cause}") from cause


def scaling_of(event: ScalingEvent) -> Scaling:
    """The scaling is in force from its time on, which the server sets where the sender did not."""
    return Scaling(
        at_ms=event.at.ToMilliseconds(),
        service=event.service,
        cpu_limit_cores=event.cpu_limit_cores if event.HasField("cpu_limit_cores") else None,
        replicas=event.replicas if event.HasField("replicas") else None,
        version=event.version,
        source=event.source,
        containers=tuple(
            NotifiedContainer(
                container.instance,
                container.address,
                container.host,
                container.zone,
                container.drained,
                container.not_ready,
            )
            for container in event.containers
        ),
    )


def event_of(scaling: Scaling) -> ScalingEvent:
    return ScalingEvent(
        service=scaling.service,
        at=timestamp(scaling.at_ms),
        cpu_limit_cores=scaling.cpu_limit_cores,
        replicas=scaling.replicas,
        version=scaling.version,
        source=scaling.source,
        containers=[
            ServiceContainer(
                instance=container.instance,
                address=container.address,
                host=container.host,
                zone=container.zone,
                drained=container.drained,
                not_ready=container.not_ready,
            )
            for container in scaling.containers
        ],
    )
