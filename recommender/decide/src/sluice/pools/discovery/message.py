"""A candidate as a message of the API, which is also its record in the journal."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import DecodeError

from sluice.journal.codec import log_skipped
from sluice.model.keys import PoolKey
from sluice.model.times import timestamp
from sluice.pools.discovery.candidate import Candidate, FoundBy
from sluice.pools.names import CANDIDATE, key_of, message_of, pool_of
from sluice.pools.v1 import candidate_pb2

_NUMBERS: Mapping[FoundBy, candidate_pb2.FoundBy.ValueType] = {
    "configuration": candidate_pb2.FOUND_BY_CONFIGURATION,
    "actuator": candidate_pb2.FOUND_BY_ACTUATOR,
    "metrics": candidate_pb2.FOUND_BY_METRICS,
    "bound": candidate_pb2.FOUND_BY_BOUND,
}
_NAMES: Mapping[int, FoundBy] = {number: name for name, number in _NUMBERS.items()}


def write_candidate(one: Candidate) -> candidate_pb2.Candidate:
    message = candidate_pb2.Candidate(
        pool=message_of(one.key),
        why=one.why,
        concurrency=one.concurrency,
        instances=one.instances,
        size=one.size,
        seen_at=timestamp(one.seen_ms),
    )
    if one.found_by is not None:
        message.found_by = _NUMBERS[one.found_by]
        message.found_at.CopyFrom(timestamp(one.found_at_ms))
    if one.size_from is not None:
        message.size_from = _NUMBERS[one.size_from]
    return message


def read_candidate(message: candidate_pb2.Candidate) -> Candidate:
    """ValueError for a side of a later version. A reason of a later version is that of a candidate that is no pool: it
    is found again."""
    found_by = _NAMES.get(message.found_by)
    return Candidate(
        key=key_of(message.pool),
        why=message.why,
        found_by=found_by,
        found_at_ms=0 if found_by is None else message.found_at.ToMilliseconds(),
        concurrency=message.concurrency,
        instances=message.instances,
        size=message.size if message.HasField("size") else None,
        size_from=_NAMES.get(message.size_from),
        seen_ms=message.seen_at.ToMilliseconds(),
    )


def read_candidates(records: Mapping[str, bytes]) -> tuple[dict[PoolKey, Candidate], int]:
    """The candidates in records, by pool, and the number of unreadable records, which are logged."""
    candidates: dict[PoolKey, Candidate] = {}
    left_out = 0
    for name, value in records.items():
        try:
            one = read_candidate(candidate_pb2.Candidate.FromString(value))
            if pool_of(name, CANDIDATE) != one.key:
                raise ValueError(f"read the journal: under the key {name} a candidate of {one.key}")
        except (DecodeError, ValueError) as cause:
            left_out += 1
            log_skipped(cause)
        else:
            candidates[one.key] = one
    return candidates, left_out
