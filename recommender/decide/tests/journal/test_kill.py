"""A decider that is killed in the middle of a trial: the next one goes on with it, as if nothing had been.

In memory; tests/soak/test_deciders.py kills processes on a real broker.
"""

from typing import Any

from sluice.journal.names import topics
from sluice.pools.policy.state_message import read_evidence
from sluice.pools.publication.record import Ref
from sluice_kit.journal.memory_broker import MemoryBroker, MemoryCluster
from sluice_kit.journal.place import SHOP, Place

from .decider import Decider, Pool

SETTLED_S, LONGEST_S, AFTER_S = 90, 600, 30


class Scene:
    """A pool, and the journal that its deciders have one after the other."""

    def __init__(self) -> None:
        self.pool, names = Pool(), topics()
        self.cluster = MemoryCluster(names, 1)
        self._place = Place(names, lambda: MemoryBroker(self.cluster), lambda *_: None, [])

    def decider(self) -> Decider:
        """Whoever decided before is gone without a word: the group puts it out."""
        for member in list(self.cluster.members._members):
            self.cluster.members.leave(member)
        return Decider(self.pool, self._place)

    def recorded_until_ms(self) -> int:
        """Up to when evidence is in the journal; -1 without any."""
        records = self.cluster.partitions[topics().state, 0].committed(0)
        values = [each.value for each in records if each.key == str(Ref("evidence", SHOP))]
        return read_evidence(SHOP, values[-1] or b"")[0].until_ms if values else -1


def undisturbed() -> tuple[list[dict[str, Any]], list[int]]:
    """What is said in each second up to `AFTER_S` behind a trial, and up to when evidence was recorded then."""
    said: list[dict[str, Any]] = []
    recorded: list[int] = []
    scene = Scene()
    decider, until = scene.decider(), LONGEST_S
    while len(said) < until:
        line = decider.second()
        said.append(line)
        recorded.append(scene.recorded_until_ms())
        # Some of the evidence is to be read again: it was recorded, but not just now.
        old = 0 < recorded[-1] < line["learnt"]["until_ms"] - 5_000
        on_trial = line["case"] == "WAITING" and line["basis"] == "PROBE"
        if until == LONGEST_S and len(said) >= SETTLED_S and old and on_trial:
            until = len(said) + AFTER_S
    assert until < LONGEST_S, "the pool of this test is never on trial"
    return said, recorded


def test_a_kill_in_the_middle_of_a_trial_goes_on_with_the_trial() -> None:
    said, recorded = undisturbed()
    trial = len(said) - AFTER_S
    scene = Scene()
    first = scene.decider()
    before = [first.second() for _ in range(trial)]
    assert before == said[:trial]

    second = scene.decider()
    restored, after = second.restored, [second.second() for _ in range(AFTER_S)]
    # All of the facts, but for time that passed without a change of them.
    now_ms, restored_ms = before[-1]["facts"].pop("now_ms"), restored["facts"].pop("now_ms")
    assert restored["facts"] == before[-1]["facts"]
    assert restored["facts"]["change"]["basis"] == "PROBE"
    assert now_ms - 60_000 <= restored_ms <= now_ms
    assert restored["learnt"]["until_ms"] == recorded[trial - 1] >= now_ms - 61_000
    # The trial goes on, and from then on all is as it would have been: nothing is missed, nothing counted twice.
    assert (after[0]["case"], after[0]["basis"], after[0]["action"]) == ("WAITING", "PROBE", "APPLY")
    assert after == said[trial:]
