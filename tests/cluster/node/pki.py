"""Certificates of a cluster: one authority, which signs for each server and for each user (certificate's subject)."""

import subprocess
from pathlib import Path

from cluster.node.addresses import API_SERVICE, NAME, NODE

_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", NAME)
_ADDRESSES = ("127.0.0.1", API_SERVICE, NODE)
#: File name and subject. Kubernetes takes O= as the group of a user, CN= as its name.
_SUBJECTS = {
    "apiserver": "/CN=kube-apiserver",
    "admin": "/O=system:masters/CN=admin",
    "kubelet": f"/O=system:nodes/CN=system:node:{NAME}",
    "controllers": "/CN=system:kube-controller-manager",
    "scheduler": "/CN=system:kube-scheduler",
    "proxy": "/CN=system:kube-proxy",
    "front-proxy": "/CN=front-proxy",
}


def certificates(folder: Path) -> None:
    """Writes ca.crt, ca.key, NAME.crt and NAME.key of each subject, and accounts.key, which signs service accounts'
    tokens."""
    folder.mkdir()
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    _openssl(
        folder, "req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "30", "-subj", "/CN=test",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
    )  # fmt: skip
    names = ",".join([f"DNS:{name}" for name in _NAMES] + [f"IP:{address}" for address in _ADDRESSES])
    (folder / "extensions").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n")
    for name, subject in _SUBJECTS.items():
        request = f"{name}.csr"
        _openssl(folder, "req", *new_key, "-keyout", f"{name}.key", "-out", request, "-subj", subject)
        _openssl(
            folder, "x509", "-req", "-in", request, "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "30", "-out", f"{name}.crt", "-extfile", "extensions",
        )  # fmt: skip
    _openssl(folder, "genrsa", "-out", "accounts.key", "2048")


def kubeconfig(folder: Path, user: str, url: str) -> dict[str, object]:
    """The configuration of a client that is `user`, by its certificate in `folder`."""
    credentials = {"client-certificate": str(folder / f"{user}.crt"), "client-key": str(folder / f"{user}.key")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": str(folder / "ca.crt")}}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        "current-context": "test",
    }


def _openssl(folder: Path, *words: str) -> None:
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(words)}: {done.stderr[-1000:]}")
