# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leftovers: files of the machine on which an image was built, which every node of the image would share.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

from typing import Callable, Iterable, Iterator

from .._node import kubeconfig, kubelet_process, nodeadm_files
from . import tree
from .model import ERROR, IMAGE, WARNING, Finding, Machine, Rule

MAX_LOG_BYTES = 200 * 1024 * 1024

_CORES = ("core", "core.*", "*.core")


def _leftover(patterns: Iterable[str], message: str, fix: str) -> Callable[[Machine], Iterator[Finding]]:
    """A check that reports every file or directory with content that matches one of the patterns."""

    def check(machine: Machine) -> Iterator[Finding]:
        for path in [path for pattern in patterns for path in tree.matches(machine.host, pattern)]:
            # The files that a container engine mounts over those of the image are not part of the image.
            if tree.has_content(machine.host, path) and not machine.is_mount_point(path):
                yield Finding(path, message, fix)

    return check


def _hostname(machine: Machine) -> Iterator[Finding]:
    path = "/etc/hostname"
    if not machine.host.exists(path) or machine.is_mount_point(path):
        return
    name = (machine.host.text(path) or "").strip()
    if not (machine.family == "ubuntu" and name in ("", "ubuntu", "localhost")):
        message = "every node would start with the host name of the build, and may register under it"
        yield Finding(path, message, "remove the file: a node gets its host name from EC2")


def _resolv_conf(machine: Machine) -> Iterator[Finding]:
    path = "/etc/resolv.conf"
    # A link to a directory that is empty at boot holds nothing of the build.
    if machine.host.exists(path) and not tree.is_link(machine.host, path) and not machine.is_mount_point(path):
        yield Finding(path, "nodes would ask the name servers of the build", "remove the file as the last step of the build")


def _machine_id(machine: Machine) -> Iterator[Finding]:
    path = "/etc/machine-id"
    content = (machine.host.text(path) or "").strip()
    if content and content != "uninitialized":
        message = "all nodes of the image would have the same machine ID, and with DHCP possibly the same address"
        yield Finding(path, message, "empty the file (truncate -s 0 /etc/machine-id): systemd writes a new ID at the first boot")


def _second_machine_id(machine: Machine) -> Iterator[Finding]:
    path = "/var/lib/dbus/machine-id"
    if not tree.is_link(machine.host, path) and tree.has_content(machine.host, path):
        message = "systemd takes the machine ID of all nodes from this copy if /etc/machine-id is empty"
        yield Finding(path, message, "replace the file by a link to /etc/machine-id")


def _log_size(machine: Machine) -> Iterator[Finding]:
    used = tree.size(machine.host, "/var/log")
    if used > MAX_LOG_BYTES:
        message = f"logs of the build take {used // 1024**2} MiB of every node's disk, more than {MAX_LOG_BYTES // 1024**2} MiB"
        yield Finding("/var/log", message, "remove the logs of the build")


def _nerdctl_bridge(machine: Machine) -> Iterator[Finding]:
    path = "/sys/class/net/nerdctl0"
    if tree.matches(machine.host, path):
        message = "the bridge of nerdctl has a network of its own (10.4.0.0/24 by default), and pods cannot reach such addresses of the VPC"
        yield Finding(path, message, "run nerdctl with --network none, and remove the bridge: ip link delete nerdctl0")


def _kubeconfig(machine: Machine) -> Iterator[Finding]:
    for path in (kubelet_process.KUBECONFIG, kubelet_process.BOOTSTRAP_KUBECONFIG):
        server = kubeconfig.read_server(machine.host, path).url
        if server:
            message = "nodes of the image would connect to the cluster of the build until user data replaces the file"
            yield Finding(path, message, "remove the file, or restore the file of the base image, whose server is a placeholder")


_CLOUD = "/var/lib/cloud"
_SEAL = "remove it"

RULES = (
    Rule("image.hostname", ERROR, _hostname, (IMAGE,)),
    Rule("image.resolv_conf", ERROR, _resolv_conf, (IMAGE,)),
    Rule("image.machine_id", ERROR, _machine_id, (IMAGE,)),
    Rule("image.second_machine_id", ERROR, _second_machine_id, (IMAGE,)),
    Rule(
        "image.host_keys", ERROR,
        _leftover(
            ("/etc/ssh/ssh_host_*",), "all nodes would have the same SSH host key, so one node can pretend to be another",
            "remove the keys: sshd or cloud-init creates new ones at the first boot",
        ), (IMAGE,),
    ),
    Rule(
        "image.authorized_keys", ERROR,
        _leftover(
            ("/root/.ssh/authorized_keys", "/home/*/.ssh/authorized_keys"), "the SSH key of the build could log in to every node",
            "remove the file: cloud-init writes the key pair of the instance",
        ), (IMAGE,),
    ),
    Rule(
        "image.cloud_init_state", ERROR,
        _leftover(
            (f"{_CLOUD}/data", f"{_CLOUD}/instance", f"{_CLOUD}/instances", f"{_CLOUD}/sem"),
            "cloud-init skips what it did during the build, so that parts of the user data may not run", "run cloud-init clean",
        ), (IMAGE,),
    ),
    Rule(
        "image.logs", ERROR,
        _leftover(
            (
                "/var/log/cloud-init-output.log", "/var/log/cloud-init.log", "/var/log/secure", "/var/log/auth.log", "/var/log/wtmp",
                "/var/log/messages", "/var/log/syslog", "/var/log/audit/*",
            ),
            "logs of the build may contain secrets, and mislead everyone who debugs a node", "remove the file",
        ), (IMAGE,),
    ),
    Rule(
        "image.journal", WARNING,
        _leftover(("/var/log/journal/*",), "journalctl of every node would show the log of the build", "remove the directory"), (IMAGE,),
    ),
    Rule("image.log_size", ERROR, _log_size, (IMAGE,)),
    Rule(
        "image.dhcp_leases", ERROR,
        _leftover(
            ("/var/lib/dhclient/*", "/var/lib/dhcp/dhclient.*", "/var/lib/NetworkManager/*.lease"),
            "a node may ask for the address of the build, which another machine can have by then", _SEAL,
        ), (IMAGE,),
    ),
    Rule(
        "image.network_devices", ERROR,
        _leftover(
            ("/etc/udev/rules.d/70-persistent-net.rules",),
            "the file contains the hardware address of the build, so that the network card of a node gets another name", _SEAL,
        ), (IMAGE,),
    ),
    Rule(
        "image.package_history", WARNING,
        _leftover(
            ("/var/lib/yum/history", "/var/lib/dnf/history*"), "the package history is that of the build", "remove it, or ignore this rule"
        ), (IMAGE,),
    ),
    Rule(
        "image.package_cache", WARNING,
        _leftover(
            ("/var/cache/yum", "/var/cache/dnf", "/var/cache/apt/archives/*.deb"), "the package cache takes disk space on every node",
            "run yum clean all, dnf clean all or apt-get clean",
        ), (IMAGE,),
    ),
    Rule(
        "image.shell_history", ERROR,
        _leftover(
            ("/root/.*_history", "/home/*/.*_history"), "the commands of the build may contain secrets", "remove the file"
        ), (IMAGE,),
    ),
    Rule(
        "image.aws_credentials", ERROR,
        _leftover(
            ("/root/.aws/credentials", "/home/*/.aws/credentials"),
            "everyone who can start the image can read these AWS credentials", "remove the file, and deactivate the access key",
        ), (IMAGE,),
    ),
    Rule("image.nerdctl_bridge", ERROR, _nerdctl_bridge),
    Rule("image.kubeconfig", ERROR, _kubeconfig, (IMAGE,)),
    Rule(
        "image.kubelet_certificates", ERROR,
        _leftover(
            ("/var/lib/kubelet/pki/*",), "all nodes would have the certificate of one node, and the private key is in the image", _SEAL
        ), (IMAGE,),
    ),
    Rule(
        "image.kubelet_state", ERROR,
        _leftover(
            ("/var/lib/kubelet/*_manager_state", "/var/lib/kubelet/pods/*", "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
            "kubelet exits if its saved state does not fit the configuration or the instance type of the node",
            "stop kubelet, and remove its state",
        ), (IMAGE,),
    ),
    Rule(
        "image.cluster_files", ERROR,
        _leftover(
            ("/etc/kubernetes/pki/ca.crt", nodeadm_files.ENVIRONMENT, nodeadm_files.KUBELET_DROP_IN),
            "the file belongs to the cluster of the build; kubelet would use it if the bootstrap of a node fails half-way", _SEAL,
        ), (IMAGE,),
    ),
    Rule(
        "image.collection_state", ERROR,
        _leftover(
            ("/var/lib/nodebootstrap/manifest.json", "/var/lib/nodebootstrap/transaction"),
            "this collection would treat every node as the machine of the build", _SEAL,
        ), (IMAGE,),
    ),
    Rule(
        "image.containers", ERROR,
        _leftover(
            ("/var/lib/containerd/io.containerd.*cri*/sandboxes/*", "/var/lib/cni/networks/*/*", "/var/lib/cni/results/*"),
            "containerd and kubelet find pods of the build on every node",
            "stop kubelet, remove its pods with crictl, then remove the rest",
        ), (IMAGE,),
    ),
    Rule(
        "image.cni_config", WARNING,
        _leftover(
            ("/etc/cni/net.d/*.conf", "/etc/cni/net.d/*.conflist"),
            "a node becomes Ready before its network plugin runs, so that the first pods get no network or the wrong one",
            "remove the file: the network plugin writes it when it is ready",
        ), (IMAGE,),
    ),
    Rule(
        "image.ssm_registration", ERROR,
        _leftover(
            ("/var/lib/amazon/ssm/i-*", "/var/lib/amazon/ssm/Vault/Store/*"),
            "the SSM agent of every node would use the identity of the build", "stop the agent, and remove it",
        ), (IMAGE,),
    ),
    Rule(
        "image.core_dumps", ERROR,
        _leftover(
            tuple(
                [f"{folder}/{name}" for folder in ("/var/crash", "/var/tmp", "/tmp") for name in _CORES]
                + ["/var/lib/systemd/coredump/*"]
            ),
            "a core dump contains the memory of a program of the build, and with it possibly secrets", "remove the file",
        ), (IMAGE,),
    ),
)  # fmt: skip
