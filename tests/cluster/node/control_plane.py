"""The commands of etcd, API server, controllers and scheduler."""

from pathlib import Path

from cluster.node.addresses import API_PORT, NODE, SERVICES
from sluice_kit.servers.kubernetes import ADMIN
from stack.installs import KUBERNETES_BIN

_ETCD = "http://127.0.0.1:2379"


def control_plane(folder: Path) -> dict[str, list[str]]:
    """By name of the server. `folder` has pki/ and NAME.kubeconfig of each user."""
    pki = folder / "pki"
    (folder / "tokens.csv").write_text(f"{ADMIN},admin,admin,system:masters\n")
    controllers, scheduler = (f"--kubeconfig={folder / name}.kubeconfig" for name in ("controllers", "scheduler"))
    commands = {
        "etcd": [f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync"],
        "kube-apiserver": [
            f"--etcd-servers={_ETCD}", f"--bind-address={NODE}", f"--secure-port={API_PORT}",
            f"--advertise-address={NODE}", f"--service-cluster-ip-range={SERVICES}", "--allow-privileged=true",
            *_api_certificates(pki), f"--token-auth-file={folder / 'tokens.csv'}", "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
        ],
        "kube-controller-manager": [
            controllers, "--leader-elect=false", "--bind-address=127.0.0.1", "--use-service-account-credentials",
            f"--service-account-private-key-file={pki / 'accounts.key'}", f"--root-ca-file={pki / 'ca.crt'}",
            "--controllers=*,-node-ipam-controller", "--horizontal-pod-autoscaler-sync-period=2s",
            "--horizontal-pod-autoscaler-downscale-stabilization=2s",
            "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
            "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
        ],
        "kube-scheduler": [scheduler, "--leader-elect=false", "--bind-address=127.0.0.1"],
    }  # fmt: skip
    return {name: [str(KUBERNETES_BIN / name), *flags] for name, flags in commands.items()}


def _api_certificates(pki: Path) -> list[str]:
    """Of the API server itself, towards the kubelet, towards aggregated APIs, and the key of service accounts."""
    return [
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--tls-cert-file={pki / 'apiserver.crt'}", f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--service-account-key-file={pki / 'accounts.key'}",
        f"--service-account-signing-key-file={pki / 'accounts.key'}",
        f"--kubelet-client-certificate={pki / 'admin.crt'}", f"--kubelet-client-key={pki / 'admin.key'}",
        f"--kubelet-certificate-authority={pki / 'ca.crt'}", "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={pki / 'ca.crt'}", "--requestheader-allowed-names=front-proxy",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki / 'front-proxy.crt'}", f"--proxy-client-key-file={pki / 'front-proxy.key'}",
    ]  # fmt: skip
