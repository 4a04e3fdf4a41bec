"""Writes `step.json`: the cases by hand below, each with the decision that `step` makes of it now.

    PYTHONPATH=recommender/decide/src:tests python -m contract.decisions.make_step

Read the difference before it is committed: a decision that changed is a change of what the product does.
"""

import json
import math
from pathlib import Path
from typing import Any

from contract.decisions.step_json import decision_json, observation_of, state_of, trust_json
from sluice.pools.policy.step import step

OUT = Path(__file__).with_name("step.json")
NOW = 1_700_000_000_000


def rate(n: float) -> float:
    """Completions a second; most at 16 (364), 176 at 64."""
    return 50.0 * n / (1 + 0.02 * (n - 1) + 0.004 * n * (n - 1))


def level(size: int, cores: float = 4.0, seconds: float = 30.0, full: bool = True) -> list[Any]:
    step_of = round(math.log(size) / (0.05 if full else 0.12))
    return [cores, full, full, step_of, round(rate(size) * seconds, 3), seconds, size * seconds]


KNOWN = [level(size) for size in (8, 12, 16, 20, 32, 64)]
ELSEWHERE = [level(size, cores=2.0) for size in (8, 16, 32, 64)]
LIGHT = [level(4, full=False)]


def learnt(levels: list[Any], full: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"levels": levels, "full": [full] * 5, "until_ms": NOW - 1_100, "completed_ms": NOW - 1_100, **more}


def state(levels: list[Any], current: int | None = 64, full: float = 1.0, **facts: Any) -> dict[str, Any]:
    return {"facts": {"now_ms": NOW - 1_000, "current": current, **facts}, "learnt": learnt(levels, full)}


def sees(*sizes: int | None, cores: float | None = 4.0, **constraints: Any) -> dict[str, Any]:
    named = {f"pod-{at}": size for at, size in enumerate(sizes)}
    observation: dict[str, Any] = {"sizes": named, "cores": cores, "slo_s": 10.0}
    return observation | ({"constraints": constraints} if constraints else {})


def change(from_size: int, to_size: int, ago_ms: int, basis: str = "CURVE", *targets: str) -> dict[str, Any]:
    made = {"from_size": from_size, "to_size": to_size, "at_ms": NOW - ago_ms, "basis": basis}
    return made | ({"targets": list(targets)} if targets else {})


def doubted() -> dict[str, Any]:
    values = state(KNOWN)
    aside = [4.0, True, True, 64.0, 80.0, 1.0]
    return values | {"learnt": values["learnt"] | {"doubt": {"score": 5.0, "aside": [aside]}}}


def stopped(each_s: float) -> dict[str, Any]:
    """10 completions in a second, after so long each, and nothing for 5 s."""
    values = state([[4.0, False, False, round(math.log(10 * each_s) / 0.12), 10.0, 1.0, 10 * each_s]], full=0.0)
    return values | {"learnt": values["learnt"] | {"completed_ms": NOW - 6_100}}


def guarded(trust: dict[str, Any], beats: list[list[float]] | None = None, current: int = 32) -> dict[str, Any]:
    """After a change of ours from the operator's 64, which did 100 a second of 0.25 s each when it was left."""
    did = {"size": 64, "per_s": 100.0, "stay_s": 0.25, "failed": 0.0, "cores": 4.0}
    trust = {"operator": 64, "measured": [did], **trust}
    values = state(KNOWN, current=current, full=0.0, change=change(64, current, 61_000), trust=trust)
    return values | {"learnt": values["learnt"] | {"beats": beats or []}}


def beats(size: int, seconds: int, good: float, failed: float = 0.0, in_flight: float = 0.0) -> list[list[float]]:
    """Of the newest seconds."""
    newest = NOW // 1_000 - 1
    return [[newest - back, size, good, failed, in_flight, 1.0] for back in reversed(range(seconds))]


def timely(size: int, good: float, in_time: float, since: int) -> list[list[float]]:
    """Of 4 s of a full pool with 66 callers, from so many s ago on."""
    return [[NOW // 1_000 - since + at, size, good, 0.0, size, 1.0, good, in_time, 66.0] for at in range(4)]


def in_time_at_64(in_time: float) -> dict[str, Any]:
    """64 threads complete 200 a second, so many of them in time."""
    values = state(KNOWN)
    return values | {"learnt": values["learnt"] | {"beats": timely(64, 200.0, in_time, 4)}}


def crowded() -> dict[str, Any]:
    """48 of 200 in flight, which never was full, complete 96 a second, after 0.5 s each; more with fewer in flight."""
    values = state(KNOWN, current=200, full=0.0)
    seen = [
        [second, size, 96.0 + by, failed, 48.0 - by, length]
        for (second, size, _, failed, _, length), by in zip(beats(200, 15, 0.0), (-2.0, 0.0, 2.0) * 5, strict=True)
    ]
    return values | {"learnt": values["learnt"] | {"beats": seen}}


def no_gain() -> dict[str, Any]:
    """48 of 64 completed 200 a second, less with more in flight, and 32 complete 150 for 8 s."""
    before = [
        [second - 8, size, 200.0 - at % 3, failed, 48.0 + at % 3, length]
        for at, (second, size, _, failed, _, length) in enumerate(beats(64, 15, 200.0))
    ]
    values = guarded({"since_ms": NOW - 8_000}, before + beats(32, 8, 150.0, in_flight=32.0))
    return values | {"learnt": values["learnt"] | {"full": [1.0] * 5}}


def in_use(busy: float, readings: int = 30) -> dict[str, Any]:
    """By its targets' reports, which never have it full."""
    report = {"busy": busy, "waiting": 0.0, "full_share": 0.0, "at_ms": NOW - 500}
    return {"occupancy": report | {"busy_most": round(busy), "readings": readings}}


def demand(in_time: float, in_flight: float = 0.0, waiting: float | None = None) -> dict[str, Any]:
    values = {"until_ms": NOW - 30_000, "asked_per_s": 900.0, "in_time": in_time, "in_flight": in_flight}
    return {"demand": values | {"waiting": waiting}}


def sampled(kind: str, text: str) -> dict[str, Any]:
    return {"sampling": {"kind": kind, "text": text}}


def taken(in_flight: float, **good: float) -> dict[str, Any]:
    """Of the newest second, in which 1 completes. good: of each bucket, where the pool is judged."""
    start_ms = [NOW - 1_000 + 100 * at for at in range(10)]
    bucket = {"concurrency": in_flight, "completions": 0.1, "size": 64.0, "cores": 4.0, **good}
    return {"buckets": {"start_ms": start_ms, "bucket_s": 0.1, **bucket}}


def remembered() -> dict[str, Any]:
    values = state(KNOWN)
    return values | {"learnt": values["learnt"] | {"remembered": True}}


def five_seconds() -> dict[str, Any]:
    buckets = {
        "start_ms": [NOW - 6_000 + 100 * at for at in range(50)],
        "concurrency": 64.0,
        "completions": round(rate(64) / 10, 3),
        "size": 64.0,
        "cores": 4.0,
        "bucket_s": 0.1,
    }
    return sees(64, least=32, most=64) | {"buckets": buckets}


def named(state: str, target: int | None = None, **more: Any) -> dict[str, Any]:
    """What a published model says; its range is two sizes either way."""
    if target is None:
        return {"named": {"state": state}}
    bounds = {"lower_bound": target - 2, "upper_bound": target + 2, "confidence": 0.8}
    return {"named": {"state": state, "target": target, **bounds, **more}}


NIGHT, OPS = "at night", "by ops: a sale"
LATE = {"slo_s": 0.25}
BEGUN = change(64, 40, 2_999)
#: What it is, the state, the observation, the time.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("nothing is known of a pool that has just been found", {}, sees(64), NOW),
    ("an operator paused it", state(KNOWN), sees(64, paused=OPS), NOW),
    ("an operator paused it, which comes before all else", {}, sees(paused=OPS), NOW),
    ("an operator set its size", state(KNOWN), sees(64, paused=OPS, set_to=12), NOW),
    ("an operator set its size, and it is in force", state(KNOWN, current=12), sees(12, paused=OPS, set_to=12), NOW),
    ("an operator set its size, and one of two targets has it", state(KNOWN), sees(64, 12, paused=OPS, set_to=12), NOW),
    ("an operator set a size beyond the bounds", state(KNOWN), sees(64, paused=OPS, set_to=200, most=100), NOW),
    ("an operator set its size, and nobody tells the one in force", state(KNOWN), sees(paused=OPS, set_to=12), NOW),
    ("nobody tells a size: what was last good is held", state(KNOWN, baseline=16), sees(), NOW),
    ("nobody tells a size, and none was ever good", state(KNOWN), sees(), NOW),
    (
        "targets differ: all are brought to the size that was decided",
        state(KNOWN, change=change(64, 40, 60_000)),
        sees(64, 40),
        NOW,
    ),
    (
        "targets differ: the size decided was replaced by hand since",
        state(KNOWN, change=change(128, 40, 60_000)),
        sees(64, 10),
        NOW,
    ),
    ("targets differ, and one has no limit", state(KNOWN), sees(64, None), NOW),
    ("no limit: a first size needs a curve", state(KNOWN, current=None), sees(None), NOW),
    ("silent for 30 s is not silence yet", state(KNOWN, current=16), sees(16, may_look=False), NOW + 28_900),
    ("silent for a millisecond more", state(KNOWN, current=16), sees(16, may_look=False), NOW + 28_901),
    ("nothing may change now", state(KNOWN), sees(64, quiet=NIGHT), NOW),
    ("nothing may change now, not even into the bounds", state(KNOWN), sees(64, quiet=NIGHT, most=50), NOW),
    ("above its bounds: into them at once", state(KNOWN), sees(64, most=20), NOW),
    ("below its bounds", state(KNOWN), sees(64, least=200), NOW),
    ("a backend that leaves nothing", state(KNOWN), sees(64, most=0), NOW),
    ("a backend that leaves less than the pool's least", state(KNOWN), sees(64, least=8, most=4), NOW),
    ("a change under way, not read back yet", state(KNOWN, change=BEGUN), sees(64), NOW),
    ("a change under way, read back: a sure way down goes on", state(KNOWN, change=BEGUN), sees(40), NOW),
    ("a change under way, read back, within a second", state(KNOWN, change=change(64, 40, 999)), sees(40), NOW),
    (
        "an actuator's step on the way of a change",
        state(KNOWN, change=change(64, 32, 1_000)),
        sees(50),
        NOW,
    ),
    ("held at the operator's size", guarded({"given_up_ms": NOW + 60_000}), sees(32), NOW),
    ("held at the operator's size, and it is in force", guarded({"given_up_ms": NOW + 60_000}), sees(64), NOW),
    (
        "held at the operator's size, within the bounds",
        guarded({"given_up_ms": NOW + 60_000}),
        sees(32, most=50),
        NOW,
    ),
    ("nothing in 8 s after a change", guarded({"since_ms": NOW - 8_000}), sees(32), NOW),
    (
        "nothing in 8 s after a change, while it is paused",
        guarded({"since_ms": NOW - 8_000}),
        sees(32, paused=OPS),
        NOW,
    ),
    (
        "never full, shrunk, and it completes no more: back",
        no_gain(),
        sees(32),
        NOW,
    ),
    (
        "more fail since a change",
        guarded({"since_ms": NOW - 8_000}, beats(32, 4, 90.0, 10.0)),
        sees(32),
        NOW,
    ),
    (
        "fewer in time since a change to a smaller size",
        guarded({"since_ms": NOW - 4_000}, timely(64, 100.0, 90.0, 8) + timely(32, 150.0, 20.0, 4)),
        sees(32),
        NOW,
    ),
    (
        "less than at the operator's size, and neither full nor slower",
        guarded({"since_ms": NOW - 40_000}, beats(32, 30, 60.0, in_flight=6.0)),
        sees(32),
        NOW,
    ),
    (
        "less than at the operator's size, and slower",
        guarded({"since_ms": NOW - 40_000}, beats(32, 30, 60.0, in_flight=24.0)),
        sees(32),
        NOW,
    ),
    (
        "more in flight than the pool holds",
        guarded({"since_ms": NOW - 60_000}, beats(64, 4, 100.0, in_flight=80.0), current=64),
        sees(64),
        NOW,
    ),
    ("callers wait for a pool that spans show idle", state(LIGHT, full=0.0), sees(64) | demand(0.5, 5.0, 20.0), NOW),
    ("its traces are a sample", state(KNOWN), sees(64) | sampled("SAMPLED", "1 of 10"), NOW),
    ("its traces are a sample, and nobody tells a size", state(KNOWN), sees() | sampled("SAMPLED", "1 of 10"), NOW),
    (
        "its traces are a sample with a known chance",
        state([]) | {"scaled": {"kept": 0.1, "learnt": learnt(KNOWN)}},
        sees(64) | {"sampling": {"kind": "SAMPLED", "text": "1 of 10", "kept": 0.1, "uniform": True}},
        NOW,
    ),
    ("its traces were chosen", state(KNOWN), sees(64) | sampled("TAIL_SAMPLED", "by a policy"), NOW),
    ("too few traces to tell", state(KNOWN), sees(64) | sampled("UNKNOWN", "7"), NOW),
    ("it waits for what it calls", state(KNOWN), sees(64, callee="cart/server, all 4 of which are taken"), NOW),
    (
        "full, its callers wait, and nothing larger was tried",
        state([level(size, seconds=400.0) for size in (12, 14, 16, 18)], current=16),
        sees(16) | demand(0.5),
        NOW,
    ),
    ("little evidence for a look", state([level(20, seconds=2.1)], current=20), sees(20), NOW),
    (
        "a change under way, and a bound that moved",
        state(KNOWN, current=20, change=change(20, 40, 1_000)),
        sees(20, most=30),
        NOW,
    ),
    (
        "3 s after a change the next may follow",
        state(KNOWN, change=change(128, 64, 3_000)),
        sees(64, most=64, least=60),
        NOW,
    ),
    ("set by hand: no wait", state(KNOWN, change=BEGUN), sees(16, may_look=False), NOW),
    ("a better size, for one of three targets first", state(KNOWN), sees(64, 64, 64, least=60, most=64), NOW),
    (
        "one of three has it, and it is not worse there: for a second one",
        state(KNOWN, change=change(64, 32, 9_000, "CURVE", "pod-0")),
        sees(32, 64, 64),
        NOW,
    ),
    (
        "two of three have it: for all",
        state(KNOWN, change=change(64, 32, 9_000, "CURVE", "pod-0", "pod-1")),
        sees(32, 32, 64),
        NOW,
    ),
    (
        "one of two has it, and it is worse there: back",
        state(KNOWN, current=16, change=change(16, 32, 9_000, "PROBE", "pod-0")),
        sees(32, 16),
        NOW,
    ),
    (
        "one of two is to have it, and it is not read back yet",
        state(KNOWN, change=change(64, 32, 2_999, "CURVE", "pod-0")),
        sees(64, 64),
        NOW,
    ),
    (
        "one of two has it, and a size that nobody decided beside it: what all had",
        state(KNOWN, change=change(64, 32, 9_000, "CURVE", "pod-0")),
        sees(32, 50),
        NOW,
    ),
    ("the newest second contradicts", doubted(), sees(64), NOW),
    ("too little evidence", state([level(64, seconds=1.9)]), sees(64), NOW),
    (
        "too little evidence, and nothing completes in time of what takes all of it",
        stopped(5.0),
        sees(64) | taken(50.0),
        NOW,
    ),
    ("the same, and most of it is idle: it was never full", stopped(each_s=5.0), sees(64) | taken(40.0), NOW),
    ("too little evidence, and nothing completes any more", stopped(each_s=5.0), sees(64), NOW),
    ("too little evidence, and a quick service without load", stopped(each_s=0.05), sees(64), NOW),
    ("the same, and what takes all of it is late", stopped(each_s=0.05), sees(64) | taken(50.0), NOW),
    ("the same, and windows show most of it in time", stopped(each_s=0.05), sees(64) | taken(50.0, good=0.09), NOW),
    ("a smaller size would complete more, and fewer in time", in_time_at_64(190.0), sees(64) | {"slo_s": 0.1}, NOW),
    ("a smaller size would complete more, and more in time", in_time_at_64(20.0), sees(64) | {"slo_s": 0.1}, NOW),
    ("cores that nobody told", state(KNOWN), sees(64, cores=None), NOW),
    ("a better size, as near to it as the bounds allow", state(KNOWN), sees(64, least=60, most=64), NOW),
    ("a better size, from before it was away", remembered(), sees(64, least=60, most=64), NOW),
    ("a better size, seen on other cores", state(ELSEWHERE), sees(64, least=60, most=64), NOW),
    ("back to the size before", state(KNOWN, change=change(60, 64, 9_000, "PROBE")), sees(64, least=60, most=64), NOW),
    ("five seconds at once, as after a restart", {}, five_seconds(), NOW),
    (
        "worth a look, of the two sizes that the bounds allow",
        state([level(16)], current=16),
        sees(16, least=16, most=18),
        NOW,
    ),
    (
        "the same while another pool on the path looks",
        state([level(16)], current=16),
        sees(16, least=16, most=18, may_look=False),
        NOW,
    ),
    (
        "the program restarted at its default, of which no data came yet: not the best size",
        {
            "facts": {"now_ms": NOW - 1_000, "current": 16},
            "learnt": learnt(KNOWN, beats=beats(16, 30, 360.0, in_flight=16.0)),
        },
        sees(64),
        NOW,
    ),
    ("the best size", state(KNOWN, current=16), sees(16, may_look=False), NOW),
    ("never full", state(LIGHT, current=16, full=0.0), sees(16), NOW),
    (
        "never full, and late: as many are in use as a better size holds",
        crowded(),
        sees(200) | in_use(48.0) | LATE,
        NOW,
    ),
    ("the same by spans alone", crowded(), sees(200) | LATE, NOW),
    ("the same, and targets report fewer in use", crowded(), sees(200) | in_use(12.0) | LATE, NOW),
    ("set by hand, and it was never full: kept", state(KNOWN, current=16), sees(200), NOW),
    ("set by hand: back to the size before, at once", state([*KNOWN, level(200)], current=16), sees(200), NOW),
    (
        "called good, and loses 1.5 % by now",
        state([level(16), level(20)], current=16, state="PROVIDED"),
        sees(16),
        NOW,
    ),
    (
        "nobody told the cores, ever",
        state([level(size, cores=0.0) for size in (8, 16, 32, 64)]),
        sees(64, cores=0.0, least=60, most=64),
        NOW,
    ),
    (
        "a backend that holds it off its best size",
        state(KNOWN, current=8),
        sees(8, least=4, most=8, why="db is full"),
        NOW,
    ),
    (
        "a model that was chosen names a size: by a factor 2 at most",
        state(KNOWN),
        sees(64) | named("PROVIDED", 12),
        NOW,
    ),
    (
        "a model that was chosen names the size in force",
        state(KNOWN, current=16),
        sees(16) | named("PROVIDED", 16),
        NOW,
    ),
    ("a model that was chosen has seen too little", state(KNOWN), sees(64) | named("LEARNING"), NOW),
    ("a model that was chosen saw the pool never full", state(KNOWN), sees(64) | named("UNSATURATED"), NOW),
    ("nobody tells a size, and a model names one: shown, not applied", {}, sees() | named("PROVIDED", 12), NOW),
    ("no limit, and a model names a first size", state(KNOWN, current=None), sees(None) | named("PROVIDED", 12), NOW),
    ("no limit, and a model names none", state(KNOWN, current=None), sees(None) | named("UNSATURATED"), NOW),
    ("targets differ, and what was said stands", state(KNOWN, state="PROVIDED"), sees(64, 40), NOW),
    ("a clock that was set back", state(KNOWN, current=16), sees(16, may_look=False), NOW - 50_000),
]


def vectors() -> list[dict[str, Any]]:
    cases = []
    for name, before, observation, now_ms in CASES:
        after, decision = step(state_of(before), observation_of(observation), now_ms)
        changed = after.facts.change
        facts = {
            "now_ms": after.facts.now_ms,
            "current": after.facts.current,
            "change": None
            if changed is None
            else {
                "from_size": changed.from_size,
                "to_size": changed.to_size,
                "at_ms": changed.at_ms,
                "basis": changed.basis.value,
                **({"targets": list(changed.targets)} if changed.targets else {}),
            },
            "baseline": after.facts.baseline,
            "state": after.facts.state.value if after.facts.state else None,
            "trust": trust_json(after.facts.trust),
        }
        cases.append(
            {
                "name": name,
                "state": before,
                "observation": observation,
                "now_ms": now_ms,
                "decision": decision_json(decision),
                "facts": facts,
            }
        )
    return cases


if __name__ == "__main__":
    cases = ",\n".join("    " + json.dumps(case) for case in vectors())
    about = "What `step` makes of a state, an observation and a time: the decision, and the facts that are kept."
    OUT.write_text(f'{{\n  "about": "{about}",\n  "cases": [\n{cases}\n  ]\n}}\n')
