"""Addresses and secrets from the environment. Each default is the local stack's; what only its shells know has none."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

#: The address of a stage that this installation does not have, or not within reach.
NONE = "none"


@dataclass(frozen=True)
class Addresses:
    """Where each stage listens: NONE, `host:port` (gRPC, Kafka, collector, decider, records), or a URL (the others)."""

    otlp_grpc: str = "127.0.0.1:4317"
    otlp_http: str = "127.0.0.1:4318"
    collector_health: str = "127.0.0.1:13133"
    collector_metrics: str = "127.0.0.1:8888"
    kafka: str = "127.0.0.1:9092"
    flink: str = "http://127.0.0.1:8081"
    clickhouse: str = "http://127.0.0.1:8123"
    neo4j: str = "bolt://127.0.0.1:7687"
    neo4j_http: str = "http://127.0.0.1:7474"
    neo4j_password: str = ""
    decider: str = "127.0.0.1:8092"
    records_metrics: str = NONE
    recommender: str = "127.0.0.1:50051"
    demo: str = "http://127.0.0.1:8090"
    actuator: str = "http://127.0.0.1:8091"


#: The default of each variable.
DEFAULTS: dict[str, str] = {f"SLUICE_{field.name.upper()}": str(field.default) for field in fields(Addresses)}


def addresses(environment: Mapping[str, str] = os.environ) -> Addresses:
    """Addresses; the default where a variable is unset or empty. Drops user and password of URLs: writers use them."""

    def read(field: str) -> str:
        variable = f"SLUICE_{field.upper()}"
        value = environment.get(variable) or DEFAULTS[variable]
        return value if field == "neo4j_password" else without_login(value)

    return Addresses(**{field.name: read(field.name) for field in fields(Addresses)})


def without_login(address: str) -> str:
    """A URL without user and password. Other text stays as it is."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


def with_scheme(address: str) -> str:
    """`host:port` as an http URL; a URL as it is. Without a slash at the end."""
    return (address if "://" in address else f"http://{address}").rstrip("/")
