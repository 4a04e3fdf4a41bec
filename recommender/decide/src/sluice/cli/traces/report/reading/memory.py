"""Remembers the facts of spans by what they say, because to compute them takes ten times as long as to look them up."""

from collections.abc import Callable, Hashable

from sluice.cli.traces.report.facts.attributes import OF_SPANS, Attributes
from sluice.cli.traces.report.facts.facts import THRESHOLD, Resource, Said, facts_of, resource_of
from sluice.cli.traces.report.facts.rules import Rules
from sluice.cli.traces.report.reading.columns import Columns

#: Spans with a URL of their own would fill the memory.
_MOST = 200_000


class Memory:
    """Numbers of resources and facts. `names`: the attributes of spans that facts depend on."""

    def __init__(self, columns: Columns, rules: Rules) -> None:
        self.columns = columns
        self.names = OF_SPANS | rules.attributes | {THRESHOLD}
        self._rules = rules
        self._resources: dict[Resource, int] = {}
        self._by_number: list[Resource] = []
        self.known: dict[Hashable, int] = {}

    def resource(self, attributes: Attributes) -> int:
        """The number of a resource."""
        resource = resource_of(attributes)
        number = self._resources.setdefault(resource, len(self._by_number))
        if number == len(self._by_number):
            self._by_number.append(resource)
        return number

    def learn(self, key: Hashable, resource: int, say: Callable[[], Said]) -> int:
        """The number of the facts for a key that `known` lacks."""
        if len(self.known) >= _MOST:
            self.known.clear()
        number = self.columns.number(facts_of(self._by_number[resource], say(), self._rules))
        self.known[key] = number
        return number
