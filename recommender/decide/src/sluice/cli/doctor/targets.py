"""The actuator's targets: those that cannot be read, and those whose pool is in no spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import time

from sluice.cli.doctor.clickhouse import ask
from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError, limited
from sluice.cli.doctor.probe import get_json
from sluice.cli.environment import Addresses
from sluice.model.keys import PoolKey
from sluice.pools.nearest.query import LASTS_S, SQL, PoolInSpans
from sluice.pools.nearest.reasons import Nearest

#: Why spans of a service that works do not arrive under its name.
CAUSES = (
    "compare the service's OTEL_EXPORTER_OTLP_ENDPOINT and protocol (4317 is gRPC, 4318 HTTP) with the collector's, "
    "and its OTEL_SERVICE_NAME with the names that `./sluice pools discover` lists; look at its sampler "
    "(OTEL_TRACES_SAMPLER), and in its log for errors of the exporter"
)
_UNREAD = (
    "in the actuator's file, correct the target's address and credentials (`token_file` is the file that the program "
    "serves with), then `./sluice reload`; start a program that does not run"
)
_SHOWN = 8


@dataclass(frozen=True)
class Target:
    """A target at its last reading.

    size, busy: threads or connections; None where unknown. read: it was read at least once. error: why it cannot be
    read now, "" where it can. answered: the recommender decides its pool.
    """

    name: str
    instance: str
    key: PoolKey
    size: int | None
    busy: int | None
    read: bool
    error: str
    answered: bool

    def __str__(self) -> str:
        return self.name if self.instance == self.name else f"{self.name} ({self.instance})"


def read_targets(actuator: str, timeout_s: float) -> list[Target]:
    """The targets on an actuator's page /status. Raises NotAnsweringError, and NoStageError for the address NONE."""
    page = get_json(f"{actuator}/status", timeout_s)
    try:
        return [
            Target(
                name=row["name"],
                instance=row["instance"],
                key=PoolKey(**row["pool"]),
                size=row.get("size"),
                busy=row.get("busy"),
                read="read_at" in row or "read_error" in row,
                error=row.get("read_error", ""),
                answered="recommendation" in row,
            )
            for row in page["targets"]
        ]
    except (KeyError, TypeError):
        raise NotAnsweringError(f"{actuator}/status is not an actuator's page") from None


def targets(where: Addresses, timeout_s: float) -> Diagnosis:
    known = read_targets(where.actuator, timeout_s)
    in_spans: list[PoolInSpans] | None = None
    if not all(target.answered for target in known):
        try:
            rows = ask(where, timeout_s, SQL, {"services": "[]", "from_s": str(round(time()) - LASTS_S)})
            in_spans = [PoolInSpans(PoolKey(*key), int(requests), ()) for *key, requests, _ in rows]
        except NotAnsweringError:  # the checks of ClickHouse report it
            pass
    return judge(known, in_spans)


def judge(known: Sequence[Target], in_spans: Sequence[PoolInSpans] | None) -> Diagnosis:
    """in_spans: the pools that spans show; None where they are unknown."""
    count = f"{len(known)} target" + ("s" if len(known) != 1 else "")
    parts, remedies = [], []
    if errors := [f"{target}: {target.error}" for target in known if target.error]:
        parts.append(f"{len(errors)} of {count} cannot be read: {'; '.join(limited(errors, _SHOWN, 'targets'))}")
        remedies.append(_UNREAD)
    unseen: dict[str, list[str]] = {}
    nearest = Nearest(in_spans or ())
    for target in known if in_spans is not None else ():
        if not target.answered and (reason := nearest.reason(target.key)) is not None:
            unseen.setdefault(reason.text.removesuffix("; see ./sluice doctor"), []).append(str(target))
    if unseen:
        texts = [f"{', '.join(limited(names, _SHOWN, ''))}: {text}" for text, names in unseen.items()]
        parts.append("NOT_IN_SPANS: " + "; ".join(limited(texts, _SHOWN, "pools")))
        remedies.append(f"name the pool in the actuator's file as spans do; where its service sends none, {CAUSES}")
    if parts:
        return Diagnosis("warn", ". ".join(parts), ". ".join(remedies))
    return Diagnosis("ok", f"{count}, read without an error")
