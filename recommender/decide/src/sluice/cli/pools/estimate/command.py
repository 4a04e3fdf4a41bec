"""The command `sluice estimate`."""

import sys
from typing import Any

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, CliError, print_item
from sluice.cli.pools.estimate.pairs import read_pairs
from sluice.pools.estimate import Estimate, Samples
from sluice.pools.estimate.evidence import Need
from sluice.pools.estimate.models import DEFAULT, ESTIMATORS, estimators

# Rows may be buckets, or means of many buckets, so their number says less than in the pipeline. Six points of five rows
# are the least that can show a rise and its end.
NEED = Need(buckets=30, buckets_per_point=5)


@click.command("estimate", epilog=EXIT_CODES)
@click.option(
    "--pairs",
    required=True,
    metavar="FILE",
    type=click.Path(),
    help="CSV of concurrency,goodput; `-` is standard input.",
)
@click.option("--model", type=click.Choice(list(ESTIMATORS)), default=DEFAULT, show_default=True, help="Estimator.")
@click.option("--limit", type=Whole(1), help="Size of the pool during the measurement.")
def estimate(pairs: str, model: str, limit: int | None) -> None:
    """Estimate a pool size from rows of concurrency and goodput.

    The command prints one JSON object. A row is one bucket of time: the mean concurrency, and the completions per
    second within the threshold (for sct: all completions per second). A header may name the columns. With --limit,
    buckets in which the pool was full do not count as evidence of a fall.

    The object has state (PROVIDED; UNSATURATED: goodput still rises; LEARNING: too few rows; NO_DATA), target (null
    when there is none), lower_bound, upper_bound, confidence, model and reasons. An estimate needs 30 rows, 6 levels of
    concurrency and half of its range; scg-kneedle has no minimum.

    \b
    Examples:
      sluice estimate --pairs cart.csv
      sluice estimate --pairs - --model sct < cart.csv
    """
    answer = estimators(NEED)[model].estimate(_samples(pairs, limit))
    print_item(_object(answer, model), "json")


def _samples(pairs: str, limit: int | None) -> Samples:
    if pairs == "-":
        return read_pairs(sys.stdin, "standard input", limit)
    try:
        with open(pairs, encoding="utf-8-sig", newline="") as source:
            return read_pairs(source, pairs, limit)
    except OSError as error:
        raise CliError(f"cannot read {pairs}: {error.strerror}") from None


def _object(answer: Estimate, model: str) -> dict[str, Any]:
    return {
        "state": answer.state.value,
        "target": answer.target,
        "lower_bound": answer.lower_bound,
        "upper_bound": answer.upper_bound,
        "confidence": round(answer.confidence, 3),
        "model": model,
        "reasons": [{"code": reason.code, "text": reason.text} for reason in answer.reasons],
    }
