"""Converts answers to the messages of sluice.pools.v1 in the journal, and back."""

from __future__ import annotations

from typing import Literal

import numpy as np
from google.protobuf.duration_pb2 import Duration

from sluice.common.v1.decision_pb2 import Action, Reason
from sluice.model.times import timestamp
from sluice.pools.critical.holds_up import blame_message
from sluice.pools.estimate import Estimate
from sluice.pools.estimate.curve import Curve
from sluice.pools.inputs.deployments import Deployments
from sluice.pools.inputs.occupancy import message_of as occupancy_message
from sluice.pools.inputs.occupancy import newest_report
from sluice.pools.inputs.sizes import TargetSize
from sluice.pools.names import message_of
from sluice.pools.policy.advice_message import advice_message, advice_of
from sluice.pools.policy.picture import Believed, Picture, draw, draw_on
from sluice.pools.publication.publication import Content, Hardware, Publication
from sluice.pools.v1 import evidence_pb2, pool_size_pb2
from sluice.pools.v1.advice_pb2 import Advice

# Points of a curve: 300 of 40 bytes leave room in an explanation's 16 kB.
MOST_POINTS = 300


def pool_size(answer: Publication) -> pool_size_pb2.PoolSize:
    """The message without a lease, which heartbeats have."""
    content = answer.content
    message = pool_size_pb2.PoolSize(
        pool=message_of(answer.key),
        state=pool_size_pb2.State.Value(f"STATE_{content.state}"),
        action=Action.Value(f"ACTION_{content.action}"),
        basis=pool_size_pb2.Basis.Value(f"BASIS_{content.basis}"),
        confidence=answer.confidence,
        reasons=[Reason(code=reason.code, text=reason.text) for reason in answer.reasons],
        model=answer.model,
        computed_at=timestamp(answer.computed_at_ms),
        revision=answer.revision,
        sizes=[_target_size(target) for target in answer.targets],
        targets=content.targets,
        threshold=_duration(answer.threshold.value_ns) if answer.threshold.is_known else None,
        data_until=None if answer.windows is None else timestamp(answer.windows.end_ms),
        advice=None if answer.advice is None else advice_message(answer.advice),
        blame=blame_message(answer.holds_up),
    )
    for name in ("current", "target", "lower_bound", "upper_bound", "unguarded_target"):
        value = getattr(content, name)
        if value is not None:
            setattr(message, name, value)
    if answer.legal is not None:
        message.least, message.most = answer.legal
    return message


def content_of(message: pool_size_pb2.PoolSize) -> Content:
    """The content of an answer in the journal, to compare the next one with."""

    def optional(name: Literal["current", "target", "lower_bound", "upper_bound", "unguarded_target"]) -> int | None:
        return getattr(message, name) if message.HasField(name) else None

    return Content(
        state=pool_size_pb2.State.Name(message.state).removeprefix("STATE_"),
        current=optional("current"),
        target=optional("target"),
        lower_bound=optional("lower_bound"),
        upper_bound=optional("upper_bound"),
        unguarded_target=optional("unguarded_target"),
        codes=tuple(reason.code for reason in message.reasons),
        basis=_basis_name(message.basis),
        action=Action.Name(message.action).removeprefix("ACTION_"),
        sizes=tuple((target.instance, None if target.unbounded else target.size) for target in message.sizes),
        targets=tuple(message.targets),
        owners=tuple((target.instance, target.reporter) for target in message.sizes if target.reporter),
        advised=_hardware(message.advice) if message.HasField("advice") else None,
    )


def _basis_name(number: int) -> str:
    """UNSPECIFIED for a basis that only an older or newer version has."""
    known = pool_size_pb2.Basis.DESCRIPTOR.values_by_number.get(number)
    return "UNSPECIFIED" if known is None else known.name.removeprefix("BASIS_")


def _hardware(advice: Advice) -> Hardware:
    of = advice_of(advice)
    return Hardware(of.kind.value, of.to_cores, of.to_replicas)


def _target_size(target: TargetSize) -> pool_size_pb2.TargetSize:
    read_at, newest = timestamp(target.read_at_ms), newest_report(target.occupancy, target.read_at_ms)
    return pool_size_pb2.TargetSize(
        instance=target.instance,
        size=target.size,
        unbounded=target.size is None,
        read_at=read_at,
        occupancy=occupancy_message(newest) if newest is not None else None,
        reporter=target.reporter,
        recommends=target.recommends,
    )


def explanation(answer: Publication) -> evidence_pb2.Explanation:
    """The evidence behind an answer. Makes the belief again, which takes most of the time."""
    threshold = answer.threshold
    message = evidence_pb2.Explanation(
        threshold=evidence_pb2.Threshold(
            value=_duration(threshold.value_ns) if threshold.is_known else None,
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
        message.bucket.CopyFrom(_duration(windows.bucket_ms * 10**6))
        message.buckets = windows.buckets
        message.completions = windows.completions
        message.instances = windows.instances
    picture = draw(answer.learnt, answer.content.current, answer.cores) if estimate is None else None
    if picture is not None:
        message.belief.CopyFrom(belief_evidence(picture))
        to_cores = answer.advice.to_cores if answer.advice is not None else None
        if to_cores is not None and to_cores != picture.cores:
            message.advised_curve.extend(map(_believed_point, draw_on(answer.learnt, answer.content.current, to_cores)))
    elif estimate is not None and estimate.curve is not None:
        message.curve.CopyFrom(_curve(estimate, estimate.curve))
    for rule, spans in sorted(answer.roles.left_out.items(), key=lambda ruled: (-ruled[1], ruled[0])):
        message.left_out.add(rule=rule, spans=spans)
    message.baseline.CopyFrom(_baseline(answer.deployments))
    if answer.since_ms is not None:
        message.baseline.since.CopyFrom(timestamp(answer.since_ms))
    return message


def belief_evidence(picture: Picture) -> evidence_pb2.BeliefEvidence:
    return evidence_pb2.BeliefEvidence(
        points=[
            evidence_pb2.SeenPoint(
                concurrency=point.concurrency,
                throughput_per_s=point.completions_per_s,
                seconds=point.seconds,
                full=point.full,
                cpu_limit_cores=point.cores,
            )
            for point in picture.points
        ],
        curve=[_believed_point(point) for point in picture.curve],
        knee=picture.knee,
        upper=picture.upper,
        best=picture.best,
        loss=picture.loss,
        seconds=picture.seconds,
        cpu_limit_cores=picture.cores,
    )


def _believed_point(of: Believed) -> evidence_pb2.BelievedPoint:
    return evidence_pb2.BelievedPoint(
        size=of.size, throughput_per_s=of.per_s, lower_per_s=of.lower_per_s, upper_per_s=of.upper_per_s
    )


def _baseline(deployments: Deployments) -> evidence_pb2.Baseline:
    own, peer = deployments.own, deployments.peer
    return evidence_pb2.Baseline(
        version=own.version,
        peer_version=peer.version,
        cpu_limit_cores=own.cores,
        peer_cpu_limit_cores=peer.cores,
    )


def _curve(estimate: Estimate, curve: Curve) -> evidence_pb2.CurveEvidence:
    """Evenly spaced levels, if there are many: a record has no room for all."""
    levels = len(curve.concurrency)
    shown = np.unique(np.linspace(0, levels - 1, min(levels, MOST_POINTS)).round().astype(int))
    points = [
        evidence_pb2.CurvePoint(
            concurrency=float(curve.concurrency[at]),
            goodput_per_s=float(curve.goodput_per_s[at]),
            samples=int(curve.count[at]),
            fitted_per_s=None if estimate.fitted_per_s is None else float(estimate.fitted_per_s[at]),
        )
        for at in shown
    ]
    return evidence_pb2.CurveEvidence(points=points, knee=estimate.knee, polynomial_degree=estimate.polynomial_degree)


def _duration(ns: int) -> Duration:
    return Duration(seconds=ns // 10**9, nanos=ns % 10**9)
