"""Between answers and the messages of sluice.pools.v1: the one place where they meet."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.common.v1.decision_pb2 import Action, Reason
from sluice.common.v1.scaling_pb2 import ScalingEvent
from sluice.control.answer import Answer
from sluice.control.baseline import Baseline
from sluice.control.scalings import Scaling
from sluice.control.sizes import TargetSize
from sluice.core.keys import PoolKey, Side
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.curve import Curve
from sluice.pools.policy.picture import Picture, draw
from sluice.pools.v1 import evidence_pb2, pool_size_pb2
from sluice.pools.v1 import pool_pb2 as pb

# Unix seconds that a DateTime64(3) of the tables and Python's datetime both hold.
FIRST_S, END_S = 0, 9_214_646_400
# No machine has more; what is above is a limit in another unit, such as 500m read as 500,000.
MOST_CORES = 10_000

_SIDES: dict[Side, pb.Side.ValueType] = {"server": pb.SIDE_SERVER, "client": pb.SIDE_CLIENT}


class InvalidFieldError(ValueError):
    """The message names the field and what is legal."""


def pool_key(pool: pb.Pool, field: str) -> PoolKey:
    """The key in a request; InvalidFieldError names the field under `field`."""
    if not pool.service:
        raise InvalidFieldError(f"{field}.service is empty; legal: a service name")
    if pool.side == pb.SIDE_SERVER:
        if pool.peer:
            raise InvalidFieldError(f"{field}.peer {pool.peer!r} is set for SIDE_SERVER; legal: empty")
        return PoolKey(pool.service, "server", "")
    if pool.side == pb.SIDE_CLIENT:
        if not pool.peer:
            raise InvalidFieldError(f"{field}.peer is empty for SIDE_CLIENT; legal: the name of a peer")
        return PoolKey(pool.service, "client", pool.peer)
    raise InvalidFieldError(f"{field}.side {pool.side} is not legal; legal: SIDE_SERVER, SIDE_CLIENT")


def pool_size(answer: Answer) -> pool_size_pb2.PoolSize:
    content = answer.content
    message = pool_size_pb2.PoolSize(
        pool=pb.Pool(service=answer.key.service, side=_SIDES[answer.key.side], peer=answer.key.peer),
        state=pool_size_pb2.State.Value(f"STATE_{content.state}"),
        action=Action.Value(f"ACTION_{content.action}"),
        basis=pool_size_pb2.Basis.Value(f"BASIS_{content.basis}"),
        confidence=answer.confidence,
        reasons=[Reason(code=reason.code, text=reason.text) for reason in answer.reasons],
        model=answer.model,
        computed_at=timestamp(answer.computed_at_ms),
        valid_until=timestamp(answer.valid_until_ms),
        revision=answer.revision,
        sizes=[_target_size(target) for target in answer.targets],
    )
    for name in ("current", "target", "lower_bound", "upper_bound", "unguarded_target"):
        value = getattr(content, name)
        if value is not None:
            setattr(message, name, value)
    return message


def _target_size(target: TargetSize) -> pool_size_pb2.TargetSize:
    read_at = timestamp(target.read_at_ms)
    return pool_size_pb2.TargetSize(
        instance=target.instance, size=target.size, unbounded=target.size is None, read_at=read_at
    )


def explanation(answer: Answer) -> evidence_pb2.Explanation:
    threshold = answer.threshold
    message = evidence_pb2.Explanation(
        pool_size=pool_size(answer),
        threshold=evidence_pb2.Threshold(
            value=Duration(nanos=threshold.value_ns % 10**9, seconds=threshold.value_ns // 10**9),
            source=threshold.source,
            detail=threshold.detail,
        ),
    )
    windows, estimate = answer.windows, answer.estimate
    if windows is not None:
        if windows.by_caller is not None:
            by_caller = windows.by_caller
            message.latency_source = (
                evidence_pb2.LATENCY_SOURCE_CALLER if by_caller else evidence_pb2.LATENCY_SOURCE_OWN
            )
        message.window_start.CopyFrom(timestamp(windows.start_ms))
        message.window_end.CopyFrom(timestamp(windows.end_ms))
        message.bucket.CopyFrom(Duration(nanos=windows.bucket_ms % 1000 * 10**6, seconds=windows.bucket_ms // 1000))
        message.buckets = windows.buckets
        message.completions = windows.completions
        message.instances = windows.instances
    picture = draw(answer.learnt, answer.content.current, answer.cores) if estimate is None else None
    if picture is not None:
        message.belief.CopyFrom(belief_evidence(picture))
    elif estimate is not None and estimate.curve is not None:
        message.curve.CopyFrom(_curve(estimate, estimate.curve))
    message.baseline.CopyFrom(_baseline(answer.baseline))
    if answer.since_ms is not None:
        message.baseline.since.CopyFrom(timestamp(answer.since_ms))
    return message


def belief_evidence(picture: Picture) -> evidence_pb2.BeliefEvidence:
    return evidence_pb2.BeliefEvidence(
        points=[
            evidence_pb2.SeenPoint(
                concurrency=each.concurrency,
                throughput_per_s=each.completions_per_s,
                seconds=each.seconds,
                full=each.full,
                cpu_limit_cores=each.cores,
            )
            for each in picture.points
        ],
        curve=[
            evidence_pb2.BelievedPoint(
                size=each.size,
                throughput_per_s=each.per_s,
                lower_per_s=each.lower_per_s,
                upper_per_s=each.upper_per_s,
            )
            for each in picture.curve
        ],
        knee=picture.knee,
        upper=picture.upper,
        best=picture.best,
        loss=picture.loss,
        seconds=picture.seconds,
        cpu_limit_cores=picture.cores,
    )


def _baseline(baseline: Baseline) -> evidence_pb2.Baseline:
    own, peer = baseline.own, baseline.peer
    return evidence_pb2.Baseline(
        version=own.version,
        peer_version=peer.version,
        cpu_limit_cores=own.cores,
        peer_cpu_limit_cores=peer.cores,
    )


def scaling_of(event: ScalingEvent, received_ms: int) -> Scaling:
    """The event in a request, in force from `received_ms` at the latest; InvalidFieldError when it is not legal."""
    if not event.service:
        raise InvalidFieldError("scaling_event.service is empty; legal: a service name")
    if not event.source:
        raise InvalidFieldError("scaling_event.source is empty; legal: who tells")
    has_cores, has_replicas = event.HasField("cpu_limit_cores"), event.HasField("replicas")
    if not (has_cores or has_replicas or event.version):
        raise InvalidFieldError("scaling_event says nothing; legal: cpu_limit_cores, replicas or version set")
    if has_cores and not 0 < event.cpu_limit_cores <= MOST_CORES:
        cores = event.cpu_limit_cores
        raise InvalidFieldError(f"scaling_event.cpu_limit_cores {cores:g} is not legal; legal: > 0 to {MOST_CORES}")
    if event.HasField("at") and not FIRST_S <= event.at.seconds < END_S:
        raise InvalidFieldError(
            f"scaling_event.at {event.at.seconds} s is not legal; legal: 1970-01-01 to 2261-12-31, or absent"
        )
    return Scaling(
        at_ms=min(event.at.ToMilliseconds(), received_ms) if event.HasField("at") else received_ms,
        service=event.service,
        cpu_limit_cores=event.cpu_limit_cores if has_cores else None,
        replicas=event.replicas if has_replicas else None,
        version=event.version,
        source=event.source,
    )


def _curve(estimate: Estimate, curve: Curve) -> evidence_pb2.CurveEvidence:
    points = [
        evidence_pb2.CurvePoint(concurrency=float(x), goodput_per_s=float(y), samples=int(count))
        for x, y, count in zip(curve.concurrency, curve.goodput_per_s, curve.count, strict=True)
    ]
    if estimate.fitted_per_s is not None:
        for point, value in zip(points, estimate.fitted_per_s, strict=True):
            point.fitted_per_s = float(value)
    return evidence_pb2.CurveEvidence(points=points, knee=estimate.knee, polynomial_degree=estimate.polynomial_degree)


def timestamp(ms: int) -> Timestamp:
    return Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 10**6)
