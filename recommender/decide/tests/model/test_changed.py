"""`changed` gives what `dataclasses.replace` does."""

from dataclasses import replace

from sluice.fast.changed import changed
from sluice.pools.policy.decision import Basis
from sluice.pools.policy.state import Change, Facts, Learnt


def test_another_value_with_other_fields() -> None:
    change = Change(8, 16, 1_000, Basis.CURVE, ("a",))
    facts, learnt = Facts(now_ms=5, current=8, change=change), Learnt(full=(1.0,), until_ms=7)
    assert changed(facts, now_ms=6) == replace(facts, now_ms=6)
    assert changed(learnt, version="2", full=()) == replace(learnt, version="2", full=())
    assert (facts.now_ms, learnt.version, learnt.full) == (5, "", (1.0,))
    assert hash(changed(change, targets=())) == hash(replace(change, targets=()))
