"""The group `sluice pools`."""

import click

from sluice.cli.lazy import Lazy, LazyGroup
from sluice.cli.output import EXIT_CODES

COMMANDS = {
    "list": Lazy("sluice.cli.pools.commands:list_command", "List every pool with its state and sizes."),
    "get": Lazy("sluice.cli.pools.commands:get_command", "Show one pool."),
    "explain": Lazy(
        "sluice.cli.pools.commands:explain_command",
        "Show the evidence: threshold, window, the curve and its knee.",
    ),
    "diff": Lazy(
        "sluice.cli.pools.applying:diff_command",
        "Show where the size in force is not the one that the answer names.",
    ),
    "apply": Lazy(
        "sluice.cli.pools.applying:apply_command",
        "Bring a pool to the best size that is known, and hold it there.",
    ),
    "watch": Lazy("sluice.cli.pools.changing:watch_command", "Print every answer as it changes, until interrupted."),
    "history": Lazy(
        "sluice.cli.pools.changing:history_command",
        "Show what was answered, applied, paused and resumed for one pool, oldest first.",
    ),
    "pause": Lazy(
        "sluice.cli.pools.changing:pause_command",
        "Let a pool keep its size, or hold it at another one, until it is resumed.",
    ),
    "resume": Lazy("sluice.cli.pools.changing:resume_command", "End a pause."),
}


@click.group("pools", cls=LazyGroup, lazy=COMMANDS, epilog=EXIT_CODES)
def pools() -> None:
    """Ask the recommender for pool sizes, watch and pause them.

    A pool is named SERVICE/server (the threads that serve requests) or SERVICE/client/PEER (the connections to
    PEER). SERVICE alone means its server pool, else its only pool.

    \b
    Output as JSON (-o json; the same with -o yaml, and one object a line with -o jsonl): field names and enum names
    of the proto sluice.pools.v1, e.g. "state": "PROVIDED", "side": "SIDE_SERVER" (state, basis and action without
    their prefix). Every field is there; one that has no value is null, never 0. Times are RFC 3339, durations like
    "0.250s", all integers are numbers.
      list     an array of PoolSize
      get      a PoolSize
      explain  an Explanation (the PoolSize is its `pool_size`)
      diff     an array of {pool, instance, in_force, target, action, basis, when}; in_force is null without a limit
      watch    a PoolSize a line (-o jsonl)

    SLUICE_TLS_CA (a PEM file) and SLUICE_TOKEN are for a recommender that has TLS and asks for tokens.
    """
