"""The group `sluice pools`."""

import click

from sluice.cli.lazy import LazyGroup, commands
from sluice.cli.output import EXIT_CODES

COMMANDS = commands(
    "sluice.cli.pools",
    list=("commands", "List every pool with its state and sizes, the most important first."),
    get=("commands", "Show one pool."),
    discover=("discover", "Show the pools that were found from spans, and candidates that are none."),
    explain=("commands", "Show the evidence: threshold, window, the curve and its knee."),
    diff=("applying", "Show where the size in force differs from the decision's target size."),
    apply=("applying", "Set a pool to the best size known, and hold it there."),
    watch=("changing", "Print every decision when it changes, until you interrupt the command."),
    history=("changing", "Show one pool's decisions, actuations, pauses and resumes, oldest first."),
    pause=("changing", "Keep a pool's size, or hold it at another one, until you resume it."),
    resume=("changing", "End a pause."),
)


@click.group("pools", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def pools() -> None:
    """Show pool sizes and their reasons; apply, pause and resume them.

    POOL is SERVICE/server (the threads that serve requests), SERVICE/consumer (those that take messages), or
    SERVICE/client/PEER (the connections to PEER). SERVICE alone is its server pool, else its only pool.

    \b
    JSON output (-o json; the same with -o yaml, and one object a line with -o jsonl) has the field and enum names of
    the proto sluice.pools.v1, e.g. "state": "PROVIDED", "side": "SIDE_SERVER" (state, basis and action without
    their prefix). Every field is present; one without a value is null, never 0. Times are RFC 3339, durations like
    "0.250s", all integers are numbers.
      list     an array of PoolSize
      discover an array of Candidate; -o yaml is a configuration of the recommender
      get      a PoolSize
      explain  an Explanation (the PoolSize is its `pool_size`)
      diff     an array of {pool, instance, in_force, target, action, basis, when}; in_force is null without a limit
      watch    a PoolSize a line (-o jsonl)

    SLUICE_TLS_CA (a PEM file) and SLUICE_TOKEN, or SLUICE_TOKEN_FILE, are for a recommender with TLS and tokens.

    \b
    Examples:
      sluice pools list
      sluice pools explain cart
    """
