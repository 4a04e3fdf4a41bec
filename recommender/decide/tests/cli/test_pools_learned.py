"""What `pools explain` shows of a pool's agent."""

from __future__ import annotations

import pytest

from sluice.cli.pools.learned import learned_facts
from sluice.pools.v1.evidence_pb2 import LearnedCondition, LearnedEvidence

ALL = LearnedCondition(
    cpu_limit_cores=2, peer_cpu_limit_cores=0.5, versions="1.4", work_ms=3.1416, rows=12.25, bytes=20_480.4
)


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        (
            ALL,
            "2 cores, 0.5 cores of its peer, version 1.4, 3.14 ms of work a request, 12.2 rows a span,"
            " 20,480 bytes a span",
        ),
        (LearnedCondition(rows=0), "0.0 rows a span"),
        (LearnedCondition(), "not known"),
        (None, "not known"),
    ],
)
def test_what_the_pool_stands_on_is_shown_as_far_as_it_is_known(condition: LearnedCondition | None, shown: str) -> None:
    assert dict(learned_facts(LearnedEvidence(condition=condition)))["its condition"] == shown
