"""What a span is to its pool, by the rules of the stack's spans.toml: read, and matched, plainly."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from sluice_kit.local_stack.driver import OVERLAY
from stack.settings import REPOSITORY, load

FILE = REPOSITORY / load({"SLUICE_STACK": str(OVERLAY)}).config["spans"]
RULES = tomllib.loads(FILE.read_text())["rule"]
_OTHERS = ("name", "action", "attributes", "longer_than")
PATH = ("url.path", "http.target", "http.route")
USER_AGENT = ("user_agent.original", "http.user_agent", "user_agent")
USES = {
    "count": "held",
    "leave_out": "left_out",
    "waiting": "waiting",
    "around": "around",
    "not_a_pool": "not_a_pool",
    "sidecar": "sidecar",
}
UNITS_NS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9}


def use(of: dict[str, str], attributes: Iterable[KeyValue], duration_ns: int) -> tuple[str, str, str]:
    """What a span is, by which action, and the name of the rule; `of` has service, side, peer, span and scope.
    attributes: of the span and of its resource."""
    values = [(attribute.key, text) for attribute in attributes for text in _texts(attribute.value)]
    for rule in RULES:
        if duration_ns > _limit_ns(rule) and _matches(rule, of, values):
            return USES[rule["action"]], rule["action"], rule["name"]
    return "held", "count", ""


def _matches(rule: dict[str, object], of: dict[str, str], values: list[tuple[str, str]]) -> bool:
    wanted = {key: patterns for key, patterns in rule.items() if key not in _OTHERS}
    more = rule.get("attributes", {})
    assert isinstance(more, dict)
    for key, patterns in wanted.items():
        if key == "path":
            texts = [value.split("?")[0] for name, value in values if name in PATH]
        elif key == "user_agent":
            texts = [value for name, value in values if name in USER_AGENT]
        else:
            texts = [of[key]]
        if not any(_glob(pattern).fullmatch(text) for pattern in _listed(patterns) for text in texts):
            return False
    return all(
        any(
            _glob(pattern).fullmatch(value)
            for pattern in _listed(patterns)
            for key, value in values
            if key in names.split("|")
        )
        for names, patterns in more.items()
    )


def _listed(patterns: object) -> list[str]:
    return patterns if isinstance(patterns, list) else [str(patterns)]


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def _limit_ns(rule: dict[str, object]) -> int:
    match = re.fullmatch(r"(\d+)(\w+)", str(rule.get("longer_than", "")))
    return int(match[1]) * UNITS_NS[match[2]] if match else -1


def _texts(value: AnyValue) -> list[str]:
    """A text, a boolean or a whole number as text; the texts of an array."""
    if value.HasField("string_value"):
        return [value.string_value]
    if value.HasField("bool_value"):
        return [str(value.bool_value).lower()]
    if value.HasField("int_value"):
        return [str(value.int_value)]
    return [element.string_value for element in value.array_value.values if element.HasField("string_value")]
