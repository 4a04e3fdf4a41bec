"""Data quality in `sluice report`: each defect of a recording is found, and has its remedy."""

import random

import pytest

from sluice.cli.traces.report.analysis.quality import quality_of
from sluice.cli.traces.report.analysis.sampling import share_of_ids
from sluice.cli.traces.report.analysis.traces import traces_of
from sluice.cli.traces.report.analysis.usable import usable
from sluice.cli.traces.report.facts.rules import Rules
from sluice.cli.traces.report.reading.columns import Columns
from sluice.cli.traces.report.reading.memory import Memory
from sluice.cli.traces.report.reading.protobuf import add_resource_spans
from sluice_kit.traffic.messages import SentSpan, message

from .report_spans import sent, traces_of_spans

DB = (("peer.service", "db"),)
SERVER = sent(1, "SERVER", 0, 100)


def codes(*spans: SentSpan) -> dict[str, int | None]:
    return {finding.code: finding.spans for finding in quality_of(traces_of_spans(*spans), {})}


@pytest.mark.parametrize(
    ("spans", "code", "count"),
    [
        ((SERVER, sent(2, "CLIENT", 1, 9, 1)), "PEER_UNKNOWN", 1),
        ((SERVER, sent(2, "CLIENT", 1, 9, 1, attributes=DB)), "SERVER_SPANS_MISSING", 1),
        ((SERVER, sent(2, "INTERNAL", 1, 9, 77)), "PARENT_MISSING", 1),
        ((SERVER, sent(1, "SERVER", 0, 100, name="again")), "REPEATED_ID", 1),
        ((sent(1, "INTERNAL", 0, 100),), "KIND_MISSING", None),
        ((sent(1, "SERVER", 0, 100, instance=""),), "INSTANCE_UNKNOWN", 1),
        ((sent(1, "SERVER", 0, 9, attributes=(("url.path", "/healthz"),)),), "LEFT_OUT", 1),
        ((SERVER, sent(2, "SERVER", 1, 9, 1)), "NESTED", 1),
        ((SERVER, sent(2, "INTERNAL", 200, 300, 1)), "ON_NO_PATH", 1),
    ],
)
def test_a_defect_is_found(spans: tuple[SentSpan, ...], code: str, count: int | None) -> None:
    found = codes(*spans)
    assert code in found
    assert found[code] == count


def test_a_sound_recording_has_none() -> None:
    assert codes(SERVER, sent(2, "INTERNAL", 1, 9, 1)) == {}


def test_a_clock_that_is_ahead_is_found() -> None:
    found = codes(
        sent(1, "CLIENT", 0, 100, host="a"), sent(2, "SERVER", 500, 590, 1, service="cart", instance="c", host="b")
    )
    assert found == {"CLOCK_SKEW": 1}


def test_a_server_that_ends_its_span_after_the_response_has_no_skewed_clock() -> None:
    late = sent(2, "SERVER", 50, 101, 1, service="cart", instance="c", host="b")
    assert codes(sent(1, "CLIENT", 0, 100, host="a"), late) == {}


def test_spans_that_count_nowhere_are_named_by_their_first_fault() -> None:
    spans = [
        sent(1, "SERVER", 0, 1, service=""),
        sent(2, "SERVER", 5, 1),
        sent(3, "SERVER", 0, 1, start_ns=0),
        sent(4, "SERVER", 0, 1),
        sent(5, "SERVER", 0, 1, trace_id=bytes(16)),
    ]
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    columns = Columns()
    add_resource_spans(Memory(columns, Rules()), TracesData.FromString(message(spans)).resource_spans)
    counted, faults = usable(columns.spans())
    assert len(counted) == 1
    assert faults == {"missing_service": 1, "bad_id": 1, "clock_out_of_range": 1, "ends_before_start": 1}
    found = quality_of(traces_of(counted), faults)
    assert [finding.code for finding in found] == [reason.upper() for reason in faults]
    assert all(finding.remedy for finding in found)


def random_ids(count: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(128) for _ in range(count)]


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("bits", [64, 63, 56])
def test_a_sampler_by_trace_id_is_found_by_the_ids_that_are_missing(bits: int, share: float) -> None:
    ids = random_ids(round(1_000 / share), bits)
    numbers = {number.to_bytes(16): number % 2**bits / 2**bits for number in ids}
    # Consistent sampling keeps the high ones.
    kept = [of for of, part in numbers.items() if (part >= 1 - share if bits == 56 else part < share)]
    assert share_of_ids(kept) == pytest.approx(share, rel=0.02)


def test_ids_of_all_traces_are_no_sample() -> None:
    for seed in range(50):
        assert share_of_ids([number.to_bytes(16) for number in random_ids(200, seed)]) is None


def test_few_ids_and_ids_that_are_not_random_say_nothing() -> None:
    assert share_of_ids([number.to_bytes(16) for number in range(1, 199)]) is None
    assert share_of_ids([bytes(12) + number.to_bytes(4) for number in range(1, 2_000) if number % 50 < 2]) is None


def test_a_probability_that_spans_say_is_named() -> None:
    sampled = (("sampler.type", "probabilistic"), ("sampler.param", "0.25"))
    (finding,) = quality_of(traces_of_spans(sent(1, "SERVER", 0, 5, attributes=sampled)), {})
    assert finding.code == "SAMPLED"
    assert "0.25" in finding.text
    assert "docs/sampling.md" in finding.remedy
    everything = (("sampler.type", "probabilistic"), ("sampler.param", "1"))
    assert codes(sent(1, "SERVER", 0, 5, attributes=everything)) == {}
