"""`clean`: removes the stack's data and every cache of the repository, those of its checkers included."""

import shutil

from stack import processes
from stack.layout import CACHE, JOBS_JAR
from stack.report import Report
from stack.settings import REPOSITORY, Settings
from stack.steps import StepError

# Folders that ruff, mypy, pytest and Hypothesis choose for their caches.
CHECKERS = (".ruff_cache", ".mypy_cache", ".pytest_cache", ".hypothesis")


def clean(settings: Settings, report: Report) -> None:
    """Raises StepError while a process of the stack is there."""
    if up := processes.of_stack(settings.state):
        raise StepError(f"{len(up)} processes of the stack are up", advice="run `make down` first")
    for directory in (settings.state, CACHE, JOBS_JAR.parent, *(REPOSITORY / name for name in CHECKERS)):
        if directory.exists():
            shutil.rmtree(directory)
            report.line(f"removed {directory}")
