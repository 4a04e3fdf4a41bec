"""Deciders name records of the journal as servers do: recommender/serve/internal/keys passes the same file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sluice.model.keys import PoolKey, SubsetKey
from sluice.pools import names
from sluice.subsets import names as subset_names
from sluice.tuning import names as tuning_names

VECTORS = json.loads(Path(__file__).with_name("log_keys.json").read_text())


class Kind(NamedTuple):
    write: Callable[..., str]
    read: Callable[[str], Any]


KINDS = {
    "pool": Kind(lambda *parts: names.pool_name(PoolKey(*parts)), names.pool_of),
    "candidate": Kind(
        lambda *parts: names.pool_name(PoolKey(*parts), names.CANDIDATE),
        lambda key: names.pool_of(key, names.CANDIDATE),
    ),
    "subset": Kind(lambda *parts: subset_names.subset_name(SubsetKey(*parts)), subset_names.subset_of),
    "containers": Kind(subset_names.containers_name, lambda key: (subset_names.containers_of(key),)),
    "pair": Kind(subset_names.pair_name, subset_names.pair_of),
    "application": Kind(subset_names.application_name, lambda key: (subset_names.application_of(key),)),
    "session": Kind(tuning_names.session_name, lambda key: (tuning_names.session_of(key),)),
    "trial": Kind(
        lambda session, number: tuning_names.trial_name(session, int(number)),
        lambda key: map(str, tuning_names.trial_of(key)),
    ),
}


@pytest.mark.parametrize("case", VECTORS["legal"], ids=lambda case: case["key"])
def test_a_key_is_written_and_read(case: dict[str, Any]) -> None:
    kind = KINDS[case["kind"]]
    assert kind.write(*case["names"]) == case["key"]
    assert list(kind.read(case["key"])) == case["names"]


@pytest.mark.parametrize("case", VECTORS["illegal"], ids=lambda case: f"{case['kind']} {case['key']}")
def test_another_text_is_no_key(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="read the journal"):
        KINDS[case["kind"]].read(case["key"])


def test_the_state_of_an_application_has_a_name_of_its_own() -> None:
    name = subset_names.application_name("a/b", subset_names.STATE)
    assert name == "subsets/a%2Fb"
    assert subset_names.application_of(name, subset_names.STATE) == "a/b"
