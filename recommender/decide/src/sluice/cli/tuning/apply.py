"""The command `sluice tuning apply`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click

from sluice.cli.output import EXIT_CODES, CliError, say
from sluice.cli.pools.options import address_option
from sluice.cli.tuning.client import connect
from sluice.cli.tuning.options import parameters_option, session_argument
from sluice.cli.tuning.text import ENDED, gain_text, value_text


@click.command("apply", epilog=EXIT_CODES)
@session_argument
@parameters_option(": how it sets each parameter.")
@click.option("--apply", "applied", is_flag=True, help="Set the configuration, and leave it set.")
@address_option
def apply_command(session: str, parameters: Path | None, applied: bool, address: str) -> None:
    """Show what a session recommends, or set it.

    An ended session recommends the winner where that is known to be better than the default, else the default. With
    --apply, the actuator sets the recommended configuration and reads it back.

    \b
    Examples:
      sluice tuning apply first
      sluice tuning apply first --parameters parameters.yaml --apply
    """
    from sluice.cli.tuning import actuator

    with connect(address) as client:
        answer = client.explain(session)
    if answer.session.phase not in ENDED:
        raise CliError(
            f"{session} has not ended: {answer.session.why or 'it still searches'}; `sluice tuning stop` ends it"
        )
    defaults = {parameter.name: parameter.default_value for parameter in answer.session.plan.space.parameters}
    say(f"{session} recommends, gain {gain_text(answer.session)}:", style="bold")
    for setting in answer.recommended.settings:
        usual = defaults.get(setting.parameter)
        note = "" if usual is None or usual == setting.value else f"  (default {value_text(usual)})"
        say(f"  {setting.parameter} = {value_text(setting.value)}{note}")
    if parameters is None:
        if applied:
            raise click.UsageError("--apply needs --parameters FILE")
        return
    actuator.check(parameters, session, address)
    if not applied:
        say("Dry run: nothing was set. Repeat with --apply to set it.")
        return
    done = subprocess.run(
        [*actuator.command(parameters, session, address), "--recommended", "--apply"], env=os.environ, check=False
    )
    if done.returncode != 0:
        raise CliError(f"the actuator ended with exit code {done.returncode}: read its output above")
