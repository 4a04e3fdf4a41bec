"""What a span is to its pool, by the rules of the stack's spans.toml: read, and matched, plainly."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache

from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from sluice_kit.local_stack.driver import OVERLAY
from stack.settings import REPOSITORY, load

FILE = REPOSITORY / load({"SLUICE_STACK": str(OVERLAY)}).config["spans"]
RULES = tomllib.loads(FILE.read_text())["rule"]
PATH = ("url.path", "http.target", "http.route")
USER_AGENT = ("user_agent.original", "http.user_agent")
USES = {"count": "held", "leave_out": "left_out", "waiting": "waiting", "around": "around"}


def use(of: dict[str, str], attributes: Iterable[KeyValue]) -> tuple[str, str, str]:
    """What a span is, by which action, and the name of the rule; `of` has service, side, peer, span and scope."""
    values = [(attribute.key, _text(attribute)) for attribute in attributes]
    for rule in RULES:
        if _matches(rule, of, values):
            return USES[rule["action"]], rule["action"], rule["name"]
    return "held", "count", ""


def _matches(rule: dict[str, object], of: dict[str, str], values: list[tuple[str, str | None]]) -> bool:
    wanted = {key: patterns for key, patterns in rule.items() if key not in ("name", "action", "attributes")}
    more = rule.get("attributes", {})
    assert isinstance(more, dict)
    for key, patterns in wanted.items():
        if key == "path":
            texts = [value.split("?")[0] for name, value in values if name in PATH and value is not None]
        elif key == "user_agent":
            texts = [value for name, value in values if name in USER_AGENT and value is not None]
        else:
            texts = [of[key]]
        if not any(_glob(pattern).fullmatch(text) for pattern in _listed(patterns) for text in texts):
            return False
    return all(
        any(
            _glob(pattern).fullmatch(value)
            for pattern in _listed(patterns)
            for key, value in values
            if key == name and value is not None
        )
        for name, patterns in more.items()
    )


def _listed(patterns: object) -> list[str]:
    return patterns if isinstance(patterns, list) else [str(patterns)]


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def _text(attribute: KeyValue) -> str | None:
    value = attribute.value
    if value.HasField("string_value"):
        return value.string_value
    if value.HasField("bool_value"):
        return str(value.bool_value).lower()
    return str(value.int_value) if value.HasField("int_value") else None
