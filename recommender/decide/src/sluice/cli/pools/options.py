"""Arguments and options that the commands on pools share, and their completion."""

import re
from collections.abc import Callable

import click

from sluice.cli.environment import addresses
from sluice.cli.pools.selector import SIDES

_PATIENCE_S = 1.0
# A completion goes to the prompt unquoted, so it must hold nothing that a shell would expand.
PLAIN = re.compile(r"[\w./:@%+,-]+")


def _pool_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from sluice.cli.pools.selector import pool_name

    return _known(ctx, incomplete, lambda size: pool_name(size.pool))


def _services(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return _known(ctx, incomplete, lambda size: str(size.pool.service))


def _known(ctx: click.Context, incomplete: str, name: Callable[..., str]) -> list[str]:
    """Names from the recommender; none where it does not answer, since completion must not print errors."""
    import grpc

    from sluice.cli.output import CliError
    from sluice.cli.pools.channel import open_channel
    from sluice.pools.v1.pool_size_service_pb2 import ListPoolSizesRequest
    from sluice.pools.v1.pool_size_service_pb2_grpc import PoolSizeServiceStub

    try:
        with open_channel(ctx.params.get("address") or addresses().recommender) as channel:
            answer = PoolSizeServiceStub(channel).ListPoolSizes(ListPoolSizesRequest(), timeout=_PATIENCE_S)
    except (grpc.RpcError, CliError):
        return []
    names = sorted({name(size) for size in answer.pool_sizes})
    return [known_name for known_name in names if known_name.startswith(incomplete) and PLAIN.fullmatch(known_name)]


address_option = click.option("--address", metavar="HOST:PORT", help="Recommender.  [default: SLUICE_RECOMMENDER]")
pool_argument = click.argument("pool", metavar="POOL", shell_complete=_pool_names)
service_option = click.option("--service", default="", help="Only the pools of this service.", shell_complete=_services)
side_option = click.option("--side", type=click.Choice([*SIDES]), help="Side, when POOL is a service.")
peer_option = click.option("--peer", help="Peer of a client pool.")
