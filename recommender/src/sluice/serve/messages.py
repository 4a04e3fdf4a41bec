"""Between answers and the messages of sluice.v1: the one place where they meet."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from sluice.config import PoolKey
from sluice.config.model import Side
from sluice.serve.answer import Answer
from sluice.v1 import pool_size_pb2 as pb

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


def pool_size(answer: Answer) -> pb.PoolSize:
    content = answer.content
    message = pb.PoolSize(
        pool=pb.Pool(service=answer.key.service, side=_SIDES[answer.key.side], peer=answer.key.peer),
        state=pb.State.Value(content.state),
        confidence=answer.confidence,
        reasons=[pb.Reason(code=reason.code, text=reason.text) for reason in answer.reasons],
        model=answer.model,
        computed_at=timestamp(answer.computed_at_ms),
        valid_until=timestamp(answer.valid_until_ms),
        revision=answer.revision,
    )
    for name in ("current", "target", "lower_bound", "upper_bound", "unguarded_target"):
        value = getattr(content, name)
        if value is not None:
            setattr(message, name, value)
    return message


def explanation(answer: Answer) -> pb.Explanation:
    threshold = answer.threshold
    message = pb.Explanation(
        pool_size=pool_size(answer),
        threshold=pb.Threshold(
            value=Duration(nanos=threshold.value_ns % 10**9, seconds=threshold.value_ns // 10**9),
            source=threshold.source,
            detail=threshold.detail,
        ),
        polynomial_degree=answer.estimate.polynomial_degree,
    )
    if answer.estimate.knee is not None:
        message.knee = answer.estimate.knee
    measured = answer.measured
    if measured is not None:
        by_caller = measured.samples.caller_judged
        message.latency_source = pb.LATENCY_SOURCE_CALLER if by_caller else pb.LATENCY_SOURCE_OWN
        message.window_start.CopyFrom(timestamp(measured.start_ms))
        message.window_end.CopyFrom(timestamp(measured.end_ms))
        message.bucket.CopyFrom(Duration(nanos=measured.bucket_ms % 1000 * 10**6, seconds=measured.bucket_ms // 1000))
        message.buckets = len(measured.samples)
        message.completions = measured.completions
        message.instances = measured.samples.instances
    message.curve.extend(_curve(answer))
    return message


def _curve(answer: Answer) -> list[pb.CurvePoint]:
    curve, fitted = answer.estimate.curve, answer.estimate.fitted_per_s
    if curve is None:
        return []
    points = [
        pb.CurvePoint(concurrency=float(x), goodput_per_s=float(y), samples=int(count))
        for x, y, count in zip(curve.concurrency, curve.goodput_per_s, curve.count, strict=True)
    ]
    if fitted is not None:
        for point, value in zip(points, fitted, strict=True):
            point.fitted_per_s = float(value)
    return points


def timestamp(ms: int) -> Timestamp:
    return Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 10**6)
