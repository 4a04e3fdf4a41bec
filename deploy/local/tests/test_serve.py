"""ClickHouse's server starts anew without the caller's variables, once."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "clickhouse"
PROGRAM = f"""
import os, sys
sys.path.insert(0, {str(FOLDER)!r})
import serve
serve.forget_environment()
print(sorted(os.environ))
"""


def test_the_program_starts_again_once_without_any_locale() -> None:
    """Without a locale Python sets LC_CTYPE at each start."""
    environment = {"PATH": "/usr/bin:/bin", "SECRET": "hidden"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert "SECRET" not in result.stdout
    assert "PATH" in result.stdout
