"""The rules that map spans to pools: reads spans.toml, and passes it to the Java functions as lines of words.

Source of the form of the lines: SpanRules.java. They travel as a job parameter, which Flink parts at commas and colons,
hence in base64.
"""

import base64
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "spans.toml"

ACTIONS = ("count", "leave_out", "waiting", "around", "not_a_pool", "sidecar")
SIDES = ("server", "consumer", "client")
#: Conditions on fields that every span has, by their word in the lines.
OF_SPANS = {"service": "service", "side": "side", "peer": "peer", "span": "name", "scope": "scope"}
#: Conditions on attributes of several names: old semantic conventions and new.
PATH = ("url.path", "http.target", "http.route")
USER_AGENT = ("user_agent.original", "http.user_agent", "user_agent")
KEYS = ("name", "action", *OF_SPANS, "path", "user_agent", "attributes", "longer_than")
#: Legal durations, in ms: 1 ms to a day.
UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
MOST_MS = 86_400_000
#: ValuePatterns.java: a bit of a long for each condition on attributes and on durations.
MOST_CONDITIONS = 64
MOST_ATTRIBUTE_BYTES = 63

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ATTRIBUTE = re.compile(r"[^\s,\x00-\x1f]+")
_DURATION = re.compile(r"([1-9][0-9]{0,8})(ms|s|m|h)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class SpanRulesError(ValueError):
    """The file cannot be read or holds an illegal value; the message names file, rule and key."""


@dataclass(frozen=True)
class Values:
    """One of `patterns` has to match the value of one of `attributes`; for a path, its part before the query."""

    attributes: tuple[str, ...]
    patterns: tuple[str, ...]
    path: bool = False


@dataclass(frozen=True)
class Rule:
    """`spans` maps words of OF_SPANS to patterns. longer_ms: spans of a longer duration match; None: of any."""

    name: str
    action: str
    spans: Mapping[str, tuple[str, ...]]
    values: tuple[Values, ...]
    longer_ms: int | None = None

    def lines(self) -> list[str]:
        lines = ["\t".join(("rule", self.name, self.action))]
        lines += ["\t".join((word, *patterns)) for word, patterns in self.spans.items()]
        for values in self.values:
            kind = "path" if values.path else "whole"
            lines.append("\t".join(("values", kind, ",".join(values.attributes), *values.patterns)))
        if self.longer_ms is not None:
            lines.append(f"longer\t{self.longer_ms}")
        return lines


def load(path: Path = FILE) -> tuple[Rule, ...]:
    """The rules of a file, in its order. Raises SpanRulesError."""
    try:
        file = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpanRulesError(f"read {path}: {error}") from error
    try:
        return _rules(file)
    except SpanRulesError as error:
        raise SpanRulesError(f"read {path}: {error}") from error


def encoded(rules: tuple[Rule, ...]) -> str:
    """As a job parameter; never empty, as Flink takes none without a value."""
    lines = "".join(f"{line}\n" for rule in rules for line in rule.lines()) or "\n"
    return base64.urlsafe_b64encode(lines.encode()).decode()


def _rules(file: Mapping[str, Any]) -> tuple[Rule, ...]:
    if unknown := sorted(file.keys() - {"rule"}):
        raise SpanRulesError(f"unknown key {unknown[0]}: expected [[rule]]")
    tables = file.get("rule", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SpanRulesError("rule: must be tables, [[rule]]")
    rules = tuple(_rule(table, number) for number, table in enumerate(tables, 1))
    names = [rule.name for rule in rules]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SpanRulesError(f"rule {twice[0]}: its name is there twice")
    if (conditions := sum(len(rule.values) + (rule.longer_ms is not None) for rule in rules)) > MOST_CONDITIONS:
        raise SpanRulesError(
            f"{conditions} conditions on path, user_agent, attributes and longer_than: "
            f"must be {MOST_CONDITIONS} or fewer"
        )
    return rules


def _rule(table: Mapping[str, Any], number: int) -> Rule:
    name = table.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "nested":
        raise SpanRulesError(
            f"rule {number}: name is {name!r}: must be 1 to 64 letters, digits, - and _, and not nested"
        )
    where = f"rule {name}"
    if unknown := sorted(table.keys() - {*KEYS}):
        raise SpanRulesError(f"{where}: unknown key {unknown[0]}: expected {', '.join(KEYS)}")
    action = table.get("action")
    if action not in ACTIONS:
        raise SpanRulesError(f"{where}: action is {action!r}: must be one of {', '.join(ACTIONS)}")
    spans = {word: _patterns(table[key], f"{where}: {key}") for key, word in OF_SPANS.items() if key in table}
    if wrong := [side for side in spans.get("side", ()) if side not in SIDES]:
        raise SpanRulesError(f"{where}: side is {wrong[0]!r}: must be one of {', '.join(SIDES)}")
    values = [
        Values(names, _patterns(table[key], f"{where}: {key}"), path=key == "path")
        for key, names in (("path", PATH), ("user_agent", USER_AGENT))
        if key in table
    ]
    values += _attributes(table.get("attributes", {}), where)
    longer_ms = _duration_ms(table["longer_than"], where) if "longer_than" in table else None
    if not spans.keys() - {"side"} and not values and longer_ms is None:
        raise SpanRulesError(f"{where}: names no spans: expected one or more of {', '.join(KEYS[2:])} besides side")
    return Rule(name, action, spans, tuple(values), longer_ms)


def _attributes(table: object, where: str) -> list[Values]:
    if not isinstance(table, dict):
        raise SpanRulesError(f"{where}: attributes is {table!r}: must be a table of names and patterns")
    values = []
    for names, patterns in table.items():
        attributes = tuple(names.split("|"))
        for attribute in attributes:
            if not _ATTRIBUTE.fullmatch(attribute) or len(attribute.encode()) > MOST_ATTRIBUTE_BYTES:
                raise SpanRulesError(
                    f"{where}: attributes: {attribute!r} must be 1 to {MOST_ATTRIBUTE_BYTES} bytes without comma and "
                    "space; | parts several names"
                )
        values.append(Values(attributes, _patterns(patterns, f"{where}: attributes: {names}")))
    return values


def _duration_ms(value: object, where: str) -> int:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    ms = int(match[1]) * UNITS_MS[match[2]] if match else 0
    if not 1 <= ms <= MOST_MS:
        raise SpanRulesError(f"{where}: longer_than is {value!r}: must be a whole number of ms, s, m or h, 1ms to 24h")
    return ms


def _patterns(value: object, where: str) -> tuple[str, ...]:
    patterns = value if isinstance(value, list) else [value]
    if not patterns or not all(isinstance(text, str) and text and not _CONTROL.search(text) for text in patterns):
        raise SpanRulesError(f"{where} is {value!r}: must be a text, or a list of texts, without control characters")
    return tuple(patterns)
