"""The commands `sluice pools diff | apply`."""

import getpass
from collections.abc import Iterator
from typing import Any

import click

from sluice.cli.environment import addresses
from sluice.cli.output import EXIT_CODES, FORMS, CliError, output_option, print_items, say
from sluice.cli.pools.client import connect
from sluice.cli.pools.commands import select
from sluice.cli.pools.options import address_option, peer_option, pool_argument, service_option, side_option
from sluice.cli.pools.selector import pool_name
from sluice.cli.pools.text import action, basis, optional
from sluice.cli.table import Column, print_table
from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize

_COLUMNS = (
    *(Column(name) for name in ("POOL", "INSTANCE")),
    *(Column(name, right=True) for name in ("IN FORCE", "TARGET")),
    *(Column(name) for name in ("ACTION", "BASIS", "WHEN")),
)


@click.command("diff", epilog=EXIT_CODES)
@service_option
@address_option
@output_option(*FORMS)
def diff_command(service: str, address: str | None, output: str) -> None:
    """Show where the size in force differs from the decision's target size.

    One row an instance, with the size that its actuator read. WHEN tells when an actuator that applies decisions would
    write: now, after the instances that get the change first, or not. `sluice-actuator --dry-run` also shows the effect
    of the actuator's own limits, quiet hours and opt-in.

    \b
    Examples:
      sluice pools diff
      sluice pools diff --service cart -o json
    """
    with connect(address or addresses().recommender) as client:
        sizes = client.list(service)
    rows = [row for size in sizes for row in _differences(size)]
    if output != "table":
        print_items(rows, output)
    elif rows:
        print_table(_COLUMNS, (tuple(map(_cell, row.values())) for row in rows))
    else:
        reporting = sum(bool(size.sizes) for size in sizes)
        say(f"Nothing differs: actuators reported a size for {reporting} of {len(sizes)} pools.")


def _differences(size: PoolSize) -> Iterator[dict[str, Any]]:
    """Rows of the table. in_force: None where there is no limit."""
    for reported in size.sizes:
        if size.HasField("target") and (reported.unbounded or reported.size != size.target):
            yield {
                "pool": pool_name(size.pool),
                "instance": reported.instance,
                "in_force": None if reported.unbounded else reported.size,
                "target": size.target,
                "action": action(size),
                "basis": basis(size),
                "when": _when(size, reported),
            }


def _cell(value: Any) -> str:
    return "unbounded" if value is None else str(value)


def _when(size: PoolSize, target: TargetSize) -> str:
    if size.action != Action.ACTION_APPLY:
        return "not"
    if size.targets and target.instance not in size.targets:
        return f"after {', '.join(size.targets)}"
    return "now"


@click.command("apply", epilog=EXIT_CODES)
@pool_argument
@side_option
@peer_option
@click.option("--why", default="", help="Reason; everybody who looks at the pool sees it.")
@click.option("--by", default=getpass.getuser, help="Who requests it.  [default: the user]")
@click.option("--dry-run", is_flag=True, help="Only print the change.")
@address_option
def apply_command(
    pool: str, side: str | None, peer: str | None, why: str, by: str, dry_run: bool, address: str | None
) -> None:
    """Set a pool to the best size known, and hold it there.

    All of its targets that apply decisions get the size at once, within the pool's bounds and their own limits. They
    keep it until `sluice pools resume POOL`. Without this command, sizes change in steps, some targets first, and go on
    changing.

    \b
    Examples:
      sluice pools apply cart --dry-run
      sluice pools apply catalogue/client/catalogue-db --why "the sale begins"
    """
    with connect(address or addresses().recommender) as client:
        selector = select(pool, side, peer)
        size = client.get(selector)
        name = pool_name(size.pool)
        best = optional(size, "unguarded_target" if size.HasField("unguarded_target") else "target")
        if not best.isdigit():
            raise CliError(f"{name} has no known best size: {'; '.join(r.text for r in size.reasons)}")
        changes = [
            f"{reported.instance} {'unbounded' if reported.unbounded else reported.size} -> {best}"
            for reported in size.sizes
            if reported.unbounded or reported.size != int(best)
        ]
        what = f"{name} to {best} ({', '.join(changes) or 'unchanged'})"
        if dry_run:
            say(f"would set {what}, and hold it there")
            return
        client.pause(selector, by, "apply of the best size" + (f": {why}" if why else ""), int(best))
    say(f"sets {what}, and holds it there until `sluice pools resume {name}`")
