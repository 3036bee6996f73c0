# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live Linux node: what restarts after a changed file, for each strategy.

The families share scripts that run once, files with their readers, and kubelet's health. With C(static), each step follows its files. With
C(bootstrap_script), the image's script runs once, and again when what it was told has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import kubelet
from ..errors import Problems
from ..formats import mime
from ..kubelet import healthz
from ..kubernetes import taints_flag
from ..model.spec import NodeSpec
from . import cloud_init, kubelet_files, linux_files, node_script, post_commands, static_kubelet, trust
from .model import File, for_root_only
from .node_plan import Directory, ImageScript, Machine, Once, Plan, PlannedFile, Service, Snap, SnapFacts, Step, Verify

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


def once_steps(spec: NodeSpec) -> tuple[Once, ...]:
    """The user's own scripts in the order in which cloud-init would run them, then C(commands.pre) as one script.

    Raises C(SpecError) for parts that only a booting machine reads.
    """
    problems = Problems()
    scripts: list[tuple[int, str, str]] = []
    for index, (path, part) in enumerate(cloud_init.placed_parts(spec, problems)):
        if part.media_type == cloud_init.NODE_CONFIG:
            continue
        text = mime.decoded(part, path, problems)
        what = _PARTS_OF_A_BOOT.get(part.media_type) or (None if text.startswith("#!") else "no script")
        if what is not None:
            fix = "put it into the user data of a launch template (filter user_data), or write it as commands.pre"
            problems.add("live.boot_only_part", path, f"is {what}, which is applied only at boot", fix=fix)
        first = _RUN_FIRST.index(part.media_type) if part.media_type in _RUN_FIRST else len(_RUN_FIRST)
        scripts.append((first, cloud_init.script_name(part, index + 1), text))
    problems.raise_any()
    texts = [text for _first, _name, text in sorted(scripts, key=lambda script: script[:2])]
    names = ["user_data"] if len(texts) == 1 else [f"user_data {number}" for number in range(1, len(texts) + 1)]
    found = [Once(name, text) for name, text in zip(names, texts, strict=True)]
    if spec.commands_pre:
        found.append(Once("commands.pre", cloud_init.pre_script(spec.commands_pre, before=cloud_init.proxy_exports(spec))))
    if found and spec.trust:
        # The scripts run before any file changes, and may need the certificates.
        found.insert(0, Once("trust", cloud_init.pre_script((), before=trust.install(spec))))
    return tuple(found)


def post_steps(spec: NodeSpec) -> tuple[Service, ...]:
    """The step of C(commands.post): its unit waits for kubelet by itself, and runs only when the commands changed."""
    return (Service(POST, (post_commands.UNIT,), active=(), wait=False),) if spec.commands_post else ()


def planned(spec: NodeSpec, files: Iterable[File], readers: Mapping[str, tuple[str, ...]]) -> tuple[PlannedFile, ...]:
    """C(files) sorted by path. readers: path → the steps that read it; the files of C(commands.post) are known."""
    known = {**readers, **dict.fromkeys(post_commands.FILES, (POST,))}
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


# --- strategy static ---------------------------------------------------------------------------------------------------------------------

_CONTAINERD, _PAUSE, _KUBELET = "containerd", "pause image", "kubelet"
_RUNTIME = "containerd.service"
_SANDBOX = "sandbox-image.service"

_OF_KUBELET = (
    kubelet.CA_FILE,
    kubelet_files.CONFIG_FILE,
    kubelet.KUBECONFIG,
    static_kubelet.FACTS_SCRIPT,
    kubelet_files.KUBELET_UNIT,
    static_kubelet.KUBELET_DROP_IN,
)
_FOLDERS = (Directory("/etc/cni/net.d"), Directory("/etc/containerd/config.d"))
"""What the images' scripts make, and containerd's configuration speaks of."""


def static_unit_plan(spec: NodeSpec, machine: Machine, files: Iterable[File], disks: str) -> Plan:
    """A plan for a kubelet that is a unit. disks: shell lines that prepare the instance store, or nothing."""
    before: list[Step] = [Once("local storage", f"#!/bin/bash\nset -e\n{disks}")] if disks else []
    unit = "kubelet.service"
    kubelet = Service(_KUBELET, (unit,), enable=(unit,))
    return plan(
        spec,
        machine,
        directories=_FOLDERS,
        files=planned(spec, files, _readers(spec, unit)),
        owned=(static_kubelet.FACTS,),
        steps=(*before, *_before_kubelet(), kubelet),
        verify=verify(unit, spec.kubelet_config, spec.kubelet_flags),
    )


def static_snap_plan(spec: NodeSpec, machine: Machine, files: Iterable[File], snap: str, unit: str, image_settings: Iterable[str]) -> Plan:
    """A plan for a kubelet that is a snap. snap, unit: kubelet's.

    image_settings: what the image's script sets, and kubelet would prefer to its file.
    """
    settings = static_kubelet.snap_settings(spec)
    facts = SnapFacts(
        domain=static_kubelet.node_domain(str(spec.cluster.region)),
        by_address=spec.hostname_type != "resource_name",
        ipv6=spec.cluster.ip_family == "ipv6",
    )
    # The program that reads the identity of the node does not run: the module reads it and makes the settings.
    laid = [file for file in files if file.path != static_kubelet.FACTS_SCRIPT]
    kubelet = Snap(_KUBELET, snap, unit, settings, tuple(sorted({*image_settings} - settings.keys())))
    return plan(
        spec,
        machine,
        directories=_FOLDERS,
        files=planned(spec, laid, _readers(spec, unit)),
        snap_facts=facts,
        steps=(*_before_kubelet(), kubelet),
        verify=verify(unit, spec.kubelet_config, spec.kubelet_flags),
    )


def _before_kubelet() -> tuple[Step, ...]:
    # The unit of the BPF file system is not a step: a restart would unmount what running pods use. kubelet's unit wants it.
    # The pull has nothing to do where the image lacks the program; so only a change of its files runs it.
    return (Service(_CONTAINERD, (_RUNTIME,), enable=(_RUNTIME,)), Service(_PAUSE, (_SANDBOX,), active=()))


def _readers(spec: NodeSpec, kubelet_unit: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = dict.fromkeys(_OF_KUBELET, (_KUBELET,))
    found |= {kubelet.CONTAINERD_CONFIG: (_CONTAINERD, _PAUSE), kubelet_files.SANDBOX_UNIT: (_PAUSE,)}
    for unit, step in ((_RUNTIME, _CONTAINERD), (_SANDBOX, _PAUSE), (kubelet_unit, _KUBELET)):
        found[linux_files.proxy_path(unit)] = (step,)
        found[trust.drop_in_path(unit)] = (step,)
    found |= dict.fromkeys((file.path for file in trust.certificate_files(spec)), (_CONTAINERD, _PAUSE, _KUBELET))
    return found


# --- strategy bootstrap_script -----------------------------------------------------------------------------------------------------------

_STEP = "bootstrap script"
_READ_AT_EACH_PULL = "/etc/containerd/certs.d/"
"""containerd looks into this folder at each pull."""


def script_plan(
    spec: NodeSpec,
    machine: Machine,
    files: Iterable[File],
    text: str,
    kubelet: str,
    writes: tuple[str, ...],
    *,
    runtime: str = "containerd.service",
    snap: str | None = None,
) -> Plan:
    """A plan whose one step is the image's script.

    text: the lines that call it. kubelet, runtime: units that it starts. writes: files that it writes or edits.
    """
    laid = (*files, *for_root_only([node_script.calling_script(text)], spec.allow_secrets))
    # Whatever else changed is told to the script, or to units that it starts: proxy variables, kubelet's drop-in, its configuration.
    readers = {file.path: (_STEP,) for file in laid if not file.path.startswith(_READ_AT_EACH_PULL)}
    return plan(
        spec,
        machine,
        files=planned(spec, laid, readers),
        steps=(ImageScript(_STEP, node_script.CALLING_SCRIPT, writes, kubelet, runtime, snap),),
        verify=verify(kubelet, spec.kubelet_config, spec.kubelet_flags, runtime),
    )
