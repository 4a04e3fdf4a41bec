"""`status`."""
from stack.report import Report
from stack.settings import Settings
from stack.supervisor import Supervisor
def status(settings: Settings, report: Report) -> int:
    for p in Supervisor(settings).processes():
        report.line(str(p))
    return 0
