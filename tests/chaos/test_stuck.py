"""A store that takes connections and answers nobody: `./sluice doctor` names what stands still, and since when."""

import json
from typing import Any

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.flink import next_checkpoints
from sluice_kit.local_stack.victims import Victims
from sluice_kit.traffic.traffic import Traffic
from sluice_kit.waiting import until

PREFIX = "stuck-"


def findings(stack: Stack) -> dict[tuple[str, str], dict[str, Any]]:
    answer = stack.sluice("doctor", "-o", "json", "--timeout", "3")
    return {(finding["stage"], finding["what"]): finding for finding in json.loads(answer.stdout)}


def test_checkpoints_that_do_not_complete_are_an_error_and_end_with_the_cause(stack: Stack) -> None:
    def held_up() -> bool:
        finding = findings(stack)["flink", "checkpoints"]
        return finding["level"] == "fail" and "held up by" in finding["text"]

    with Traffic(stack.address["SLUICE_OTLP_GRPC"], PREFIX, spans_per_s=100, seed=3) as traffic:
        next_checkpoints(stack)
        with Victims(stack).stuck("clickhouse"):
            until("doctor says that checkpoints are held up", held_up)
            assert findings(stack)["clickhouse", "reachable"]["level"] == "fail"
        next_checkpoints(stack, 2)
        traffic.stop()
    until("doctor finds checkpoints well", lambda: findings(stack)["flink", "checkpoints"]["level"] == "ok")


def test_a_graph_that_does_not_answer_is_an_error_of_the_graph_alone(stack: Stack) -> None:
    with Victims(stack).stuck("neo4j"):
        by_check = findings(stack)
    assert by_check["neo4j", "call graph"]["level"] == "fail"
    assert by_check["flink", "checkpoints"]["level"] != "fail"
