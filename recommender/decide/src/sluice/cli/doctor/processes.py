"""The two programs at the ends of the flow: the actuator, and the demo that sends spans."""

from sluice.cli.doctor.finding import Diagnosis, NotAnsweringError
from sluice.cli.doctor.probe import get
from sluice.cli.environment import Addresses


def actuator(where: Addresses, timeout_s: float) -> Diagnosis:
    url = f"{where.actuator}/readyz"
    try:
        answer = get(url, timeout_s)
    except NotAnsweringError as error:
        return Diagnosis("fail", f"{error}: nothing reads or applies sizes", "start it with `make up`")
    if not answer.ok:
        return Diagnosis(
            "fail", f"{url} answered HTTP {answer.status_code}: {answer.text[:200]}", "read the actuator's log"
        )
    return Diagnosis("ok", f"ready at {where.actuator}")


def demo(where: Addresses, timeout_s: float) -> Diagnosis:
    try:
        answer = get(f"{where.demo}/healthz", timeout_s)
    except NotAnsweringError:
        return Diagnosis("ok", "not running; only the demonstration needs it")
    if not answer.ok:
        return Diagnosis("warn", f"{where.demo}/healthz answered HTTP {answer.status_code}", "read the demo's log")
    return Diagnosis("ok", f"healthy at {where.demo}")
