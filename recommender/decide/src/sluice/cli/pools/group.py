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
        "Show where the size in force differs from the decision's target size.",
    ),
    "apply": Lazy(
        "sluice.cli.pools.applying:apply_command",
        "Set a pool to the best size known, and hold it there.",
    ),
    "watch": Lazy(
        "sluice.cli.pools.changing:watch_command",
        "Print every decision when it changes, until you interrupt the command.",
    ),
    "history": Lazy(
        "sluice.cli.pools.changing:history_command",
        "Show one pool's decisions, actuations, pauses and resumes, oldest first.",
    ),
    "pause": Lazy(
        "sluice.cli.pools.changing:pause_command",
        "Keep a pool's size, or hold it at another one, until you resume it.",
    ),
    "resume": Lazy("sluice.cli.pools.changing:resume_command", "End a pause."),
}


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
      get      a PoolSize
      explain  an Explanation (the PoolSize is its `pool_size`)
      diff     an array of {pool, instance, in_force, target, action, basis, when}; in_force is null without a limit
      watch    a PoolSize a line (-o jsonl)

    SLUICE_TLS_CA (a PEM file) and SLUICE_TOKEN, or SLUICE_TOKEN_FILE, are for a recommender with TLS and tokens.
    """
