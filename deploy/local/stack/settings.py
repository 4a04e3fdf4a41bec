"""Settings of one stack: deploy/local/stack.toml, overlaid by the file that SLUICE_STACK names."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.settings_rules import SettingsError, is_loopback, validate

__all__ = ["SettingsError"]

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
REPOSITORY = Path(__file__).resolve().parents[3]
DEFAULTS = REPOSITORY / "deploy/local/stack.toml"
SECRETS = ("clickhouse_password", "neo4j_password")
OPEN = "jobs."  # the table whose keys only run.py knows: flink.check_options calls it


@dataclass(frozen=True)
class Settings:
    """One stack. `state` is absolute: data, logs and process ids live under it.

    host: of every server but the recommender, which listens on `listen`. access: the files that [access] names.
    """

    host: str
    listen: str
    access: Mapping[str, Path]
    state: Path
    ports: Mapping[str, int]
    memory: Mapping[str, str]
    flink: Mapping[str, Any]
    ttl_days: Mapping[str, int]
    jobs: Mapping[str, int]
    config: Mapping[str, str]
    secrets: Mapping[str, str]
    overlay: Path | None = None

    def address(self, port: str) -> str:
        return f"{self.reached if port == 'recommender' else self.host}:{self.ports[port]}"

    @property
    def reached(self) -> str:
        """The recommender's host for processes of this stack."""
        return self.host if self.listen == EVERYWHERE or is_loopback(self.listen) else self.listen

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def data(self) -> Path:
        return self.state / "data"

    @property
    def conf(self) -> Path:
        return self.state / "conf"


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """`base` with the keys of `overlay` in their place, table by table.

    Raises SettingsError for a key that `base` does not have, or whose value is of another type.
    """
    merged = dict(base)
    for key, value in overlay.items():
        name = f"{path}{key}"
        if path == OPEN:
            merged[key] = value
        elif key not in base:
            raise SettingsError(f"unknown key `{name}`; known here: {', '.join(sorted(base))}")
        elif isinstance(base[key], Mapping):
            if not isinstance(value, Mapping):
                raise SettingsError(f"`{name}` must be a table, not {value!r}")
            merged[key] = merge(base[key], value, f"{name}.")
        elif type(value) is not type(base[key]):
            raise SettingsError(f"`{name}` must be a {type(base[key]).__name__}, not {value!r}")
        else:
            merged[key] = value
    return merged


def parse(base: Mapping[str, Any], overlay: Mapping[str, Any], overlay_path: Path | None = None) -> Settings:
    """Raises SettingsError."""
    values = merge(base, overlay)
    validate(values)
    tables = ("ports", "memory", "flink", "ttl_days", "jobs", "config", "secrets")
    return Settings(
        host=values["host"] if is_loopback(values["host"]) else LOOPBACK,
        listen=values["host"],
        access={name: REPOSITORY / path for name, path in values["access"].items() if path},
        state=(REPOSITORY / values["state"]).resolve(),
        overlay=overlay_path,
        **{table: values[table] for table in tables},
    )


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Reads stack.toml and the overlay. Raises SettingsError that names the file at fault."""
    base = tomllib.loads(DEFAULTS.read_text())
    if not environ.get("SLUICE_STACK"):
        return parse(base, {})
    path = Path(environ["SLUICE_STACK"]).resolve()
    try:
        return parse(base, tomllib.loads(path.read_text()), path)
    except (OSError, tomllib.TOMLDecodeError, SettingsError) as error:
        raise SettingsError(f"cannot read SLUICE_STACK={path}: {error}") from error
