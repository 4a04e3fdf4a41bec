"""`step` decides as `decisions/step.json` has it, and each row of its table is among the vectors."""

import json
from pathlib import Path
from typing import Any

import pytest

from contract.decisions.step_json import decision_json, observation_of, state_of
from sluice.pools.policy.state import Facts
from sluice.pools.policy.step import step
from sluice.pools.policy.transitions import Case

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "decisions" / "step.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decides_as_the_vectors_have_it(case: dict[str, Any]) -> None:
    after, decision = step(state_of(case["state"]), observation_of(case["observation"]), case["now_ms"])
    assert decision_json(decision) == case["decision"]
    assert after.facts == state_of({"facts": case["facts"]}).facts
    assert isinstance(after.facts, Facts)


def test_each_row_of_the_table_is_among_them() -> None:
    assert {case["decision"]["reasons"][0] for case in CASES} == {case.name for case in Case}


def test_names_are_told_apart() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
