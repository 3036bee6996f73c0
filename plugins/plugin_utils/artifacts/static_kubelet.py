# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategy C(static): everything that is known beforehand is a finished file; the node only asks who it is.

No call of the image's script, no jq, no AWS API. At most three requests to the instance metadata service (five in an IPv6
cluster), by a small POSIX sh program that forks curl for each and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import kubelet
from ..data import pause_image
from ..errors import Problems
from ..formats import shell, systemd
from ..kubernetes import node_labels_flag, taints_flag
from ..model.spec import NodeSpec
from . import boot_labels, kubelet_files
from .bootstrap_script import check_containerd, check_flags, flags_of_static, user_words
from .model import File

FACTS_SCRIPT = "/etc/nodebootstrap/node-facts"
FACTS = "/run/nodebootstrap/kubelet.env"
KUBELET_DROP_IN = "/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf"

_KUBELET_WANTS = ("containerd.service", "sandbox-image.service", "sys-fs-bpf.mount", "network-online.target")

UNIT_START = "systemctl enable containerd kubelet\nsystemctl restart containerd\nsystemctl start kubelet\n"


def check(spec: NodeSpec, word_problem: Callable[[str], str | None], problems: Problems) -> None:
    """Report what finished files cannot express, and facts they cannot do without."""
    check_flags(spec, word_problem, problems)
    check_containerd(spec, problems)
    _check_flagged(spec, problems)
    if spec.max_pods is None and not problems.touches("node_group.max_pods") and not problems.touches("node_group.instance"):
        problems.add(
            "strategy.missing_max_pods",
            "node_group.max_pods",
            "is required with strategy static, because no script computes it",
            fix="set a number, or {mode: eni} and instance.type",
        )
    if spec.cluster.service_cidr is None and any(":" in address for address in spec.dns_ips) and not problems.touches("cluster"):
        problems.add(
            "cluster.missing_service_cidr",
            "cluster.service_cidr",
            "is required in an IPv6 cluster",
            fix="copy kubernetesNetworkConfig.serviceIpv6Cidr of `aws eks describe-cluster`",
        )
    if spec.cluster.outpost and not problems.touches("cluster.outpost"):
        problems.add(
            "cluster.unsupported_outpost",
            "cluster.outpost",
            "needs a script on the node: nodes of a local cluster fetch a certificate and write the API server's addresses to /etc/hosts",
            fix="set strategy: bootstrap_script",
        )


def _check_flagged(spec: NodeSpec, problems: Problems) -> None:
    for field, flag in flags_of_static(spec.family).items():
        node: Any = spec.kubelet_config
        for key in field.split("."):
            node = node.get(key) if isinstance(node, Mapping) else None
        path = f"node_group.kubelet.config.{field}"
        if node is not None and not problems.touches(path):
            fix = f"write kubelet.flags.{flag}, which comes after it"
            problems.add(
                "kubelet.flag_overrides_config", path, f"has no effect: flags override the configuration file, and --{flag} is set", fix=fix
            )


def unit_files(spec: NodeSpec) -> tuple[File, ...]:
    """Everything for a kubelet that is a unit. Its service reads who the node is just before each start."""
    return (
        *_common_files(spec, "/usr/bin/aws-iam-authenticator"),
        File(kubelet_files.KUBELET_UNIT, kubelet_files.kubelet_unit(_KUBELET_WANTS)),
        File(KUBELET_DROP_IN, _kubelet_drop_in(spec)),
        File(kubelet_files.SANDBOX_UNIT, _sandbox_unit("/etc/eks/containerd/pull-sandbox-image.sh")),
        File(kubelet_files.BPF_UNIT, _bpf_unit()),
    )


def snap_files(spec: NodeSpec) -> tuple[File, ...]:
    """Everything for a kubelet that is a snap but its settings, which C(snap_start) makes."""
    return (
        *_common_files(spec, "aws-iam-authenticator"),
        File(kubelet_files.SANDBOX_UNIT, _sandbox_unit("/usr/local/share/eks/pull-sandbox-image.sh")),
    )


def _common_files(spec: NodeSpec, authenticator: str) -> tuple[File, ...]:
    return (
        File(kubelet.CA_FILE, kubelet_files.certificate_authority(spec)),
        File(kubelet_files.CONFIG_FILE, kubelet_files.kubelet_config(spec)),
        File(kubelet.KUBECONFIG, kubelet_files.kubeconfig(spec, authenticator), mode="0600"),
        File(kubelet.CONTAINERD_CONFIG, kubelet_files.containerd_config(spec, _pause_image(spec))),
        File(FACTS_SCRIPT, facts_script(spec), mode="0755"),
    )


def _pause_image(spec: NodeSpec) -> str:
    return spec.containerd.pause_image or pause_image(str(spec.cluster.region))


def flags(spec: NodeSpec, credential_provider: str) -> dict[str, str]:
    """kubelet's flags that no configuration file can hold, in order; values may hold variables of the facts file as C(${NAME}).

    credential_provider: the image's folder with the programs that log in to ECR, and their configuration.
    """
    version = spec.cluster.kubernetes_version
    # The image's switch to the external cloud provider: amazon-eks-ami at 1.26, Canonical at 1.27.
    in_tree = version is not None and version < ((1, 26) if spec.family == "al2" else (1, 27))
    found = {
        "config": kubelet_files.CONFIG_FILE,
        "kubeconfig": kubelet.KUBECONFIG,
        "container-runtime-endpoint": kubelet.RUNTIME_ENDPOINT,
        "image-credential-provider-config": f"{credential_provider}/config.json",
        "image-credential-provider-bin-dir": credential_provider,
        "node-ip": "${NODE_IP}",
        "cloud-provider": "aws" if in_tree else "external",
    }
    if not in_tree:
        found["hostname-override"] = "${NODE_NAME}"
    if version is not None and version < (1, 27):
        found["container-runtime"] = "remote"
    if version is not None and version < (1, 35):
        found["pod-infra-container-image"] = _pause_image(spec)
    return found


def _registration_words(spec: NodeSpec) -> list[str]:
    """Words of a plain alphabet: labels (first, with placeholders), taints."""
    words = [f"--node-labels={node_labels_flag(spec.labels)}"] if spec.labels else []
    return [*words, *([f"--register-with-taints={taints_flag(spec.taints)}"] if spec.taints else [])]


def _kubelet_drop_in(spec: NodeSpec) -> str:
    given = flags(spec, "/etc/eks/image-credential-provider")
    words = [f"--{name}={value}" for name, value in given.items()]
    if given["cloud-provider"] == "external":
        words.append("--provider-id=${PROVIDER_ID}")
    # The unit of the image of Amazon Linux 2 has the flag, too.
    words += ["--v=2"] if spec.family == "al2" else []
    words += [*(boot_labels.shell_text(word) for word in _registration_words(spec))]
    words += [systemd.exec_word(word) for word in user_words(spec)]
    return systemd.unit(
        {
            "Service": [
                # Written by the program below: systemd reads it again before each command of a start.
                ("EnvironmentFile", f"-{FACTS}"),
                ("ExecStartPre", FACTS_SCRIPT),
                ("ExecStart", ""),
                ("ExecStart", " ".join(["/usr/bin/kubelet", *words])),
            ]
        }
    )


def _sandbox_unit(program: str) -> str:
    """containerd has no credentials for ECR, so the image's own program pulls the pause image that the configuration names."""
    return systemd.unit(
        {
            "Unit": [
                ("Description", "Pull of the pause image"),
                ("Requires", "containerd.service"),
                ("After", "containerd.service"),
                ("ConditionPathExists", program),
            ],
            "Service": [("Type", "oneshot"), ("RemainAfterExit", "yes"), ("ExecStart", program)],
        }
    )


def _bpf_unit() -> str:
    return systemd.unit(
        {
            "Unit": [("Description", "BPF file system"), ("DefaultDependencies", "no"), ("ConditionPathIsMountPoint", "!/sys/fs/bpf")],
            "Mount": [("What", "bpffs"), ("Where", "/sys/fs/bpf"), ("Type", "bpf")],
        }
    )


_SNAP_CREDENTIALS = "/etc/eks/ecr-credential-provider"


def snap_settings(spec: NodeSpec) -> dict[str, str]:
    """The settings that C(snap_start) makes, with variables of the facts file as C(${NAME})."""
    given = flags(spec, _SNAP_CREDENTIALS)
    provider_id = ["--provider-id=${PROVIDER_ID}"] if given["cloud-provider"] == "external" else []
    known = [boot_labels.shell_text(word) for word in _registration_words(spec)]
    return {**given, "args": " ".join([*known, *provider_id, *user_words(spec)])}


def snap_start(spec: NodeSpec) -> str:
    """Lines that ask who the node is, give the settings to the kubelet snap and start it.

    Setting is tried eight times, as a refresh of snaps in the background refuses it for a while (Canonical's own script).
    """
    given = flags(spec, _SNAP_CREDENTIALS)
    settings = [f"{name}={value if value.startswith('$') else shell.quote(value)}" for name, value in given.items()]
    registration = " ".join(_registration_words(spec))
    provider_id = "--provider-id=$PROVIDER_ID" if given["cloud-provider"] == "external" else ""
    known = " ".join(filter(None, [boot_labels.shell_text(registration), provider_id]))
    users = " ".join(user_words(spec))
    arguments = (f'"{known}"' if known else "") + (shell.quote(f" {users}" if known else users) if users else "")
    # Always set: a setting that an earlier boot of the image left behind would come back otherwise.
    settings.append(f"args={arguments}")
    return (
        f"{FACTS_SCRIPT}\n. {FACTS}\n"
        "systemctl restart containerd sandbox-image\nsnap stop kubelet-eks\n"
        f"for try in 1 2 3 4 5 6 7 8; do\nsnap set kubelet-eks {' '.join(settings)} && break\n[ $try -lt 8 ]\nsleep 2\ndone\n"
        "snap start --enable kubelet-eks\n"
    )


def node_domain(region: str) -> str:
    """The domain of EC2's private names in a region (Amazon EC2 user guide, instance hostname types)."""
    return "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"


def facts_script(spec: NodeSpec) -> str:
    """A POSIX sh program that writes C(FACTS): address, name and provider id of the node, and what its labels need.

    It checks the form of every answer before use, takes JSON apart by parameter expansion, and forks nothing but curl
    (exec in a function of its own: one fork each) and one mkdir.
    """
    ipv6 = spec.cluster.ip_family == "ipv6"
    by_address = spec.hostname_type != "resource_name"
    domain = node_domain(str(spec.cluster.region))
    lines = [_FACTS_HEAD]
    name = f"$instance_id.{domain}"
    if by_address or not ipv6:
        lines.append(_PRIVATE_IP)
    if by_address:
        name = f"ip-$1-$2-$3-$4.{domain}"
        lines.append("IFS=.\nset -- $address\nunset IFS\n")
    lines.append(f"name={name}\n")
    if ipv6:
        lines.append(_IPV6)
    written = {"NODE_IP": "$address", "NODE_NAME": "$name", "PROVIDER_ID": kubelet.provider_id("$zone", "$instance_id")}
    placeholders = boot_labels.placeholders(spec.labels)
    if "instance_lifecycle" in placeholders:
        lines.append(_LIFECYCLE)
        written["INSTANCE_LIFECYCLE"] = "$lifecycle"
    if "instance_id" in placeholders:
        written["INSTANCE_ID"] = "$instance_id"
    if "availability_zone" in placeholders:
        written["AVAILABILITY_ZONE"] = "$zone"
    folder = FACTS.rpartition("/")[0]
    lines.append(f"[ -d {folder} ] || mkdir {folder}\n")
    assignments = "".join(f"{key}={value}\n" for key, value in written.items())
    lines.append(f'printf %s "{assignments}" >{FACTS}\n')
    return "".join(lines)


_FACTS_HEAD = r"""#!/bin/sh
# Asks the instance metadata service (IMDSv2) who this node is.
set -eu
export LC_ALL=C
imds=http://169.254.169.254/latest
ask() { exec curl -sf -m 5 --retry 9 --retry-connrefused --retry-max-time 60 "$@"; }
tell() { ask -H "X-aws-ec2-metadata-token: $token" "$imds/$1"; }
fail() { echo "the instance metadata service gave no valid $1" >&2; exit 1; }
field() {
case $document in *\"$1\"*) ;; *) fail "$1" ;; esac
value=${document#*\"$1\"}
case ${value%%\"*} in *[!:\ ]*) fail "$1" ;; esac
value=${value#*\"}
value=${value%%\"*}
}
token=$(ask -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$imds/api/token")
document=$(tell dynamic/instance-identity/document)
field instanceId
case $value in *[!0-9a-z-]*|i-*-*) fail instanceId ;; i-?*) instance_id=$value ;; *) fail instanceId ;; esac
field availabilityZone
case $value in ''|*[!0-9a-z-]*) fail availabilityZone ;; esac
zone=$value
"""

_PRIVATE_IP = r"""field privateIp
case $value in *[!0-9.]*|.*|*.|*..*|*.*.*.*.*) fail privateIp ;; *.*.*.*) address=$value ;; *) fail privateIp ;; esac
"""

_IPV6 = r"""mac=$(tell meta-data/mac)
case $mac in ''|*[!0-9a-f:]*) fail mac ;; esac
address=$(tell "meta-data/network/interfaces/macs/$mac/ipv6s")
address=${address%%
*}
case $address in *[!0-9a-f:]*) fail ipv6s ;; *:*) ;; *) fail ipv6s ;; esac
"""

_LIFECYCLE = r"""lifecycle=$(tell meta-data/instance-life-cycle)
case $lifecycle in ''|*[!a-z-]*) fail instance-life-cycle ;; esac
"""
