"""The set-up steps themselves: what is installed or built, from which inputs, in which order."""

import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from stack import toolchain
from stack.layout import (
    BIN,
    CACHE,
    FLINK_PYTHON,
    JOBS_JAR,
    LOCAL,
    SLUICE_PYTHON,
    TOOLS_PYTHON,
    UV,
    java_home,
)
from stack.pinned import PINS, fetch
from stack.settings import REPOSITORY
from stack.steps import Step, StepError, run

COLLECTOR = REPOSITORY / "collector/local"
SPAN_LIMIT = REPOSITORY / "collector/spanlimitprocessor"
BENCH_COLLECTOR = REPOSITORY / "tests/bench/collector"
FLINK_HOME = CACHE / "flink/home"
FUNCTIONS = REPOSITORY / "streaming-jobs/functions"
TOMCAT = REPOSITORY / "tests/testbed/tomcat"
SPRING_BOOT = REPOSITORY / "tests/testbed/springboot"
AGENTS = CACHE / "agents"
POSTGRES = CACHE / "postgres"
RESIZABLE = REPOSITORY / "tests/testbed/resizable"
STOREFRONT = REPOSITORY / "tests/testbed/storefront/go"
NODE_PACKAGES = CACHE / "node/resizable"
ACTUATORS = REPOSITORY / "actuators"
SERVER = REPOSITORY / "recommender/serve"
API = REPOSITORY / "recommender/proto/go"
FAST = REPOSITORY / "recommender/decide/src/sluice/fast"
SUBSETS = REPOSITORY / "recommender/decide/src/sluice/subsets"
GOTOOLS = LOCAL / "gotools"
KUBERNETES = LOCAL / "kubernetes"
KUBERNETES_BIN = BIN / "kubernetes"

Versions = tuple[tuple[int, int], tuple[int, int]]  # the oldest and the newest
SLUICE_VERSIONS: Versions = ((3, 11), (3, 13))
FLINK_VERSIONS: Versions = ((3, 11), (3, 12))  # the newest that PyFlink and what it pins have packages for

PURPOSES = ("up", "test", "test-long", "bench", "lint")

Action = Callable[[Path], None]


def python_environment(venv: Path, lock: Path, versions: Versions) -> Action:
    def sync(log: Path) -> None:
        brought = {"UV_PYTHON_INSTALL_DIR": str(CACHE / "python")}
        if not (venv / "bin/python").exists():
            words = [UV, "venv", "--clear", *interpreter(versions, sys.version_info[:2], sys.executable), venv]
            try:
                run(words, log, env=brought)
            except StepError as error:
                raise StepError(str(error), log=error.log, advice=advice_on_python(versions)) from error
        run([UV, "pip", "sync", "--python", venv / "bin/python", "--require-hashes", lock], log, env=brought)

    return sync


def interpreter(versions: Versions, running: tuple[int, int], executable: str) -> list[str]:
    """uv's options for an environment: the Python that runs this where it is one of `versions`, else uv finds one of
    them on PATH, or brings it into .cache/python."""
    oldest, newest = versions
    if oldest <= running <= newest:
        return ["--python", os.path.realpath(executable), "--no-python-downloads"]
    return ["--python", f">={oldest[0]}.{oldest[1]},<{newest[0]}.{newest[1] + 1}"]


def advice_on_python(versions: Versions) -> str:
    (_, oldest), (_, newest) = versions
    return (
        f"a Python 3.{oldest} to 3.{newest} is needed; where there is none on PATH, uv downloads one: let it reach its"
        " downloads, or name a mirror of them with UV_PYTHON_INSTALL_MIRROR, or install one yourself"
    )


def go_build(module: Path, package: str, binary: str) -> Action:
    def build(log: Path) -> None:
        target = BIN / binary
        target.parent.mkdir(parents=True, exist_ok=True)
        # The linker would drop debugging information (-s -w): the compiler need not write it.
        quick = ("-gcflags=all=-dwarf=false", "-ldflags=-s -w")
        words = ["build", "-mod=readonly", "-trimpath", *quick, "-o", target, package]
        run([toolchain.go_path(), *words], log, cwd=module, env=go_environment())

    return build


def go_environment() -> dict[str, str]:
    # The compiler is itself a Go program, of seconds: with 3 times the heap before it collects, of 500 MB at most, the
    # collector takes 142 instead of 165 s of a core.
    return {"CGO_ENABLED": "0", "GOGC": "300", "PATH": f"{toolchain.go_path().parent}:{os.environ['PATH']}"}


def maven(*words: object) -> Action:
    def build(log: Path) -> None:
        run(["mvn", "-q", "-B", *words], log, cwd=REPOSITORY, env={"JAVA_HOME": str(java_home())})

    return build


def jars(pom: str, destination: Path, *options: str) -> Action:
    def copy(log: Path) -> None:
        shutil.rmtree(destination, ignore_errors=True)
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={destination}")
        maven("-f", LOCAL / pom / "pom.xml", *goal, *options)(log)

    return copy


def postgres(log: Path) -> None:
    """The server out of its jar, which holds one tar archive."""
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        jars("postgres", Path(directory) / "jars")(log)
        (jar,) = (Path(directory) / "jars").glob("embedded-postgres-binaries-*.jar")
        with zipfile.ZipFile(jar) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".txz"))
            archive.extract(name, directory)
        shutil.rmtree(POSTGRES, ignore_errors=True)
        with tarfile.open(Path(directory) / name) as tar:
            tar.extractall(POSTGRES, filter="data")


def flink_home(log: Path) -> None:
    """A FLINK_HOME of our own over PyFlink's distribution.

    lib/ is a real directory so that a jar can be added, opt/ because Flink does not look behind a link for its jar.
    """
    distribution = next(FLINK_PYTHON.parents[1].glob("lib/python*/site-packages/pyflink"))
    shutil.rmtree(FLINK_HOME, ignore_errors=True)
    for name in ("lib", "opt"):
        (FLINK_HOME / name).mkdir(parents=True)
    for name in ("plugins", "conf"):
        (FLINK_HOME / name).symlink_to(distribution / name)
    shutil.copytree(distribution / "bin", FLINK_HOME / "bin")
    for script in (FLINK_HOME / "bin").iterdir():
        script.chmod(0o755)
    for jar in (distribution / "opt").glob("*.jar"):
        (FLINK_HOME / "opt" / jar.name).symlink_to(jar)
    for jar in [*(distribution / "lib").glob("*.jar"), *(CACHE / "flink/jars").glob("*.jar")]:
        (FLINK_HOME / "lib" / jar.name).symlink_to(jar)


def node_packages(declared: Path, folder: Path) -> Action:
    """What `declared` locks, in `folder`/node_modules."""

    def install(log: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(declared / name, folder)
        npm = toolchain.npm_path()
        path = {"PATH": f"{npm.parent}:{os.environ['PATH']}"} if npm.is_absolute() else {}
        run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], log, cwd=folder, env=path)

    return install


def compiled_loops(module: str) -> Action:
    """What is compiled here, the decider need not compile at its start. Go's builds take longer: they come first."""

    def prepare(log: Path) -> None:
        source = REPOSITORY / "recommender/decide/src"
        run(["nice", SLUICE_PYTHON, "-m", module], log, env={"PYTHONPATH": str(source)})

    return prepare


def steps(purpose: str) -> list[Step]:
    """The steps for one of PURPOSES.

    `test` is `up` and a real application, `test-long` is `test` and Kubernetes, `bench` is `test` and peers.
    """
    common = [
        Step("go", "Go toolchain", toolchain.ensure_go),
        Step("npm", "npm client", toolchain.ensure_npm),
        Step(
            "tools",
            "uv and supervisord",
            lambda log: toolchain.venv_from_lock(CACHE / "venvs/tools", "tools.lock", log),
            inputs=(LOCAL / "bootstrap/tools.lock",),
            outputs=(UV, TOOLS_PYTHON),
        ),
        Step(
            "python",
            "Python environment of Sluice",
            python_environment(CACHE / "venvs/sluice", REPOSITORY / "requirements.lock", SLUICE_VERSIONS),
            after=("tools",),
            inputs=(REPOSITORY / "requirements.lock",),
            outputs=(SLUICE_PYTHON,),
            resource="uv",
        ),
    ]
    if purpose == "lint":
        return common + _lint_steps()
    return (
        common
        + _stack_steps()
        + (_application_steps() if purpose in ("test", "test-long", "bench") else [])
        + ([*_spring_steps(), *_kubernetes_steps()] if purpose == "test-long" else [])
        + (_peer_steps() if purpose == "bench" else [])
    )


def _lint_steps() -> list[Step]:
    return [
        Step("buf", "buf, the protobuf linter", lambda log: fetch("buf", CACHE / "buf", log), after=("npm",),
             inputs=(PINS,), outputs=(CACHE / "buf/bin/buf",)),
        Step("builder", "OpenTelemetry Collector Builder",
             go_build(GOTOOLS, "go.opentelemetry.io/collector/cmd/builder", "builder"), after=("go",),
             inputs=(GOTOOLS / "go.mod", GOTOOLS / "go.sum"), outputs=(BIN / "builder",), resource="go"),
    ]  # fmt: skip


def _stack_steps() -> list[Step]:
    return [
        Step("belief", "compiled loops of the decider", compiled_loops("sluice.pools.policy.prepare"),
             after=("python",), inputs=(FAST, REPOSITORY / "requirements.lock")),
        Step("subsets", "compiled loops of connection subsets", compiled_loops("sluice.subsets.prepare"),
             after=("python",), inputs=(SUBSETS, FAST, REPOSITORY / "requirements.lock")),
        Step("flink-python", "Flink and the Python environment of the jobs",
             python_environment(CACHE / "venvs/flink", REPOSITORY / "streaming-jobs/requirements.lock", FLINK_VERSIONS),
             after=("tools",), inputs=(REPOSITORY / "streaming-jobs/requirements.lock",), outputs=(FLINK_PYTHON,),
             resource="uv"),
        Step("collector-build", "OpenTelemetry Collector", go_build(COLLECTOR, ".", "sluice-collector"),
             after=("go",), inputs=(COLLECTOR, SPAN_LIMIT), outputs=(BIN / "sluice-collector",), resource="go"),
        Step("actuator-build", "Sluice's actuator", go_build(ACTUATORS, "./cmd/sluice-actuator", "sluice-actuator"),
             after=("go",), inputs=(ACTUATORS, API), outputs=(BIN / "sluice-actuator",), resource="go"),
        Step("server-build", "Sluice's server", go_build(SERVER, "./cmd/sluice-server", "sluice-server"),
             after=("go",), inputs=(SERVER, API), outputs=(BIN / "sluice-server",), resource="go"),
        Step("clickhouse-engine", "ClickHouse engine", lambda log: fetch("clickhouse", CACHE / "clickhouse", log),
             after=("npm",), inputs=(PINS,), outputs=(CACHE / "clickhouse/libchdb.so",)),
        Step("kafka-jars", "Kafka broker", jars("kafka", CACHE / "kafka/lib"),
             inputs=(LOCAL / "kafka/pom.xml",), outputs=(CACHE / "kafka/lib",),
             resource="maven"),
        Step("neo4j-jars", "Neo4j server", jars("neo4j", CACHE / "neo4j/lib"),
             inputs=(LOCAL / "neo4j/pom.xml",), outputs=(CACHE / "neo4j/lib",),
             resource="maven"),
        Step("flink-jars", "Flink's Kafka connector", jars("flink", CACHE / "flink/jars"),
             inputs=(LOCAL / "flink/pom.xml",), outputs=(CACHE / "flink/jars",),
             resource="maven"),
        Step("functions", "Java functions of the jobs", maven("-f", FUNCTIONS, "package", "-Dmaven.test.skip=true"),
             inputs=(FUNCTIONS / "pom.xml", FUNCTIONS / "src/main"),
             outputs=(JOBS_JAR,),
             resource="maven"),
        Step("flink-home", "Flink home", flink_home, after=("flink-python", "flink-jars"),
             inputs=(LOCAL / "flink/pom.xml", REPOSITORY / "streaming-jobs/requirements.lock"),
             values=("2",), outputs=(FLINK_HOME / "bin/flink", FLINK_HOME / "conf/config.yaml")),
    ]  # fmt: skip


def _application_steps() -> list[Step]:
    """The real application of the tests, and what runs in and beside it."""
    return [
        Step("application", "the tests' Tomcat", maven("-f", TOMCAT, "package"),
             inputs=(TOMCAT / "pom.xml", TOMCAT / "src/main"),
             outputs=(TOMCAT / "target/application.jar", TOMCAT / "target/lib"), resource="maven"),
        Step("agents", "OpenTelemetry's and Jolokia's Java agents",
             jars("agents", AGENTS, "-Dmdep.stripVersion=true"),
             inputs=(LOCAL / "agents/pom.xml",),
             outputs=(AGENTS / "opentelemetry-javaagent.jar", AGENTS / "jolokia-agent-jvm-javaagent.jar"),
             resource="maven"),
        Step("resizable-go", "the tests' Go program on PostgreSQL", go_build(RESIZABLE / "go", ".", "resizable"),
             after=("go",), inputs=(RESIZABLE / "go", ACTUATORS / "handlers/go"), outputs=(BIN / "resizable",),
             resource="go"),
        Step("resizable-node", "packages of the tests' Node program", node_packages(RESIZABLE / "node", NODE_PACKAGES),
             after=("npm",), inputs=(RESIZABLE / "node/package-lock.json",), outputs=(NODE_PACKAGES / "node_modules",)),
        Step("postgres", "PostgreSQL, for the tests' applications", postgres,
             inputs=(LOCAL / "postgres/pom.xml",), outputs=(POSTGRES / "bin/postgres",), resource="maven"),
    ]  # fmt: skip


def _spring_steps() -> list[Step]:
    return [
        Step("spring-boot", "the tests' Spring Boot application", maven("-f", SPRING_BOOT, "package"),
             inputs=(SPRING_BOOT / "pom.xml", SPRING_BOOT / "src/main"),
             outputs=(SPRING_BOOT / "target/application.jar", SPRING_BOOT / "target/lib"), resource="maven"),
    ]  # fmt: skip


def _kubernetes_steps() -> list[Step]:
    """A control plane, of which each program is built once; some 600 s of a core when the caches are empty."""
    programs = {
        "etcd": (KUBERNETES, "go.etcd.io/etcd/server/v3"),
        "kube-apiserver": (KUBERNETES, "k8s.io/kubernetes/cmd/kube-apiserver"),
        "kube-controller-manager": (KUBERNETES, "k8s.io/kubernetes/cmd/kube-controller-manager"),
        "kube-scheduler": (KUBERNETES, "k8s.io/kubernetes/cmd/kube-scheduler"),
        "kubectl": (KUBERNETES, "k8s.io/kubernetes/cmd/kubectl"),
        "kwok": (KUBERNETES / "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    }
    return [
        Step(name, f"{name}, for the tests of actuators", go_build(module, package, f"kubernetes/{name}"),
             after=("go",), inputs=(module / "go.mod", module / "go.sum"), outputs=(KUBERNETES_BIN / name,),
             resource="go")
        for name, (module, package) in programs.items()
    ]  # fmt: skip


def _peer_steps() -> list[Step]:
    return [
        Step("bench-collector", "the collector of benchmarks", go_build(BENCH_COLLECTOR, ".", "bench-collector"),
             after=("go",), inputs=(BENCH_COLLECTOR,), outputs=(BIN / "bench-collector",), resource="go"),
        Step("storefront", "the Go service of benchmarks", go_build(STOREFRONT, ".", "storefront"),
             after=("go",), inputs=(STOREFRONT,), outputs=(BIN / "storefront",), resource="go"),
    ]  # fmt: skip
