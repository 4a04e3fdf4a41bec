"""Numbers with a legal range, as options: an error has the range also where the value is no number."""

from math import isfinite
from typing import Any, NoReturn

import click


class Whole(click.IntRange):
    """An integer within the bounds."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            int(value)
        except ValueError:
            _refuse(self, f"{value!r} is no whole number", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A finite number within the bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            known = isfinite(float(value))
        except ValueError:
            known = False
        if not known:
            _refuse(self, f"{value!r} is no number", param, ctx)
        return super().convert(value, param, ctx)


def _refuse(
    kind: click.IntRange | click.FloatRange, fault: str, param: click.Parameter | None, ctx: click.Context | None
) -> NoReturn:
    kind.fail(f"{fault}; legal: {kind._describe_range()}", param, ctx)
