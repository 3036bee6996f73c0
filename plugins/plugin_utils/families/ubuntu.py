# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ubuntu. Canonical's images: a call of their /etc/eks/bootstrap.sh, or finished files and settings of the kubelet snap.

Images of the role eks_node_image: finished files for a kubelet that is a unit.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import kubelet
from ..artifacts import bootstrap_script, comparison, eksctl_contract, kubelet_files, node_script
from ..artifacts.kubelet_layers import Layers, script_layers
from ..artifacts.model import File, Notes, UserData, for_root_only
from ..artifacts.refusals import refuse, refuse_foreign_fields
from ..errors import Problems
from ..formats import systemd
from ..model.spec import NodeSpec

if TYPE_CHECKING:
    from ..artifacts.node_plan import Plan

_SNAP = "kubelet-eks"
_SNAP_UNIT = "snap.kubelet-eks.daemon.service"

_NAMES = {"'": "a single quote", '"': "a double quote", "\\": "a backslash", "$": "a dollar sign", "`": "a backquote"}

_ALWAYS = {
    "local_storage": ("needs setup-local-disks, which Canonical's images do not include", "prepare the disks in commands.pre"),
}
_SCRIPT = {
    "containerd.config": ("cannot be passed: the image's script has no --containerd-config-file", "use strategy: static"),
}
_STATIC = {
    "override": ("replaces the call of the image's script, but strategy static does not call it", "set strategy: bootstrap_script"),
}
_WITH_OVERRIDE = {
    "containerd.pause_image": (
        "is passed by the call that override replaces",
        "pass --pause-container-account and --pause-container-version in override",
    ),
}


def word_problem(word: str) -> str | None:
    """Why C(word) may not reach kubelet through the snap's setting C(args), or None.

    The snap splits the setting at blanks and undoes no quoting; what else its wrapper does to quotes, backslashes and
    variables differs between snaps and is documented nowhere.
    """
    if any(char.isspace() for char in word):
        return "contains a space, at which the kubelet snap splits its arguments"
    for char, name in _NAMES.items():
        if char in word:
            return f"contains {name}, which the kubelet snap does not pass to kubelet reliably"
    return None if word.isprintable() else "contains a control character, which settings of the kubelet snap cannot contain"


def _join(words: Sequence[str]) -> str:
    return " ".join(words)


_IMAGE = bootstrap_script.Image(
    word_problem=word_problem,
    join=_join,
    alpha_switch=False,
    image_flags={
        "address": "address",
        "authentication.anonymous.enabled": "anonymous-auth",
        "authentication.webhook.enabled": "authentication-token-webhook",
        "authentication.x509.clientCAFile": "client-ca-file",
        "authorization.mode": "authorization-mode",
        "cgroupDriver": "cgroup-driver",
        "clusterDomain": "cluster-domain",
        "containerRuntimeEndpoint": "container-runtime-endpoint",
        "resolvConf": "resolv-conf",
    },
)
"""image_flags: the settings that the script gives to the snap (a public copy of the script of Kubernetes 1.24 to 1.26)."""


_IMAGE_SETTINGS = (*_IMAGE.image_flags.values(), "cluster-dns", "feature-gates")
"""Settings of the snap that the image's script makes and that a kubelet with finished files must not find."""

_SCRIPT_WRITES = (
    kubelet.CA_FILE,
    kubelet_files.CONFIG_FILE,
    kubelet.KUBECONFIG,
    kubelet.CONTAINERD_CONFIG,
    kubelet_files.SANDBOX_UNIT,
)


def _is_unit(spec: NodeSpec) -> bool:
    """Whether kubelet is a unit, on an image of the role eks_node_image."""
    return spec.ubuntu_kubelet == "unit"


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what Ubuntu cannot express with this strategy."""
    refuse_foreign_fields(spec, problems)
    node_script.check(spec, problems)
    if comparison.may_change_settings(spec):
        from ..artifacts import shell_places

        shell_places.check(spec, problems)
    if spec.managed:
        problems.add(
            "mode.unknown_on_family",
            "node_group.mode",
            "does not exist on ubuntu: EKS does not provide Ubuntu images, so it adds nothing to the user data",
            value=spec.mode,
            allowed="self_managed, managed_custom_ami",
            fix="use managed_custom_ami",
        )
        return
    refuse(spec, _ALWAYS, problems)
    if spec.cluster.outpost:
        problems.add(
            "cluster.unsupported_outpost",
            "cluster.outpost",
            "is not supported: Canonical's images cannot join local clusters on Outposts",
            fix="set family: al2 or al2023",
        )
    kubelet_files.check_containerd_config(spec, problems)
    if spec.strategy == "static":
        refuse(spec, _STATIC, problems)
        from ..artifacts import static_kubelet

        static_kubelet.check(spec, systemd.systemd_problem if _is_unit(spec) else word_problem, problems)
        return
    if _is_unit(spec):
        problems.add(
            "input.conflict",
            "node_group.ubuntu.kubelet",
            "needs strategy static: images with kubelet as a unit do not have the script of Canonical's images",
            value=spec.ubuntu_kubelet,
            fix="set strategy: static",
        )
    refuse(spec, _SCRIPT, problems)
    if spec.override is not None:
        refuse(spec, _WITH_OVERRIDE, problems)
    bootstrap_script.check(spec, _IMAGE, problems)
    _check_dns(spec, problems)


def _check_dns(spec: NodeSpec, problems: Problems) -> None:
    if len(spec.dns_ips) > 1:
        problems.add(
            "cluster.too_many_dns_ips",
            "cluster.dns_ips",
            "has several addresses, but the image's script accepts only one",
            value=list(spec.dns_ips),
            allowed="one IP address",
            fix="set one address, or use strategy: static",
        )
    elif spec.dns_ips and spec.cluster.ip_family == "ipv6" and spec.cluster.service_cidr:
        taken = f"{spec.cluster.service_cidr.split('/')[0]}a"
        if not _same(taken, spec.dns_ips[0]):
            problems.add(
                "cluster.ignored_dns_ips",
                "cluster.dns_ips",
                f"has no effect in an IPv6 cluster: the image's script always uses {taken}",
                value=list(spec.dns_ips),
                fix="remove it, or use strategy: static",
            )


def _same(one: str, other: str) -> bool:
    try:
        return ipaddress.ip_address(one) == ipaddress.ip_address(other)
    except ValueError:
        return False


def notes(spec: NodeSpec) -> Notes:
    """What C(override) changes, and scripts of the user that are not compared with the fields."""
    if not comparison.may_change_settings(spec):
        return Notes()
    from ..artifacts import shell_places

    return shell_places.notes(spec, _IMAGE)


def kubelet_input(spec: NodeSpec, problems: Problems) -> Layers | None:
    """What kubelet is given; with C(mode: managed) nothing."""
    return None if spec.managed else script_layers(spec)


def user_data(spec: NodeSpec) -> UserData:
    """One script, or MIME when there is more than one part."""
    laid = _files(spec)
    return node_script.user_data(spec, laid, _body(spec, laid))


def files(spec: NodeSpec) -> tuple[File, ...]:
    """The files that the user data lays down, and a script with what it runs then."""
    laid = _files(spec)
    every = sorted((*laid, node_script.calling_script(_body(spec, laid))), key=lambda file: file.path)
    return for_root_only(every, spec.allow_secrets)


def plan(spec: NodeSpec) -> Plan:
    """What a live node needs. Raises C(SpecError) for user data that only a boot can apply."""
    from ..artifacts import live_plan
    from ..artifacts.node_plan import Machine

    release = spec.ubuntu_release
    machine = Machine(("ubuntu",), (release,) if release else (), f"Ubuntu {release}" if release else "Ubuntu")
    if spec.strategy == "static":
        if _is_unit(spec):
            return live_plan.static_unit_plan(spec, machine, _files(spec), "")
        return live_plan.static_snap_plan(spec, machine, _files(spec), _SNAP, _SNAP_UNIT, _IMAGE_SETTINGS)
    script = _body(replace(spec, commands_post=()), ())
    return live_plan.script_plan(spec, machine, _files(spec), script, _SNAP_UNIT, _SCRIPT_WRITES, snap=_SNAP)


def _files(spec: NodeSpec) -> tuple[File, ...]:
    unit = "kubelet.service" if _is_unit(spec) else _SNAP_UNIT
    common = node_script.common_files(spec, unit, ("containerd.service", unit))
    if spec.strategy == "static":
        from ..artifacts import static_kubelet

        own = static_kubelet.unit_files if _is_unit(spec) else static_kubelet.snap_files
        found = (*own(spec), *common)
    else:
        found = (*bootstrap_script.files(spec), *eksctl_contract.files(spec, _IMAGE), *common)
    return for_root_only(sorted(found, key=lambda file: file.path), spec.allow_secrets)


def _body(spec: NodeSpec, laid: tuple[File, ...]) -> str:
    if spec.strategy == "static":
        from ..artifacts import static_kubelet

        start = static_kubelet.UNIT_START if _is_unit(spec) else static_kubelet.snap_start(spec)
        return node_script.body(spec, laid, start)
    if spec.override is not None:
        return node_script.body(spec, laid, eksctl_contract.start())
    options = bootstrap_script.common_options(spec)
    return node_script.body(spec, laid, bootstrap_script.call(spec, options, bootstrap_script.extra_args(spec, _IMAGE)))
