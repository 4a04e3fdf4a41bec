"""The command `sluice critical-path`."""

import json
import sys
import threading
from collections.abc import Iterator

import click

from sluice.cli.exit import unwinding
from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, FORMS, CliError, ItemWriter, note, output_option
from sluice.cli.traces.critical_path.parts import TraceParts
from sluice.cli.traces.critical_path.table import Lines, PathTable
from sluice.cli.traces.critical_path.walker import command, walk
from sluice.cli.traces.replay.progress import ProgressReport
from sluice.cli.traces.replay.run import ReplayPlan, read
from sluice.cli.traces.replay.skips import say_skipped
from sluice.cli.traces.replay.totals import Totals

#: Text for each reason why a span is on no path.
_EXCLUDED = {
    "duplicate_span": "second span of its id",
    "ends_before_start": "ends before it starts",
    "self_parent": "its own parent, or below such a span",
    "cycle": "its ancestors form a ring",
    "outside_parent": "outside its parent's time, or below such a span",
    "asynchronous": "asynchronous",
    "unusable_spans": "illegal id, or time after 2262",
}


@click.command("critical-path", epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("--limit", type=Whole(1), help="Read at most this many records.")
@click.option("--skip-bad", is_flag=True, help="Exit 0 even when the command skips records.")
@output_option(*FORMS)
def critical_path(files: tuple[str, ...], limit: int | None, skip_bad: bool, output: str) -> None:
    """Print the critical path of each recorded trace, section by section.

    FILE is JSON, gzipped or not; `-` is standard input. Formats: Jaeger (a trace a line, an array, an export of the UI,
    or an answer of its API v3), OTLP (a message a line or a whole document), Tempo (an answer of its API), and Zipkin
    v2 (lists of spans). The command joins the parts of a trace over records and files. The Java code of the streaming
    jobs walks the traces (`make setup` builds it).

    -o json, yaml and jsonl print one object a section: trace_id, span_id, service, operation, start_us, end_us,
    root_span_id, incomplete. Sections of a path are in order of time, fill the root span, and never overlap. Times are
    microseconds since 1970, with decimals where nanoseconds need them. They include the correction for the clock
    offset of another host. A span whose parent is not in the trace is the root of its own, incomplete path. Ids have 32
    and 16 hexadecimal digits.

    The command counts spans on no path (asynchronous work, spans outside their parents, rings, repeated ids) on
    standard error. It skips and counts a record that is not a trace, and names its file, line and reason; the exit code
    is then 1 unless --skip-bad.

    \b
    Examples:
      sluice critical-path traces.jsonl.gz
      sluice critical-path -o jsonl jaeger.json otlp.jsonl > sections.jsonl
      zcat old.json.gz | sluice critical-path - -o jsonl | head
    """
    walker_command = command()
    totals = Totals()
    parts = TraceParts()
    try:
        with unwinding(), ProgressReport() as progress:
            _read(ReplayPlan(files, limit=limit), parts, totals, progress)
            counts = _walk(walker_command, parts, progress, output)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CliError(f"cannot read {error.filename or 'input'}: {error.strerror or error}") from None
    finally:
        parts.close()
    _print_counts(counts, totals)
    if totals.records_skipped and not skip_bad:
        raise click.exceptions.Exit(1)


def _read(plan: ReplayPlan, parts: TraceParts, totals: Totals, progress: ProgressReport) -> None:
    for trace in read(plan, totals, lambda skipped: say_skipped(progress.note, skipped, totals), threading.Event()):
        parts.add(trace)
        progress.reading(totals)


def _walk(walker_command: list[str], parts: TraceParts, progress: ProgressReport, output: str) -> dict[str, int]:
    def messages() -> Iterator[bytes]:
        for number, message in enumerate(parts.messages(), start=1):
            yield message
            progress.walking(number, len(parts))

    if output == "jsonl" and not sys.stdout.isatty():
        counts = walk(walker_command, messages(), sys.stdout.buffer.write)
    elif output == "table":
        table = PathTable()
        counts = walk(walker_command, messages(), lambda chunk: sys.stdout.writelines(table.take(chunk)))
        sys.stdout.writelines(table.last())
    else:
        lines, writer = Lines(), ItemWriter(output, row_a_line=True)

        def write(chunk: bytes) -> None:
            for line in lines.take(chunk):
                writer.add(json.loads(line))

        counts = walk(walker_command, messages(), write)
        writer.end()
    sys.stdout.flush()
    return counts


def _print_counts(counts: dict[str, int], totals: Totals) -> None:
    incomplete = f", {counts['incomplete_paths']:,} incomplete" if counts["incomplete_paths"] else ""
    note(
        f"{counts['traces']:,} traces, {counts['spans']:,} spans: {counts['paths']:,} paths{incomplete}, "
        f"{counts['sections']:,} sections"
    )
    for name, reason in _EXCLUDED.items():
        if counts[name]:
            note(f"on no path: {counts[name]:,} spans ({reason})")
    if totals.records_skipped:
        note(f"skipped: {totals.records_skipped:,} records")
