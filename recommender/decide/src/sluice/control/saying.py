"""What of a period's answers goes into the log: new ones under their revision, others once a minute, explanations.

A revision grows where the content is another one (`Content`); times, confidence and words may change under it. Servers
and tables have those within a minute. An explanation costs some 3 ms: a period makes so many at most, for new answers
first, then for those whose last one is the oldest.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sluice.control.answer import Answer, Content, settled
from sluice.control.messages import content_of, explanation, pool_size
from sluice.model.changed import changed
from sluice.model.keys import PoolKey
from sluice.pools.due import NEVER, turn_of
from sluice.pools.names import message_of
from sluice.pools.v1.evidence_pb2 import Explanation
from sluice.pools.v1.pool_size_pb2 import STATE_DELETED, PoolSize

log = logging.getLogger(__name__)

MOST_EXPLANATIONS = 50


class Said(NamedTuple):
    """The newest answer of a pool in the log.

    content: None of one that was taken away. threshold_ns: that it was written with. turn: the minute in which it was
    written. explained: the revision that was explained last, and the minute.
    """

    revision: int = 0
    content: Content | None = None
    threshold_ns: int = 0
    turn: int = NEVER
    explained: tuple[int, int] = (0, NEVER)


class Words(NamedTuple):
    """Of one period. said: as it is once it is committed. answers: with their revisions."""

    said: dict[PoolKey, Said]
    answers: dict[PoolKey, Answer]
    decisions: list[PoolSize]
    explanations: dict[PoolKey, Explanation]


def restored(decisions: Mapping[PoolKey, PoolSize]) -> dict[PoolKey, Said]:
    return {key: Said(size.revision, _content(size), size.threshold.ToNanoseconds()) for key, size in decisions.items()}


def words(before: Mapping[PoolKey, Said], answers: Iterable[Answer], pools: Iterable[PoolKey], now_ms: int) -> Words:
    """pools: all that are configured; of others that were said, it is said that they are gone."""
    made = Words({}, {}, [], {})
    for answer in answers:
        last, turn = before.get(answer.key, Said()), turn_of(answer.key, now_ms)
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
        made.said[answer.key] = last._replace(revision=numbered.revision, content=content)
    for key in before.keys() - set(pools):
        if before[key].content is not None:
            made.said[key] = before[key]._replace(content=None)
            made.decisions.append(PoolSize(pool=message_of(key), state=STATE_DELETED, revision=before[key].revision))
    _explain(made, now_ms)
    return made


def _explain(made: Words, now_ms: int) -> None:
    due = []
    for key, answer in made.answers.items():
        revision, turn = made.said[key].explained
        if revision != answer.revision or turn < turn_of(key, now_ms):
            due.append((revision == answer.revision, turn, key))
    for _, _, key in sorted(due)[:MOST_EXPLANATIONS]:
        answer = made.answers[key]
        try:
            made.explanations[key] = explanation(answer)
        except Exception as cause:
            log.error("explanation of %s failed, going on: %s: %s", key, type(cause).__name__, cause)
        made.said[key] = made.said[key]._replace(explained=(answer.revision, turn_of(key, now_ms)))


def _content(size: PoolSize) -> Content | None:
    """None where it was taken away, or says what a later version knows: the next answer is a new one then."""
    try:
        return None if size.state == STATE_DELETED else content_of(size)
    except ValueError:
        return None
