"""The journal's record of localizations, for the table `critical_services`."""

from __future__ import annotations

from sluice.model.times import timestamp
from sluice.pools.critical.localizations import Localizations
from sluice.pools.v1.log_pb2 import CriticalService, CriticalServices

# Of 200 bytes each: the record has at most 0.4 MB of the 1 MB that Kafka takes.
MOST_ROOTS, MOST_SERVICES = 200, 10


def record_of(by_root: Localizations, at_ms: int) -> CriticalServices:
    """The first services of the root operations with the most traces. at_ms: Unix time."""
    rows = []
    ranked = [(root, of) for root, of in by_root.items() if of.ranking]
    for root, of in ranked[:MOST_ROOTS]:
        for rank, service in enumerate(of.ranking[:MOST_SERVICES], 1):
            rows.append(
                CriticalService(
                    root_service=root.service,
                    root_operation=root.operation,
                    service=service.service,
                    rank=rank,
                    critical=service.service == of.critical,
                    traces=of.traces,
                    p95_ms=of.p95_ms,
                    share_of_p95=service.share_of_p95,
                    blame_ms=service.blame_ms,
                    correlation=service.correlation,
                    congestion_ratio=service.congestion_ratio,
                    reasons=[reason.code for reason in service.reasons],
                )
            )
    return CriticalServices(at=timestamp(at_ms), services=rows)
