"""Span rules: which spans hold no thread and no connection. The file is the streaming jobs' `spans.toml`."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice.cli.output import CliError
from sluice.cli.traces.report.facts.attributes import PATH, USER_AGENT, Attributes, Value

HELD, LEFT_OUT, WAITING, AROUND, NOT_A_POOL, SIDECAR = range(6)
#: What a span is to its pool, by the action of the rule.
USES = {
    "count": HELD,
    "leave_out": LEFT_OUT,
    "waiting": WAITING,
    "around": AROUND,
    "not_a_pool": NOT_A_POOL,
    "sidecar": SIDECAR,
}
#: Spans of these uses are in windows.
COUNTED = (HELD, NOT_A_POOL, SIDECAR)
_FIELDS = ("service", "side", "peer", "span", "scope")
_KEYS = {"name", "action", "path", "user_agent", "attributes", "longer_than", *_FIELDS}
_DURATION = re.compile(r"([1-9][0-9]{0,8})(ms|s|m|h)")
_UNITS_NS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9}
_MOST_NS = 24 * _UNITS_NS["h"]
Matches = Callable[[str], object]


@dataclass(frozen=True)
class SpanRule:
    """fields: of the span, with what their texts must match. attributes: names, of which one must have such a value.
    longer_ns: what the duration must exceed; 0: any duration matches."""

    name: str
    use: int
    fields: Sequence[tuple[str, Matches]]
    attributes: Sequence[tuple[tuple[str, ...], Matches]]
    longer_ns: int = 0

    def matches(self, fields: Mapping[str, str], attributes: Sequence[Attributes], exceeded_ns: int) -> bool:
        """fields: service, side, peer, span, scope. attributes: of the span and of its resource."""
        return (
            self.longer_ns <= exceeded_ns
            and all(pattern(fields[name]) for name, pattern in self.fields)
            and all(
                any(pattern(text) for source in attributes for text in _texts(source, names))
                for names, pattern in self.attributes
            )
        )


@dataclass(frozen=True)
class Rules:
    """Rules in the order in which they are asked: the first that matches decides."""

    rules: Sequence[SpanRule] = ()

    def of(self, fields: Mapping[str, str], attributes: Sequence[Attributes], exceeded_ns: int = 0) -> tuple[int, str]:
        """The use of a span, and the name of the rule that says so; HELD and "" without one. exceeded_ns: as `exceeded`
        returns it."""
        for rule in self.rules:
            if rule.matches(fields, attributes, exceeded_ns):
                return rule.use, rule.name
        return HELD, ""

    @cached_property
    def _durations_ns(self) -> tuple[int, ...]:
        return tuple(sorted({rule.longer_ns for rule in self.rules} | {0}))

    def exceeded(self, duration_ns: int) -> int:
        """The longest of the rules' durations that a span of `duration_ns` exceeds; 0: none."""
        return self._durations_ns[max(0, bisect_left(self._durations_ns, duration_ns) - 1)]

    @property
    def attributes(self) -> dict[str, Matches]:
        """By the name of an attribute that rules read: whether a text matches a pattern of any of them.

        A text that matches none says as much as an absent one.
        """
        patterns: dict[str, list[Matches]] = {}
        for rule in self.rules:
            for names, pattern in rule.attributes:
                for name in names:
                    patterns.setdefault(name, []).append(pattern)
        return {name: _any_of(name, listed) for name, listed in patterns.items()}


def read_rules(path: Path) -> Rules:
    """Raises CliError when the file cannot be read or a rule is illegal."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CliError(f"cannot read span rules {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CliError(f"cannot read span rules {path}: {error}") from None
    rules = document.get("rule", [])
    if not isinstance(rules, list):
        raise CliError(f"cannot read span rules {path}: rule is not a list of tables; legal: [[rule]]")
    return Rules([_rule(rule, f"{path}: rule {number}") for number, rule in enumerate(rules, start=1)])


def _rule(rule: Any, where: str) -> SpanRule:
    if not isinstance(rule, dict):
        raise CliError(f"{where} is not a table; legal: [[rule]]")
    if unknown := sorted(rule.keys() - _KEYS):
        raise CliError(f"{where}: key {unknown[0]!r} is not legal; legal: {', '.join(sorted(_KEYS))}")
    if rule.get("action") not in USES:
        raise CliError(f"{where}: action {rule.get('action')!r} is not legal; legal: {', '.join(USES)}")
    more = rule.get("attributes", {})
    if not isinstance(more, dict):
        raise CliError(f"{where}: attributes {more!r} is not legal; legal: a table of attribute = pattern")
    attributes: list[tuple[tuple[str, ...], Matches]]
    attributes = [
        (tuple(names.split("|")), _pattern(patterns, f"{where}: {names}")) for names, patterns in more.items()
    ]
    attributes += [(names, _pattern(rule[key], f"{where}: {key}")) for key, names in _GROUPS.items() if key in rule]
    fields = [(name, _pattern(rule[name], f"{where}: {name}")) for name in _FIELDS if name in rule]
    longer_ns = _duration_ns(rule["longer_than"], where) if "longer_than" in rule else 0
    return SpanRule(str(rule.get("name", "")), USES[rule["action"]], fields, attributes, longer_ns)


_GROUPS = {"path": PATH, "user_agent": USER_AGENT}


def _duration_ns(text: Any, where: str) -> int:
    match = _DURATION.fullmatch(text) if isinstance(text, str) else None
    duration_ns = int(match[1]) * _UNITS_NS[match[2]] if match else 0
    if not 0 < duration_ns <= _MOST_NS:
        raise CliError(
            f"{where}: longer_than {text!r} is not legal; legal: a whole number of ms, s, m or h, 1ms to 24h"
        )
    return duration_ns


def _pattern(patterns: Any, where: str) -> Matches:
    listed = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(listed, list) or not all(isinstance(pattern, str) for pattern in listed):
        raise CliError(f"{where} {patterns!r} is not legal; legal: a pattern, or a list of patterns")
    texts = "|".join(".*".join(map(re.escape, pattern.split("*"))) for pattern in listed)
    return re.compile(texts, re.DOTALL).fullmatch


def _any_of(name: str, patterns: list[Matches]) -> Matches:
    if name in PATH:
        # A rule's `path` is matched without the query, its `attributes` with it.
        return lambda text: any(pattern(text.split("?")[0]) or pattern(text) for pattern in patterns)
    return lambda text: any(pattern(text) for pattern in patterns)


def _texts(attributes: Attributes, names: tuple[str, ...]) -> Iterable[str]:
    for name in names:
        value = attributes.get(name)
        if value is not None and not isinstance(value, float):
            yield _text(value).split("?")[0] if names is PATH else _text(value)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
