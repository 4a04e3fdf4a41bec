"""The command `sluice tuning watch`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import click

from sluice.cli.output import EXIT_CODES, note, say
from sluice.cli.pools.options import address_option
from sluice.cli.tuning.client import TuningClient, connect
from sluice.cli.tuning.options import session_argument
from sluice.cli.tuning.text import ENDED, gain_text, phase_text, trial_line
from sluice.tuning.v1 import session_pb2, trial_pb2


def _plotted(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    if path and not find_spec("matplotlib"):  # the image of the decider is without it
        raise click.BadParameter("the package matplotlib is missing; install it, or run the command without --picture")
    if path and not path.parent.is_dir():  # else it would fail once all trials have ended
        raise click.BadParameter(f"{path}: its folder does not exist")
    return path


picture_option = click.option(
    "--picture",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_plotted,
    metavar="FILE.png",
    help="Plot the trials at the end.",
)


@click.command("watch", epilog=EXIT_CODES)
@session_argument
@picture_option
@address_option
def watch_command(session: str, picture: Path | None, address: str) -> None:
    """Follow a session to its end, and plot its trials.

    Prints the result of each trial. After a lost connection, it connects again.

    \b
    Examples:
      sluice tuning watch first
      sluice tuning watch first --picture first.png
    """
    with connect(address) as client:
        watch_to_its_end(client, session, picture)


def watch_to_its_end(
    client: TuningClient, session: str, picture: Path | None, going: Callable[[], bool] = lambda: True
) -> session_pb2.TuningSession:
    """Returns the session when it has ended, or when `going` returns False (called at each heartbeat)."""
    printed: set[int] = set()
    trials: dict[int, trial_pb2.Trial] = {}
    phase, complete = session_pb2.PHASE_UNSPECIFIED, False
    for event in client.watch(session, note):
        if event.HasField("trial"):
            trials[event.trial.number] = event.trial
        elif event.HasField("session"):
            phase = event.session.phase
        elif event.HasField("snapshot"):
            complete = True
        if complete:
            for trial in sorted(trials.values(), key=lambda trial: trial.place):
                if trial.HasField("outcome") and trial.number not in printed:
                    printed.add(trial.number)
                    say(trial_line(trial, trials.get(0)))
        # All events of a period come before its heartbeat.
        if event.HasField("heartbeat") and (phase in ENDED or not going()):
            break
    ended = client.get(session)
    say(f"{phase_text(ended)}: {ended.why or 'open'}; gain {gain_text(ended)}", style="bold")
    if picture is not None:
        from sluice.cli.tuning.picture import draw

        draw(ended, picture)
        say(f"wrote {picture}")
    return ended
