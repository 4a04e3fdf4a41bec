"""Options that the commands on served subsets share, and their completion."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from sluice.cli.pools.options import PATIENCE_S, Command, completing


class Filter(NamedTuple):
    """Selects subsets of an upstream service, a container of it, and a downstream service; empty: any."""

    upstream: str = ""
    instance: str = ""
    downstream: str = ""


def _names(field: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    def names(channel: Any, ctx: click.Context) -> list[str]:
        from sluice.subsets.v1.subset_service_pb2 import ListSubsetsRequest
        from sluice.subsets.v1.subset_service_pb2_grpc import SubsetServiceStub

        others: dict[str, Any] = {name: ctx.params.get(name) or "" for name in Filter._fields if name != field}
        answer = SubsetServiceStub(channel).ListSubsets(ListSubsetsRequest(**others), timeout=PATIENCE_S)
        return [getattr(subset.key, field) for subset in answer.subsets]

    return completing(names)


def filter_options(command: Command) -> Command:
    """--upstream, --instance and --downstream, passed to the command as `filters`."""

    @wraps(command)
    def with_filters(upstream: str, instance: str, downstream: str, **others: Any) -> Any:
        return command(filters=Filter(upstream, instance, downstream), **others)

    texts = {"downstream": "called service", "instance": "container of it", "upstream": "calling service"}
    for field, text in texts.items():
        click.option(f"--{field}", default="", help=f"Only this {text}.", shell_complete=_names(field))(with_filters)
    return with_filters


def name_argument(field: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The argument UPSTREAM, INSTANCE or DOWNSTREAM."""
    return click.argument(field, metavar=field.upper(), shell_complete=_names(field))
