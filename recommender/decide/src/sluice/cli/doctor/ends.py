"""The two programs at the ends of the flow: the actuator, and the demo that sends spans."""

from sluice.cli.doctor.finding import Check, NotAnsweringError, Verdict
from sluice.cli.doctor.probe import get
from sluice.cli.environment import Addresses


def actuator(where: Addresses, timeout_s: float) -> Verdict:
    url = f"{where.actuator}/healthz"
    try:
        answer = get(url, timeout_s)
    except NotAnsweringError as error:
        return Verdict("fail", f"{error}: nothing reads or applies sizes", "start it with `make up`")
    if not answer.ok:
        return Verdict(
            "fail", f"{url} answered HTTP {answer.status_code}: {answer.text[:200]}", "read the actuator's log"
        )
    return Verdict("ok", f"healthy at {where.actuator}")


def demo(where: Addresses, timeout_s: float) -> Verdict:
    try:
        answer = get(f"{where.demo}/healthz", timeout_s)
    except NotAnsweringError:
        return Verdict("ok", "not running; only the demonstration needs it")
    if not answer.ok:
        return Verdict("warn", f"{where.demo}/healthz answered HTTP {answer.status_code}", "read the demo's log")
    return Verdict("ok", f"healthy at {where.demo}")


CHECKS = [Check("actuator", "health", actuator), Check("demo", "health", demo)]
