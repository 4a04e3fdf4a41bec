"""The command `sluice critical-service`."""

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, FORMS, note, output_option, print_items
from sluice.cli.sql.result import read_rows
from sluice.cli.traces.critical_service.ranking import as_json, print_ranking
from sluice.pools.critical.localizations import SQL, localizations


@click.command("critical-service", epilog=EXIT_CODES)
@click.option("--root", default="", metavar="SERVICE[/OPERATION]", help="Only traces with this root; default: all.")
@click.option("--seconds", type=Whole(10, 86_400), default=60, show_default=True, help="Age of the oldest traces, s.")
@output_option(*FORMS)
def critical_service(root: str, seconds: int, output: str) -> None:
    """Name the service that holds up each root operation, with the evidence.

    The command ranks the services on the operation's complete critical paths. Services whose CPU is at 80 % of its
    limit or more come first. Among equals, the service comes first whose blame is the largest share of the end to end
    time; where the operation takes 10 % longer than in the hour before, the one that takes most longer. Blame is a
    service's own time, plus the waits for threads that others held because of it. The table also has Pearson's
    correlation of the blame with the end to end time, and p99/p50 of the blame. With less than 30 traces there is no
    ranking.

    MEAN MS is a service's own time, WAIT MS the time that its callers wait for its threads, BLAME MS the blame, and OF
    END TO END its share. Where the CPU of containers is not known (no metrics), a pool that is too small looks like
    the services that its threads wait for: the reason THREADS_TAKEN names its service. CALLERS_WAIT takes its place
    where the size of that pool is known and less than half of it was ever in flight: then requests wait for
    connections of their callers.

    \b
    Examples:
      sluice critical-service
      sluice critical-service --root 'frontend/GET /cart' --seconds 300 -o json
    """
    service, _, operation = root.partition("/")
    parameters = {"service": service, "operation": operation, "seconds": str(seconds)}
    by_root = localizations(read_rows(SQL, parameters).rows)
    if output != "table":
        print_items((as_json(*entry) for entry in by_root.items()), output)
        return
    if not by_root:
        what = f" of {root}" if root else ""
        note(f"no complete critical path{what} in the last {seconds} s")
    for where, localization in by_root.items():
        print_ranking(where, localization)
