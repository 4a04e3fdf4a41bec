"""Bad input at each entry: a clear error or a dead letter with its reason and a counter; nothing else is lost."""

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from sluice_kit.local_stack.driver import REPOSITORY, Stack, eventually
from sluice_kit.local_stack.topics import end_offsets, messages_since
from sluice_kit.traffic import hotel
from sluice_kit.traffic.exports import SECOND, produce, request_with

TEN_YEARS = 3650 * 86_400 * SECOND


def ends_before_start(span: Span) -> None:
    span.end_time_unix_nano = span.start_time_unix_nano - 1


def ten_years_ago(span: Span) -> None:
    span.start_time_unix_nano -= TEN_YEARS
    span.end_time_unix_nano -= TEN_YEARS


def ten_years_ahead(span: Span) -> None:
    span.start_time_unix_nano += TEN_YEARS
    span.end_time_unix_nano += TEN_YEARS


def short_id(span: Span) -> None:
    span.span_id = b"\x01\x02"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (ends_before_start, "ends_before_start"),
        (ten_years_ago, "clock_out_of_range"),
        (ten_years_ahead, "clock_out_of_range"),
        (short_id, "bad_id"),
    ],
)
def test_a_bad_span_becomes_a_dead_letter_and_its_neighbour_counts(
    stack: Stack, change: Callable[[Span], None], reason: str
) -> None:
    service = f"bad-{change.__name__}"
    start = end_offsets(stack, "otlp_dead_letter")
    produce(stack, request_with(service, change))

    expected = {"accepted": 1, reason: 1}
    assert eventually(lambda: outcomes(stack, service), expected) == expected
    assert stack.value(f"SELECT sum(completions) FROM v_windows WHERE service = '{service}'") in (1, "1")
    letters = [letter for letter in dead_letters(stack, start) if letter["service"] == service]
    assert [letter["reason"] for letter in letters] == [reason]
    assert letters[0]["detail"]


def test_spans_without_a_service_name_are_dead_letters(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_dead_letter")
    produce(stack, request_with(None))
    expected = ["missing_service", "missing_service"]
    assert eventually(lambda: [letter["reason"] for letter in dead_letters(stack, start)], expected) == expected


def test_a_message_that_is_not_otlp_is_kept_whole_and_the_next_one_counts(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_dead_letter")
    good = request_with("after-garbage")
    broken = [b"\xff\xff\xff\xff not protobuf", request_with("cut")[:-3]]
    produce(stack, broken[0], good, broken[1])

    expected = {"accepted": 2}
    assert eventually(lambda: outcomes(stack, "after-garbage"), expected) == expected
    letters = eventually(lambda: len(dead_letters(stack, start)), 2)
    assert letters == 2
    payloads = {base64.b64decode(letter["payload"]) for letter in dead_letters(stack, start)}
    assert payloads == set(broken)
    assert int(stack.value("SELECT sum(messages) FROM ingest_counts FINAL WHERE job = 'concurrency'")) >= 2
    assert job_states(stack) == ["RUNNING"]


def test_replay_skips_what_is_not_a_trace_and_sends_the_rest(stack: Stack, tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    good = [json.dumps(trace) for trace in hotel.traces(2, seed=3, prefix="mixed-")]
    path.write_text("\n".join([good[0], '{"not": "a trace"}', "{broken", good[1]]) + "\n")
    answer = stack.sluice("replay", str(path), "--speed", "max", "-o", "json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["spans_sent"] == 2 * hotel.SPANS_PER_TRACE
    for line in (2, 3):
        assert f"mixed.jsonl:{line}" in answer.stderr


@pytest.mark.parametrize(
    ("line", "named"),
    [("perod: 5s", "perod"), ("slos: [{name: checkout, service: frontend, latency: -250ms}]", "latency")],
)
def test_the_recommender_refuses_a_bad_configuration_by_key(tmp_path: Path, line: str, named: str) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(line + "\n")
    answer = subprocess.run(
        [str(REPOSITORY / ".cache/venvs/sluice/bin/python"), "-m", "sluice.decider", "--config", str(path), "--check"],
        env={"PYTHONPATH": str(REPOSITORY / "recommender/decide/src")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.returncode == 2
    assert named in answer.stderr
    assert "Traceback" not in answer.stderr


def outcomes(stack: Stack, service: str) -> dict[str, int]:
    """Spans by outcome of the concurrency job."""
    rows = stack.rows(
        f"""SELECT outcome, sum(spans) AS spans FROM ingest_counts FINAL
            WHERE job = 'concurrency' AND service = '{service}' GROUP BY outcome"""
    )
    return {row["outcome"]: int(row["spans"]) for row in rows}


def dead_letters(stack: Stack, start: list[TopicPartition]) -> list[dict[str, Any]]:
    return [json.loads(message) for message in messages_since(stack, start)]


def job_states(stack: Stack) -> list[str]:
    jobs = stack.flink("jobs/overview")["jobs"]
    return [job["state"] for job in jobs if job["name"] == "sluice-streaming"]
