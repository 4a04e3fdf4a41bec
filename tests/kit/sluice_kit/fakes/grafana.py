"""What Grafana does to a query before the ClickHouse plugin sends it: variables, then the plugin's macros.

Go's module proxy refuses the plugin's module (403 for github.com/grafana/clickhouse-datasource), so no program here can
use its code. The macros are those of its pkg/macros/macros.go at commit 005050e2, compared by eye. $__conditionalAll is
the one macro that the plugin expands in the browser.
"""

import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """A dashboard at one moment: its time range (epoch ms), the panel's interval, and each variable's one value."""

    from_ms: int
    until_ms: int
    interval_ms: int
    variables: Mapping[str, str]

    def value(self, name: str) -> str:
        builtin = {"__from": self.from_ms, "__to": self.until_ms, "__interval_ms": self.interval_ms}
        if name in builtin:
            return str(builtin[name])
        return self.variables[name]


_VARIABLE = re.compile(r"\$\{(?P<braced>\w+)(?::(?P<format>\w+))?\}|\$(?P<plain>(?!__)\w+)")
_MACRO = re.compile(r"\$__(\w+)")


def expand(sql: str, scope: Scope) -> str:
    """The SQL that reaches ClickHouse. Raises KeyError for a variable and LookupError for a macro that is not known."""
    return _macros(interpolate(sql, scope), scope)


def interpolate(text: str, scope: Scope) -> str:
    """The text with the variables' values, as the browser sends it to Grafana's server. Raises as `expand` does."""
    return _VARIABLE.sub(lambda match: _variable(match, scope), text)


def _variable(match: re.Match[str], scope: Scope) -> str:
    value = scope.value(match["braced"] or match["plain"])
    if match["format"] == "percentencode":
        return urllib.parse.quote(value, safe="")
    if match["format"]:
        raise LookupError(f"variable format {match['format']} is not known here")
    return value


def _macros(sql: str, scope: Scope) -> str:
    """Macros from the last to the first, so that an inner one is expanded before the one around it."""
    for match in reversed(list(_MACRO.finditer(sql))):
        arguments, end = _arguments(sql, match.end())
        sql = sql[: match.start()] + _macro(match[1], arguments, scope) + sql[end:]
    return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Arguments of a macro, split at commas outside of parentheses; none where no parenthesis follows."""
    if sql[start : start + 1] != "(":
        return [], start
    depth, parts, position = 0, [""], start
    while True:
        character = sql[position]
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return [part.strip() for part in parts], position + 1
        if character == "," and depth == 1:
            parts.append("")
        elif position > start:
            parts[-1] += character
        position += 1


def _macro(name: str, arguments: list[str], scope: Scope) -> str:
    seconds = (f"toDateTime({scope.from_ms // 1000})", f"toDateTime({scope.until_ms // 1000})")
    millis = (f"fromUnixTimestamp64Milli({scope.from_ms})", f"fromUnixTimestamp64Milli({scope.until_ms})")
    interval_s = max(scope.interval_ms // 1000, 1)
    between = "{0} >= {1} AND {0} <= {2}".format
    known: dict[str, tuple[int, Callable[..., str]]] = {
        "fromTime": (0, lambda: seconds[0]),
        "toTime": (0, lambda: seconds[1]),
        "fromTime_ms": (0, lambda: millis[0]),
        "toTime_ms": (0, lambda: millis[1]),
        "timeFilter": (1, lambda column: between(column, *seconds)),
        "timeFilter_ms": (1, lambda column: between(column, *millis)),
        "timeInterval": (1, lambda column: f"toStartOfInterval(toDateTime({column}), INTERVAL {interval_s} second)"),
        "timeInterval_ms": (
            1,
            lambda column: (
                f"toStartOfInterval(toDateTime64({column}, 3), INTERVAL {max(scope.interval_ms, 1)} millisecond)"
            ),
        ),
        "interval_s": (0, lambda: str(interval_s)),
        # One value is chosen here, so the condition always stands; with All chosen it would be 1=1.
        "conditionalAll": (2, lambda condition, _: condition),
    }
    if name not in known:
        raise LookupError(f"macro $__{name} is not known to the plugin")
    count, expansion = known[name]
    if len(arguments) != count:
        raise LookupError(f"macro $__{name} takes {count} arguments, not {len(arguments)}")
    return expansion(*arguments)
