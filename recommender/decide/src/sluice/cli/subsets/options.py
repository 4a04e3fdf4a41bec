"""Options that the commands on served subsets share, and their completion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sluice.cli.environment import addresses
from sluice.cli.pools.options import PLAIN

_PATIENCE_S = 1.0


def _names(field: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        """Names from the first page; none where the recommender does not answer: completion must not print errors."""
        import grpc

        from sluice.cli.output import CliError
        from sluice.cli.pools.channel import open_channel
        from sluice.subsets.v1.subset_service_pb2 import ListSubsetsRequest
        from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub

        names = ("upstream", "instance", "downstream")
        request: dict[str, Any] = {name: ctx.params.get(name) or "" for name in names if name != field}
        try:
            with open_channel(ctx.params.get("address") or addresses().recommender) as channel:
                answer = SubsetServiceStub(channel).ListSubsets(ListSubsetsRequest(**request), timeout=_PATIENCE_S)
        except (grpc.RpcError, CliError):
            return []
        values = sorted({getattr(subset.key, field) for subset in answer.subsets})
        return [value for value in values if value.startswith(incomplete) and PLAIN.fullmatch(value)]

    return complete


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--upstream, --instance, --downstream; each is empty by default."""
    options = [
        click.option("--upstream", default="", help="Only this calling service.", shell_complete=_names("upstream")),
        click.option("--instance", default="", help="Only this container of it.", shell_complete=_names("instance")),
        click.option("--downstream", default="", help="Only this called service.", shell_complete=_names("downstream")),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def name_argument(field: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument UPSTREAM, INSTANCE or DOWNSTREAM."""
    return click.argument(field, metavar=field.upper(), shell_complete=_names(field))
