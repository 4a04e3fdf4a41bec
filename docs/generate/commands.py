"""The page of the command line: the help of each command."""

from collections.abc import Iterator

import click

from docs.generate.markdown import page
from sluice.cli.main import cli

_WIDTH = 110
_INTRODUCTION = """
The help of every command, as `--help` prints it. A name of a pool is SERVICE/server, SERVICE/consumer or
SERVICE/client/PEER. Commands that list take `-o table|json|yaml|jsonl`.
"""


def text() -> str:
    parts = [f"## {path}\n\n```text\n{context.get_help()}\n```\n" for path, context in _contexts(cli, "sluice", None)]
    return page("Command line", _INTRODUCTION, *parts)


def _contexts(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    """Each command with its path, groups before their commands."""
    settings = {**command.context_settings, "terminal_width": _WIDTH}
    context = click.Context(command, parent, name, **settings)
    yield context.command_path, context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            member = command.get_command(context, child)
            assert member is not None
            yield from _contexts(member, child, context)
