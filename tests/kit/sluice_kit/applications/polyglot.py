"""The application of tests/testbed/polyglot: services in Node, Go, Python and Java, the storefront, and their stores.

Every service has a control group of its own. All start with the pools that their libraries have by default.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import yaml

from sluice_kit.applications.instrumented import hot_rows
from sluice_kit.applications.spring_boot import spring_boot
from sluice_kit.applications.storefront import storefront
from sluice_kit.local_stack.driver import REPOSITORY
from sluice_kit.machine.cgroups import Group, groups
from sluice_kit.machine.cores import pinned
from sluice_kit.machine.ports import free_ports
from sluice_kit.machine.processes import answers, running
from sluice_kit.servers.postgres import USER, postgres
from stack.installs import ACTUATORS, BIN, POLYGLOT, POLYGLOT_NODE, POLYGLOT_PYTHON
from stack.layout import LOCAL
from stack.toolchain import node_path

SERVICES = ("gateway", "catalogue", "cart", "orders", "storefront", "shipping", "stores")
"""Those with a control group. `storefront` has its own stores, `stores` is the PostgreSQL of the others."""
TOKEN = "a token for the pools of this machine"
TOPIC_PARTITIONS = 3
Words = list[str | Path]


@dataclass(frozen=True)
class Polyglot:
    """page: what users ask for. handlers: HOST:PORT of each program that serves its pools. settings: of the storefront.
    cpu: of each of SERVICES."""

    page: str
    handlers: Mapping[str, str]
    jolokia: str
    settings: str
    token: Path
    database: str
    cpu: Mapping[str, Group]


@contextmanager
def polyglot(
    cores: set[int], others: set[int], otlp: tuple[str, str], kafka: str, topic: str, logs: Path
) -> Iterator[Polyglot]:
    """All of it, up, on `cores`. otlp: HOST:PORT of the receiver, by gRPC and by HTTP. kafka: a broker that is up,
    where `topic` is made. Python exports by HTTP: gRPC does not outlive the fork of gunicorn's worker."""
    token = logs / "token"
    token.write_text(TOKEN)
    names = ("gateway", "catalogue", "cart", "shipping")
    at = dict(zip(names, (f"127.0.0.1:{port}" for port in free_ports(4)), strict=True))
    pools = dict(zip(names, (f"127.0.0.1:{port}" for port in free_ports(4)), strict=True))
    _topic(kafka, topic, logs)
    with groups(SERVICES) as cpu, ExitStack() as up:

        def begin(name: str, words: Words, page: str, more: dict[str, str]) -> None:
            environment = os.environ | _traced(name, otlp[0]) | more
            # Without a page: it refuses who has no token.
            ready = answers(f"http://{page}") if page else answers(f"http://{pools[name]}/workers", 401)
            with cpu[name].inside():
                up.enter_context(running(name, pinned(cores, words), ready, logs / f"{name}.log", 120, environment))

        with cpu["stores"].inside():
            jdbc = up.enter_context(postgres(cores, logs / "postgres.log"))
        port = hot_rows(jdbc)
        database = f"postgres://{USER}@127.0.0.1:{port}/postgres"
        with psycopg.connect(database, autocommit=True) as tables:
            tables.execute((POLYGLOT / "tables.sql").read_bytes())
        with cpu["orders"].inside():
            spring = up.enter_context(
                spring_boot(jdbc, logs / "orders.log", True, cores, otlp=otlp[0], service="orders")
            )
        with cpu["storefront"].inside():
            shop = up.enter_context(storefront(cores, others, otlp[0], logs, f"{spring.url}/update"))
        go: Words = ["-token", token, "-postgres", f"{database}?sslmode=disable"]
        begin(
            "catalogue",
            [BIN / "polyglot", "catalogue", "-listen", at["catalogue"], "-pools", pools["catalogue"], *go],
            f"{at['catalogue']}/items/1",
            {},
        )
        python = {
            "DATABASE": f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres",
            "REDIS": shop.redis,
            "KAFKA": kafka,
            "TOPIC": topic,
            "POOLS": pools["cart"],
            "TOKEN": str(token),
            "PYTHONPATH": f"{POLYGLOT / 'python'}:{ACTUATORS / 'handlers/python'}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp[1]}",
        }
        tools: Words = [POLYGLOT_PYTHON / "opentelemetry-instrument", POLYGLOT_PYTHON / "gunicorn"]
        config: Words = ["-c", POLYGLOT / "python/gunicorn_conf.py", "-b", at["cart"], "cart:app"]
        begin("cart", [*tools, *config], f"{at['cart']}/carts/1", python)
        begin(
            "shipping",
            [BIN / "polyglot", "shipping", "-pools", pools["shipping"], "-kafka", kafka, "-topic", topic, *go],
            "",
            {},
        )
        node = {
            "LISTEN": at["gateway"].rpartition(":")[2],
            "POOLS": pools["gateway"].rpartition(":")[2],
            "TOKEN": str(token),
            "DATABASE": database,
            "CATALOGUE": f"http://{at['catalogue']}",
            "CART": f"http://{at['cart']}",
            "ORDERS": f"{spring.url}/update",
            "STOREFRONT": shop.behind_nginx,
            "HANDLER": str(ACTUATORS / "handlers/node/sluice-pools.js"),
            "NODE_PATH": str(POLYGLOT_NODE / "node_modules"),
        }
        register = POLYGLOT_NODE / "node_modules/@opentelemetry/auto-instrumentations-node/dist/register.cjs"
        words: Words = [node_path(), "--require", register, POLYGLOT / "node/gateway.js"]
        begin("gateway", words, f"{at['gateway']}/shop", node)
        yield Polyglot(
            f"http://{at['gateway']}/shop", pools, spring.jolokia, shop.settings, token, database, cpu
        )  # fmt: skip


def _traced(name: str, otlp: str) -> dict[str, str]:
    """OpenTelemetry's defaults; of the signals traces alone, as the metrics of five agents would be load."""
    return {
        "OTEL_SERVICE_NAME": name,
        "OTEL_RESOURCE_ATTRIBUTES": f"service.instance.id={name}-1",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{otlp}",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
    }


def _topic(kafka: str, topic: str, folder: Path) -> None:
    wanted = folder / "topic.yaml"
    wanted.write_text(yaml.safe_dump({"topics": {topic: {"partitions": TOPIC_PARTITIONS, "config": {}}}}))
    words: Words = [sys.executable, LOCAL / "kafka/topics.py", "--bootstrap", kafka, "--topics", wanted]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=120, cwd=REPOSITORY)
