"""The servers' configuration files in STATE/conf, from templates, and the format of new data directories."""

import base64
import hashlib
import re
import shutil
import uuid
from collections.abc import Mapping
from string import Template

from stack import private, secrets
from stack.layout import CACHE, FLINK_HOME, LOCAL, java_home
from stack.settings import Settings
from stack.steps import run

RENDERED = (
    "kafka/server.properties",
    "neo4j/neo4j.conf",
    "flink/config.yaml",
    "clickhouse/config.xml",
    "clickhouse/users.xml",
)


def names(settings: Settings, java_options: str) -> dict[str, str]:
    """Values for templates: ports by their key, sizes as memory_KEY, directories, Flink's settings, a hash."""
    clickhouse_password = secrets.known(settings)["clickhouse_password"]
    return {
        "host": settings.host,
        "state": str(settings.state),
        "data": str(settings.data),
        "conf": str(settings.conf),
        "logs": str(settings.logs),
        "java_options": java_options,
        "clickhouse_password_sha256": hashlib.sha256(clickhouse_password.encode()).hexdigest(),
        **{name: str(port) for name, port in settings.ports.items()},
        **{f"memory_{name}": size for name, size in settings.memory.items()},
        **{name: str(value) for name, value in settings.flink.items()},
    }


#: Each commit of a Kafka sink adds a gauge of the same name to the same group, and Flink warns at every checkpoint.
QUIET = """
logger.metrics.name = org.apache.flink.metrics.MetricGroup
logger.metrics.level = ERROR
"""


def render(template: str, values: Mapping[str, str]) -> str:
    """`template` with each ${name} replaced. Raises KeyError for a name that is not in `values`."""
    return Template(template).substitute(values)


def shipped_java_options(config: str) -> str:
    """The value of env.java.opts.all in Flink's own configuration, nested or flat. Raises ValueError without one."""
    match = re.search(r"^\s*(?:env\.java\.opts\.)?all:\s*(--add-.+)$", config, re.MULTILINE)
    if not match:
        raise ValueError("Flink's shipped configuration has no env.java.opts.all")
    return match.group(1).strip()


def write(settings: Settings) -> None:
    """Writes every configuration file of the stack, and closes its directory to other users."""
    private.directory(settings.state)
    private.directory(settings.conf)
    secrets.make(settings)
    values = names(settings, shipped_java_options((FLINK_HOME / "conf/config.yaml").read_text()))
    for name in RENDERED:
        private.write(settings.conf / name, render((LOCAL / name).read_text(), values))
    for name in ("log4j-console.properties", "log4j-cli.properties"):
        shutil.copy(FLINK_HOME / "conf" / name, settings.conf / "flink" / name)
    with (settings.conf / "flink/log4j-console.properties").open("a") as file:
        file.write(QUIET)
    for directory in ("logs/neo4j", "data/clickhouse", "neo4j", "flink/tmp", "flink/upload"):
        (settings.state / directory).mkdir(parents=True, exist_ok=True)


def cluster_id() -> str:
    """A new id for a Kafka cluster: 22 characters. Kafka would read one that begins with a dash as an option."""
    while True:
        drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not drawn.startswith("-"):
            return drawn


QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")


def format_kafka(settings: Settings) -> None:
    """Once a stack: gives Kafka's log directory a cluster id. Raises StepError."""
    if (settings.data / "kafka/meta.properties").exists():
        return
    words = ["format", "--cluster-id", cluster_id(), "--config", settings.conf / "kafka/server.properties"]
    classes = ["-cp", CACHE / "kafka/lib/*", "kafka.tools.StorageTool"]
    run([java_home() / "bin/java", *QUICK, *classes, *words], settings.logs / "kafka-storage.log")


def format_neo4j(settings: Settings) -> None:
    """Once a stack: gives Neo4j its password. Raises StepError."""
    if (settings.data / "neo4j/dbms/auth.ini").exists():
        return
    # Every user of the host sees the words of a command, so the password is in a file.
    words = ["org.neo4j.server.startup.Neo4jAdminCommand", "dbms", "set-initial-password"]
    arguments = settings.conf / "neo4j/initial-password"
    private.write(arguments, " ".join([*words, f'"{secrets.known(settings)["neo4j_password"]}"']))
    home = {"NEO4J_HOME": str(settings.state / "neo4j"), "NEO4J_CONF": str(settings.conf / "neo4j")}
    classes = ["-cp", CACHE / "neo4j/lib/*", f"@{arguments}"]
    try:
        run([java_home() / "bin/java", *QUICK, *classes], settings.logs / "neo4j-storage.log", env=home)
    finally:
        arguments.unlink()
