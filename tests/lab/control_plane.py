# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and the lab's own programs, as processes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from . import binaries, network, pki
from .api import Api
from .aws import Ec2
from .network import Network
from .processes import Processes
from .progress import TOP, LabError
from .state import CLUSTER, KUBERNETES, REGION, SERVICE_CIDR, State

PROGRAMS = (binaries.ETCD, binaries.KUBE_APISERVER, binaries.KUBE_CONTROLLER_MANAGER, binaries.KUBE_SCHEDULER)

#: Seconds for everything to be up: long, because the machine may be busy.
PATIENCE = 300.0

#: The order of their end. Without etcd, an API server that is asked to end would hang for minutes: it goes first.
STOP_ORDER = (("kube-apiserver", "kube-controller-manager", "kube-scheduler", "controller", "aws"), ("etcd",))

#: The controllers that nodes and their pods need. The others of kube-controller-manager have nothing to do here.
CONTROLLERS = (
    # Certificates, and the conditions of nodes as taints.
    *("certificatesigningrequest-signing-controller", "node-lifecycle-controller", "taint-eviction-controller"),
    # Pods, what keeps them, and what removes them.
    *("deployment-controller", "replicaset-controller", "daemonset-controller", "statefulset-controller", "job-controller"),
    *("disruption-controller", "endpointslice-controller", "pod-garbage-collector-controller"),
    *("garbage-collector-controller", "namespace-controller"),
    # What every pod mounts: the token of its service account and the cluster's certificate authority.
    *("serviceaccount-controller", "root-ca-certificate-publisher-controller"),
    *("persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller"),
)

#: etcd is never behind this machine's proxy.
_DIRECT = build_opener(ProxyHandler({}))

#: Seconds for programs to end by themselves: nothing of their data is needed later.
GRACE = 0.0


class ControlPlane:
    """`start` returns the lab's state; `stop` leaves nothing running."""

    def __init__(self, folder: Path, net: Network) -> None:
        self.folder = folder
        self.net = net
        self.endpoint = f"https://{net.gateway}:6443"
        self.aws = f"http://{net.gateway}:5000"
        self.etcd = f"http://{net.loopback}:2379"
        self.admin = secrets.token_urlsafe(24)
        for name in ("logs", "pki", "etcd"):
            (folder / name).mkdir(mode=0o700)
        self.processes = Processes(folder / "logs")

    def start(self) -> State:
        """Start everything and wait until it is ready; LabError shows the log of the program that failed."""
        began = time.monotonic()
        authority = self._write_pki()
        self._write_tokens()
        api, ec2 = Api(self.endpoint, authority, self.admin), Ec2(self.aws, REGION)
        self._start_aws(authority)
        self._start_etcd()
        self._wait("etcd", self._etcd_is_healthy)
        self._start_api_server()
        self._wait("kube-apiserver", api.ready)
        self._write_kubeconfig(authority)
        self._start_controller_manager()
        self._start_scheduler()
        self._wait("aws", lambda: ec2.subnet(self.net.subnet) != "")
        state = State(
            supervisor=os.getpid(),
            network=self.net.number,
            endpoint=self.endpoint,
            authority=authority.decode(),
            token=self.admin,
            aws=self.aws,
            subnet=ec2.subnet(self.net.subnet),
            region=REGION,
            seconds=round(time.monotonic() - began, 1),
            pids=self.processes.pids(),
        )
        # The lab's controller reads a file of the same format as the lab's users do.
        state.write(self.folder / "controller.json")
        self.processes.start("controller", self._own("controller", self.folder / "controller.json"), environment())
        return replace(state, pids=self.processes.pids())

    def stop(self) -> None:
        for names in STOP_ORDER:
            self.processes.stop(names, GRACE)

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        limit = time.monotonic() + PATIENCE
        while not ready():
            ended = self.processes.ended()
            if ended:
                raise LabError(ended)
            if time.monotonic() > limit:
                raise LabError(f"{name} was not ready after {PATIENCE:.0f} s:\n{self.processes.tail(name)}")
            time.sleep(0.05)

    # --- what the programs read ---------------------------------------------------------------------------------------------

    def _write_pki(self) -> bytes:
        folder = self.folder / "pki"
        authority = pki.Authority(folder)
        names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"]
        authority.server("apiserver", [*names, self.net.gateway, "10.100.0.1", "127.0.0.1"])
        authority.client("apiserver-kubelet", "kube-apiserver-kubelet-client", "system:masters")
        pki.key_pair(folder, "sa")
        return authority.certificate

    def _write_tokens(self) -> None:
        """Write the identities: an administrator, one for every address that a node may have (named as EKS names them), and strangers.

        A stranger has a user name and no group, like an IAM role that is mapped to a user name alone.
        """
        lines = [f'{self.admin},admin,admin,"system:masters"', f"{stranger_token(self.admin)},stranger,stranger"]
        for host in network.HOSTS:
            user = f"system:node:{node_name(self.net.address(host))}"
            lines.append(f'{node_token(self.admin, host)},{user},{user},"system:bootstrappers,system:nodes"')
            lines.append(f"{stranger_token(self.admin, host)},{user},{user}")
        path = self.folder / "pki" / "tokens.csv"
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")

    def _write_kubeconfig(self, authority: bytes) -> None:
        self._kubeconfig.touch(mode=0o600)
        self._kubeconfig.write_text(json.dumps(admin_kubeconfig(self.endpoint, authority, self.admin)))

    @property
    def _kubeconfig(self) -> Path:
        return self.folder / "pki" / "admin.kubeconfig"

    # --- the programs -------------------------------------------------------------------------------------------------------

    def _start_aws(self, authority: bytes) -> None:
        cluster = {
            "name": CLUSTER,
            "endpoint": self.endpoint,
            "certificate_authority": base64.b64encode(authority).decode(),
            "kubernetes_version": KUBERNETES,
            "service_cidr": SERVICE_CIDR,
            "region": REGION,
            "vpc": network.VPC,
            "block": self.net.subnet,
        }
        path = self.folder / "cluster.json"
        path.write_text(json.dumps(cluster))
        # moto would look up what its own machine is, if it believed to be on EC2.
        settings = {"AWS_EC2_METADATA_DISABLED": "true", "MOTO_EC2_LOAD_DEFAULT_AMIS": "false"}
        self.processes.start("aws", self._own("aws", self.net.gateway, "5000", path), environment() | settings)

    def _start_etcd(self) -> None:
        peer = f"http://{self.net.loopback}:2380"
        self.processes.start("etcd", [
            binaries.ETCD.path, "--name=lab", f"--data-dir={self.folder / 'etcd'}", "--log-level=warn", "--unsafe-no-fsync",
            f"--listen-client-urls={self.etcd}", f"--advertise-client-urls={self.etcd}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=lab={peer}",
        ])  # fmt: skip

    def _etcd_is_healthy(self) -> bool:
        try:
            with _DIRECT.open(f"{self.etcd}/health", timeout=10) as answer:
                return b'"true"' in answer.read()
        except (URLError, OSError):
            return False

    def _start_api_server(self) -> None:
        pki_folder = self.folder / "pki"
        self.processes.start("kube-apiserver", [
            binaries.KUBE_APISERVER.path,
            f"--etcd-servers={self.etcd}", f"--bind-address={self.net.gateway}", f"--advertise-address={self.net.gateway}",
            "--secure-port=6443",
            f"--tls-cert-file={pki_folder / 'apiserver.crt'}", f"--tls-private-key-file={pki_folder / 'apiserver.key'}",
            f"--client-ca-file={pki_folder / 'ca.crt'}", f"--token-auth-file={pki_folder / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            f"--service-cluster-ip-range={SERVICE_CIDR}", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki_folder / 'sa.pub'}", f"--service-account-signing-key-file={pki_folder / 'sa.key'}",
            f"--kubelet-certificate-authority={pki_folder / 'ca.crt'}",
            f"--kubelet-client-certificate={pki_folder / 'apiserver-kubelet.crt'}",
            f"--kubelet-client-key={pki_folder / 'apiserver-kubelet.key'}", "--kubelet-preferred-address-types=InternalIP",
            # A cluster of one test: neither fairness between clients nor profiles are of use.
            "--enable-priority-and-fairness=false", "--profiling=false", "--endpoint-reconciler-type=none",
        ])  # fmt: skip

    def _start_controller_manager(self) -> None:
        pki_folder = self.folder / "pki"
        self.processes.start("kube-controller-manager", [
            binaries.KUBE_CONTROLLER_MANAGER.path, f"--kubeconfig={self._kubeconfig}", "--leader-elect=false",
            f"--controllers={','.join(CONTROLLERS)}", f"--root-ca-file={pki_folder / 'ca.crt'}",
            f"--cluster-signing-cert-file={pki_folder / 'ca.crt'}", f"--cluster-signing-key-file={pki_folder / 'ca.key'}",
            # A node that gets no processor for a while is not gone.
            "--node-monitor-grace-period=10m",
            f"--bind-address={self.net.loopback}", f"--cert-dir={pki_folder}", "--profiling=false",
        ])  # fmt: skip

    def _start_scheduler(self) -> None:
        self.processes.start("kube-scheduler", [
            binaries.KUBE_SCHEDULER.path, f"--kubeconfig={self._kubeconfig}", "--leader-elect=false",
            f"--bind-address={self.net.loopback}", f"--cert-dir={self.folder / 'pki'}", "--profiling=false",
        ])  # fmt: skip

    def _own(self, program: str, *words: str | Path) -> list[str | Path]:
        return [sys.executable, "-m", f"{__package__}.run", program, *words]


def node_name(address: str) -> str:
    """The private DNS name that EC2 gives an address: the node's name in the cluster."""
    return f"ip-{address.replace('.', '-')}.{REGION}.compute.internal"


def node_token(secret: str, host: int) -> str:
    """The token of the node with this last part of the address. `secret` is the administrator's token, so every lab has its own."""
    return f"node-{host}-{hashlib.sha256(f'{secret}/{host}'.encode()).hexdigest()[:32]}"


def stranger_token(secret: str, host: int = 0) -> str:
    """The token of a user without groups; with a host, the user is called as that node is."""
    return f"stranger-{host}-{hashlib.sha256(f'{secret}/stranger/{host}'.encode()).hexdigest()[:32]}"


def admin_kubeconfig(endpoint: str, authority: bytes | str, token: str) -> dict[str, object]:
    """A kubeconfig (JSON is YAML) for the lab's administrator."""
    pem = authority if isinstance(authority, bytes) else authority.encode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
        "clusters": [{"name": "lab", "cluster": {"server": endpoint, "certificate-authority-data": base64.b64encode(pem).decode()}}],
        "users": [{"name": "admin", "user": {"token": token}}],
    }


def environment() -> dict[str, str]:
    """For the lab's own programs: the collection is imported from where this process has it."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP / ".cache"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
