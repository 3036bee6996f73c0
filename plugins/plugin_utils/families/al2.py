# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2: a call of the image's /etc/eks/bootstrap.sh, or finished files for kubelet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import kubelet
from ..artifacts import bootstrap_script, cloud_init, comparison, eksctl_contract, kubelet_files, node_script, trust
from ..artifacts.kubelet_layers import Layers, script_layers
from ..artifacts.model import File, Notes, UserData, for_root_only
from ..artifacts.refusals import given_at, refuse, refuse_dns_of_managed, refuse_foreign_fields, refuse_managed, refuse_unless_managed_can
from ..errors import Problems
from ..formats import shell, systemd
from ..model.spec import NodeSpec

if TYPE_CHECKING:
    from ..artifacts.node_plan import Plan

_MANAGED_CAN = ("trust", "commands.pre", "user_data")

_PROXIED = ("containerd.service", "kubelet.service", "sandbox-image.service")
_CONTAINERD_FILE = "/etc/nodebootstrap/containerd-config.toml"

_SCRIPT_WRITES = (
    kubelet.CA_FILE,
    kubelet_files.CONFIG_FILE,
    kubelet.KUBECONFIG,
    kubelet.CONTAINERD_CONFIG,
    "/etc/eks/containerd/containerd-config.toml",
    kubelet_files.KUBELET_UNIT,
    "/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf",
    "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf",
    kubelet_files.SANDBOX_UNIT,
    kubelet_files.BPF_UNIT,
)
"""What the image's script writes or edits (amazon-eks-ami, al2 branch, December 2025)."""

_OUTPOST_WRITES = ("/etc/hosts", "/var/lib/kubelet/bootstrap-kubeconfig")

_IMAGE = bootstrap_script.Image(
    word_problem=systemd.al2_extra_args_problem,
    join=systemd.al2_extra_args,
    alpha_switch=True,
    image_flags={"containerRuntimeEndpoint": "container-runtime-endpoint", "logging.verbosity": "v"},
)

_WITH_OVERRIDE = {
    "containerd.config": (
        "is passed by the call that override replaces",
        "write the file in commands.pre and pass --containerd-config-file in override",
    ),
    "containerd.pause_image": (
        "is passed by the call that override replaces",
        "pass --pause-container-account and --pause-container-version in override",
    ),
}
_STATIC = {
    "override": ("replaces the call of the image's script, but strategy static does not call it", "set strategy: bootstrap_script"),
}


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what Amazon Linux 2 cannot express in this mode and with this strategy."""
    refuse_foreign_fields(spec, problems)
    refuse_unless_managed_can(spec, _MANAGED_CAN, problems)
    node_script.check(spec, problems)
    if comparison.may_change_settings(spec):
        from ..artifacts import shell_places

        shell_places.check(spec, problems)
    if spec.managed:
        refuse_dns_of_managed(spec, problems)
        if spec.strategy == "static":
            fix = "set mode: managed_custom_ami, or remove it"
            problems.add(
                "mode.static_strategy",
                "node_group.strategy",
                "static is not possible, because EKS's own part calls the image's script",
                value="static",
                fix=fix,
            )
        return
    kubelet_files.check_containerd_config(spec, problems)
    if spec.strategy == "static":
        refuse(spec, _STATIC, problems)
        from ..artifacts import static_kubelet

        static_kubelet.check(spec, systemd.systemd_problem, problems)
        return
    if spec.override is not None:
        refuse(spec, _WITH_OVERRIDE, problems)
    bootstrap_script.check(spec, _IMAGE, problems)


def kubelet_input(spec: NodeSpec, problems: Problems) -> Layers | None:
    """What kubelet is given; with C(mode: managed) nothing."""
    return None if spec.managed else script_layers(spec)


def notes(spec: NodeSpec) -> Notes:
    """What C(override) changes, and scripts of the user that are not compared with the fields."""
    if not comparison.may_change_settings(spec):
        return Notes()
    from ..artifacts import shell_places

    return shell_places.notes(spec, _IMAGE)


def user_data(spec: NodeSpec) -> UserData:
    """One script, or MIME when there is more than one part; with C(mode: managed) only the user's own parts."""
    if spec.managed:
        parts = [
            *cloud_init.name_parts("user_data", cloud_init.existing_parts(spec, Problems())),
            *cloud_init.name_parts(
                "commands.pre" if spec.commands_pre else "trust", cloud_init.pre_parts(spec.commands_pre, None, trust.install(spec))
            ),
        ]
        return cloud_init.document(parts, always_mime=True)
    laid = _files(spec)
    return node_script.user_data(spec, laid, _body(spec, laid))


def files(spec: NodeSpec) -> tuple[File, ...]:
    """The files that the user data lays down, and a script with what it runs then."""
    if spec.managed:
        return ()
    laid = _files(spec)
    every = sorted((*laid, node_script.calling_script(_body(spec, laid))), key=lambda file: file.path)
    return for_root_only(every, spec.allow_secrets)


def plan(spec: NodeSpec) -> Plan:
    """What a live node needs. Raises C(SpecError) for a managed group, and for user data that only a boot can apply."""
    from ..artifacts import live_plan
    from ..artifacts.node_plan import Machine

    refuse_managed(spec)
    machine = Machine(("amzn",), ("2",), "Amazon Linux 2")
    if spec.strategy == "static":
        return live_plan.static_unit_plan(spec, machine, _files(spec), _disks(spec))
    script = _body(replace(spec, commands_post=()), ())
    writes = (*_SCRIPT_WRITES, *(_OUTPOST_WRITES if spec.cluster.outpost else ()))
    return live_plan.script_plan(spec, machine, _files(spec), script, "kubelet.service", writes, runtime="containerd.service")


def _files(spec: NodeSpec) -> tuple[File, ...]:
    common = node_script.common_files(spec, "kubelet.service", _PROXIED)
    if spec.strategy == "static":
        from ..artifacts import static_kubelet

        found = (*static_kubelet.unit_files(spec), *common)
    else:
        containerd = (
            (File(_CONTAINERD_FILE, kubelet_files.containerd_config(spec, kubelet_files.PAUSE_PLACEHOLDER)),)
            if spec.containerd.config
            else ()
        )
        override = eksctl_contract.files(spec, _IMAGE)
        found = (*bootstrap_script.files(spec), *containerd, *override, *common)
    return for_root_only(sorted(found, key=lambda file: file.path), spec.allow_secrets)


def _body(spec: NodeSpec, laid: tuple[File, ...]) -> str:
    if spec.strategy == "static":
        from ..artifacts import static_kubelet

        return node_script.body(spec, laid, _disks(spec) + static_kubelet.UNIT_START)
    if spec.override is not None:
        return node_script.body(spec, laid, _disks(spec) + eksctl_contract.start())
    disks = _disks(spec) if spec.local_storage and spec.local_storage.mount_path else ""
    return node_script.body(spec, laid, disks + bootstrap_script.call(spec, _options(spec), bootstrap_script.extra_args(spec, _IMAGE)))


def _disks(spec: NodeSpec) -> str:
    """The image's own program for instance store disks; its script can pass a strategy to it, but no folder."""
    storage = spec.local_storage
    if storage is None:
        return ""
    return shell.command(["setup-local-disks", storage.strategy, *(["--dir", storage.mount_path] if storage.mount_path else [])]) + "\n"


def _options(spec: NodeSpec) -> list[str]:
    options = bootstrap_script.common_options(spec)
    if spec.cluster.outpost:
        options += ["--enable-local-outpost", "true", "--cluster-id", str(spec.cluster.id)]
    if spec.local_storage and not spec.local_storage.mount_path:
        options += ["--local-disks", spec.local_storage.strategy]
    if given_at(spec, "containerd.config") is not None:
        options += ["--containerd-config-file", _CONTAINERD_FILE]
    return options
