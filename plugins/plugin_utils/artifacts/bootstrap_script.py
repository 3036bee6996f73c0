# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategy C(bootstrap_script): one call of the image's /etc/eks/bootstrap.sh, and kubelet's configuration in place before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from ..formats import json, shell, systemd
from ..kubelet_flags import flags_of_field, unsafe_value_fix
from ..kubernetes import node_labels_flag, taints_flag
from ..model.spec import NodeSpec
from . import boot_labels
from .model import File
from .refusals import given_at

SCRIPT = "/etc/eks/bootstrap.sh"
CONFIG_DIR = "/etc/kubernetes/kubelet/config.json.d"
CONFIG_FILE = f"{CONFIG_DIR}/50-nodebootstrap.conf"
ALPHA_DROP_IN = "/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf"

_DROP_INS = (1, 29)
"""kubelet needs an environment variable for --config-dir. kubelet 1.28 knows both, but merges all of its defaults with a drop-in, so that
they replace what the image sets, such as the cgroup driver (mergeKubeletConfigurations in cmd/kubelet/app/server.go)."""
_DROP_INS_WITHOUT_SWITCH = (1, 30)
"""From here on without that variable (Kubernetes 1.30 release notes)."""

_PAUSE = re.compile(
    r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.[a-z0-9.]+/eks/pause:(?P<version>[0-9A-Za-z_][0-9A-Za-z_.-]{0,127})"
)
_IMAGE = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:/@-]*")


@dataclass(frozen=True)
class Image:
    """What differs between the images' scripts.

    word_problem: why one of kubelet's words would not survive the way from the script to kubelet; None when it does.
    join: kubelet's words as the text for C(--kubelet-extra-args).
    alpha_switch: whether kubelet's unit can be given the environment variable that 1.29 wants for --config-dir.
    image_flags: KubeletConfiguration field → the flag by which the image sets it, so that no file can.
    """

    word_problem: Callable[[str], str | None]
    join: Callable[[Sequence[str]], str]
    alpha_switch: bool
    image_flags: Mapping[str, str]


def check(spec: NodeSpec, image: Image, problems: Problems) -> None:
    """Report what the image's script cannot set."""
    check_flags(spec, image.word_problem, problems)
    _check_configuration(spec, image, problems)
    check_containerd(spec, problems)
    if given_at(spec, "instance.hostname_type") is not None:
        problems.add(
            "strategy.hostname_type",
            "node_group.instance.hostname_type",
            "cannot be set with strategy bootstrap_script: the image's script gets the node's name from EC2",
            fix="remove it: both kinds of names work",
        )
    if any(":" in address for address in spec.dns_ips) and spec.cluster.service_cidr is None and not problems.touches("cluster"):
        problems.add(
            "cluster.missing_service_cidr",
            "cluster.service_cidr",
            "is required in an IPv6 cluster",
            fix="copy kubernetesNetworkConfig.serviceIpv6Cidr of `aws eks describe-cluster`",
        )
    if spec.containerd.pause_image is not None:
        _check_pause_image(spec, spec.containerd.pause_image, problems)


def check_flags(spec: NodeSpec, word_problem: Callable[[str], str | None], problems: Problems) -> None:
    """Report flags of the user that would not reach kubelet as they are."""
    for name, values in spec.kubelet_flags.items():
        for value in values:
            reason = word_problem(f"--{name}={value}")
            if reason:
                fix = unsafe_value_fix(name, spec.cluster.kubernetes_version)
                problems.add("kubelet.unsafe_flag_value", joined("node_group.kubelet.flags", name), reason, value=value, fix=fix)


def check_containerd(spec: NodeSpec, problems: Problems) -> None:
    """Report an invalid pause image."""
    image = spec.containerd.pause_image
    if image is not None and not _IMAGE.fullmatch(image):
        problems.add(
            "containerd.invalid_pause_image",
            "node_group.containerd.pause_image",
            "is not an image reference",
            value=image,
            allowed="HOST/PATH:TAG",
        )


def _check_configuration(spec: NodeSpec, image: Image, problems: Problems) -> None:
    for field, flag in image.image_flags.items():
        path = f"node_group.kubelet.config.{field}"
        if _at(spec.kubelet_config, field) is not None and not problems.touches(path):
            static = "" if field in flags_of_static(spec.family) else ", or use strategy: static"
            fix = f"write kubelet.flags.{flag}, which overrides the image's flag{static}"
            problems.add(
                "kubelet.flag_overrides_config",
                path,
                f"has no effect: the image passes --{flag}, and flags override the configuration file",
                fix=fix,
            )
    reason = _drop_in_problem(spec.cluster.kubernetes_version, image.alpha_switch)
    if reason is None:
        return
    config = given_at(spec, "kubelet.config") or {}
    fields = {field: value for field, value in config.items() if value is not None and field not in ("maxPods", "clusterDNS")}
    flags = [flags_of_field(field, value, spec.cluster.kubernetes_version) for field, value in fields.items()]
    named = " and ".join(f"kubelet.flags.{flag}" for names in flags for flag in names)
    for path in _configuration_paths(spec):
        fix = "use strategy: static"
        if path == "node_group.kubelet.config" and all(flags):
            fix = f"{fix}, or write {named}"
        if spec.cluster.kubernetes_version is None:
            fix = f"set cluster.kubernetes_version, or {fix}"
        if not problems.touches(path) and not problems.touches("cluster.kubernetes_version"):
            problems.add("kubelet.no_config_drop_in", path, reason, fix=fix)


def flags_of_static(family: str) -> Mapping[str, str]:
    """KubeletConfiguration field → the flag by which C(strategy: static) sets it: kubelet prefers flags to its file."""
    flags = {"containerRuntimeEndpoint": "container-runtime-endpoint", "providerID": "provider-id"}
    return flags | ({"logging.verbosity": "v"} if family == "al2" else {})


def _drop_in_problem(version: tuple[int, int] | None, alpha_switch: bool) -> str | None:
    since = _DROP_INS if alpha_switch else _DROP_INS_WITHOUT_SWITCH
    asked = f"is written to a file for kubelet's --config-dir, which is supported here from Kubernetes 1.{since[1]} on"
    if version is None:
        return f"{asked}, and the cluster's version is not set"
    return f"{asked}, and the cluster runs 1.{version[1]}" if version < since else None


def _configuration_paths(spec: NodeSpec) -> list[str]:
    """Where the user gave what goes into the file."""
    config = given_at(spec, "kubelet.config") or {}
    paths = ["node_group.kubelet.config"] if any(key not in ("maxPods", "clusterDNS") for key in config) else []
    if given_at(spec, "reserved") is not None and (spec.kube_reserved or spec.system_reserved):
        paths.append("node_group.reserved")
    return paths


def _check_pause_image(spec: NodeSpec, image: str, problems: Problems) -> None:
    path = "node_group.containerd.pause_image"
    match = _PAUSE.fullmatch(image)
    form = "ACCOUNT.dkr.ecr.REGION.amazonaws.com/eks/pause:VERSION"
    if problems.touches(path):
        return
    if match is None:
        problems.add(
            "containerd.pause_image_not_ecr",
            path,
            "cannot be passed to the image's script, which accepts only an ECR account and a version",
            value=image,
            allowed=form,
            fix="use strategy: static",
        )
    elif spec.cluster.region is None:
        problems.add(
            "containerd.pause_image_other_region",
            path,
            "is in a fixed region, but the image's script always uses the node's region",
            value=image,
            fix="set cluster.region, so that the two can be compared",
        )
    elif match["region"] != spec.cluster.region:
        problems.add(
            "containerd.pause_image_other_region",
            path,
            f"is not in {spec.cluster.region}, but the image's script always uses the node's region",
            value=image,
            allowed=form,
            fix="use strategy: static",
        )


def _at(tree: Mapping[str, Any], path: str) -> Any:
    node: Any = tree
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    return node


def files(spec: NodeSpec) -> tuple[File, ...]:
    """kubelet's configuration drop-in and, before 1.30, the unit drop-in with the variable that makes kubelet read it."""
    document = spec.kubelet_document()
    if not document:
        return ()
    head = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    found = [File(CONFIG_FILE, json.dump(document | head) + "\n")]
    version = spec.cluster.kubernetes_version
    if version is not None and version < _DROP_INS_WITHOUT_SWITCH:
        found.append(File(ALPHA_DROP_IN, systemd.unit({"Service": [("Environment", "KUBELET_CONFIG_DROPIN_DIR_ALPHA=on")]})))
    return tuple(found)


def kubelet_words(spec: NodeSpec) -> list[str]:
    """kubelet's words in the order in which they are passed; labels may hold placeholders, so they come first."""
    words = []
    if spec.labels:
        words.append(f"--node-labels={node_labels_flag(spec.labels)}")
    if spec.taints:
        words.append(f"--register-with-taints={taints_flag(spec.taints)}")
    if spec.max_pods is not None:
        words.append(f"--max-pods={spec.max_pods}")
    if spec.kubelet_document():
        words.append(f"--config-dir={CONFIG_DIR}")
    return [*words, *user_words(spec)]


def user_words(spec: NodeSpec) -> list[str]:
    """The user's flags, sorted by name; a flag with several values is repeated."""
    return [f"--{name}={value}" for name, values in sorted(spec.kubelet_flags.items()) for value in values]


def extra_args(spec: NodeSpec, image: Image) -> str:
    """The value of C(--kubelet-extra-args) as one shell word, or nothing. Labels known only at boot are shell variables in it."""
    return labelled_word(spec, image.join(kubelet_words(spec)))


def labelled_word(spec: NodeSpec, text: str) -> str:
    """C(text) as one shell word. Where it begins with labels, their placeholders become shell variables."""
    if not text or not boot_labels.placeholders(spec.labels):
        return shell.quote(text) if text else ""
    # Label keys and values hold nothing that means anything between double quotes.
    labels, blank, rest = text.partition(" ")
    return f'"{boot_labels.shell_text(labels)}"' + (shell.quote(blank + rest) if blank else "")


def call(spec: NodeSpec, options: Iterable[str], extra: str) -> str:
    """Lines that ask for what only the node knows, and call the image's script: cluster name first, one word a value.

    Older scripts take an unknown option for a word of its own, and the first such word for the cluster's name: hence the order,
    and no option that a script may not know.
    """
    cluster = spec.cluster
    words = [
        SCRIPT,
        str(cluster.name),
        "--apiserver-endpoint",
        str(cluster.endpoint),
        "--b64-cluster-ca",
        str(cluster.certificate_authority),
    ]
    line = shell.command([*words, *options])
    lookups = boot_labels.shell_lookups(boot_labels.placeholders(spec.labels))
    return lookups + line + (f" --kubelet-extra-args {extra}" if extra else "") + "\n"


def common_options(spec: NodeSpec) -> list[str]:
    """Options that the scripts of both images know."""
    options = []
    if spec.dns_ips:
        options += ["--dns-cluster-ip", ",".join(spec.dns_ips)]
    if spec.cluster.ip_family == "ipv6":
        options += ["--ip-family", "ipv6", "--service-ipv6-cidr", str(spec.cluster.service_cidr)]
    if spec.max_pods is not None:
        options += ["--use-max-pods", "false"]
    match = _PAUSE.fullmatch(spec.containerd.pause_image or "")
    if match:
        options += ["--pause-container-account", match["account"], "--pause-container-version", match["version"]]
    return options
