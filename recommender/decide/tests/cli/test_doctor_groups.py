"""The doctor on consumer groups: judges those of streaming jobs, and leaves none of its own behind."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sluice.cli.doctor import kafka, retention
from sluice.cli.doctor.groups import JOBS, is_job
from sluice.cli.environment import addresses

REPOSITORY = Path(__file__).resolve().parents[4]


def test_groups_of_streaming_jobs_are_known() -> None:
    assert all(is_job(name, ()) for name in ("sluice-streaming", "sluice-concurrency", "sluice-call_graph+concurrency"))
    assert is_job("ours", {"ours"})
    for name in ("ours", "sluice-doctor", "sluice-status", "sluice-", "console-consumer-1", "concurrency"):
        assert not is_job(name, {"sluice-streaming"})


def test_names_are_those_of_the_jobs() -> None:
    sources = REPOSITORY.glob("streaming-jobs/jobs/*.py")
    names = {line.split('"')[1] for path in sources for line in path.read_text().splitlines() if line[:8] == 'NAME = "'}
    assert names == JOBS


class Groups:
    """An admin client with groups that have committed offset 7 of otlp_spans/0."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def list_consumer_groups(self, request_timeout: float) -> Any:
        return _done(SimpleNamespace(valid=[SimpleNamespace(group_id=name) for name in self._names]))

    def list_consumer_group_offsets(self, asked: list[Any], request_timeout: float) -> dict[str, Any]:
        at = SimpleNamespace(topic="otlp_spans", partition=0, offset=7)
        return {group.group_id: _done(SimpleNamespace(topic_partitions=[at])) for group in asked}


def _done(value: Any) -> Any:
    return SimpleNamespace(result=lambda timeout_s: value)


def test_groups_that_only_looked_once_are_no_readers() -> None:
    client = Groups("sluice-streaming", "sluice-doctor", "console-consumer-1")
    offsets = kafka.committed(client, 1.0, {("otlp_spans", 0)}, lambda group: is_job(group, ()))
    assert offsets == {"sluice-streaming": {("otlp_spans", 0): 7}}


def test_doctor_reads_without_committing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the client's default the offset that was looked at would be committed when the consumer is closed."""
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "confluent_kafka.Consumer", lambda settings, logger: made.append(settings) or SimpleNamespace(close=list)
    )
    monkeypatch.setattr(retention, "admin", lambda *_: Groups())
    monkeypatch.setattr(retention, "partition_counts", lambda *_: {})
    monkeypatch.setattr(retention, "_retention", lambda *_: {})
    monkeypatch.setattr(retention, "known", lambda *_: lambda _group: True)
    assert retention.retention(addresses(), 1.0).level == "unknown"
    assert [configuration["enable.auto.commit"] for configuration in made] == [False]
