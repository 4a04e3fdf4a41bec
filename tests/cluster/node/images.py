"""Images: of one static program, made here, and archives, which the node imports. No registry is asked."""

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

from cluster.node.runtime import socket

_IMPORT_S = 1800
_LOCAL = "localhost/"


def program_image(archive: Path, name: str, program: Path) -> None:
    """Writes an archive with the image `name`, which runs the static `program` as its only file."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        entry = tar.gettarinfo(program, program.name)
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755
        with program.open("rb") as file:
            tar.addfile(entry, file)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [f"/{program.name}"], "User": "65532:65532"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files = {
        "layer.tar": layer.getvalue(),
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    with tarfile.open(archive, "w") as tar:
        for file_name, content in files.items():
            entry = tarfile.TarInfo(file_name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def import_archive(folder: Path, archive: Path) -> None:
    """Gives the node of `folder` all images of an archive (of `docker save`, or OCI).

    podman names an image without a registry localhost/NAME; the kubelet looks for docker.io/NAME.
    """
    _ctr(folder, "images", "import", str(archive))
    for name in _ctr(folder, "images", "list", "-q").split():
        if name.startswith(_LOCAL):
            _ctr(folder, "images", "tag", "--force", name, f"docker.io/{name.removeprefix(_LOCAL)}")


def _ctr(folder: Path, *words: str) -> str:
    command = ["ctr", "--address", str(socket(folder)), "--namespace", "k8s.io", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_IMPORT_S)
    if done.returncode:
        raise RuntimeError(f"ctr {' '.join(words)}: {done.stderr[-1000:]}")
    return done.stdout
