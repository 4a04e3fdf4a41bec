"""`clean`: removes the stack's data and every cache of the repository."""

import shutil

from stack import processes
from stack.layout import CACHE, JOBS_JAR
from stack.report import Report
from stack.settings import Settings
from stack.steps import StepError


def clean(settings: Settings, report: Report) -> None:
    """Raises StepError while a process of the stack is there."""
    if up := processes.of_stack(settings.state):
        raise StepError(f"{len(up)} processes of the stack are up", advice="run `make down` first")
    for directory in (settings.state, CACHE, JOBS_JAR.parent):
        if directory.exists():
            shutil.rmtree(directory)
            report.line(f"removed {directory}")
