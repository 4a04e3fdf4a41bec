"""Whether the spans of one service are a sample, and how that is known. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from sluice.pools.sampling.trace_ids import TraceIds, kept_share, too_few

#: Spans say it where one of so many does: of a trace, Jaeger's clients mark the root only.
STATED_OF = 200
#: Where so many of the spans say it, none is of a trace that came whole.
ALL_STATED = 0.95
#: Two measures of the kept share agree within this part.
AGREE = 0.25
#: How many spans a span stands for is stored in these parts.
PARTS = 1_024
#: Spans of so many requests, or more, are all of them: probes and filtered routes have none.
COMPLETE = 0.7
FEWEST_REQUESTS, FEWEST_FAILED = 200, 20
#: Failed requests that are kept so many times as often as others were chosen by their outcome.
CHOSEN = 2.0


class Kind(Enum):
    """SAMPLED, TAIL_SAMPLED: the spans do not show concurrency. UNKNOWN: there are too few traces to tell."""

    SAMPLED = "SAMPLED"
    TAIL_SAMPLED = "TAIL_SAMPLED"
    UNKNOWN = "UNKNOWN"


class Sampling(NamedTuple):
    """kept: the share of the traces or requests, 0..1; None where it is unknown. text: how it is known, for people.
    uniform: each trace had the chance `kept`, whatever it showed."""

    kind: Kind
    text: str
    kept: float | None = None
    uniform: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the windows say nothing of the pool."""
        return self.kind is not Kind.UNKNOWN


class ServiceSpans(NamedTuple):
    """The newest spans of a service, as `service_sampling` counts them. adjusted: in 1/1,024."""

    spans: int
    stated: int
    adjusted: int
    tail: int
    ids: TraceIds


class Requests(NamedTuple):
    """Requests that a service counted, and SERVER spans of the same instances and time; failed ones of each."""

    requests: float
    failed: float
    spans: float
    failed_spans: float


def sampling_of(horizons: Sequence[ServiceSpans], requests: Requests | None = None) -> Sampling | None:
    """None where the spans are all there. horizons: of different times, the newest first. Older ones count where the
    newest has too little, so a sampler that begins or ends shows at once."""
    measured, shown = _measured(requests) if requests is not None else None, _shown(horizons)
    stated = _stated(horizons)
    found = stated or measured or shown
    if found is None or found.kind is not Kind.SAMPLED or not _agree(found, shown):
        return found
    # Ids give the bound itself, and metrics a count of some minutes.
    kept = found.kept if stated is not None or shown is None else shown.kept
    return found._replace(kept=kept, uniform=True)


def _agree(found: Sampling, shown: Sampling | None) -> bool:
    """Whether trace ids show the share that is found. Worked: 12 % by metrics and 10 % by ids do, 20 and 10 do not."""
    if shown is None or found.kept is None or shown.kept is None:
        return False
    return abs(found.kept / shown.kept - 1) <= AGREE


def _stated(horizons: Sequence[ServiceSpans]) -> Sampling | None:
    for spans in horizons:
        if spans.tail * STATED_OF >= spans.spans > 0:
            return Sampling(Kind.TAIL_SAMPLED, "spans name the policy of a tail sampler")
        if spans.stated * STATED_OF >= spans.spans > 0:
            kept = PARTS * spans.stated / (spans.adjusted - PARTS * (spans.spans - spans.stated))
            if kept >= 1:
                return Sampling(Kind.SAMPLED, "spans say that a sampler limited their rate")
            text = f"spans say that {_percent(kept)} of the traces were kept"
            return Sampling(Kind.SAMPLED, text, kept, uniform=spans.stated >= ALL_STATED * spans.spans)
        if spans.spans >= STATED_OF:
            break
    return None


def _measured(counted: Requests) -> Sampling | None:
    """Worked: 1,000 requests of which 50 failed, and 145 spans of which 50 failed. All failed ones were kept, and 10 %
    of the others."""
    if counted.requests < FEWEST_REQUESTS or not 0 < counted.spans < COMPLETE * counted.requests:
        return None
    kept = counted.spans / counted.requests
    others = (counted.spans - counted.failed_spans) / max(1.0, counted.requests - counted.failed)
    if counted.failed >= FEWEST_FAILED and counted.failed_spans >= CHOSEN * others * counted.failed:
        failed = min(1.0, counted.failed_spans / counted.failed)
        text = f"spans show {_percent(failed)} of the failed requests that metrics count, and {_percent(others)} of the"
        return Sampling(Kind.TAIL_SAMPLED, f"{text} others", kept)
    return Sampling(Kind.SAMPLED, f"SERVER spans show {_percent(kept)} of the requests that metrics count", kept)


def _shown(horizons: Sequence[ServiceSpans]) -> Sampling | None:
    for spans in horizons:
        if (kept := kept_share(spans.ids)) is not None:
            text = f"trace ids fill {_percent(kept)} of their range, as a head sampler leaves them"
            return Sampling(Kind.SAMPLED, text, kept)
        if not too_few(spans.ids):
            return None
    if not horizons:
        return None
    return Sampling(Kind.UNKNOWN, f"the spans of {max(spans.ids.different for spans in horizons)} traces")


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
