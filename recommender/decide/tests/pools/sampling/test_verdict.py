"""What is said of a service's spans: by themselves, by metrics of requests, by trace ids."""

import pytest

from sluice.pools.sampling.trace_ids import TraceIds
from sluice.pools.sampling.verdict import Kind, Requests, Sampling, ServiceSpans, sampling_of

ALL = TraceIds(256, *[2**63 - 1] * 5, 0, 0)
TENTH = TraceIds(100, *[int(0.1 * 2**63)] * 5, 0, 0)
FEW = TraceIds(4, *[2**62] * 5, 0, 0)


def spans(ids: TraceIds = ALL, stated: int = 0, times: float = 1, tail: int = 0) -> ServiceSpans:
    """1,000 of them, of which `stated` stand for `times` spans each."""
    return ServiceSpans(1_000, stated, round(1_024 * (1_000 - stated + stated * times)), tail, ids)


def said(*horizons: ServiceSpans, requests: Requests | None = None) -> tuple[str, float | None]:
    found = sampling_of(horizons, requests)
    return ("", None) if found is None else (found.kind.name, found.kept)


def test_spans_that_are_all_there_are_no_sample() -> None:
    assert sampling_of([]) is None
    assert sampling_of([spans()], Requests(1_000, 10, 990, 10)) is None


def test_a_stated_probability_counts_before_all() -> None:
    assert said(spans(stated=1_000, times=10)) == ("SAMPLED", 0.1)
    # Jaeger's clients: only roots, one span in fifty.
    assert said(spans(stated=20, times=4)) == ("SAMPLED", 0.25)
    # One client of many that says so.
    assert said(spans(stated=4, times=4)) == ("", None)
    limited = sampling_of([spans(stated=1_000)])
    assert limited == Sampling(Kind.SAMPLED, "spans say that a sampler limited their rate")


def test_a_named_policy_is_of_a_tail_sampler() -> None:
    assert said(spans(tail=1_000)) == ("TAIL_SAMPLED", None)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (Requests(1_000, 50, 100, 5), ("SAMPLED", 0.1)),
        (Requests(1_000, 50, 145, 50), ("TAIL_SAMPLED", 0.145)),
        (Requests(1_000, 0, 700, 0), ("", None)),  # probes and filtered routes
        (Requests(150, 0, 15, 0), ("", None)),  # too few
        (Requests(1_000, 0, 0, 0), ("", None)),  # no SERVER spans at all: another fault
        (Requests(1_000, 10, 110, 10), ("SAMPLED", 0.11)),  # too few failed
        (Requests(1_000, 10, 2_000, 10), ("", None)),  # nested SERVER spans
    ],
)
def test_metrics_of_requests_show_the_missing_spans(requests: Requests, expected: tuple[str, float | None]) -> None:
    assert said(spans(), requests=requests) == expected


def test_trace_ids_show_a_head_sampler_even_if_it_has_just_begun() -> None:
    assert said(spans(TENTH), spans(ALL)) == ("SAMPLED", pytest.approx(0.1))
    assert said(spans(FEW), spans(TENTH)) == ("SAMPLED", pytest.approx(0.1))
    # It has just ended.
    assert said(spans(ALL), spans(TENTH)) == ("", None)
    assert said(spans(ALL), spans(ALL, stated=1_000, times=10)) == ("", None)
    text = sampling_of([spans(TENTH)])
    assert text is not None
    assert text.text == "trace ids fill 10 % of their range, as a head sampler leaves them"


def test_few_traces_show_nothing_unless_older_ones_do() -> None:
    unknown = sampling_of([spans(FEW), spans(FEW)])
    assert unknown == Sampling(Kind.UNKNOWN, "the spans of 4 traces")
    assert not unknown.refuses
    assert sampling_of([spans(FEW), spans(ALL)]) is None


@pytest.mark.parametrize(
    ("horizon", "requests", "kept", "uniform"),
    [
        (spans(TENTH), None, 0.1, True),
        (spans(stated=1_000, times=10), None, 0.1, True),
        (spans(stated=900, times=10), None, 0.1, False),  # some traces came whole
        (spans(TENTH, stated=20, times=10), None, 0.1, True),  # Jaeger marks roots, and ids show the same
        (spans(TENTH, stated=20, times=4), None, 0.25, False),
        (spans(TENTH), Requests(1_000, 0, 120, 0), 0.1, True),
        (spans(TENTH), Requests(1_000, 0, 200, 0), 0.2, False),  # routes without spans, beside the sampler
        (spans(), Requests(1_000, 0, 100, 0), 0.1, False),
        (spans(TENTH, tail=1_000), None, None, False),
    ],
)
def test_one_chance_of_all_traces_is_shown_by_ids_or_stated_by_all_spans(
    horizon: ServiceSpans, requests: Requests | None, kept: float | None, uniform: bool
) -> None:
    found = sampling_of([horizon], requests)
    assert found is not None
    assert (found.kept, found.uniform) == (None if kept is None else pytest.approx(kept), uniform)
