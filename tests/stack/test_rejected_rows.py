"""A row that ClickHouse refuses, on the whole stack: it alone is set aside, and said; its neighbours are there."""

import json
from collections.abc import Iterator

import pytest

from sluice_kit.local_stack.driver import Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.traffic.exports import produce, request_with

BAD = "refused-by-constraint"


@pytest.fixture
def constraint(stack: Stack) -> Iterator[None]:
    stack.command(f"ALTER TABLE windows ADD CONSTRAINT not_that_one CHECK service != '{BAD}'")
    yield
    stack.command("ALTER TABLE windows DROP CONSTRAINT not_that_one")


@pytest.mark.usefixtures("constraint")
def test_a_row_that_is_refused_becomes_a_letter_and_a_count_and_its_neighbours_are_there(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_dead_letter")
    produce(stack, request_with("beside-refused"), request_with(BAD), request_with("beside-refused"))

    neighbours = "SELECT toUInt32(sum(completions)) FROM windows FINAL WHERE service = 'beside-refused'"
    assert eventually(lambda: stack.value(neighbours), 4) == 4
    query = (
        "SELECT store, table, reason, position(key, {bad}) > 0 AS named, position(detail, 'not_that_one') > 0 AS why"
        " FROM rejected_rows FINAL WHERE key LIKE concat('%', {bad}, '%') LIMIT 1"
    ).replace("{bad}", f"'{BAD}'")
    expected = [{"store": "clickhouse", "table": "windows", "reason": "refused", "named": 1, "why": 1}]
    assert eventually(lambda: stack.rows(query), expected) == expected
    assert stack.value(f"SELECT count() FROM windows WHERE service = '{BAD}'") in (0, "0")

    letters = [letter for letter in map(json.loads, messages_since(stack, start)) if letter.get("table") == "windows"]
    assert letters
    assert {letter["reason"] for letter in letters} == {"refused"}
    assert {letter["row"]["service"] for letter in letters} == {BAD}

    findings = json.loads(stack.sluice("doctor", "-o", "json").stdout)
    (finding,) = [check for check in findings if check["what"] == "rejected rows"]
    assert finding["level"] == "warn"
    assert "windows" in finding["text"]
    assert "otlp_dead_letter" in finding["remedy"]
