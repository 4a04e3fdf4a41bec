"""The command `sluice subsets solve`."""

from dataclasses import replace
from pathlib import Path

import click

from sluice.cli.numbers import Whole
from sluice.cli.output import EXIT_CODES, CliError, note, output_option, print_item
from sluice.cli.sections import Sectioned

STRATEGIES = ("microns", "full", "sre", "rocksteadier", "aperture", "proportional", "a68")


@click.command(
    "solve",
    cls=Sectioned,
    epilog=EXIT_CODES,
    sections={"Input": "source previous", "Method": "strategy quota weights", "Output": "output"},
)
@click.option("--input", "source", required=True, metavar="FILE", type=click.Path(), help="The application, as JSON.")
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), default=STRATEGIES[0], show_default=True, help="Method, see above."
)
@click.option(
    "--previous", metavar="FILE", type=click.Path(), help="Earlier solution, as JSON, to start from and compare with."
)
@click.option("--quota", type=Whole(1), help="Connections of all pairs together, instead of the file's.")
@click.option(
    "--weights/--no-weights", default=None, help="With or without weights of connections (microns: with by default)."
)
@output_option("table", "json")
def solve_command(
    source: str, strategy: str, previous: str | None, quota: int | None, weights: bool | None, output: str
) -> None:
    """Solve the connections of an application in a file.

    The command needs no stack.

    \b
    microns       connections where they reduce end to end latency, towards containers that are fast
    full          every container to every container
    sre           deterministic subsets of the SRE book
    rocksteadier  Google's default
    aperture      Twitter's deterministic aperture, with weights
    proportional  Uber's: containers that send more have more connections
    a68           gRPC's random subsets

    docs/subsets-file.md describes the form of FILE and of the answer (-o json). The command prints problems of FILE and
    unknown keys on standard error.

    \b
    Examples:
      sluice subsets solve --input recommender/examples/shop.json
      sluice subsets solve --input app.json --strategy full -o json
      sluice subsets solve --input app.json --previous before.json
    """
    from sluice.fast.announcing import announcing
    from sluice.subsets.document.files import load_application, load_solution
    from sluice.subsets.document.solution import solution_object
    from sluice.subsets.legal import IllegalSubsetsError
    from sluice.subsets.strategy import TooManyError
    from sluice.subsets.strategy_result import answer

    file = source
    try:
        document, samples = load_application(Path(source))
        application = document.application if quota is None else replace(document.application, quota=quota)
        settings = document.settings if weights is None else replace(document.settings, weights=weights)
        last = None
        if previous is not None:
            file = previous
            last = load_solution(Path(previous))
            file = source
        with announcing(note, "some 10 s"):
            result = answer(application, strategy, samples, settings, last)
    except (IllegalSubsetsError, TooManyError) as error:
        raise CliError(*(f"cannot solve {file}: {line}" for line in str(error).split("\n"))) from None
    for key in document.ignored:
        note(f"{source}: unknown key {key} is ignored")
    for line in result.notes:
        note(line)
    shown = solution_object(result)
    if output == "json":
        print_item(shown, "json")
        return
    from sluice.cli.subsets.solution_table import print_solution

    print_solution(result, shown, last)
