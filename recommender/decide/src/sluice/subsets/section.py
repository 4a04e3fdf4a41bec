"""The section `subsets` of the configuration: connection subsets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from sluice.document import Strict
from sluice.model.durations import Milliseconds

#: `sluice.subsets.strategy.STRATEGIES`, repeated so as not to import that module.
Strategy = Literal["microns", "full", "sre", "rocksteadier", "aperture", "proportional", "a68"]


class SubsetPair(Strict):
    """A calling service and a called one."""

    upstream: str = Field(min_length=1)
    downstream: str = Field(min_length=1)


Pairs = Annotated[
    Annotated[list[SubsetPair], Field(min_length=1), Tag("~pairs")] | Annotated[Literal["auto"], Tag("~auto")],
    Discriminator(lambda value: "~auto" if value == "auto" else "~pairs"),
]

#: The fields of an address template.
PLACES = {"service": "", "instance": "", "host": ""}


def _address(template: object) -> object:
    if isinstance(template, str):
        try:
            template.format_map(PLACES)
        except (KeyError, ValueError, IndexError):
            raise ValueError("is not legal; legal: a text with {service}, {instance} and {host}") from None
    return template


class Subsetting(Strict):
    """The application of one group: its pairs of services that get subsets, solved together.

    name   of the application in displays; default: its group
    pairs  of services; auto: all pairs in traces whose services show containers
    quota  connections of all pairs together; default: as few as suffice, up to 4 for each upstream container
    min_subset  least number of connections of an upstream container, as far as there are downstream containers
    percentile  of the latency that the solver minimizes
    keep_in_zone  upstream containers connect only within their own zone, where it has a downstream container
    prefer_zone  upstream containers connect within their own zone as far as its containers can take the calls; what
        they cannot take goes to other zones. Not with keep_in_zone
    strategy  the method that solves
    group  of the pools, whose decider solves; "": the first
    churn_budget  the part of all connections that may change for a better latency
    quiet  least time between two runs because of drift
    drift  change of a host's utilization, 0 to 1, that counts as drift
    window  of calls and their trees
    gone   a container is gone when it sends no spans for this long, and for the time of 30 requests, while others do
    report_lease  how long a notification's containers have priority over spans; after that spans decide who is live
    learn  age of the oldest samples of a latency model
    retrain  largest age of a latency model
    addresses  of containers without a notified address, by service: "{host}:8080"
    """

    name: str = Field(default="", max_length=256)
    pairs: Pairs = "auto"
    quota: int | None = Field(default=None, ge=1, le=20_000_000)
    min_subset: int = Field(default=2, ge=1, le=10_000)
    percentile: float = Field(default=0.95, gt=0, lt=1)
    strategy: Strategy = "microns"
    churn_budget: float = Field(default=0.05, ge=0, le=1)
    quiet: Milliseconds = Field(default=60_000.0, ge=0, le=86_400_000)
    drift: float = Field(default=0.1, gt=0, le=1)
    keep_in_zone: bool = False
    prefer_zone: bool = False
    window: Milliseconds = Field(default=300_000.0, ge=30_000, le=3_600_000)
    gone: Milliseconds = Field(default=20_000.0, ge=10_000, le=3_600_000)
    report_lease: Milliseconds = Field(default=600_000.0, ge=10_000, le=86_400_000)
    learn: Milliseconds = Field(default=3_600_000.0, ge=60_000, le=30 * 86_400_000)
    retrain: Milliseconds = Field(default=600_000.0, ge=10_000, le=86_400_000)
    addresses: dict[str, Annotated[str, BeforeValidator(_address)]] = Field(default={})
    group: str = ""

    @property
    def called(self) -> str:
        """The application's name in the journal."""
        return self.name or self.group or "default"

    def wants(self, upstream: str, downstream: str) -> bool:
        return self.pairs == "auto" or any(
            (pair.upstream, pair.downstream) == (upstream, downstream) for pair in self.pairs
        )


class SubsetsSection(Strict):
    """The subsets' part of the file.

    subsets  applications whose containers connect by subsets, at most one a group
    """

    subsets: list[Subsetting] = Field(default=[])


def check_subsets(groups: list[str], subsets: list[Subsetting]) -> None:
    """Raises ValueError for an undefined group, one with two applications, a repeated name, and two rules for zones."""
    places: dict[str, int] = {}
    for i, subset in enumerate(subsets):
        group = subset.group or groups[0]
        if group not in groups:
            raise ValueError(f"subsets[{i}].group {group!r} is not defined; legal: {', '.join(groups)}")
        if group in places:
            raise ValueError(f"subsets[{i}] is of the group of subsets[{places[group]}], {group!r}; legal: one a group")
        places[group] = i
    for i, subset in enumerate(subsets):
        if subset.keep_in_zone and subset.prefer_zone:
            raise ValueError(f"subsets[{i}].prefer_zone is not legal with keep_in_zone; legal: one of them")
    names = [subset.called for subset in subsets]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"subsets[{i}].name {name!r} is defined twice; legal: each name once")
    if len(subsets) > 1 and any(subset.pairs == "auto" for subset in subsets):
        raise ValueError("subsets: pairs auto takes all pairs in traces; legal: one application, or pairs of each")
    pairs = [pair for subset in subsets if subset.pairs != "auto" for pair in subset.pairs]
    for i, pair in enumerate(pairs):
        if pair in pairs[:i]:
            raise ValueError(f"subsets: {pair.upstream} -> {pair.downstream} is defined twice; legal: each pair once")
