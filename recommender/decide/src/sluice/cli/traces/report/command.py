"""The command `sluice report`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluice.cli.exit import unwinding
from sluice.cli.numbers import Number, Whole
from sluice.cli.output import EXIT_CODES, CliError, note, output_option
from sluice.cli.printable import printable_json
from sluice.cli.sections import Sectioned
from sluice.cli.traces.replay.progress import ProgressReport
from sluice.cli.traces.replay.records import Skipped
from sluice.cli.traces.replay.skips import say_skipped
from sluice.cli.traces.replay.totals import Totals
from sluice.cli.traces.report.facts.rules import Rules, read_rules

if TYPE_CHECKING:
    from sluice.cli.traces.report.analysis.content import Report, ReportOptions
    from sluice.pools.metrics.pool_metric import MetricsReading

JOBS = Path(__file__).resolve().parents[7] / "streaming-jobs"
#: The span rules and the metrics of pools of the streaming jobs, in a working copy.
RULES = JOBS / "spans.toml"
POOLS = JOBS / "functions/src/main/resources/dev/sluice/otlp/pools.csv"


@click.command(
    "report",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={
        "Source": "live seconds metrics span_rules skip_bad",
        "Content": "threshold operations pools",
        "Output": "output_file output",
    },
)
@click.argument("files", nargs=-1, metavar="[FILE...]", type=click.Path())
@click.option("--live", is_flag=True, help="Report on the running stack, from ClickHouse, in place of files.")
@click.option("--seconds", type=Whole(60, 3_600), default=300, show_default=True, help="With --live: how long, s.")
@click.option(
    "--metrics",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Metrics of the same time: OTLP as JSON or protobuf, gzipped or not. Repeat it for several files.",
)
@click.option(
    "--output-file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the result here.  [default: standard output]",
)
@click.option(
    "--threshold",
    type=Number(0, min_open=True),
    metavar="MS",
    help="Response time within which a completion counts as good, ms.  [default: every completion counts]",
)
@click.option(
    "--operations", type=Whole(1, 10_000), default=100, show_default=True, help="Most root operations to show."
)
@click.option("--pools", type=Whole(1, 10_000), default=100, show_default=True, help="Most pools to show.")
@click.option(
    "--span-rules",
    type=click.Path(),
    metavar="FILE",
    help="Spans that hold no place of a pool.  [default: streaming-jobs/spans.toml]",
)
@click.option("--skip-bad", is_flag=True, help="Exit 0 even when the command skips records.")
@output_option("text", "json", "html")
def report(
    files: tuple[str, ...],
    live: bool,
    seconds: int,
    metrics: tuple[str, ...],
    output_file: str | None,
    threshold: float | None,
    operations: int,
    pools: int,
    span_rules: str | None,
    skip_bad: bool,
    output: str,
) -> None:
    """Report on an application from recorded traces or the running stack.

    Recorded traces need no stack. FILE is JSON, gzipped or not; `-` is standard input. Formats: Jaeger (a trace a line,
    an array, an export of the UI, or an answer of its API v3), OTLP (a message a line or a whole document), Tempo (an
    answer of its API), and Zipkin v2 (lists of spans); also OTLP protobuf as the collector's file exporter writes it
    (`format: proto`). The command joins the parts of a trace over records and files. A million spans take some 0.5 GiB
    of memory.

    The report has the root operations with their critical paths and the service that holds each one up; each candidate
    pool (service, side, peer) with its concurrency over time, its curve, and what Sluice would say of it; and what the
    recording lacks, with the remedy. Figures are those of the streaming jobs for the same spans.

    Spans do not show the size in force. Metrics of agents do (HikariCP, Tomcat, database/sql and others): with
    --metrics a pool has its current size, and the belief decides as in the decider. Without, the size is that of a
    published model (scg-top), as `sluice estimate` names it, and the reasons say what is missing. From a sample the
    report names no size.

    With --live the report is of the newest --seconds in ClickHouse. Pools of the configuration have the decider's
    answers.

    -o text is for a terminal, json for scripts, html a page with pictures that loads nothing from elsewhere. The
    command skips and counts a record that is not a trace, and names its file, line and reason; the exit code is then 1
    unless --skip-bad.

    \b
    Examples:
      sluice report traces.jsonl.gz
      sluice report traces.jsonl.gz -o html --output-file report.html
      sluice report traces.jsonl.gz --metrics metrics.jsonl.gz
      sluice report --live -o html --output-file report.html
      sluice report --threshold 250 -o json *.jsonl.gz | jq '.pools[] | {service, side, peer, state, target}'
    """
    if bool(files) == live:
        raise click.UsageError("name FILE..., or give --live; not both")
    if live and (metrics or span_rules):
        raise click.UsageError("--metrics and --span-rules are for files: the stack has metrics and rules of its own")
    if output == "html" and output_file is None and sys.stdout.isatty():
        raise click.UsageError("-o html writes a page, not text: name its file with --output-file")
    # Numba takes half a second, which help and completion must not wait for.
    from sluice.cli.traces.report.analysis.content import ReportOptions
    from sluice.fast.announcing import announcing

    options, totals = ReportOptions(threshold, operations, pools), Totals()
    if live:
        from sluice.cli.traces.report.live.queries import StackTables
        from sluice.cli.traces.report.live.stack import live_report

        content = live_report(StackTables(), seconds, options)
    else:
        with announcing(note, "up to half a minute"):
            content = _recorded(files, metrics, span_rules, options, totals)
    _write(content, output, output_file)
    if totals.records_skipped:
        note(f"skipped: {totals.records_skipped:,} records")
        if not skip_bad:
            raise click.exceptions.Exit(1)


def _recorded(
    files: tuple[str, ...], metrics: tuple[str, ...], span_rules: str | None, options: ReportOptions, totals: Totals
) -> Report:
    """The report of files. Raises CliError."""
    from sluice.cli.traces.report.analysis.content import ReadCounts, report_of
    from sluice.cli.traces.report.reading.files import read_spans

    try:
        with unwinding(), ProgressReport() as progress:

            def on_skip(skipped: Skipped) -> None:
                say_skipped(progress.note, skipped, totals)

            spans = read_spans(files, _rules(span_rules), totals, on_skip, progress.reading)
            sizes = _metrics(metrics, totals, on_skip)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CliError(f"cannot read {error.filename or 'input'}: {error.strerror or error}") from None
    if not len(spans):
        raise CliError(f"cannot report: no span in {', '.join(files)}")
    source = ReadCounts(totals.files, totals.records_skipped, tuple(totals.skipped))
    return report_of(spans, source, options, sizes)


def _rules(named: str | None) -> Rules:
    """The rules of a file; none where the default does not exist, as outside of a working copy."""
    if named is not None or RULES.is_file():
        return read_rules(RULES if named is None else Path(named))
    note("no span rules: streaming-jobs/spans.toml does not exist here; name it with --span-rules")
    return Rules()


def _metrics(paths: tuple[str, ...], totals: Totals, on_skip: Callable[[Skipped], None]) -> MetricsReading:
    from sluice.cli.traces.report.analysis.content import NO_METRICS
    from sluice.cli.traces.report.facts.pool_table import read_table
    from sluice.cli.traces.report.reading.metrics import read_metrics

    return read_metrics(paths, read_table(POOLS), totals, on_skip) if paths else NO_METRICS


def _write(content: Report, form: str, path: str | None) -> None:
    if path is None:
        for part in _parts(content, form):
            click.echo(part)
        return
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(part + "\n" for part in _parts(content, form))
    except OSError as error:
        raise CliError(f"cannot write {path}: {error.strerror or error}") from None
    note(f"wrote {path}")


def _parts(content: Report, form: str) -> Iterator[str]:
    """Imports a view when it is asked for: each costs time at start-up."""
    if form == "json":
        from sluice.cli.traces.report.view.document import document

        yield printable_json(json.dumps(document(content), indent=2, ensure_ascii=False))
    elif form == "html":
        from sluice.cli.traces.report.view.page import page

        yield page(content)
    else:
        from sluice.cli.traces.report.view.text import text

        yield from text(content)
