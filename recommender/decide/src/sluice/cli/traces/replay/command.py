"""The command `sluice replay`."""

import signal
import threading
from types import FrameType

import click
import grpc

from sluice.cli.environment import DEFAULTS, addresses
from sluice.cli.numbers import Number, Whole
from sluice.cli.output import EXIT_CODES, FORMS, CliError, output_option, print_item, say
from sluice.cli.sections import Sectioned
from sluice.cli.traces.replay.progress import ProgressReport
from sluice.cli.traces.replay.run import ReplayPlan, Times, read, replay, system_clock
from sluice.cli.traces.replay.sender import SpanSender
from sluice.cli.traces.replay.skips import say_skipped
from sluice.cli.traces.replay.totals import Totals

_INTERRUPTED = 130


class Speed(click.ParamType[float | None]):
    """A positive number, or `max` (None)."""

    name = "N|max"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        if value == "max":
            return None
        try:
            speed = float(str(value))
        except ValueError:
            speed = 0.0
        if not 0.0 < speed < float("inf"):
            self.fail(f"{value!r} is neither a number above 0 nor `max`", param, ctx)
        return speed


@click.command(
    "replay",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={
        "Source": "limit skip_bad",
        "Pace": "speed times",
        "Connection": "endpoint batch give_up",
        "Output": "dry_run output",
    },
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--endpoint",
    metavar="HOST:PORT",
    help=f"OTLP/gRPC receiver.  [default: SLUICE_OTLP_GRPC, else {DEFAULTS['SLUICE_OTLP_GRPC']}]",
)
@click.option("--speed", type=Speed(), default="1", show_default=True, help="Multiple of the recorded pace.")
@click.option(
    "--times",
    type=click.Choice(["now", "past", "keep"]),
    default="now",
    show_default=True,
    help="How to move the times of the spans, see above.",
)
@click.option("--batch", type=Whole(1, 8192), default=512, show_default=True, help="Most spans a request.")
@click.option("--limit", type=Whole(1), help="Stop after this many traces.")
@click.option(
    "--give-up",
    type=Number(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to retry a request while the collector is away or full.",
)
@click.option("--skip-bad", is_flag=True, help="Exit 0 even when the command skips records.")
@click.option("--dry-run", is_flag=True, help="Read and count only.")
@output_option(*FORMS)
def replay_command(
    files: tuple[str, ...],
    endpoint: str | None,
    speed: float | None,
    times: Times,
    batch: int,
    limit: int | None,
    give_up: float,
    skip_bad: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Send recorded traces to the collector as OTLP.

    FILE is JSON, gzipped or not; `-` is standard input. Formats: Jaeger (a trace a line, an array, an export of the UI,
    or an answer of its API v3), OTLP (a message a line or a whole document), Tempo (an answer of its API), and Zipkin
    v2 (lists of spans).

    The command sends a trace when its last span ended, at the recorded pace times --speed. To sort traces by their
    ends, it first stores them in the directory for temporary files (not with --speed max --times keep, which sends
    while it reads).

    \b
    --times now   the first span starts when the replay starts; at a speed above 1, times run ahead of the clock
    --times past  the last span ends when the replay starts: for --speed max
    --times keep  as recorded; the streaming jobs refuse spans older than their max-age-ms

    All times move by the same amount. A record of OTLP JSON may hold parts of several traces; each part counts as a
    trace.

    The command skips and counts a record that is not a trace, and names its file, line and reason; the exit code is
    then 1 unless --skip-bad. Spans that the collector rejects also make it 1. After an interrupt, the command prints
    the totals so far and exits with 130.

    \b
    Examples:
      sluice replay traces.jsonl.gz
      sluice replay --speed max --times keep a.json b.jsonl
      zcat old.json.gz | sluice replay --speed 10 -
      sluice replay --dry-run -o json traces.jsonl.gz
    """
    plan = ReplayPlan(files, speed, times, batch, limit)
    target = _host_and_port(endpoint or addresses().otlp_grpc)
    totals = Totals()
    stop = threading.Event()
    interrupted = _stop_on_signals(stop)
    sender: SpanSender | None = None
    failure: str | None = None
    try:
        with ProgressReport() as progress:
            traces = read(plan, totals, lambda skipped: say_skipped(progress.note, skipped, totals), stop)
            if dry_run:
                clock = system_clock(stop)
                begin_s = clock.monotonic_s()
                for _ in traces:
                    progress.reading(totals)
                totals.elapsed_s = clock.monotonic_s() - begin_s
            else:
                with grpc.insecure_channel(target, options=[("grpc.max_send_message_length", -1)]) as channel:
                    sender = SpanSender(channel, totals, give_up, stop)
                    replay(plan, traces, sender, system_clock(stop), totals, progress)
    except OSError as error:
        failure = f"cannot read {error.filename or 'input'}: {error.strerror or error}"
    if output != "table":
        print_item(totals.as_json(), output)
    else:
        _print_totals(totals, dry_run)
    if sender is not None and sender.gave_up is not None:
        failure = (
            f"gave up sending to {target} after retrying for {give_up:g} s: {sender.gave_up.code}: "
            f"{sender.gave_up.text}. Start the stack with `make up`, or set another receiver with --endpoint or "
            "SLUICE_OTLP_GRPC; `./sluice doctor` names the stage that is down."
        )
    if failure is not None:
        raise CliError(failure)
    if interrupted.is_set():
        raise click.exceptions.Exit(_INTERRUPTED)
    if totals.spans_failed or totals.spans_rejected or (totals.records_skipped and not skip_bad):
        raise click.exceptions.Exit(1)


def _host_and_port(endpoint: str) -> str:
    """HOST:PORT of an endpoint. Also accepts http URLs, the form of other OTLP programs."""
    if endpoint.startswith("https://"):
        raise click.UsageError(f"{endpoint}: replay sends without TLS; name a HOST:PORT that accepts plain gRPC")
    return endpoint.removeprefix("http://").rstrip("/")


def _stop_on_signals(stop: threading.Event) -> threading.Event:
    """On the first SIGINT or SIGTERM, ends the replay with its totals; on the second, ends the process."""
    interrupted = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        interrupted.set()
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handle)
    return interrupted


def _print_totals(totals: Totals, dry_run: bool) -> None:
    rate = totals.spans_per_s
    rows = [("traces read", f"{totals.traces_read:,}"), ("spans read", f"{totals.spans_read:,}")]
    if not dry_run:
        rows += [
            ("traces sent", f"{totals.traces:,}"),
            ("spans sent", f"{totals.spans_sent:,}"),
            ("requests", f"{totals.requests:,}"),
            ("retries", f"{totals.retries:,}"),
            ("spans rejected by the collector", f"{totals.spans_rejected:,}"),
            ("spans failed", f"{totals.spans_failed:,}"),
        ]
    rows.append(("records skipped", f"{totals.records_skipped:,}"))
    rows.append(("elapsed", f"{totals.elapsed_s:.1f} s"))
    if not dry_run:
        rows.append(("spans/s", "-" if rate is None else f"{rate:,.0f}"))
    for label, value in rows:
        say(f"{label:<32}{value:>12}")
    for text in totals.refusals:
        say(f"refused: {text}")
