"""Clock records: each partition of the spans' topic gets one about each second, and they are nothing but a time."""

from collections import Counter

from sluice_kit.local_stack.driver import Stack
from sluice_kit.local_stack.topics import end_offsets, read_since
from sluice_kit.waiting import until


def test_every_partition_gets_clock_records_which_count_as_nothing(stack: Stack) -> None:
    start = end_offsets(stack, "otlp_spans")
    before = counted(stack)

    def new() -> Counter[int]:
        return Counter(record.partition() or 0 for record in read_since(stack, start) if record.value() == b"")

    until("clock records on each partition", lambda: all(new()[partition.partition] >= 3 for partition in start))
    assert counted(stack) == before
    assert not stack.rows(
        f"""SELECT * FROM offset_gaps FINAL WHERE topic = 'otlp_spans' AND flink_job = 'sluice-streaming'
            AND first_read > {min(partition.offset for partition in start)} AND written > now() - 10"""
    )
    # What people ask of a job that may not write them: nothing is wrong.
    assert "clock records" not in stack.sluice("doctor", "--timeout", "30").stdout


def counted(stack: Stack) -> list[dict[str, object]]:
    """Messages without a service: that is what a message without spans would be."""
    return stack.rows(
        """SELECT job, outcome, sum(messages) AS messages FROM ingest_counts FINAL
           WHERE service = '' AND job != 'resource_metrics' GROUP BY ALL ORDER BY ALL"""
    )
