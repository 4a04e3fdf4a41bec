"""Remembers the facts of spans by what they say, because to compute them takes ten times as long as to look them up."""

from collections.abc import Callable, Hashable, Iterable

from sluice.cli.traces.report.facts.addresses import shortened
from sluice.cli.traces.report.facts.attributes import OF_ALL, OF_CALLERS, OF_RESOURCES, SOURCES, Attributes
from sluice.cli.traces.report.facts.facts import THRESHOLD, Description, Resource, facts_of, resource_of
from sluice.cli.traces.report.facts.rules import Rules
from sluice.cli.traces.report.reading.columns import Columns

#: Spans of which each says something of its own would fill the memory.
_MOST = 200_000


class Memory:
    """Numbers of resources and facts.

    `names`: the attributes that the facts of a span depend on; of_callers: also those of CLIENT and PRODUCER spans;
    of_resources: those of a resource.
    shorten: by name, what of a text facts depend on, "" where that is nothing: spans whose URLs differ say the same.
    """

    def __init__(self, columns: Columns, rules: Rules) -> None:
        self.columns = columns
        of_rules = rules.attributes
        self.names = OF_ALL | of_rules.keys() | {THRESHOLD}
        self.of_callers = self.names | OF_CALLERS
        self.shorten: dict[str, Callable[[str], str]] = {
            name: _unless_matched(matches) for name, matches in of_rules.items() if name not in OF_ALL | OF_CALLERS
        }
        self.shorten |= {
            source.attribute: shortened for source in SOURCES if source.in_text and source.attribute not in of_rules
        }
        self.rules = rules
        self._of_rules = tuple(sorted(of_rules))
        self.of_resources = OF_RESOURCES | of_rules.keys()
        self._resources: dict[Resource, int] = {}
        self._by_number: list[Resource] = []
        self.known: dict[Hashable, int] = {}

    def resource(self, attributes: Attributes) -> int:
        """The number of a resource. Raises UnicodeEncodeError, as `learn`, for half of a surrogate pair."""
        resource = resource_of(attributes, self._of_rules)
        _check((*resource[:3], *(value for _, value in resource.pairs)))
        number = self._resources.setdefault(resource, len(self._by_number))
        if number == len(self._by_number):
            self._by_number.append(resource)
        return number

    def learn(self, key: Hashable, resource: int, describe: Callable[[], Description]) -> int:
        """The number of the facts for a key that `known` lacks."""
        if len(self.known) >= _MOST:
            self.known.clear()
        description = describe()
        _check((description.operation, description.scope, *(value for _, value in description.pairs)))
        number = self.columns.number(facts_of(self._by_number[resource], description, self.rules))
        self.known[key] = number
        return number


def _check(values: Iterable[object]) -> None:
    """Raises UnicodeEncodeError for a text that JSON can hold and UTF-8 cannot."""
    for value in values:
        if isinstance(value, str):
            value.encode()


def _unless_matched(matches: Callable[[str], object]) -> Callable[[str], str]:
    if matches(""):
        return str
    return lambda text: text if matches(text) else ""
