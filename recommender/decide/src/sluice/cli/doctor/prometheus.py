"""Parses the Prometheus text format, as far as sums of counters need it."""

import re
from collections import defaultdict

_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{.*\})? ([^ ]+)(?: \d+)?$")
_SUFFIX = re.compile(r"(__\w+?_)?(_total)?$")


def sums(text: str) -> dict[str, float]:
    """Sum over labels by metric name, without the suffixes that differ between exporters.

    `otelcol_exporter_sent_spans_total`, `otelcol_exporter_sent_spans__spans__total` and
    `otelcol_exporter_sent_spans` are the same name: `otelcol_exporter_sent_spans`.
    """
    totals: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match is None:
            continue
        try:
            totals[_SUFFIX.sub("", match[1])] += float(match[2])
        except ValueError:
            continue
    return dict(totals)
