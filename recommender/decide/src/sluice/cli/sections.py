"""A command whose help lists its options under headings."""

from collections.abc import Mapping
from typing import Any

import click


class Sectioned(click.Command):
    """`sections`: the names of parameters by heading, with blanks between. Options without a heading come last."""

    def __init__(self, *args: Any, sections: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.sections = {heading: names.split() for heading, names in sections.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        lines = {option.name: line for option in options if (line := option.get_help_record(ctx))}
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([lines.pop(name) for name in names])
        with formatter.section("Other"):
            formatter.write_dl([*lines.values()])
