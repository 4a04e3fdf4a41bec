"""Passwords of one stack: those of its file, else made at the first `make up` and kept in STATE/secrets."""

import os
from collections.abc import Mapping
from pathlib import Path

from stack import private
from stack.settings import SECRETS, Settings
from stack.steps import StepError

# Variables with a password, by the file's name in STATE/secrets.d. Processes read the file that NAME_FILE names;
# the reader of ClickHouse has no password in the local stack.
FILES = {
    "SLUICE_CLICKHOUSE_PASSWORD": "clickhouse_password",
    "SLUICE_CLICKHOUSE_READER_PASSWORD": "clickhouse_reader_password",
    "SLUICE_NEO4J_PASSWORD": "neo4j_password",
}


def known(settings: Settings) -> dict[str, str]:
    """Each of SECRETS; "" for one that is not made yet."""
    return {name: settings.secrets[name] or _kept(settings, name) for name in SECRETS}


def make(settings: Settings) -> None:
    """Makes what is lacking: from then on `known` has every password, and the same at each later call.

    Writes STATE/secrets.d, from which processes read them. Raises StepError for a file without a password:
    a new one would lock everybody out of the data that has the old one.
    """
    private.directory(settings.state / "secrets")
    for name, value in known(settings).items():
        if value:
            continue
        path = settings.state / "secrets" / name
        if path.exists():
            raise StepError(
                f"{path} has no password, and the data has the one that it had",
                advice=f"write it there again, or name a file that has it ([secrets] {name} in the stack's file),"
                " or `make clean`, which removes the data too",
            )
        private.write(path, os.urandom(32).hex() + "\n")
    values = known(settings)
    private.directory(settings.state / "secrets.d")
    values["token"] = first_token(settings)
    for name in (*FILES.values(), "token"):
        private.write(settings.state / "secrets.d" / name, values.get(name, "") + "\n")


def first_token(settings: Settings) -> str:
    """Of the file of tokens; "" where it has none. The recommender reports what is wrong with the file."""
    try:
        lines = settings.access["tokens"].read_text().split()
    except (KeyError, OSError, UnicodeDecodeError):
        return ""
    return lines[0] if lines else ""


def by_file(variables: Mapping[str, str], state: Path) -> dict[str, str]:
    """`variables` of a process: places of passwords and of the token instead of these. state: of the stack."""
    names = {**FILES, "SLUICE_TOKEN": "token"} if variables.get("SLUICE_TOKEN") else FILES
    files = {f"{name}_FILE": str(state / "secrets.d" / file) for name, file in names.items()}
    return {name: value for name, value in variables.items() if name not in names} | files


def _kept(settings: Settings, name: str) -> str:
    try:
        return (settings.state / "secrets" / name).read_text().strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
