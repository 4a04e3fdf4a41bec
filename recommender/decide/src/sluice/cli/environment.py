"""Addresses and secrets from the environment. Each default is the local stack's."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

DEFAULTS: dict[str, str] = {
    "SLUICE_OTLP_GRPC": "127.0.0.1:4317",
    "SLUICE_OTLP_HTTP": "127.0.0.1:4318",
    "SLUICE_COLLECTOR_HEALTH": "127.0.0.1:13133",
    "SLUICE_COLLECTOR_METRICS": "127.0.0.1:8888",
    "SLUICE_KAFKA": "127.0.0.1:9092",
    "SLUICE_FLINK": "http://127.0.0.1:8081",
    "SLUICE_CLICKHOUSE": "http://127.0.0.1:8123",
    "SLUICE_NEO4J": "bolt://127.0.0.1:7687",
    "SLUICE_NEO4J_HTTP": "http://127.0.0.1:7474",
    "SLUICE_NEO4J_PASSWORD": "",
    "SLUICE_DECIDER": "127.0.0.1:8092",
    "SLUICE_RECOMMENDER": "127.0.0.1:50051",
    "SLUICE_DEMO": "http://127.0.0.1:8090",
    "SLUICE_ACTUATOR": "http://127.0.0.1:8091",
}


@dataclass(frozen=True)
class Addresses:
    """Where each stage listens: `host:port` for gRPC, Kafka, the collector and the decider; URLs for the others."""

    otlp_grpc: str
    otlp_http: str
    collector_health: str
    collector_metrics: str
    kafka: str
    flink: str
    clickhouse: str
    neo4j: str
    neo4j_http: str
    neo4j_password: str
    decider: str
    recommender: str
    demo: str
    actuator: str


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
