"""Arguments that the commands on tuning sessions share, and their completion."""

import click

from sluice.cli.environment import addresses
from sluice.cli.pools.options import PLAIN

_PATIENCE_S = 1.0


def _sessions(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names from the first page; none where the recommender does not answer: completion must not print errors."""
    import grpc

    from sluice.cli.output import CliError
    from sluice.cli.pools.channel import open_channel
    from sluice.tuning.v1.tuning_service_pb2 import ListSessionsRequest
    from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub

    try:
        with open_channel(ctx.params.get("address") or addresses().recommender) as channel:
            answer = TuningServiceStub(channel).ListSessions(ListSessionsRequest(), timeout=_PATIENCE_S)
    except (grpc.RpcError, CliError):
        return []
    names = [session.plan.name for session in answer.sessions]
    return [name for name in names if name.startswith(incomplete) and PLAIN.fullmatch(name)]


session_argument = click.argument("session", metavar="SESSION", shell_complete=_sessions)
