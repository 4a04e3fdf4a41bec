"""`sluice-server records`, which writes decisions and reports into ClickHouse."""

from sluice.cli.doctor.finding import Diagnosis
from sluice.cli.doctor.probe import readiness
from sluice.cli.environment import Addresses


def health(where: Addresses, timeout_s: float) -> Diagnosis:
    return readiness(where.records_metrics, timeout_s, "read its log: meanwhile Kafka keeps what ClickHouse lacks")
