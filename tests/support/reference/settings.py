"""The settings that the stack's jobs run with: the defaults of streaming-jobs/jobs/settings.py."""

import importlib.util
import sys
from pathlib import Path

SETTINGS = Path(__file__).parents[3] / "streaming-jobs/jobs/settings.py"


def _defaults() -> dict[str, int]:
    spec = importlib.util.spec_from_file_location("streaming_jobs_settings", SETTINGS)
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(SETTINGS.parent))  # for its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SETTINGS.parent))
    return {name: setting.default for name, setting in module.SETTINGS.items()}


DEFAULTS = _defaults()


def default(name: str) -> int:
    """What `--NAME` of run.py is when it is not given."""
    return DEFAULTS[name]
