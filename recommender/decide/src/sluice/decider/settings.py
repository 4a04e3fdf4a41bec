"""Settings of the decider: the process's environment, and a file of NAME=VALUE lines that SLUICE_SETTINGS names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FILE = "SLUICE_SETTINGS"
OTHERS = "OTEL_"
"""Prefix of the names that OpenTelemetry's exporter reads."""
KNOWN = frozenset(
    f"SLUICE_{name}"
    for name in (
        *("CLICKHOUSE", "CLICKHOUSE_CA", "CLICKHOUSE_DATABASE"),
        *("CLICKHOUSE_READER", "CLICKHOUSE_READER_PASSWORD_FILE"),
        *("KAFKA", "KAFKA_PROPERTIES", "TOPIC_PREFIX", "HEALTH", "HEALTH_EXPOSE"),
    )
)


class SettingsError(Exception):
    """The file cannot be read, or a line is not legal. The message names file, line and legal forms."""


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment's values, and those of the file for names that it lacks or has empty. Raises SettingsError."""
    path = environment.get(FILE)
    given = {name: value for name, value in environment.items() if value}
    return {**(_read(Path(path)) if path else {}), **given}


def _read(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise SettingsError(f"read {FILE}={path}: {cause}") from cause
    values: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals:  # its text may be a secret
            raise SettingsError(f"{path}:{number}: the line is not legal; legal: NAME=VALUE, # COMMENT")
        if name not in KNOWN and not name.startswith(OTHERS):
            raise SettingsError(f"{path}:{number}: {name} is not legal; legal: {', '.join(sorted(KNOWN))}, {OTHERS}*")
        if name in values:
            raise SettingsError(f"{path}:{number}: {name} is set twice; legal: one line for a name")
        values[name] = value.strip()
    return values
