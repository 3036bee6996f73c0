# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leftovers: files of the machine on which an image was built, which every node of the image would share.

One table, which image_verify checks and image_seal carries out. Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Callable, Iterator, List, NamedTuple, Tuple

from .._node import kubeconfig, kubelet_process, nodeadm_files
from .._node.host import Host
from . import processes, tree
from .model import ERROR, IMAGE, WARNING, Finding, Machine, Rule

MAX_LOG_BYTES = 200 * 1024 * 1024

REMOVE, EMPTY, LINK = "remove", "empty", "link"
"""What image_seal does: remove the path with everything below it, empty the file, or replace it with a link to C(MACHINE_ID)."""

MACHINE_ID = "/etc/machine-id"
BUILD_INPUTS = "/var/cache/eks-node-image"
STATE = "/var/lib/nodebootstrap"

_CORES = ("core", "core.*", "*.core")
_CLOUD = "/var/lib/cloud"
_APT_LISTS = "/var/lib/apt/lists"


Select = Callable[[Host, str, List[str]], List[str]]
"""Chooses the leftovers among paths with content. Takes the machine, its family, and the paths."""


def _all(_host: Host, _family: str, paths: List[str]) -> List[str]:
    return paths


class Leftover(NamedTuple):
    """A row of the table.

    C(rule): its ID in the catalogue. C(patterns): the paths that image_verify reports, and C(also) the other paths that image_seal clears;
    there, a last component C(**) stands for all files at any depth, whose directories stay.
    """

    rule: str
    severity: str
    patterns: Tuple[str, ...]
    message: str
    fix: str
    also: Tuple[str, ...] = ()
    select: Select = _all
    treatment: str = REMOVE


# --- which of the paths are leftovers ----------------------------------------------------------------------------------------------------


def _names_of_the_build(host: Host, family: str, paths: List[str]) -> List[str]:
    neutral = ("", "ubuntu", "localhost") if family == "ubuntu" else ()
    return [path for path in paths if (host.text(path) or "").strip() not in neutral]


def _files(host: Host, _family: str, paths: List[str]) -> List[str]:
    # A link to a directory that is empty at boot holds nothing of the build.
    return [path for path in paths if not tree.is_link(host, path)]


def _machine_ids(host: Host, _family: str, paths: List[str]) -> List[str]:
    return [path for path in paths if (host.text(path) or "").strip() not in ("", "uninitialized")]


def _with_server(host: Host, _family: str, paths: List[str]) -> List[str]:
    return [path for path in paths if kubeconfig.read_server(host, path).url]


def _is_special(name: str) -> bool:
    # systemd removes the private directories of services at the next boot. Core dumps have a rule of their own.
    return name.startswith(("systemd-private-", "snap-private-tmp")) or any(fnmatch(name, pattern) for pattern in _CORES)


def _records_of_nodes(_host: Host, _family: str, paths: List[str]) -> List[str]:
    # The role records there which archives it has installed in the image.
    return [path for path in paths if path != f"{STATE}/image"]


def _apt_caches(_host: Host, _family: str, paths: List[str]) -> List[str]:
    # Without the lists, the cache that apt makes of them is small, and every run of apt makes it again.
    has_lists = any(path.startswith(f"{_APT_LISTS}/") for path in paths)
    return [path for path in paths if has_lists or not path.endswith(".bin")]


def _temporary(host: Host, _family: str, paths: List[str]) -> List[str]:
    candidates = [path for path in paths if not _is_special(path.rpartition("/")[2])]
    used = processes.used_paths(host) if candidates else ()
    return [path for path in candidates if not any(one == path or one.startswith(f"{path}/") for one in used)]


# --- the table ---------------------------------------------------------------------------------------------------------------------------

LEFTOVERS = (
    Leftover(
        "image.hostname", ERROR, ("/etc/hostname",), "every node would start with the host name of the build, and may register under it",
        "remove the file: a node gets its host name from EC2", select=_names_of_the_build,
    ),
    Leftover(
        "image.resolv_conf", ERROR, ("/etc/resolv.conf",), "nodes would ask the name servers of the build",
        "remove the file as the last step of the build", select=_files,
    ),
    Leftover(
        "image.machine_id", ERROR, (MACHINE_ID,),
        "all nodes of the image would have the same machine ID, and with DHCP possibly the same address",
        f"empty the file (truncate -s 0 {MACHINE_ID}): systemd writes a new ID at the first boot",
        select=_machine_ids, treatment=EMPTY,
    ),
    Leftover(
        "image.second_machine_id", ERROR, ("/var/lib/dbus/machine-id",),
        f"systemd takes the machine ID of all nodes from this copy if {MACHINE_ID} is empty", f"replace the file by a link to {MACHINE_ID}",
        select=_files, treatment=LINK,
    ),
    Leftover(
        "image.random_seed", WARNING, ("/var/lib/systemd/random-seed", "/var/lib/random-seed", "/boot/efi/loader/random-seed"),
        "all nodes would start with the same seed of random numbers", "remove the file: systemd writes a new seed at the first boot",
    ),
    Leftover(
        "image.host_keys", ERROR, ("/etc/ssh/ssh_host_*",),
        "all nodes would have the same SSH host key, so one node can pretend to be another",
        "remove the keys: sshd or cloud-init creates new ones at the first boot",
    ),
    Leftover(
        "image.authorized_keys", ERROR, ("/root/.ssh/authorized_keys", "/home/*/.ssh/authorized_keys"),
        "the SSH key of the build could log in to every node", "remove the file: cloud-init writes the key pair of the instance",
    ),
    Leftover(
        "image.cloud_init_state", ERROR, (f"{_CLOUD}/data", f"{_CLOUD}/instance", f"{_CLOUD}/instances", f"{_CLOUD}/sem"),
        "cloud-init skips what it did during the build, so that parts of the user data may not run", "run cloud-init clean",
    ),
    Leftover(
        "image.logs", ERROR,
        (
            "/var/log/cloud-init-output.log", "/var/log/cloud-init.log", "/var/log/secure", "/var/log/auth.log", "/var/log/wtmp",
            "/var/log/messages", "/var/log/syslog", "/var/log/audit/*",
        ),
        "logs of the build may contain secrets, and mislead everyone who debugs a node", "remove the file",
        also=("/var/log/**",),
    ),
    Leftover(
        "image.journal", WARNING, ("/var/log/journal/*",), "journalctl of every node would show the log of the build",
        "remove the directory",
    ),
    Leftover(
        "image.dhcp_leases", ERROR, ("/var/lib/dhclient/*", "/var/lib/dhcp/dhclient.*", "/var/lib/NetworkManager/*.lease"),
        "a node may ask for the address of the build, which another machine can have by then", "remove it",
    ),
    Leftover(
        "image.network_devices", ERROR, ("/etc/udev/rules.d/70-persistent-net.rules",),
        "the file contains the hardware address of the build, so that the network card of a node gets another name", "remove it",
        # cloud-init writes these for each instance, with its hardware address.
        also=(
            "/etc/netplan/50-cloud-init.yaml", "/etc/network/interfaces.d/50-cloud-init", "/etc/systemd/network/10-cloud-init-*",
            "/etc/NetworkManager/system-connections/cloud-init-*",
        ),
    ),
    Leftover(
        "image.package_history", WARNING, ("/var/lib/yum/history", "/var/lib/dnf/history*"), "the package history is that of the build",
        "remove it, or ignore this rule",
    ),
    Leftover(
        "image.package_cache", WARNING, ("/var/cache/yum", "/var/cache/dnf", "/var/cache/apt/archives/*.deb"),
        "the package cache takes disk space on every node", "run yum clean all, dnf clean all or apt-get clean",
        also=("/var/cache/apt/*.bin", f"{_APT_LISTS}/**"), select=_apt_caches,
    ),
    Leftover(
        "image.build_inputs", WARNING, (BUILD_INPUTS,), "the inputs of the build take disk space on every node", "remove the directory",
    ),
    Leftover(
        "image.temporary_files", WARNING, ("/tmp/*", "/var/tmp/*"), "temporary files of the build may contain secrets", "remove it",
        select=_temporary,
    ),
    Leftover(
        "image.shell_history", ERROR, ("/root/.*_history", "/home/*/.*_history"), "the commands of the build may contain secrets",
        "remove the file", also=("/root/.lesshst", "/home/*/.lesshst", "/root/.viminfo", "/home/*/.viminfo"),
    ),
    Leftover(
        "image.aws_credentials", ERROR, ("/root/.aws/credentials", "/home/*/.aws/credentials"),
        "everyone who can start the image can read these AWS credentials", "remove the file, and deactivate the access key",
        also=("/root/.aws/cli/cache", "/root/.aws/sso/cache", "/home/*/.aws/cli/cache", "/home/*/.aws/sso/cache"),
    ),
    Leftover(
        "image.kubeconfig", ERROR, (kubelet_process.KUBECONFIG, kubelet_process.BOOTSTRAP_KUBECONFIG),
        "nodes of the image would connect to the cluster of the build until user data replaces the file",
        "remove the file, or restore the file of the base image, whose server is a placeholder", select=_with_server,
    ),
    Leftover(
        "image.kubelet_certificates", ERROR, ("/var/lib/kubelet/pki/*",),
        "all nodes would have the certificate of one node, and the private key is in the image", "remove it",
    ),
    Leftover(
        "image.kubelet_state", ERROR,
        ("/var/lib/kubelet/*_manager_state", "/var/lib/kubelet/pods/*", "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
        "kubelet exits if its saved state does not fit the configuration or the instance type of the node",
        "stop kubelet, and remove its state",
        also=(
            "/var/lib/kubelet/*_pods_state", "/var/lib/kubelet/checkpoints/*", "/var/lib/kubelet/plugins/*",
            "/var/lib/kubelet/plugins_registry/*",
        ),
    ),
    Leftover(
        "image.cluster_files", ERROR, ("/etc/kubernetes/pki/ca.crt", nodeadm_files.ENVIRONMENT, nodeadm_files.KUBELET_DROP_IN),
        "the file belongs to the cluster of the build; kubelet would use it if the bootstrap of a node fails half-way", "remove it",
    ),
    Leftover(
        "image.collection_state", ERROR, (f"{STATE}/manifest.json", f"{STATE}/transaction"),
        "this collection would treat every node as the machine of the build", "remove it", also=(f"{STATE}/*",), select=_records_of_nodes,
    ),
    Leftover(
        "image.containers", ERROR,
        ("/var/lib/containerd/io.containerd.*cri*/sandboxes/*", "/var/lib/cni/networks/*/*", "/var/lib/cni/results/*"),
        "containerd and kubelet find pods of the build on every node", "stop kubelet, remove its pods with crictl, then remove the rest",
        # containerd makes an ID of itself when it is asked for it.
        also=("/var/lib/containerd/io.containerd.*introspection*/uuid",),
    ),
    Leftover(
        "image.cni_config", WARNING, ("/etc/cni/net.d/*.conf", "/etc/cni/net.d/*.conflist"),
        "a node becomes Ready before its network plugin runs, so that the first pods get no network or the wrong one",
        "remove the file: the network plugin writes it when it is ready",
    ),
    Leftover(
        "image.ssm_registration", ERROR, ("/var/lib/amazon/ssm/i-*", "/var/lib/amazon/ssm/Vault/Store/*"),
        "the SSM agent of every node would use the identity of the build", "stop the agent, and remove it",
    ),
    Leftover(
        "image.core_dumps", ERROR,
        tuple([f"{folder}/{name}" for folder in ("/var/crash", "/var/tmp", "/tmp") for name in _CORES] + ["/var/lib/systemd/coredump/*"]),
        "a core dump contains the memory of a program of the build, and with it possibly secrets", "remove the file",
    ),
)  # fmt: skip


# --- the rules of image_verify -----------------------------------------------------------------------------------------------------------


def _check_of(leftover: Leftover) -> Callable[[Machine], Iterator[Finding]]:
    """A check that reports every leftover that is part of the image."""

    def check(machine: Machine) -> Iterator[Finding]:
        found = [path for pattern in leftover.patterns for path in tree.matches(machine.host, pattern)]
        # The files that a container engine mounts over those of the image are not part of the image.
        found = [path for path in found if tree.has_content(machine.host, path) and machine.is_in_image(path)]
        for path in leftover.select(machine.host, machine.family, found):
            yield Finding(path, leftover.message, leftover.fix)

    return check


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


RULES = (
    *(Rule(leftover.rule, leftover.severity, _check_of(leftover), (IMAGE,)) for leftover in LEFTOVERS),
    Rule("image.log_size", ERROR, _log_size, (IMAGE,)),
    Rule("image.nerdctl_bridge", ERROR, _nerdctl_bridge),
)
