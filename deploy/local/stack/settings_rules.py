"""The legal values of a stack file. Every function but is_loopback raises SettingsError for an illegal one."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

STATE_BACKENDS = ("hashmap", "rocksdb")
MAX_TTL_DAYS = 3650
MEMORY = re.compile(r"\d+[mg]")
# Neo4j demands 8 characters; quotes and backslashes would end the literals of SQL that hold a password.
PASSWORD = re.compile(r"[!#-&(-\[\]-~]{8,128}")


class SettingsError(ValueError):
    """A stack file that cannot be used; the message quotes the key and the legal range."""


def is_loopback(host: str) -> bool:
    """False for what is no IPv4 address."""
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def validate(values: Mapping[str, Any]) -> None:
    """Checks a whole stack file, whose keys and types are those of stack.toml."""
    _validate_host(values)
    _validate_ports(values["ports"])
    for name, size in values["memory"].items():
        _require(MEMORY.fullmatch(size), f'`memory.{name}` must be a size such as "512m" or "2g", not {size!r}')
    for table, days in values["ttl_days"].items():
        _require(1 <= days <= MAX_TTL_DAYS, f"`ttl_days.{table}` must be 1 to {MAX_TTL_DAYS}, not {days}")
    for name, value in values["jobs"].items():
        _require(type(value) is int, f"`jobs.{name}` must be a whole number, not {value!r}")
    for name, password in values["secrets"].items():
        _require(
            not password or PASSWORD.fullmatch(password),
            f"`secrets.{name}` must be 8 to 128 printable ASCII characters without spaces, quotes and backslashes,"
            ' or "" for one that is made',
        )
    _validate_flink(values["flink"])


def _require(legal: object, message: str) -> None:
    if not legal:
        raise SettingsError(message)


def _validate_host(values: Mapping[str, Any]) -> None:
    """An address that others reach is legal where the file allows it and protects the recommender."""
    host = values["host"]
    if is_loopback(host):
        return
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        raise SettingsError(f"`host` must be an IPv4 address, such as 127.0.0.1, not {host!r}") from None
    _require(
        values["expose"],
        f"`host` is {host}, which others reach: it must be a loopback address, such as 127.0.0.1, or the file says"
        " `expose = true`, and names all of [access] for the recommender; the other servers stay on 127.0.0.1",
    )
    lacking = [f"`access.{name}`" for name, path in values["access"].items() if not path]
    _require(not lacking, f"`host` is {host}, which others reach: {', '.join(lacking)} must name a file")


def _validate_ports(ports: Mapping[str, int]) -> None:
    names: dict[int, str] = {}
    for name, port in ports.items():
        _require(1 <= port <= 65535, f"`ports.{name}` must be 1 to 65535, not {port}")
        _require(port not in names, f"`ports.{name}` and `ports.{names.get(port)}` are both {port}")
        names[port] = name


def _validate_flink(flink: Mapping[str, Any]) -> None:
    for name in ("task_slots", "parallelism"):
        _require(flink[name] >= 1, f"`flink.{name}` must be 1 or more, not {flink[name]}")
    options, backend = flink["taskmanager_java"], flink["state_backend"]
    _require(
        "\n" not in options and all(word.startswith("-") for word in options.split()),
        f"`flink.taskmanager_java` must be options of Java on one line, such as -Xss1m, not {options!r}",
    )
    _require(
        backend in STATE_BACKENDS,
        f"`flink.state_backend` must be one of {', '.join(STATE_BACKENDS)}, not {backend!r}",
    )
