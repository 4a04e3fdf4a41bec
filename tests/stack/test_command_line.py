"""`./sluice` on the whole stack: an answer from each server behind it."""

import json
import re

from confluent_kafka.admin import AdminClient

from sluice_kit.local_stack.driver import Stack

#: The first check of each stage, and what it finds on a stack that is up, whatever other tests have sent.
LEVELS = {
    ("collector", "health"): ("ok",),
    ("kafka", "topics"): ("ok",),
    ("flink", "job"): ("ok",),
    ("clickhouse", "reachable"): ("ok",),
    ("clickhouse", "migrations"): ("ok",),
    ("clickhouse", "peers"): ("ok", "warn"),
    ("neo4j", "call graph"): ("ok", "warn"),  # which of the two is what was sent
    ("decider", "health"): ("ok",),
    ("decider", "periods"): ("ok",),
    ("recommender", "health"): ("ok",),
    ("actuator", "health"): ("ok",),
}


def test_doctor_reaches_every_stage(stack: Stack) -> None:
    answer = stack.sluice("doctor", "-o", "json", "--timeout", "30")
    assert answer.stderr == ""
    findings = {(finding["stage"], finding["what"]): finding for finding in json.loads(answer.stdout)}
    wrong = [findings[check] for check, levels in LEVELS.items() if findings[check]["level"] not in levels]
    assert wrong == []


def test_who_looks_leaves_no_consumer_group_behind(stack: Stack) -> None:
    """A group that committed where it looked would be behind for ever, and be warned of."""
    kafka = stack.address["SLUICE_KAFKA"]
    answer = stack.sluice("doctor", "-o", "json", "--timeout", "30")
    (lag,) = (check for check in json.loads(answer.stdout) if (check["stage"], check["what"]) == ("kafka", "lag"))
    assert set(re.findall(r"group (\S+):", lag["text"])) <= {"sluice-streaming"}
    # An expression alone would free the client while the answer is under way, and the answer would never come.
    client = AdminClient({"bootstrap.servers": kafka})
    listed = client.list_consumer_groups().result(30).valid
    assert "sluice-doctor" not in {group.group_id for group in listed}


def test_sizes_and_rows(stack: Stack) -> None:
    listed = stack.sluice("pools", "list", "-o", "jsonl")
    assert (listed.returncode, listed.stderr) == (0, "")
    pools = {json.loads(line)["pool"]["service"] for line in listed.stdout.splitlines()}
    assert "cart" in pools
    rows = stack.sluice("sql", "SELECT DISTINCT service FROM v_pool_now", "-o", "json")
    assert (rows.returncode, rows.stderr) == (0, "")
    assert {row["service"] for row in json.loads(rows.stdout)} <= pools
