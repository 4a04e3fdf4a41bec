"""What the jobs of the tests' stack run with: defaults of streaming-jobs/jobs/settings.py, and [jobs] of its file."""

import importlib.util
import sys
from pathlib import Path

from sluice_kit.local_stack.driver import OVERLAY
from stack.settings import load

SOURCE = Path(__file__).parents[4] / "streaming-jobs/jobs/settings.py"


def _defaults() -> dict[str, int]:
    spec = importlib.util.spec_from_file_location("streaming_jobs_settings", SOURCE)
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(SOURCE.parent))  # for its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SOURCE.parent))
    return {name: setting.default for name, setting in module.SETTINGS.items()}


SETTINGS: dict[str, int] = {**_defaults(), **load({"SLUICE_STACK": str(OVERLAY)}).jobs}


def setting(name: str) -> int:
    """What `--NAME` of run.py is on the stack that tests start."""
    return SETTINGS[name]
