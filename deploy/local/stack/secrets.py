"""Passwords of one stack: what its file says, else made at the first `make up` and kept in STATE/secrets."""

import os

from stack import private
from stack.settings import SECRETS, Settings

# What Neo4j of a state directory was given that was made before passwords were kept.
FORMER_NEO4J = "sluice-local"


def known(settings: Settings) -> dict[str, str]:
    """Each of SECRETS; "" for one that is still to be made."""
    return {name: settings.secrets[name] or _kept(settings, name) for name in SECRETS}


def make(settings: Settings) -> None:
    """Makes what is lacking: from then on `known` has every password, and the same at each later call."""
    private.directory(settings.state / "secrets")
    for name, value in known(settings).items():
        if not value:
            private.write(settings.state / "secrets" / name, _first(settings, name) + "\n")


def _kept(settings: Settings, name: str) -> str:
    try:
        return (settings.state / "secrets" / name).read_text().strip()
    except FileNotFoundError:
        return ""


def _first(settings: Settings, name: str) -> str:
    # Neo4j keeps its own, in its data; ClickHouse is told at each start.
    if name == "neo4j_password" and (settings.data / "neo4j/dbms/auth.ini").exists():
        return FORMER_NEO4J
    return os.urandom(32).hex()
