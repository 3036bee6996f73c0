# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a plan that the Linux families share: scripts that run once, files with their readers, kubelet's health."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problem, Problems, SpecError
from ..formats import mime
from ..kubernetes import taints_flag
from ..model.spec import NodeSpec
from . import cloud_init, linux_files
from .kubelet_health import healthz
from .model import File
from .node_plan import Machine, Once, Plan, PlannedFile, Service, Step, Verify

POST = "commands.post"
"""Name of the step that runs the commands of C(commands.post)."""

_PARTS_OF_A_BOOT = {
    "text/cloud-config": "a cloud-config",
    "text/cloud-config-archive": "a cloud-config archive",
    "text/cloud-config-jsonp": "a cloud-config patch",
    "text/cloud-boothook": "a boothook",
    "text/jinja2": "a Jinja template",
    "text/part-handler": "a part handler",
    "text/upstart-job": "an upstart job",
    "text/x-include-once-url": "an include",
    "text/x-include-url": "an include",
    "text/x-shellscript-per-boot": "a script for every boot",
}
"""Parts of user data that cloud-init takes for what their type says, and that mean nothing once a node has booted."""

_RUN_FIRST = ("text/x-shellscript-per-once", "text/x-shellscript-per-instance")
"""cloud-init runs these, in this order, before the scripts of other types."""


def refuse_managed(spec: NodeSpec) -> None:
    """Raise C(SpecError) for a managed node group: its nodes are set up by EKS when they boot."""
    if spec.managed:
        fix = "put the user data of this group into its launch template (filter user_data), or set mode: managed_custom_ami"
        message = "cannot be applied to a live node: EKS completes the user data, and sets up the node when it boots"
        raise SpecError([Problem("live.managed_group", "node_group.mode", message, value=spec.mode, fix=fix)])


def once_steps(spec: NodeSpec) -> tuple[Once, ...]:
    """The user's own scripts in the order in which cloud-init would run them, then C(commands.pre) as one script.

    Raises C(SpecError) for parts that only a booting machine reads.
    """
    problems = Problems()
    scripts: list[tuple[int, str, str]] = []
    for index, part in enumerate(cloud_init.existing_parts(spec, problems)):
        if part.media_type == cloud_init.NODE_CONFIG:
            continue
        path = f"node_group.user_data, part {index}"
        text = mime.decoded(part, path, problems)
        what = _PARTS_OF_A_BOOT.get(part.media_type) or (None if text.startswith("#!") else "no script")
        if what is not None:
            fix = "put it into the user data of a launch template (filter user_data), or write it as commands.pre"
            problems.add("live.boot_only_part", path, f"is {what}, which only a boot can apply", fix=fix)
        first = _RUN_FIRST.index(part.media_type) if part.media_type in _RUN_FIRST else len(_RUN_FIRST)
        scripts.append((first, cloud_init.script_name(part, index + 1), text))
    problems.raise_any()
    texts = [text for _first, _name, text in sorted(scripts, key=lambda script: script[:2])]
    names = ["user_data"] if len(texts) == 1 else [f"user_data {number}" for number in range(1, len(texts) + 1)]
    found = [Once(name, text) for name, text in zip(names, texts, strict=True)]
    if spec.commands_pre:
        found.append(Once("commands.pre", cloud_init.pre_script(spec.commands_pre)))
    return tuple(found)


def post_steps(spec: NodeSpec) -> tuple[Service, ...]:
    """The step of C(commands.post): its unit waits for kubelet by itself, and runs only when the commands changed."""
    return (Service(POST, (linux_files.POST_UNIT,), active=(), wait=False),) if spec.commands_post else ()


def planned(spec: NodeSpec, files: Iterable[File], readers: Mapping[str, tuple[str, ...]]) -> tuple[PlannedFile, ...]:
    """C(files) sorted by path. readers: path → the steps that read it; the files of C(commands.post) are known."""
    post = {file.path: (POST,) for file in linux_files.post_commands(spec.commands_post, (), "")}
    known = {**readers, **post}
    every = sorted(files, key=lambda file: file.path)
    return tuple(PlannedFile(file, _form(file.path), known.get(file.path, ()), spec.allow_secrets) for file in every)


def _form(path: str) -> str:
    if path.startswith("/etc/systemd/system/"):
        return "unit"
    if path.endswith("/containerd/config.toml") or path.endswith("/containerd-config.toml"):
        return "containerd"
    return "json" if path.startswith("/etc/kubernetes/kubelet/") else "text"


def plan(spec: NodeSpec, machine: Machine, *, steps: Iterable[Step], verify: Verify, **rest: Any) -> Plan:
    """A plan with what follows from the specification alone filled in. rest: the other fields of C(Plan)."""
    return Plan(
        family=spec.family,
        strategy=spec.strategy,
        machine=machine,
        cluster_name=str(spec.cluster.name),
        endpoint=str(spec.cluster.endpoint),
        labels=dict(spec.labels),
        taints=tuple(taints_flag([taint]) for taint in spec.taints),
        steps=(*once_steps(spec), *steps, *post_steps(spec)),
        verify=verify,
        warnings=spec.warnings,
        unchecked=spec.unchecked,
        **rest,
    )


def verify(
    kubelet_unit: str, config: Mapping[str, Any], flags: Mapping[str, tuple[str, ...]], runtime: str = "containerd.service"
) -> Verify:
    """When the node counts as healthy. config, flags: of kubelet; runtime: the unit of the container runtime."""
    return Verify((runtime, kubelet_unit), healthz(config, flags))
