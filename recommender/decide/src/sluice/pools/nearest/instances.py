"""Instances that spans and targets name differently. Pure; ./sluice doctor uses it too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sluice.model.reason import Reason

SHOWN = 4


def instances_differ(of_spans: Sequence[str], of_targets: Iterable[str]) -> Reason | None:
    """Where several targets report sizes, and no instance in spans has the name of any of them. A single target is the
    single instance, whatever its name."""
    targets = sorted(of_targets)
    if len(targets) < 2 or not of_spans or set(targets) & set(of_spans):
        return None
    return Reason(
        "INSTANCES_DIFFER",
        f"spans have the instances {_names(of_spans)}; sizes are reported of {_names(targets)}: set `instance` of each "
        "target to the service.instance.id of its spans",
    )


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(name or "(no name)" for name in names[:SHOWN]) + more
