"""Settings of one stack: deploy/local/stack.toml, overlaid by the file that SLUICE_STACK names."""

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
STATE_BACKENDS = ("hashmap", "rocksdb")
REPOSITORY = Path(__file__).resolve().parents[3]
DEFAULTS = REPOSITORY / "deploy/local/stack.toml"
MAX_TTL_DAYS = 3650
SECRETS = ("clickhouse_password", "neo4j_password")
# Neo4j demands 8 characters; quotes and backslashes would end the literals of SQL that they are put into.
PASSWORD = re.compile(r"[!#-&(-\[\]-~]{8,128}")
OPEN = "jobs."  # the table whose keys another program knows: flink.check_options asks it


class SettingsError(ValueError):
    """A stack file that cannot be used; the message quotes the key and the legal range."""


@dataclass(frozen=True)
class Settings:
    """One stack. `state` is absolute: data, logs and process ids live under it.

    host: of every server but the recommender, which listens on `listen`. access: the files of [access] that are named.
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
            continue
        if key not in base:
            raise SettingsError(f"unknown key `{name}`; known here: {', '.join(sorted(base))}")
        if isinstance(base[key], Mapping):
            if not isinstance(value, Mapping):
                raise SettingsError(f"`{name}` must be a table, not {value!r}")
            merged[key] = merge(base[key], value, f"{name}.")
        elif type(value) is not type(base[key]):
            raise SettingsError(f"`{name}` must be a {type(base[key]).__name__}, not {value!r}")
        else:
            merged[key] = value
    return merged


def is_loopback(host: str) -> bool:
    """False for what is no IPv4 address."""
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def validate_host(values: Mapping[str, Any]) -> None:
    """Raises SettingsError for an address that others reach, unless the file says so and closes it."""
    host = values["host"]
    if is_loopback(host):
        return
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise SettingsError(f"`host` must be an IPv4 address, such as 127.0.0.1, not {host!r}") from None
    if not values["expose"]:
        raise SettingsError(
            f"`host` is {host}, which others reach: it must be a loopback address, such as 127.0.0.1, or the file says"
            " `expose = true`, and names all of [access] for the recommender; the other servers stay on 127.0.0.1"
        )
    if lacking := [f"`access.{name}`" for name, path in values["access"].items() if not path]:
        raise SettingsError(f"`host` is {host}, which others reach: {', '.join(lacking)} must name a file")


def validate(values: Mapping[str, Any]) -> None:
    """Raises SettingsError for ports and days out of range, ports used twice, and what no JVM or Flink reads."""
    validate_host(values)
    seen: dict[int, str] = {}
    for name, port in values["ports"].items():
        if not 1 <= port <= 65535:
            raise SettingsError(f"`ports.{name}` must be 1 to 65535, not {port}")
        if port in seen:
            raise SettingsError(f"`ports.{name}` and `ports.{seen[port]}` are both {port}")
        seen[port] = name
    for name, size in values["memory"].items():
        if not (size[:-1].isdigit() and size[-1:] in "mg"):
            raise SettingsError(f'`memory.{name}` must be a size such as "512m" or "2g", not {size!r}')
    for table, days in values["ttl_days"].items():
        if not 1 <= days <= MAX_TTL_DAYS:
            raise SettingsError(f"`ttl_days.{table}` must be 1 to {MAX_TTL_DAYS}, not {days}")
    for name, value in values["jobs"].items():
        if type(value) is not int:
            raise SettingsError(f"`jobs.{name}` must be a whole number, not {value!r}")
    for name in ("task_slots", "parallelism"):
        if values["flink"][name] < 1:
            raise SettingsError(f"`flink.{name}` must be 1 or more, not {values['flink'][name]}")
    options = values["flink"]["taskmanager_java"]
    if "\n" in options or not all(word.startswith("-") for word in options.split()):
        raise SettingsError(
            f"`flink.taskmanager_java` must be options of Java on one line, such as -Xss1m, not {options!r}"
        )
    for name, password in values["secrets"].items():
        if password and not PASSWORD.fullmatch(password):
            raise SettingsError(
                f"`secrets.{name}` must be 8 to 128 printable ASCII characters without spaces, quotes and backslashes,"
                ' or "" for one that is made'
            )
    if (backend := values["flink"]["state_backend"]) not in STATE_BACKENDS:
        raise SettingsError(f"`flink.state_backend` must be one of {', '.join(STATE_BACKENDS)}, not {backend!r}")


def parse(base: Mapping[str, Any], overlay: Mapping[str, Any], overlay_path: Path | None = None) -> Settings:
    values = merge(base, overlay)
    validate(values)
    return Settings(
        host=values["host"] if is_loopback(values["host"]) else LOOPBACK,
        listen=values["host"],
        access={name: REPOSITORY / path for name, path in values["access"].items() if path},
        state=(REPOSITORY / values["state"]).resolve(),
        ports=values["ports"],
        memory=values["memory"],
        flink=values["flink"],
        ttl_days=values["ttl_days"],
        jobs=values["jobs"],
        config=values["config"],
        secrets=values["secrets"],
        overlay=overlay_path,
    )


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Reads stack.toml and the overlay. Raises SettingsError that names the file at fault."""
    base = tomllib.loads(DEFAULTS.read_text())
    named = environ.get("SLUICE_STACK")
    if not named:
        return parse(base, {})
    path = Path(named).resolve()
    try:
        return parse(base, tomllib.loads(path.read_text()), path)
    except (OSError, tomllib.TOMLDecodeError, SettingsError) as error:
        raise SettingsError(f"cannot read SLUICE_STACK={path}: {error}") from error
