"""Publication of a period's answers: new ones under a new revision, others once a minute, and explanations.

The revision grows when the content changes (`Content`). Times, confidence and texts may change under the same revision;
servers and tables have them within a minute. An explanation takes some 3 ms, so a period makes a limited number: for
new answers first, then for those with the oldest explanation.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sluice.fast.changed import changed
from sluice.model.keys import PoolKey
from sluice.pools.commit import PoolsCommit
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


class _Unwritten(NamedTuple):
    """The result of a period, until it is committed. published: the newest answers after the commit."""

    published: dict[PoolKey, Published]
    answers: dict[PoolKey, Publication]


class Publisher:
    """The answers of a shard's pools. Call `publish`, then `committed` or `aborted`."""

    def __init__(self, decisions: Mapping[PoolKey, PoolSize]) -> None:
        """decisions: in the journal at the takeover."""
        self._published = {
            key: Published(size.revision, _content(size), size.threshold.ToNanoseconds())
            for key, size in decisions.items()
        }
        self.answers: dict[PoolKey, Publication] = {}
        """The newest answer of each pool."""
        self._period = _Unwritten({}, {})

    def continue_from(self, revisions: Mapping[PoolKey, int]) -> None:
        """revisions: the newest of each pool, where the journal was lost."""
        self._published = {key: Published(revision) for key, revision in revisions.items()}

    def content(self, key: PoolKey) -> Content | None:
        """The pool's newest content; None without an answer in the journal."""
        last = self._published.get(key)
        return None if last is None else last.content

    @property
    def contents(self) -> dict[PoolKey, Content]:
        """As `content`, of all pools that have one."""
        return {key: last.content for key, last in self._published.items() if last.content is not None}

    @property
    def renewed(self) -> Mapping[PoolKey, Publication]:
        """The answers of the present period, with their revisions."""
        return self._period.answers

    def publish(self, answers: Iterable[Publication], pools: Iterable[PoolKey], now_ms: int) -> PoolsCommit:
        """The decisions and explanations to write. pools: all configured ones. Other published pools get a record with
        state DELETED."""
        period, decisions = _Unwritten({}, {}), list[PoolSize]()
        for answer in answers:
            last, turn = self._published.get(answer.key, Published()), turn_of(answer.key, now_ms)
            content = settled(last.content, answer.content)
            new = content != last.content
            numbered = changed(answer, content=content, revision=last.revision + new)
            period.answers[answer.key] = numbered
            judged_anew = answer.threshold.value_ns != last.threshold_ns
            if new or judged_anew or turn > last.turn:
                decisions.append(pool_size(numbered))
                last = last._replace(turn=turn, threshold_ns=answer.threshold.value_ns)
            if judged_anew:
                last = last._replace(explained=(0, NEVER))
            period.published[answer.key] = last._replace(revision=numbered.revision, content=content)
        for key in self._published.keys() - set(pools):
            if (last := self._published[key]).content is not None:
                period.published[key] = last._replace(content=None)
                decisions.append(PoolSize(pool=message_of(key), state=STATE_DELETED, revision=last.revision))
        self._period = period
        return PoolsCommit(decisions, _explanations(period, now_ms))

    def committed(self, pools: Collection[PoolKey]) -> None:
        """Keeps the period. pools: the configured ones."""
        self._published |= self._period.published
        self.answers = {key: last for key, last in self.answers.items() if key in pools} | self._period.answers
        self.aborted()

    def aborted(self) -> None:
        self._period = _Unwritten({}, {})


def _explanations(period: _Unwritten, now_ms: int) -> dict[PoolKey, Explanation]:
    waiting = []
    for key, answer in period.answers.items():
        revision, turn = period.published[key].explained
        if revision != answer.revision or turn < turn_of(key, now_ms):
            waiting.append((revision == answer.revision, turn, key))
    explanations = {}
    for _, _, key in sorted(waiting)[:MOST_EXPLANATIONS]:
        answer = period.answers[key]
        try:
            explanations[key] = explanation(answer)
        except Exception as cause:
            log.error("explanation of %s failed, going on: %s: %s", key, type(cause).__name__, cause)
        period.published[key] = period.published[key]._replace(explained=(answer.revision, turn_of(key, now_ms)))
    return explanations


def _content(size: PoolSize) -> Content | None:
    """None where it was deleted, or is of a later version: the next answer then is a new one."""
    try:
        return None if size.state == STATE_DELETED else content_of(size)
    except ValueError:
        return None
