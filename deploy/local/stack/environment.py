"""The environment that the stack gives to its processes, and writes to STATE/env for shells and tests."""

import platform
import shlex
from collections.abc import Mapping, Sequence

from stack import secrets
from stack.layout import CACHE, FLINK_HOME, java_home
from stack.settings import Settings

CLICKHOUSE_WRITER = "sluice_writer"  # deploy/local/clickhouse/users.xml
RECOMMENDER_ACCESS = {"tls_cert": "SLUICE_TLS_CERT", "tls_key": "SLUICE_TLS_KEY", "tokens": "SLUICE_TOKENS"}
SUPERVISED = "SLUICE_SUPERVISED"  # marks every process of a stack with the stack's state directory


def addresses(settings: Settings) -> dict[str, str]:
    """What a client of the stack needs: addresses and secrets, nothing else."""
    at = settings.address
    passwords = secrets.known(settings)
    variables = {
        "SLUICE_OTLP_GRPC": at("otlp_grpc"),
        "SLUICE_OTLP_HTTP": at("otlp_http"),
        "SLUICE_COLLECTOR_HEALTH": at("collector_health"),
        "SLUICE_COLLECTOR_METRICS": at("collector_metrics"),
        "SLUICE_KAFKA": at("kafka"),
        "SLUICE_FLINK": f"http://{at('flink_rest')}",
        "SLUICE_CLICKHOUSE": f"http://{at('clickhouse_http')}",
        "SLUICE_CLICKHOUSE_NATIVE": at("clickhouse_native"),
        "SLUICE_CLICKHOUSE_USER": CLICKHOUSE_WRITER,
        "SLUICE_CLICKHOUSE_PASSWORD": passwords["clickhouse_password"],
        "SLUICE_NEO4J": f"bolt://{at('neo4j_bolt')}",
        "SLUICE_NEO4J_HTTP": f"http://{at('neo4j_http')}",
        "SLUICE_NEO4J_PASSWORD": passwords["neo4j_password"],
        "SLUICE_RECOMMENDER": at("recommender"),
        "SLUICE_DECIDER": at("decider"),
        "SLUICE_SERVER_METRICS": at("server_metrics"),
        "SLUICE_RECORDS_METRICS": at("records_metrics"),
        "SLUICE_DEMO": f"http://{at('demo')}",
        "SLUICE_ACTUATOR": f"http://{at('actuator')}",
        "SLUICE_STATE": str(settings.state),
    }
    if "tls_ca" in settings.access:
        variables["SLUICE_TLS_CA"] = str(settings.access["tls_ca"])
    if token := secrets.first_token(settings):
        variables["SLUICE_TOKEN"] = token
    if settings.overlay:
        variables["SLUICE_STACK"] = str(settings.overlay)
    return variables


def supervised(settings: Settings, base: Mapping[str, str], apply: Sequence[str] = ()) -> dict[str, str]:
    """`base` with everything that programs.toml and its processes read; `apply` names actuator targets.

    Passwords and the token are in files.
    """
    flink = settings.state / "flink"
    variables = dict(base) | addresses(settings)
    variables |= {f"SLUICE_PORT_{name.upper()}": str(port) for name, port in settings.ports.items()}
    variables |= {f"SLUICE_MEMORY_{name.upper()}": size for name, size in settings.memory.items()}
    variables |= {
        SUPERVISED: str(settings.state),
        "SLUICE_HOST": settings.host,
        "SLUICE_LISTEN": f"{settings.listen}:{settings.ports['recommender']}",
        "SLUICE_HOST_NAME": platform.node() or "localhost",
        "SLUICE_CACHE": str(CACHE),
        "JAVA_HOME": str(java_home()),
        "FLINK_HOME": str(FLINK_HOME),
        "FLINK_CONF_DIR": str(settings.conf / "flink"),
        "FLINK_LOG_DIR": str(settings.logs),
        "FLINK_PID_DIR": str(flink),
        "PYTHONUNBUFFERED": "1",
        "SLUICE_TTL_DAYS": " ".join(f"{table}={days}" for table, days in settings.ttl_days.items()),
        "SLUICE_RECOMMENDER_CONFIG": settings.config["recommender"],
        "SLUICE_ACTUATOR_CONFIG": settings.config["actuator"],
        "SLUICE_ACTUATOR_STATE": str(settings.state / "actuator"),
        "SLUICE_ACTUATOR_FLAGS": " ".join(f"--apply {shlex.quote(target)}" for target in apply),
    }
    for name, variable in RECOMMENDER_ACCESS.items():
        if name in settings.access:
            variables[variable] = str(settings.access[name])
    return secrets.by_file(variables, settings.state)


def as_shell(variables: Mapping[str, str]) -> str:
    """Lines `export NAME=value` that a POSIX shell can source."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(variables.items()))
