# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of the lab: nodelab's nodes with real programs instead of stand-ins, and with an identity in the cluster."""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import binaries, network, pod_image
from .api import ApiError, Object
from .aws import first
from .control_plane import node_name, node_token
from .progress import NODELAB, LabError, docker, engine, machine_lock
from .state import CLUSTER

from nodelab import Al2Node, Al2023Node, Node, UbuntuNode, cloudinit, images  # isort: skip
from nodelab.node import _tar  # isort: skip

if TYPE_CHECKING:
    from .lab import Lab

FILES = Path(__file__).resolve().parent / "rootfs"
INSTANCE_TYPE = "meta-data/instance-type"
#: The metadata service beyond the instance's hop limit: the packets with the token never arrive.
HOP_LIMIT = {"path": "/latest/api/token", "method": "PUT", "delay": 3600}
ROLE = "node"
#: The folder of the other kubelets of a node, by minor version.
KUBELETS = "/opt/lab/kubelets"
KUBELET_PORT = 10250
#: The MAC address of every instance in nodelab's metadata service.
MAC = "0a:58:0a:00:00:05"

#: Taints of a Node that is not ready yet.
UNREADY = {"node.cloudprovider.kubernetes.io/uninitialized", "node.kubernetes.io/not-ready"}


class LabNode(Node):
    """A container that is an instance of EC2's stand-in and may become a Node of the cluster."""

    lab: Lab
    #: Last part of the address.
    host: int
    instance: str
    #: Whether the services of its cluster have IPv6 addresses: then the node registers with its IPv6 address.
    ipv6: bool
    #: Monotonic seconds at which the container was started.
    began: float

    @property
    def name(self) -> str:
        """The name of the Node."""
        return node_name(self.address)

    @property
    def address(self) -> str:
        return self.lab.network.address(self.host)

    @property
    def internal_ip(self) -> str:
        """The address at which the cluster reaches kubelet."""
        return self.lab.network.address6(self.host) if self.ipv6 else self.address

    def object(self) -> Object | None:
        """The current Node object; None before the node is registered."""
        try:
            return self.lab.node_object(self.name)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def wait_ready(self, seconds: float = 20) -> Object:
        """Wait until the Node is Ready and initialized by the cloud provider, and return it. LabError shows the evidence."""
        limit = time.monotonic() + seconds
        while True:
            found = self.object()
            if found is not None and is_ready(found):
                return found
            if time.monotonic() > limit:
                self.lab.check()
                raise LabError(f"{self.name} was not ready after {seconds:.0f} s: {_describe(found)}\n{self.evidence()}")
            time.sleep(0.25)

    def serving_names(self, seconds: float = 300) -> set[str]:
        """Names and addresses in the certificate that kubelet serves on 10250, signed by the cluster's authority."""
        context = ssl.create_default_context(cadata=self.lab.state.authority)
        limit = time.monotonic() + seconds
        while True:
            try:
                with (
                    socket.create_connection((self.internal_ip, KUBELET_PORT), 30) as plain,
                    context.wrap_socket(plain, server_hostname=self.internal_ip) as connection,
                ):
                    names = (connection.getpeercert() or {}).get("subjectAltName", ())
                return {str(ipaddress.ip_address(value)) if kind == "IP Address" else str(value) for kind, value in names}
            except OSError as error:
                # Before its request is signed, kubelet has no certificate.
                if time.monotonic() > limit:
                    raise LabError(f"{self.name} serves no certificate that fits: {error}\n{self.lab.log('controller')[-2000:]}") from None
            time.sleep(0.05)

    def configz(self) -> Object:
        """The effective configuration of kubelet, read through the API server over TLS."""
        self.serving_names()
        found: Object = self.lab.api.get(f"/api/v1/nodes/{self.name}/proxy/configz")["kubeletconfig"]
        return found

    def evidence(self) -> str:
        """Logs that explain why a node did not join."""
        failed = self.exec(["systemctl", "--failed", "--no-legend", "--plain"]).stdout.decode(errors="replace").strip()
        parts = {"failed units": failed, "kubelet": self.journal(getattr(self, "kubelet_unit", "kubelet.service"))[-3000:]}
        for unit in ("nodeadm-config.service", "nodeadm-run.service", "containerd.service"):
            parts[unit] = self.journal(unit)[-1500:]
        with suppress(FileNotFoundError):
            parts["cloud-init"] = self.read("/var/log/cloud-init-output.log").decode(errors="replace")[-1500:]
        parts["controller"] = self.lab.log("controller")[-1000:]
        return "\n".join(f"--- {title}\n{text}" for title, text in parts.items() if text)

    def stop(self) -> None:
        """Remove container, instance and Node, if they exist."""
        super().stop()
        with suppress(OSError, LabError, ApiError):
            self.lab.api.call("DELETE", f"/api/v1/nodes/{self.name}")
        with suppress(OSError, LabError):
            self.lab.ec2.terminate(self.instance)


class Al2LabNode(LabNode, Al2Node):
    pass


class Al2023LabNode(LabNode, Al2023Node):
    pass


class UbuntuLabNode(LabNode, UbuntuNode):
    pass


KINDS: dict[str, type[LabNode]] = {"al2": Al2LabNode, "al2023": Al2023LabNode, "ubuntu": UbuntuLabNode}


def is_ready(node: Object) -> bool:
    """Ready, and no taint left that says otherwise."""
    conditions = {condition["type"]: condition["status"] for condition in node["status"].get("conditions", [])}
    keys = {taint["key"] for taint in node["spec"].get("taints", [])}
    return conditions.get("Ready") == "True" and not keys & {
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.kubernetes.io/not-ready",
    }


def create(
    lab: Lab,
    family: str,
    *,
    user_data: str | bytes,
    kubelet: str,
    files: Mapping[str, Any] | None,
    imds: Mapping[str, str] | None,
    faults: list[dict[str, Any]] | None,
    cni: bool,
    real_nodeadm: bool,
    ipv6: bool,
    suite: str,
    image: str,
    containerd: int,
    pods: bool,
    upgrades: Sequence[str],
    instance: str,
) -> LabNode:
    """Start a node as `Lab.node` describes. Returns when the container runs: `wait_ready` waits for the Node."""
    if ipv6 and not network.has_ipv6():
        raise LabError("this machine has no IPv6: /proc/net/if_inet6 is missing")
    programs = [] if image else [binaries.KUBELETS[kubelet]]
    if programs and family == "al2023" and real_nodeadm:
        programs.append(binaries.NODEADM)
    if containerd > 1:
        programs += [binaries.CONTAINERD, binaries.CTR]
    binaries.build([*programs, *(binaries.KUBELETS[minor] for minor in upgrades)])
    tag = image or images.image(suite, family)
    engine.remove_stale()
    kind = (imds or {}).get(INSTANCE_TYPE, "m5.large")
    host, instance = _adopt(lab, instance) if instance else _launch(lab, kind)
    laid: dict[str, Any] = {
        "/etc/lab/token": (node_token(lab.state.token, host), 0o600),
        "/etc/lab/cluster": CLUSTER,
        "/etc/nodelab/real-containerd": "",
        "/etc/nodelab/imds.json": json.dumps({**_facts(lab.network, host, instance, kind), **(imds or {})}),
        "/etc/nodelab/imds-faults.json": json.dumps(faults or []),
        # Every AWS client uses the stand-in.
        "/etc/systemd/system.conf.d/50-lab.conf": f"[Manager]\nDefaultEnvironment=AWS_ENDPOINT_URL={lab.state.aws}\n",
    }
    if image:
        laid[_CLOUD_INIT] = (NODELAB / "rootfs" / _CLOUD_INIT[1:]).read_bytes()
    if cni:
        laid["/etc/cni/net.d/10-lab.conflist"] = json.dumps({**_CNI, "plugins": [{"type": "lab"}]} if pods else _CNI)
    if user_data:
        laid |= cloudinit._seed(user_data, f"instance-id: {instance}\n", b"") | {"/etc/nodelab/user-data": user_data}
    made = docker(
        "create",
        *_options(lab, family, host, programs, "lay-baked" if image else "lay"),
        *(["-v", f"{pod_image.archive()}:/opt/lab/pod.tar:ro"] if pods else []),
        *(word for minor in upgrades for word in ("-v", f"{binaries.KUBELETS[minor].path}:{KUBELETS}/{minor}/kubelet:ro")),
        "-e",
        f"NODELAB_CLOUD_INIT={int(bool(user_data))}",
        tag,
    )
    node = KINDS[family](made.stdout.decode().strip()[:12], suite)
    node.lab, node.host, node.instance, node.ipv6 = lab, host, instance, ipv6
    try:
        docker("cp", "-", f"{node.container}:/", input=_tar(laid | dict(files or {})))
        node.began = time.monotonic()
        docker("start", node.container)
    except BaseException:
        node.stop()
        raise
    return node


def _options(lab: Lab, family: str, host: int, programs: list[binaries.Binary], lay: str) -> list[str]:
    address = lab.network.address(host)
    options = [
        "--label", f"{engine.RUN}={lab.owner}", "--hostname", node_name(address), "--network", lab.network.name, "--ip", address,
        "--cgroupns", "private", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
        "--tmpfs", "/run", "--tmpfs", "/run/lock", "--tmpfs", "/tmp:exec",
        # kubelet reads kills by the OOM killer from the kernel log.
        "--device", "/dev/kmsg",
        # overlayfs cannot be stacked on the container's own; kubelet reads the disk of its directory.
        "-v", "/var/lib/containerd", "-v", "/var/lib/kubelet",
        "-v", f"{FILES}:/opt/lab/files:ro",
        # The lab's program runs nodelab's first, then adds the lab's files.
        "-v", f"{FILES / lay}:/opt/nodelab/lay:ro",
        "-v", f"{NODELAB / 'rootfs/opt/nodelab/lay'}:/opt/lab/nodelab-lay:ro",
        "-v", f"{FILES / 'resolv.conf'}:/etc/resolv.conf:ro",
        "-e", f"NODELAB_FAMILY={family}",
    ]  # fmt: skip
    if network.has_ipv6():
        options += ["--ip6", lab.network.address6(host)]
    for capability in ("SYS_ADMIN", "NET_ADMIN", "SYSLOG", "SYS_PTRACE"):
        options += ["--cap-add", capability]
    for program in programs:
        options += ["-v", f"{program.path}:/opt/lab/bin/{program.name}:ro"]
    return options


def _launch(lab: Lab, kind: str) -> tuple[int, str]:
    """Launch an instance with an unused address. Returns (last part of the address, instance ID)."""
    with machine_lock(f"{lab.network.name}-addresses"):
        number = lab.ec2.launched()
        if number >= len(network.HOSTS):
            raise LabError(f"all {len(network.HOSTS)} addresses of this lab are used: start another lab")
        host = network.HOSTS[number]
        instance, name = lab.ec2.run(lab.state.subnet, lab.network.address(host), lab.network.address6(host), kind)
    if name != node_name(lab.network.address(host)):
        raise LabError(f"the stand-in for EC2 names {lab.network.address(host)} {name}")
    return host, instance


def _adopt(lab: Lab, instance: str) -> tuple[int, str]:
    """The same for an instance that an Auto Scaling group launched."""
    described = lab.ec2.describe(instance)
    network_part, _dot, host = first("privateIpAddress", described).rpartition(".")
    if network_part != lab.network.gateway.rpartition(".")[0] or int(host) not in network.HOSTS:
        raise LabError(f"all {len(network.HOSTS)} addresses of this lab are used: start another lab")
    lab.ec2.assign(described, lab.network.address6(int(host)))
    return int(host), instance


def _facts(net: network.Network, host: int, instance: str, kind: str) -> dict[str, str]:
    """Answers of the metadata service that are specific to this instance."""
    name = node_name(net.address(host))
    credentials = {
        "Code": "Success",
        "Type": "AWS-HMAC",
        "AccessKeyId": "ASIAIOSFODNN7EXAMPLE",
        "SecretAccessKey": "example",
        "Token": "example",
        "LastUpdated": "2026-01-01T00:00:00Z",
        "Expiration": "2099-01-01T00:00:00Z",
    }
    return {
        "meta-data/instance-id": instance,
        INSTANCE_TYPE: kind,
        "meta-data/local-ipv4": net.address(host),
        f"meta-data/network/interfaces/macs/{MAC}/ipv6s": net.address6(host),
        "meta-data/hostname": name,
        "meta-data/local-hostname": name,
        "meta-data/iam/security-credentials/": ROLE,
        f"meta-data/iam/security-credentials/{ROLE}": json.dumps(credentials),
    }


def _describe(node: Object | None) -> str:
    if node is None:
        return "it did not register"
    conditions = {
        condition["type"]: f"{condition['status']} ({condition.get('message', '')})" for condition in node["status"].get("conditions", [])
    }
    return json.dumps({"conditions": conditions, "taints": node["spec"].get("taints", [])}, indent=1)


#: What cloud-init needs to know in a container. A baked image has nothing of it.
_CLOUD_INIT = "/etc/cloud/cloud.cfg.d/99-nodelab.cfg"

#: Makes containerd report its network as ready. Where no pod runs, no plugin is called.
_CNI = {"cniVersion": "0.4.0", "name": "lab", "plugins": [{"type": "loopback"}]}
