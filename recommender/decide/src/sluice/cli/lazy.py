"""A group of commands that imports a command's module when somebody calls the command."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Lazy(NamedTuple):
    """A command's location, as `package.module:name`, and its line in the list of commands."""

    where: str
    short_help: str


def commands(package: str, **short_helps: tuple[str, str]) -> dict[str, Lazy]:
    """The functions `NAME_command` of modules in a package, by name: the module, and the line in the list."""
    return {name: Lazy(f"{package}.{module}:{name}_command", line) for name, (module, line) in short_helps.items()}


class LazyGroup(click.Group):
    """Lists and completes the names of `lazy` without importing their modules."""

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy], **more: Any) -> None:
        super().__init__(*args, **more)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module, _, name = self.lazy[cmd_name].where.partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.lazy[name].short_help) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        # Group's own method would import every command for its help.
        return [CompletionItem(name, help=self.lazy[name].short_help) for name in names] + click.Command.shell_complete(
            self, ctx, incomplete
        )
