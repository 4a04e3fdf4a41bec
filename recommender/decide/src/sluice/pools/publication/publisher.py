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
    before: Mapping[PoolKey, Published], answers: Iterable[Publication], pools: Iterable[PoolKey], now_ms: int
) -> Publications:
    """pools: all configured ones. Other published pools get a record with state DELETED."""
    made = Publications({}, {}, [], {})
    for answer in answers:
        last, turn = before.get(answer.key, Published()), turn_of(answer.key, now_ms)
        content = settled(last.content, answer.content)
        new = content != last.content
        numbered = changed(answer, content=content, revision=last.revision + new)
        made.answers[answer.key] = numbered
        judged_anew = answer.threshold.value_ns != last.threshold_ns
        if new or judged_anew or turn > last.turn:
            made.decisions.append(pool_size(numbered))
            last = last._replace(turn=turn, threshold_ns=answer.threshold.value_ns)
        if judged_anew:
            last = last._replace(explained=(0, NEVER))
        made.published[answer.key] = last._replace(revision=numbered.revision, content=content)
    for key in before.keys() - set(pools):
        if before[key].content is not None:
            made.published[key] = before[key]._replace(content=None)
            made.decisions.append(PoolSize(pool=message_of(key), state=STATE_DELETED, revision=before[key].revision))
    _explain(made, now_ms)
    return made


def _explain(made: Publications, now_ms: int) -> None:
    due = []
    for key, answer in made.answers.items():
        revision, turn = made.published[key].explained
        if revision != answer.revision or turn < turn_of(key, now_ms):
            due.append((revision == answer.revision, turn, key))
    for _, _, key in sorted(due)[:MOST_EXPLANATIONS]:
        answer = made.answers[key]
        try:
            made.explanations[key] = explanation(answer)
        except Exception as cause:
            log.error("explanation of %s failed, going on: %s: %s", key, type(cause).__name__, cause)
        made.published[key] = made.published[key]._replace(explained=(answer.revision, turn_of(key, now_ms)))


def _content(size: PoolSize) -> Content | None:
    """None where it was deleted, or is of a later version: the next answer then is a new one."""
    try:
        return None if size.state == STATE_DELETED else content_of(size)
    except ValueError:
        return None
