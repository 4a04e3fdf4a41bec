"""Prepares the data for the guard (`harm.py`). Pure."""

from __future__ import annotations

from dataclasses import replace

from sluice.fast.belief_levels import COMPLETIONS, CORES, IN_FLIGHT_S, SATURATED, SECONDS
from sluice.fast.changed import changed
from sluice.pools.estimate.belief.evidence import DRAINS, OVER
from sluice.pools.policy.allowed import TOLD_READINGS
from sluice.pools.policy.callers import most_wait
from sluice.pools.policy.crowded import on_trial
from sluice.pools.policy.fullness import full_share
from sluice.pools.policy.harm import watched
from sluice.pools.policy.observation import REPORTED_FULL, Observation, Occupancy
from sluice.pools.policy.reach import by_another
from sluice.pools.policy.scene import GuardVerdict, Scene
from sluice.pools.policy.state import Facts, Learnt
from sluice.pools.policy.trial import TRIAL_MS
from sluice.pools.policy.trust import SEEN_S, SizeRecord, in_force, last_of_ours

# Actuators report an unchanged size each 15 s. Without a report for so long, nobody reads the size.
UNREAD_MS = 20_000


def watch(facts: Facts, learnt: Learnt, observation: Observation, now_ms: int) -> tuple[Facts, GuardVerdict | None]:
    """The facts with the size in force as read, and the guard's requirement. While sizes differ the guard requires
    nothing."""
    current = observation.size
    if not observation.sizes and facts.trust.check is not None:
        # The service is away and may come back with another size.
        facts = changed(facts, trust=replace(facts.trust, check=None))
    if observation.constraints.paused and current is not None and current == observation.constraints.set_to:
        if facts.trust.operator == current:
            return facts, None
        # Whoever holds a pool at a size is its operator.
        return changed(facts, trust=in_force(facts.trust, current, facts.current, True, now_ms)), None
    if observation.constraints.paused or current is None:
        return facts, None
    foreign = facts.current is not None and by_another(facts, current)
    trust = in_force(facts.trust, current, facts.current, foreign, now_ms)
    change = facts.change
    ours = change is not None and change.to_size == current
    occupancy = observation.occupancy
    good_s = next((beat.second + 1 for beat in reversed(learnt.beats) if beat.good > 0), None)
    scene = Scene(
        current=current,
        from_size=change.from_size if change is not None and ours else None,
        beats=learnt.beats,
        completed_ms=None if good_s is None else 1_000 * good_s,
        full_share=full_share(facts, learnt),
        cores=observation.cores,
        lag_ms=learnt.lag_ms,
        unread=observation.read_ms is not None and now_ms - observation.read_ms > UNREAD_MS,
        drains=occupancy is not None and not occupancy.coarse and occupancy.busy > DRAINS * current,
        in_use=_in_use(occupancy),
        most_wait=most_wait(facts, learnt, now_ms) is not None,
        idle=_idle(occupancy),
        shrunk=ours and on_trial(facts, learnt),
    )
    if trust.check is not None and (ours_before := last_of_ours(trust)) is not None:
        scene = replace(scene, when_full_per_s=_when_full(learnt, 0.0, ours_before, observation.cores))
    size = scene.from_size
    # A pool that was shrunk may have collapsed at the size before, whose evidence is older.
    grew = size is not None and size < current and now_ms - trust.since_ms <= TRIAL_MS
    if size is not None and grew and trust.at(size, observation.cores) is None:
        per_s = _when_full(learnt, size / OVER, size, observation.cores)
        before = SizeRecord(size, per_s, size / per_s, 0.0, observation.cores, scene.lag_ms) if per_s > 0 else None
        scene = replace(scene, before=before)
    if trust.operator is not None and size is not None and now_ms - trust.since_ms <= TRIAL_MS:
        per_s = _when_full(learnt, trust.operator / OVER, trust.operator, observation.cores)
        scene = replace(scene, operator_full_per_s=per_s) if per_s > 0 else scene
    trust, verdict = watched(trust, scene, now_ms)
    return (facts if trust == facts.trust else changed(facts, trust=trust)), verdict


def _in_use(occupancy: Occupancy | None) -> float | None:
    """In use, where enough readings say that the pool is not full. Bursts may fill it now and then."""
    if occupancy is None or occupancy.coarse or occupancy.readings < TOLD_READINGS:
        return None
    return occupancy.busy_30_s if occupancy.full_share < REPORTED_FULL else None


def _idle(occupancy: Occupancy | None) -> bool:
    """Whether nothing is in the pool, and nobody waits for it: what does not complete has not come. Where a request
    does not end, the next report, 15 s later at most, has it in use."""
    if occupancy is None or occupancy.coarse:
        return False
    return occupancy.busy == occupancy.busy_most == 0 and not occupancy.waiting_most


def _when_full(learnt: Learnt, least: float, size: int, cores: float) -> float:
    """The most completions per second of a full pool, over 3 s or more, with `least` to `size` in flight; 0 without
    evidence."""
    table = learnt.evidence.table
    if len(table) == 0:
        return 0.0
    on, saturated, completions, seconds, in_flight_s = table[:, [CORES, SATURATED, COMPLETIONS, SECONDS, IN_FLIGHT_S]].T
    full = (on == cores) & (saturated > 0) & (seconds >= SEEN_S)
    full &= (in_flight_s >= least * seconds) & (in_flight_s <= OVER * size * seconds)
    return float((completions[full] / seconds[full]).max(initial=0.0))
