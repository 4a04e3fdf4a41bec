"""Arguments and options that the commands on pools share, and their completion."""

import getpass
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import click

from sluice.cli.environment import DEFAULTS, addresses
from sluice.cli.pools.selector import SIDES, Selector, SelectorError, parse_selector, pool_name

PATIENCE_S = 1.0
# A completion goes to the prompt unquoted, so it must hold nothing that a shell would expand.
PLAIN = re.compile(r"[\w./:@%+,-]+")


Names = Callable[[Any, click.Context], Iterable[str]]
Command = Callable[..., Any]


def completing(names: Names) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A completion with the names that a call of the recommender's channel gives; none where it does not answer, since
    completion must not print errors."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        import grpc

        from sluice.cli.output import CliError
        from sluice.cli.pools.channel import open_channel

        try:
            with open_channel(ctx.params.get("address") or addresses().recommender) as channel:
                known = sorted(set(names(channel, ctx)))
        except (grpc.RpcError, CliError):
            return []
        return [name for name in known if name.startswith(incomplete) and PLAIN.fullmatch(name)]

    return complete


def _pools(name: Callable[..., str]) -> Names:
    def names(channel: Any, _ctx: click.Context) -> list[str]:
        from sluice.pools.v1.pool_size_service_pb2 import ListPoolSizesRequest
        from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

        answer = PoolSizeServiceStub(channel).ListPoolSizes(ListPoolSizesRequest(), timeout=PATIENCE_S)
        return [name(size.pool) for size in answer.pool_sizes]

    return names


def _address(_ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    address = value or addresses().recommender
    host, _, port = address.rpartition(":")
    if host and ("/" in address or (port.isdigit() and 0 < int(port) <= 65_535)):  # gRPC also takes dns:///NAME:PORT
        return address
    variable = "" if value else "SLUICE_RECOMMENDER: "
    raise click.BadParameter(f"{variable}{address!r} is not HOST:PORT; legal ports: 1 to 65535", param=param)


address_option = click.option(
    "--address",
    metavar="HOST:PORT",
    help=f"Recommender.  [default: SLUICE_RECOMMENDER, else {DEFAULTS['SLUICE_RECOMMENDER']}]",
    callback=_address,
)
by_option = click.option("--by", default=getpass.getuser, help="Who requests it.  [default: the user]")
why_option = click.option("--why", default="", help="Reason; everybody who looks at the pool sees it.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only print the change.")
service_option = click.option(
    "--service",
    default="",
    help="Only the pools of this service.",
    shell_complete=completing(_pools(lambda pool: str(pool.service))),
)


def selected(pool: str, side: str | None = None, peer: str | None = None) -> Selector:
    """The pool of a command's words. Raises click.UsageError."""
    try:
        return parse_selector(pool, side, peer)
    except SelectorError as error:
        raise click.UsageError(str(error)) from None


def pool_options(command: Command) -> Command:
    """POOL, --side and --peer, passed to the command as `selector`."""

    @wraps(command)
    def with_selector(pool: str, side: str | None, peer: str | None, **others: Any) -> Any:
        return command(selector=selected(pool, side, peer), **others)

    for option in (
        click.option("--peer", help="Peer of a client pool."),
        click.option("--side", type=click.Choice([*SIDES]), help="Side, when POOL is a service."),
        click.argument("pool", metavar="POOL", shell_complete=completing(_pools(pool_name))),
    ):
        option(with_selector)
    return with_selector
