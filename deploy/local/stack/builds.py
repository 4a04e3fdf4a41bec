"""How set-up installs and builds with uv, Go, Maven and npm. An action gets the path of its log."""

import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack import toolchain
from stack.layout import BIN, CACHE, FLINK_HOME, FLINK_PYTHON, LOCAL, SLUICE_PYTHON, UV, java_home
from stack.settings import REPOSITORY
from stack.steps import Action, StepError, run

DEPENDENCY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
PROTO = REPOSITORY / "recommender/proto"
PYTHON_API = REPOSITORY / "recommender/decide/src/sluice"
# The linker drops debugging information (-s -w), so the compiler need not write it.
GO_OPTIONS = ("-trimpath", "-gcflags=all=-dwarf=false")
LINKER_OPTIONS = "-ldflags=-s -w"


def python_environment(venv: Path, lock: Path, versions: str) -> Action:
    """`versions`: a version specifier. uv takes a Python on PATH, else downloads one to .cache/python."""

    def sync(log: Path) -> None:
        environment = {"UV_PYTHON_INSTALL_DIR": str(CACHE / "python")}
        if not (venv / "bin/python").exists():
            try:
                run([UV, "venv", "--clear", "--python", versions, venv], log, env=environment)
            except StepError as error:
                advice = (
                    f"a Python {versions} is needed. Where PATH has none, uv downloads it: allow that, or set"
                    " UV_PYTHON_INSTALL_MIRROR to a mirror, or install a Python"
                )
                raise StepError(str(error), log=error.log, advice=advice) from error
        run([UV, "pip", "sync", "--python", venv / "bin/python", "--require-hashes", lock], log, env=environment)

    return sync


def compiled_loops(module: str) -> Action:
    """Compiles the decider's loops, which it would otherwise compile at its start. One thread compiles them, which Go's
    builds leave a core to (`go_build`)."""

    def prepare(log: Path) -> None:
        source = REPOSITORY / "recommender/decide/src"
        run([SLUICE_PYTHON, "-m", module], log, env={"PYTHONPATH": str(source)})

    return prepare


def python_api(log: Path) -> None:
    """Writes the API's Python code, with its types, into the packages of the decider."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        outputs = [f"--{kind}={folder}" for kind in ("python_out", "grpc_python_out")]
        outputs += [f"--{kind}=quiet:{folder}" for kind in ("mypy_out", "mypy_grpc_out")]
        files = sorted(path.relative_to(PROTO) for path in (PROTO / "sluice").rglob("*.proto"))
        # The plugins of mypy-protobuf lie beside the interpreter.
        plugins = {"PATH": f"{SLUICE_PYTHON.parent}:{os.environ['PATH']}"}
        run([SLUICE_PYTHON, "-m", "grpc_tools.protoc", f"-I{PROTO}", *outputs, *files], log, env=plugins)
        for old in PYTHON_API.glob("*/v1/*_pb2*"):
            old.unlink()
        for code in sorted((Path(folder) / "sluice").glob("*/v1/*_pb2*")):
            # protoc writes a stub of services for every file. One without a service only names a version.
            services = code.with_suffix(".py")
            if "_grpc" not in code.name or "\nclass " in services.read_text():
                shutil.copy(code, PYTHON_API / code.parent.relative_to(Path(folder) / "sluice") / code.name)


def go_build(module: Path, package: str, binary: str, variables: Mapping[str, str] | None = None) -> Action:
    """variables: values that the linker gives to variables, by the path of each.

    Go compiles on all cores, what other steps leave of them: a step of one thread would else be the last to end.
    """
    settings = [f"-X {name}={value}" for name, value in (variables or {}).items()]
    linker = " ".join([LINKER_OPTIONS, *settings])

    def build(log: Path) -> None:
        (BIN / binary).parent.mkdir(parents=True, exist_ok=True)
        words = ["build", "-mod=readonly", *GO_OPTIONS, linker, "-o", BIN / binary, package]
        run(["nice", toolchain.go_path(), *words], log, cwd=module, env=go_environment())

    return build


def go_install(package: str, version: str, folder: Path = BIN) -> Action:
    """A program of a published module, into `folder`. Go checks it against its checksum database."""

    def install(log: Path) -> None:
        words = ["install", *GO_OPTIONS, LINKER_OPTIONS, f"{package}@{version}"]
        run([toolchain.go_path(), *words], log, env=go_environment() | {"GOBIN": str(folder)})

    return install


def go_environment() -> dict[str, str]:
    # The compiler is a Go program that runs for seconds. With 3 times the heap before it collects garbage, 500 MB at
    # most, a build takes 142 instead of 165 s of a core.
    return {"CGO_ENABLED": "0", "GOGC": "300", **toolchain.path_with(toolchain.go_path())}


def maven(*words: object) -> Action:
    def build(log: Path) -> None:
        run(["mvn", "-q", "-B", *words], log, cwd=REPOSITORY, env={"JAVA_HOME": str(java_home())})

    return build


def jars(profile: str, destination: Path) -> Action:
    """The jars of a profile of jars/pom.xml with their dependencies."""

    def copy(log: Path) -> None:
        shutil.rmtree(destination, ignore_errors=True)
        goal = (f"{DEPENDENCY}:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={destination}")
        maven("-f", LOCAL / "jars/pom.xml", "-P", profile, *goal)(log)

    return copy


def single_jars(artifacts: Sequence[str], destination: Path) -> Action:
    """`artifacts` (GROUP:NAME:VERSION[:TYPE:CLASSIFIER]) without their dependencies, under names without versions."""

    def copy(log: Path) -> None:
        for artifact in artifacts:
            options = (f"-Dartifact={artifact}", f"-DoutputDirectory={destination}", "-Dmdep.stripVersion=true")
            maven(f"{DEPENDENCY}:copy", *options)(log)

    return copy


def postgres(artifact: str, destination: Path) -> Action:
    """The server out of its jar, which holds one tar archive."""

    def unpack(log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            single_jars([artifact], Path(directory))(log)
            (jar,) = Path(directory).glob("*.jar")
            with zipfile.ZipFile(jar) as archive:
                (name,) = (name for name in archive.namelist() if name.endswith(".txz"))
                archive.extract(name, directory)
            shutil.rmtree(destination, ignore_errors=True)
            with tarfile.open(Path(directory) / name) as tar:
                if hasattr(tarfile, "data_filter"):
                    tar.extractall(destination, filter="data")
                else:  # Python 3.11.0 to 3.11.3
                    tar.extractall(destination)

    return unpack


def flink_home(_log: Path) -> None:
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
    """What package-lock.json in `declared` locks, in `folder`/node_modules. npm verifies each archive's hash."""

    def install(log: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(declared / name, folder)
        npm = toolchain.npm_path()
        words = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        run(words, log, cwd=folder, env=toolchain.path_with(npm))

    return install


def node_package(declared: Path, destination: Path) -> Action:
    """The one package that `declared` locks, in place of `destination`."""

    def install(log: Path) -> None:
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            node_packages(declared, Path(directory))(log)
            (package,) = Path(directory).glob("node_modules/@*/*")
            shutil.rmtree(destination, ignore_errors=True)
            package.rename(destination)

    return install
