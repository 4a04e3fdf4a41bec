"""The command `sluice tuning space`: which services to tune (Somashekar and Gandhi 2021, 3.2.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, CliError, output_option, print_item, say
from sluice.cli.sql.result import read_rows
from sluice.cli.table import columns, print_table
from sluice.cli.tuning.options import app_argument, load_application

if TYPE_CHECKING:
    from sluice.tuning.space.reduce import Figures

QUERY = Path(__file__).with_name("space.sql").read_text(encoding="utf-8")
RULES = ("critical_path", "variance", "bottleneck", "named")
COLUMNS = columns("SERVICE", "PARAMETERS>", "ON PATH>", "OWN MS>", "OF PATH>", "VARIATION>", "TUNED~")


@click.command("space", epilog=EXIT_CODES)
@app_argument
@click.option(
    "--rule",
    "rules",
    type=click.Choice(RULES),
    multiple=True,
    help="Which services to keep; with several, those of any rule.  [default: critical_path]",
)
@click.option("--service", "named", multiple=True, help="Service for the rule `named`; repeatable.")
@click.option("--seconds", type=Whole(10, 86_400), default=300, show_default=True, help="Age of the oldest spans, s.")
@output_option("table", "json", "yaml")
def space_command(app: Path, rules: tuple[str, ...], named: tuple[str, ...], seconds: int, output: str) -> None:
    """Propose which services to tune, and which to leave out.

    The rules read the newest spans of the application's root.

    \b
    critical_path  services on the critical path, with own time of at least 1 ms on it
    variance       services whose own time on it has a coefficient of variation above 0.5
    bottleneck     the fewest services that together have more than 80 % of the path's time: where cores are full,
                   all services wait for more than a millisecond, and critical_path keeps them all
    named          the services of --service, such as known bottlenecks

    In the paper, on 28 services, all rules but bottleneck (which is Sluice's own) keep 12, 7 and 8 services, and 22 to
    23, 17 to 20 and about 22 of 25 % of gain.

    \b
    Examples:
      sluice tuning space shop.yaml
      sluice tuning space shop.yaml --rule bottleneck --rule named --service cache
      sluice tuning space shop.yaml -o json | jq -r '.kept[]'
    """
    from sluice.tuning.space.reduce import Rule, reduced

    application = load_application(app, "space")
    parameters = {"service": application.service, "operation": application.operation or "", "seconds": str(seconds)}
    figures = figures_of(read_rows(QUERY, parameters).rows)
    if not figures:
        root = f"{application.service} {application.operation or ''}".rstrip()
        raise CliError(f"no complete critical path of {root} in the last {seconds} s: is there load?")
    all_parameters = application.plan.space
    space, left = reduced(all_parameters, figures, [Rule(rule) for rule in rules or RULES[:1]], named)
    why = {service_left.service: service_left.why for service_left in left}
    services = list(dict.fromkeys(parameter.service for parameter in all_parameters.parameters if parameter.service))
    if output != "table":
        kept = [parameter.name for parameter in space.parameters]
        out = [
            {"service": service_left.service, "parameters": service_left.parameters, "why": service_left.why}
            for service_left in left
        ]
        print_item({"kept": kept, "left_out": out}, output)
        return
    counts = {name: sum(parameter.service == name for parameter in all_parameters.parameters) for name in services}
    path_ms = sum(figure.path_ms for figure in figures.values())
    print_table(COLUMNS, [_row(name, counts[name], figures.get(name), path_ms, why.get(name)) for name in services])
    say(f"{len(space.parameters)} of {len(all_parameters.parameters)} parameters remain")


def figures_of(rows: Iterable[list[Any]]) -> Mapping[str, Figures]:
    from sluice.tuning.space.reduce import Figures

    by_service = {}
    for service, traces, on_path, total, squares in rows:
        n, mean = int(on_path), int(total) / max(1, int(on_path))
        variance = max(0.0, int(squares) / max(1, n) - mean**2)
        variation = math.sqrt(variance) / mean if mean > 0 else math.nan
        by_service[service] = Figures(n / max(1, int(traces)), mean / 1e6, variation)
    return by_service


def _row(service: str, parameters: int, measured: Figures | None, path_ms: float, why: str | None) -> tuple[str, ...]:
    figures: tuple[str, ...] = ("-",) * 4
    if measured is not None:
        of_path = f"{measured.path_ms / path_ms:.0%}" if path_ms > 0 else "-"
        figures = f"{measured.share:.0%}", f"{measured.self_ms:.2f}", of_path, f"{measured.variation:.2f}"
    return service, str(parameters), *figures, "yes" if why is None else f"no: {why}"
