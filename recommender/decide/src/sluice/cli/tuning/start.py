"""The command `sluice tuning start`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click

from sluice.cli.output import EXIT_CODES, CliError, say
from sluice.cli.pools.options import address_option
from sluice.cli.sections import Sectioned
from sluice.cli.table import columns, print_table
from sluice.cli.tuning.client import connect
from sluice.cli.tuning.options import app_argument, load_application, parameters_option
from sluice.cli.tuning.watch import picture_option, watch_to_its_end
from sluice.tuning.application import TuningFile
from sluice.tuning.session.session import Plan
from sluice.tuning.space import Parameter

PARAMETERS = columns("PARAMETER", "SERVICE", "DEFAULT>", "LEGAL~")


@click.command(
    "start",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={"Session": "name warm_start applied", "Trials": "parameters picture", "Connection": "address"},
)
@app_argument
@click.option("--name", required=True, help="Name of the session; unique.")
@click.option("--warm-start", default="", metavar="SESSION", help="Try this session's best configurations first.")
@parameters_option("; the actuator runs the trials.  [default: another program runs them]")
@click.option("--apply", "applied", is_flag=True, help="Create the session, and with --parameters set its trials.")
@picture_option
@address_option
def start_command(
    app: Path,
    name: str,
    warm_start: str,
    parameters: Path | None,
    applied: bool,
    picture: Path | None,
    address: str,
) -> None:
    """Check an application's file, and create a session of it.

    Prints what the session would do; with --apply, creates it. With --parameters, the actuator tries one configuration
    after the other until the winner is confirmed, and this command prints the result of each. At the end, on Ctrl-C and
    on a failure, the actuator restores the configuration from before. `sluice tuning apply` sets the winner.

    \b
    Examples:
      sluice tuning start shop.yaml --name first
      sluice tuning start shop.yaml --name first --parameters parameters.yaml --apply --picture first.png
      sluice tuning start shop.yaml --name second --warm-start first --apply
    """
    from sluice.cli.tuning import actuator
    from sluice.tuning.session.message import plan_message

    application = load_application(app, name)
    print_plan(application)
    if parameters is not None:
        actuator.check(parameters, name, address)
    if not applied:
        say("Dry run: nothing was created or set. Repeat with --apply to do it.")
        return
    with connect(address) as client:
        client.create(plan_message(application.plan), warm_start)
        say(f"{name} is created")
        if parameters is None:
            return
        process = subprocess.Popen([*actuator.command(parameters, name, address), "--apply"], env=os.environ)
        try:
            watch_to_its_end(client, name, picture, lambda: process.poll() is None)
            code = process.wait(actuator.END_S)
        finally:
            if process.poll() is None:
                code = actuator.end(process)
    if code != 0:
        raise CliError(
            f"the actuator ended with exit code {code}: read its output above. {name} is open: `sluice-actuator tune`"
            " continues it, `sluice tuning stop` ends it"
        )


def print_plan(application: TuningFile) -> None:
    plan = application.plan
    root = f"{application.service} {application.operation or '(all operations)'}"
    say(f"{plan.name} on {plan.target}: {plan.method}, {plan.budget} trials of {root}", style="bold")
    print_table(PARAMETERS, map(_row, plan.space.parameters))
    for constraint in plan.space.constraints:
        say(f"  {constraint}")
    least, most = durations_s(plan)
    say(f"takes {least / 60:.0f} to {most / 60:.0f} min, plus the time to set; {plan.pairs} pairs confirm")


def durations_s(plan: Plan) -> tuple[float, float]:
    """Time of all trials with the shortest and with the longest windows; with CPU time, its delay is included."""
    from sluice.tuning.session.create import CPU_LATE_S, PATH_WINDOW_S

    trials = -(-(plan.budget + 1) // plan.parallel)
    window = plan.window
    least_s, most_s = (PATH_WINDOW_S, CPU_LATE_S) if plan.cpu else (0, 0)
    return (
        trials * (window.warm_up_s + window.least_s + least_s),
        (trials + 2 * plan.pairs) * (window.warm_up_s + window.most_s + most_s),
    )


def _row(parameter: Parameter) -> tuple[str, ...]:
    when = f", where {parameter.when}" if parameter.when is not None else ""
    return parameter.name, parameter.service, str(parameter.default), f"{parameter.kind.legal}{when}"
