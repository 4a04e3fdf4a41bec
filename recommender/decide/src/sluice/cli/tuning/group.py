"""The group `sluice tuning`."""

import click

from sluice.cli.lazy import LazyGroup, commands
from sluice.cli.output import EXIT_CODES

COMMANDS = commands(
    "sluice.cli.tuning",
    space=("space", "Propose which services to tune, and which to leave out."),
    start=("start", "Check an application's file, and create a session of it."),
    status=("status", "Show a session, its trials and their results."),
    watch=("watch", "Follow a session to its end, and plot its trials."),
    apply=("apply", "Show what a session recommends, or set it."),
    stop=("status", "End a session."),
    list=("status", "List sessions by name."),
)


@click.group("tuning", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def tuning() -> None:
    """Search for a better configuration of an application in trials.

    APP.yaml has the parameters, the objective (the value to minimize) and the SLOs. PARAMETERS.yaml, which the actuator
    reads, tells how to read and set each parameter. Without --apply, no command sets anything.

    \b
    JSON output (-o json; the same with -o yaml) has the field and enum names of the proto sluice.tuning.v1.
      list     an array of TuningSession, without their trials
      status   an ExplainSessionResponse, with all trials in its session

    \b
    Examples:
      sluice tuning space shop.yaml
      sluice tuning start shop.yaml --name first
      sluice tuning start shop.yaml --name first --parameters parameters.yaml --apply
      sluice tuning watch first --picture first.png
    """
