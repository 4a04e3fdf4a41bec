"""Publication of a period's answers: new ones under a new revision, others once a minute, and explanations.

The revision grows when the content changes (`Content`). Times, confidence and texts may change under the same revision;
servers and tables have them within a minute. An explanation takes some 3 ms, so a period makes a limited number: for
new answers first, then for those with the oldest explanation.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sluice.fast.changed import changed
from sluice.model.keys import PoolKey
from sluice.pools.names import message_of
from sluice.pools.publication.messages import content_of, explanation, pool_size
from sluice.pools.publication.publication import Content, Publication, settled
from sluice.pools.publication.schedule import NEVER, turn_of
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize

log = logging.getLogger(__name__)

MOST_EXPLANATIONS = 50


class Published(NamedTuple):
    """The newest answer of a pool in the journal.

    content: None for a deleted one. threshold_ns: the threshold in it. turn: the minute of its record. explained: the
    revision of the newest explanation, and its minute.
    """

    revision: int = 0
    content: Content | None = None
    threshold_ns: int = 0
    turn: int = NEVER
    explained: tuple[int, int] = (0, NEVER)


class Publications(NamedTuple):
    """Publications of one period. published: the newest answers after the commit. answers: with their revisions."""

    published: dict[PoolKey, Published]
    answers: dict[PoolKey, Publication]
    decisions: list[PoolSize]
    explanations: dict[PoolKey, Explanation]


def restored(decisions: Mapping[PoolKey, PoolSize]) -> dict[PoolKey, Published]:
    return {
        key: Published(size.revision, _content(size), size.threshold.ToNanoseconds()) for key, size in decisions.items()
    }


def publications(
    last_published: Mapping[PoolKey, Published], answers: Iterable[Publication], pools: Iterable[PoolKey], now_ms: int
) -> Publications:
    """pools: all configured ones. Other published pools get a record with state DELETED."""
    period = Publications({}, {}, [], {})
    for answer in answers:
        last, turn = last_published.get(answer.key, Published()), turn_of(answer.key, now_ms)
        content = settled(last.content, answer.content)
        new = content != last.content
        numbered = changed(answer, content=content, revision=last.revision + new)
        period.answers[answer.key] = numbered
        judged_anew = answer.threshold.value_ns != last.threshold_ns
        if new or judged_anew or turn > last.turn:
            period.decisions.append(pool_size(numbered))
            last = last._replace(turn=turn, threshold_ns=answer.threshold.value_ns)
        if judged_anew:
            last = last._replace(explained=(0, NEVER))
        period.published[answer.key] = last._replace(revision=numbered.revision, content=content)
    for key in last_published.keys() - set(pools):
        if last_published[key].content is not None:
            period.published[key] = last_published[key]._replace(content=None)
            period.decisions.append(
                PoolSize(pool=message_of(key), state=STATE_DELETED, revision=last_published[key].revision)
            )
    _explain(period, now_ms)
    return period


def _explain(period: Publications, now_ms: int) -> None:
    waiting = []
    for key, answer in period.answers.items():
        revision, turn = period.published[key].explained
        if revision != answer.revision or turn < turn_of(key, now_ms):
            waiting.append((revision == answer.revision, turn, key))
    for _, _, key in sorted(waiting)[:MOST_EXPLANATIONS]:
        answer = period.answers[key]
        try:
            period.explanations[key] = explanation(answer)
        except Exception as cause:
            log.error("explanation of %s failed, going on: %s: %s", key, type(cause).__name__, cause)
        period.published[key] = period.published[key]._replace(explained=(answer.revision, turn_of(key, now_ms)))


def _content(size: PoolSize) -> Content | None:
    """None where it was deleted, or is of a later version: the next answer then is a new one."""
    try:
        return None if size.state == STATE_DELETED else content_of(size)
    except ValueError:
        return None
