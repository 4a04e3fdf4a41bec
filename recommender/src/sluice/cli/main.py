"""The root of the command line."""

import click

from sluice.cli import __version__
from sluice.cli.critical_path.command import critical_path
from sluice.cli.critical_service.command import critical_service
from sluice.cli.doctor.command import doctor
from sluice.cli.estimate.command import estimate
from sluice.cli.output import EXIT_CODES
from sluice.cli.pools.changing import pools
from sluice.cli.replay.command import replay_command
from sluice.cli.sql.command import sql


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="sluice")
def cli() -> None:
    """Sluice reads traces and says how large each pool should be.

    Addresses come from SLUICE_* variables; without them those of the local stack are used (`make up`).

    \b
    Examples:
      sluice doctor
      sluice pools list
      sluice pools explain cart
      sluice estimate --pairs cart.csv
      sluice replay traces.jsonl.gz
      sluice critical-path traces.jsonl.gz
      sluice critical-service --root frontend
      sluice sql --list
    """


for command in (pools, estimate, replay_command, critical_path, critical_service, sql, doctor):
    cli.add_command(command)


def main() -> None:
    cli(prog_name="sluice")
