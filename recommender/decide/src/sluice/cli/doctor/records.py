"""`sluice-server records`, which writes decisions and reports into ClickHouse."""

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import START, get
from sluice.cli.environment import Addresses


def health(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        answer = get(f"{where.records_metrics}/readyz", timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", f"{error}: no decision gets into ClickHouse; Kafka keeps them meanwhile", START)
    if not answer.ok:
        causes = "; ".join(answer.text.splitlines()) or f"HTTP {answer.status_code}"
        return Diagnosis("fail", f"{where.records_metrics} is not ready: {causes}", "read its log")
    return Diagnosis("ok", f"ready at {where.records_metrics}")
