"""Runs checks in parallel, each within the timeout."""

import threading
import time
from collections.abc import Sequence

from sluice.cli.doctor.finding import Check, Diagnosis, Finding, NoStageError, NotAnsweringError
from sluice.cli.environment import Addresses

#: Each check's client has the timeout itself. This is on top, for a check that hangs.
_GRACE_S = 2.0


def run_checks(checks: Sequence[Check], where: Addresses, timeout_s: float) -> list[Finding]:
    """Findings in the order of `checks`, without those of stages whose address is NONE. Returns within `timeout_s` plus
    _GRACE_S; a check that has not ended by then is unknown."""
    late = Diagnosis("unknown", f"the check did not end within {timeout_s + _GRACE_S:g} s")
    verdicts: list[Diagnosis | None] = [late] * len(checks)

    def look(index: int) -> None:
        verdicts[index] = _verdict(checks[index], where, timeout_s)

    # Daemon threads, so that a client that never returns cannot delay the exit.
    threads = [threading.Thread(target=look, args=(i,), daemon=True) for i in range(len(checks))]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout_s + _GRACE_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [
        Finding(check.stage, check.what, diagnosis.level, diagnosis.text, diagnosis.remedy)
        for check, diagnosis in zip(checks, list(verdicts), strict=True)
        if diagnosis is not None
    ]


def _verdict(check: Check, where: Addresses, timeout_s: float) -> Diagnosis | None:
    try:
        return check.look(where, timeout_s)
    except NoStageError:
        return None
    except NotAnsweringError as error:
        return Diagnosis("unknown", f"not known: {error}")
    except TimeoutError:
        return Diagnosis(
            "unknown", f"not known: no answer within {timeout_s:g} s", "the machine may be overloaded: try again"
        )
    except Exception as error:  # a check that fails must not hide the others
        text = " ".join(str(error).split())[:300]
        return Diagnosis("unknown", f"the check itself failed: {type(error).__name__}: {text}")
