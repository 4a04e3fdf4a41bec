"""The command `sluice critical-path`."""

import sys
import threading
from collections.abc import Iterator

import click
from rich.console import Console

from sluice.cli.critical_path.parts import TraceParts
from sluice.cli.critical_path.table import PathTable
from sluice.cli.critical_path.walker import command, walk
from sluice.cli.output import EXIT_CODES, CliError, error_console, output_option
from sluice.cli.replay.progress import ProgressReport
from sluice.cli.replay.run import Plan, read
from sluice.cli.replay.skips import say_skipped
from sluice.cli.replay.totals import Totals

#: Why a span can be on no path, in words.
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
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--limit", type=click.IntRange(1), help="Read no more than this many records.")
@click.option("--skip-bad", is_flag=True, help="Exit 0 even when records were skipped.")
@output_option("table", "jsonl")
def critical_path(files: tuple[str, ...], limit: int | None, skip_bad: bool, output: str) -> None:
    """Print what each recorded trace waited for: its critical path, section by section.

    FILE is Jaeger JSON (a trace a line, an array, or an export of the Jaeger UI) or OTLP JSON (a message a line or
    a whole document), gzipped or not; `-` is standard input. Parts of one trace are put together, over records and
    files. The walk is the Java code of the streaming jobs (`make setup` builds it).

    -o jsonl prints one object a section: trace_id, span_id, service, operation, start_us, end_us, root_span_id,
    incomplete. Sections of a path are in order of time, fill the root span, and never overlap. Times are
    microseconds since 1970, with decimals where nanoseconds need them. A span whose parent the trace does not hold is
    the root of a path of its own, and that path is incomplete. What spans of another host's clock are moved by is
    part of their times. Ids have 32 and 16 hexadecimal digits.

    What is on no path (asynchronous work, spans outside their parents, rings, repeated ids) is counted on standard
    error. A record that is not a trace is named with file, line and reason, counted, and left out; the exit code is
    then 1 unless --skip-bad.

    \b
    Examples:
      sluice critical-path traces.jsonl.gz
      sluice critical-path -o jsonl jaeger.json otlp.jsonl > sections.jsonl
      zcat old.json.gz | sluice critical-path - -o jsonl | head
    """
    words = command()
    notes = error_console()
    totals = Totals()
    parts = TraceParts()
    try:
        with ProgressReport(notes) as progress:
            _read(Plan(files, limit=limit), parts, totals, notes, progress)
            counts = _walk(words, parts, progress, output)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CliError(f"cannot read {error.filename or 'input'}: {error.strerror or error}") from None
    finally:
        parts.close()
    _print_counts(notes, counts, totals)
    if totals.records_skipped and not skip_bad:
        raise click.exceptions.Exit(1)


def _read(plan: Plan, parts: TraceParts, totals: Totals, notes: Console, progress: ProgressReport) -> None:
    for trace in read(plan, totals, lambda skipped: say_skipped(notes, skipped, totals), threading.Event()):
        parts.add(trace)
        progress.reading(totals)


def _walk(words: list[str], parts: TraceParts, progress: ProgressReport, output: str) -> dict[str, int]:
    def messages() -> Iterator[bytes]:
        for number, message in enumerate(parts.messages(), start=1):
            yield message
            progress.walking(number, len(parts))

    out = sys.stdout.buffer
    if output == "jsonl":
        counts = walk(words, messages(), out.write)
    else:
        table = PathTable()
        counts = walk(words, messages(), lambda chunk: out.writelines(block.encode() for block in table.take(chunk)))
        out.writelines(block.encode() for block in table.last())
    out.flush()
    return counts


def _print_counts(notes: Console, counts: dict[str, int], totals: Totals) -> None:
    incomplete = f", {counts['incomplete_paths']:,} incomplete" if counts["incomplete_paths"] else ""
    notes.print(
        f"{counts['traces']:,} traces, {counts['spans']:,} spans: {counts['paths']:,} paths{incomplete}, "
        f"{counts['sections']:,} sections",
        markup=False,
    )
    for name, words in _EXCLUDED.items():
        if counts[name]:
            notes.print(f"on no path: {counts[name]:,} spans ({words})", markup=False)
    if totals.records_skipped:
        notes.print(f"skipped: {totals.records_skipped:,} records", markup=False)
