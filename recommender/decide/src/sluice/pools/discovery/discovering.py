"""The candidates of a shard: read every 20 s, judged every 5 s, written to the journal where they changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.model.keys import PoolKey
from sluice.model.problems import Problems
from sluice.pools.discovery.bound import CandidateCourse, bound_of
from sluice.pools.discovery.candidate import Candidate, Load
from sluice.pools.discovery.configured import with_found, with_pools
from sluice.pools.discovery.finding import NO_PEERS, Fits, KnownBound, KnownSize, Signs, next_candidates
from sluice.pools.discovery.query import LASTS_S, SETTLES_S
from sluice.pools.discovery.room import MemoryRoom
from sluice.pools.inputs.sizes import Sizes, one_size
from sluice.pools.metrics.in_force import by_metrics, reported
from sluice.pools.metrics.metric_sizes import MetricSizes
from sluice.pools.period.source import WindowSource
from sluice.pools.roles.span_roles import SpanRoles, notes_of
from sluice.pools.section import PoolsSection

LOOK_MS, JUDGE_MS = 20_000, 5_000
ACTIVITY, BOUNDS = "candidate pools", "bounds of candidates"
# A look examines so many candidates for a bound, of those whose level may be flat, in turn.
EXAMINED, STEADY = 20, 0.5
# By so much a bucket is above a bound. Spans of one thread or connection overlap by their clock's resolution.
HIGHER = 0.5
# A record is written again where its load is off by this factor, or its time by an hour.
LOAD_OFF, SEEN_OFF_MS = 1.5, 3_600_000


class Discovering:
    """Call `look` and `judge`, then read `config`. `due` stays until `committed`. After a failed reading the last loads
    stay."""

    def __init__(self, written: Mapping[PoolKey, Candidate], room: MemoryRoom) -> None:
        """written: the candidates in the journal. room: of all shards of the decider."""
        self._room = room
        self.candidates = dict(written)
        self._written, self._due = dict(written), dict[PoolKey, Candidate | None]()
        self._loads: dict[PoolKey, Load] = {}
        self._bounds = {
            key: KnownBound(one.size, one.why)
            for key, one in written.items()
            if one.size is not None and one.size_from == "bound"
        }
        self._examined: dict[PoolKey, int] = {}
        self._reported_ms: dict[PoolKey, int] = {}
        self._looked_ms = self._judged_ms = -LOOK_MS
        self._config: tuple[PoolsSection, PoolsSection] | None = None
        self._watched: tuple[PoolsSection, PoolsSection] | None = None

    def config(self, declared: PoolsSection) -> PoolsSection:
        """The declared pools and the found ones; the same object as long as both are the same."""
        if self._config is None or self._config[0] is not declared:
            self._config = declared, with_found(declared, self.candidates)
        return self._config[1]

    def watched(self, declared: PoolsSection) -> PoolsSection:
        """As `config`, with the candidates that are no pools: their sizes are looked for."""
        config = self.config(declared)
        if self._watched is None or self._watched[0] is not config:
            pools = {pool.key for pool in config.pools}
            others = [key for key in self.candidates if key not in pools and key.peer not in NO_PEERS]
            self._watched = config, with_pools(config, others)
        return self._watched[1]

    def look(self, declared: PoolsSection, source: WindowSource, now_ms: int, problems: Problems) -> None:
        """Reads what spans show, where the last reading is 20 s old. now_ms: Unix time."""
        if declared.discovery is None or abs(now_ms - self._looked_ms) < LOOK_MS:
            return
        self._looked_ms, self._judged_ms = now_ms, -JUDGE_MS
        last: Sequence[Load] = [*self._loads.values()]
        loads = problems.result(ACTIVITY, lambda: source.loads(declared, now_ms), last)
        self._loads = {load.key: load for load in loads}
        self._bounds = {key: bound for key, bound in self._bounds.items() if not self._is_above(key, bound)}
        suspects = [load.key for load in loads if load.steadiest >= STEADY and self._needs_bound(load.key, now_ms)]
        suspects = [key for key in suspects if key.side != "consumer" and key.peer not in NO_PEERS]
        suspects = [key for key in suspects if declared.discovery.selects(key)]
        self._examined = {key: self._examined.get(key, 0) for key in suspects}
        examined = sorted(suspects, key=lambda key: self._examined[key])[:EXAMINED]
        if not examined:
            return
        self._examined |= dict.fromkeys(examined, now_ms)
        none: Sequence[CandidateCourse] = []
        courses = problems.result(BOUNDS, lambda: source.courses(declared, examined, now_ms), none)
        bounds = ((key, bound_of(course)) for key, course in zip(examined, courses, strict=bool(courses)))
        self._bounds |= {key: KnownBound(bound.size, str(bound)) for key, bound in bounds if bound is not None}

    def judge(
        self,
        declared: PoolsSection,
        sizes: Sizes,
        metrics: MetricSizes,
        roles: Mapping[PoolKey, SpanRoles],
        now_ms: int,
    ) -> None:
        """Decides which candidates are pools, where that was 5 s ago."""
        if abs(now_ms - self._judged_ms) < JUDGE_MS:
            return
        self._judged_ms = now_ms
        last, known, reported_ms = self.candidates, dict[PoolKey, KnownSize](), dict[PoolKey, int]()
        for key in {**last, **self._loads}:
            if targets := reported(key, sizes, metrics, now_ms):
                known[key] = KnownSize("metrics" if by_metrics(targets) else "actuator", one_size(targets))
            reported_ms[key] = now_ms if targets else max(sizes.newest_ms(key), self._reported_ms.get(key, 0))
        self._reported_ms = reported_ms
        self._bounds = {key: bound for key, bound in self._bounds.items() if not self._had_size(key, now_ms)}
        configured = {pool.key for pool in declared.pools}
        notes = {key: notes_of(of, sized=key in known) for key, of in roles.items()}
        threadless = {key: note.text for key, of_pool in notes.items() for note in of_pool}
        bounds = {key: bound for key, bound in self._bounds.items() if key not in threadless}
        metrics.take_bounds({key: bound.size for key, bound in bounds.items()}, now_ms)
        known |= {key: KnownSize("bound", bound.size) for key, bound in bounds.items()}
        why = {key: bound.why for key, bound in bounds.items()}
        signs = Signs(configured, known, metrics.doubts, why, threadless)
        fits = Fits(self._room.beside(self), str(self._room))
        self.candidates = next_candidates(last, self._loads, signs, declared.discovery, now_ms, fits)
        self._room.take(self, len(_pools(self.candidates) | configured))
        if _pools(last) != _pools(self.candidates):
            self._config = None
        if last.keys() != self.candidates.keys():
            self._watched = None
        self._due = self._changes()

    def due(self) -> Mapping[PoolKey, Candidate | None]:
        """The candidates to write; None: it is gone."""
        return self._due

    def committed(self) -> None:
        for key, one in self._due.items():
            if one is None:
                del self._written[key]
            else:
                self._written[key] = one
        self._due = {}

    def _changes(self) -> dict[PoolKey, Candidate | None]:
        changes: dict[PoolKey, Candidate | None] = dict.fromkeys(self._written.keys() - self.candidates.keys())
        for key, one in self.candidates.items():
            if _differs(self._written.get(key), one):
                changes[key] = one
        return changes

    def _needs_bound(self, key: PoolKey, now_ms: int) -> bool:
        """Whether nothing else has the candidate's size, as last judged."""
        one = self.candidates.get(key)
        return not self._had_size(key, now_ms) and (one is None or one.size_from in (None, "bound"))

    def _had_size(self, key: PoolKey, now_ms: int) -> bool:
        """Whether an actuator or a metric had the size since the first window in which a bound is looked for. A bound
        of earlier windows may be that of a size that is no longer in force."""
        return now_ms - self._reported_ms.get(key, 0) < 1_000 * (LASTS_S + SETTLES_S)

    def _is_above(self, key: PoolKey, bound: KnownBound) -> bool:
        """Whether an instance has more in flight than the bound: then the pool has another size."""
        load = self._loads.get(key)
        return load is not None and load.top > bound.size + HIGHER


def _pools(candidates: Mapping[PoolKey, Candidate]) -> set[PoolKey]:
    return {key for key, one in candidates.items() if one.found_by is not None}


def _differs(written: Candidate | None, one: Candidate) -> bool:
    if written is None or _content(written) != _content(one):
        return True
    least, most = sorted((written.concurrency, one.concurrency))
    return most > LOAD_OFF * least + 0.01 or one.seen_ms - written.seen_ms >= SEEN_OFF_MS


def _content(one: Candidate) -> tuple[object, ...]:
    return one.found_by, one.found_at_ms, one.why, one.instances, one.size, one.size_from
