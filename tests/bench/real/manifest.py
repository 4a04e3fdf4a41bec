"""The versions of everything that the application consists of, as their locks have them."""

import json
import re
import subprocess
from pathlib import Path

from stack.installs import AGENT_JARS, POLYGLOT, POSTGRES_JAR
from stack.settings import REPOSITORY

GO = (
    "github.com/XSAM/otelsql",
    "github.com/lib/pq",
    "github.com/twmb/franz-go",
    "github.com/twmb/franz-go/plugin/kotel",
    "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
)
PYTHON = ("flask", "gunicorn", "sqlalchemy", "psycopg", "redis", "kafka-python", "opentelemetry-distro")
NODE = ("express", "pg", "@opentelemetry/auto-instrumentations-node")


def manifest() -> str:
    rows = [("Sluice", _commit())]
    go = (POLYGLOT / "go/go.mod").read_text()
    rows += [(name, _after(go, f"{name} v")) for name in GO]
    lock = (POLYGLOT / "python/requirements.lock").read_text()
    rows += [(name, _after(lock, f"\n{name}==")) for name in PYTHON]
    packages = json.loads((POLYGLOT / "node/package-lock.json").read_text())["packages"]
    rows += [(name, packages[f"node_modules/{name}"]["version"]) for name in NODE]
    rows += [(jar.split(":")[1], jar.split(":")[2]) for jar in (*AGENT_JARS, POSTGRES_JAR)]
    spring = (REPOSITORY / "tests/testbed/springboot/pom.xml").read_text()
    rows.append(("spring-boot", _after(spring, "<spring-boot.version>") or _parent(spring)))
    lines = [f"| {name} | {version} |" for name, version in rows]
    return "\n".join(["", "| program or library | version |", "| --- | --- |", *lines]) + "\n"


def _after(text: str, mark: str) -> str:
    """The version behind a mark; "" where the text has no such mark."""
    _, found, rest = text.partition(mark)
    match = re.match(r"[\w.+-]+", rest) if found else None
    return match.group() if match else ""


def _parent(pom: str) -> str:
    match = re.search(r"spring-boot[\w-]*</artifactId>\s*<version>([^<]+)<", pom)
    return match.group(1) if match else ""


def _commit(folder: Path = REPOSITORY) -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip() or "not a clone"
