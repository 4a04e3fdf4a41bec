"""Arguments and options that the commands on tuning sessions share, and their completion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sluice.cli.output import CliError
from sluice.cli.pools.options import PATIENCE_S, Command, completing

if TYPE_CHECKING:
    from sluice.tuning.application import TuningFile


def _sessions(channel: Any, _ctx: click.Context) -> list[str]:
    from sluice.tuning.v1.tuning_service_pb2 import ListSessionsRequest
    from sluice.tuning.v1.tuning_service_pb2_grpc import TuningServiceStub

    answer = TuningServiceStub(channel).ListSessions(ListSessionsRequest(), timeout=PATIENCE_S)
    return [session.plan.name for session in answer.sessions]


session_argument = click.argument("session", metavar="SESSION", shell_complete=completing(_sessions))
app_argument = click.argument("app", metavar="APP.yaml", type=click.Path(exists=True, dir_okay=False, path_type=Path))


def parameters_option(text: str) -> Callable[[Command], Command]:
    """The option --parameters, the actuator's file, with the help `text`."""
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    return click.option("--parameters", type=path, metavar="FILE", help=f"The actuator's file{text}")


def load_application(path: Path, session: str) -> TuningFile:
    """Reads APP.yaml. Raises CliError with its problems."""
    from sluice.config import ConfigError
    from sluice.tuning.application import load

    try:
        return load(path, session)
    except ConfigError as cause:
        raise CliError(*str(cause).split("\n")) from None
