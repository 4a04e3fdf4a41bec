"""The commands `sluice pools diff | apply`."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import click

from sluice.cli.output import EXIT_CODES, FORMS, CliError, output_option, say, show_list
from sluice.cli.pools.client import connect
from sluice.cli.pools.options import address_option, by_option, dry_run_option, pool_options, service_option, why_option
from sluice.cli.pools.selector import Selector, pool_name, shell_word
from sluice.cli.pools.text import action, basis, not_written_yet, optional
from sluice.cli.sections import Sectioned
from sluice.cli.table import columns, print_table
from sluice.common.v1.decision_pb2 import Action
from sluice.pools.v1.pool_size_pb2 import PoolSize, TargetSize

_COLUMNS = columns("POOL", "INSTANCE", "IN FORCE>", "TARGET>", "ACTION", "BASIS", "WHEN")


@click.command("diff", epilog=EXIT_CODES)
@service_option
@address_option
@output_option(*FORMS)
def diff_command(service: str, address: str, output: str) -> None:
    """Show where the size in force differs from the decision's target size.

    One row an instance, with the size that its actuator read, or without an actuator that its metrics have. WHEN tells
    when its actuator would write: now, after the instances that get the change first, or not. The actuator of a target
    with `apply: false` only recommends, so its size changes by hand.
    `sluice-actuator --dry-run` also shows the effect of the actuator's own limits, quiet hours and opt-in.

    \b
    Examples:
      sluice pools diff
      sluice pools diff --service cart -o json
    """
    with connect(address) as client:
        sizes = client.list(service)
    rows = [row for size in sizes for row in _differences(size)]
    reporting = sum(bool(size.sizes) for size in sizes)
    empty = f"Nothing differs: a size in force is known of {reporting} of {len(sizes)} pools."
    show_list(rows, output, _print_differences, empty)


def _print_differences(rows: Iterable[dict[str, Any]]) -> None:
    print_table(_COLUMNS, (tuple(map(_cell, row.values())) for row in rows))


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
    if target.recommends:
        return "by hand"
    if size.targets and target.instance not in size.targets:
        return f"after {', '.join(size.targets)}"
    return "now"


@click.command(
    "apply",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={"Pool": "side peer", "Change": "why by dry_run", "Connection": "address"},
)
@pool_options
@why_option
@by_option
@dry_run_option
@address_option
def apply_command(selector: Selector, why: str, by: str, dry_run: bool, address: str) -> None:
    """Set a pool to the best size known, and hold it there.

    All of its targets that apply decisions get the size at once, within the pool's bounds and their own limits. They
    keep it until `sluice pools resume POOL`. Without this command, sizes change in steps, some targets first, and go on
    changing.

    \b
    Examples:
      sluice pools apply cart --dry-run
      sluice pools apply catalogue/client/catalogue-db --why "the sale begins"
    """
    with connect(address) as client:
        size = client.get(selector)
        name = pool_name(size.pool)
        best = optional(size, "unguarded_target" if size.HasField("unguarded_target") else "target")
        if not best.isdigit():
            raise CliError(f"{name} has no known best size: {'; '.join(r.text for r in size.reasons)}")
        if any(reason.code == "NO_ACTUATOR" for reason in size.reasons):
            raise CliError(f"{name} has no actuator that could set {best}; its size is that of metrics")
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
    say(f"sets {what}, and holds it there until `sluice pools resume {shell_word(size.pool)}`")
    if delay := not_written_yet(size, datetime.now(UTC)):
        say(delay)
