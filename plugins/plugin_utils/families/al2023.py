# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2023: NodeConfig documents for nodeadm, and what has to stand on the node beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..artifacts import (
    boot_labels,
    cloud_init,
    comparison,
    file_places,
    linux_files,
    nodeconfig_flags,
    nodeconfig_parts,
    origins,
    post_commands,
    proxy_environment,
    trust,
)
from ..artifacts.kubelet_layers import Layers
from ..artifacts.model import File, Notes, UserData, for_root_only
from ..artifacts.nodeconfig_parts import section
from ..artifacts.refusals import given_at, refuse, refuse_foreign_fields, refuse_managed, refuse_unless_managed_can
from ..errors import Problems, SpecError, joined
from ..formats import shell, systemd, yaml
from ..formats.mime import Part
from ..kubelet import healthz
from ..kubelet_flags import unsafe_value_fix
from ..kubernetes import node_labels_flag, taints_flag
from ..model.checks import check_outpost_endpoint
from ..model.merge import merge_disjoint
from ..model.spec import NodeSpec
from ..nodeconfig.document import check_document

if TYPE_CHECKING:
    from ..artifacts.node_plan import Plan

API_VERSION = "node.eks.aws/v1alpha1"

_REFUSED = {
    "strategy": ("exists only on al2 and ubuntu; al2023 always boots through nodeadm", "remove it"),
    "containerd.pause_image": ("cannot be set: nodeadm always uses the pause image that is baked into the AMI", "remove it"),
}

_MANAGED_CAN = (
    "max_pods",
    "reserved",
    "kubelet",
    "containerd",
    "trust",
    "local_storage",
    "proxy",
    "commands.pre",
    "override",
    "user_data",
    "nodeadm",
)

_KUBELET_WITH_LOST_SETTINGS = (1, 28)
"""nodeadm of July 2026 writes a drop-in for it; before, nodeadm merged the configurations (nodeadm/internal/kubelet/config.go)."""

_STORAGE = {"raid0": "RAID0", "raid10": "RAID10", "mount": "Mount"}

_PRE_FAILED = "systemctl disable --now nodeadm-run.service"
"""nodeadm-run starts kubelet after cloud-init. This takes its waiting start back and keeps the node out at later boots, too;
a mask would not, as the image has the unit in /etc (amazon-eks-ami, July 2026)."""

_BOOT_LABELS = "/etc/eks/nodeadm.d/60-nodebootstrap-labels.yaml"
_DOCUMENT = "/etc/eks/nodeadm.d/50-nodebootstrap.yaml"
_CONFIG_UNIT = "/etc/systemd/system/nodeadm-config.service.d/50-nodebootstrap.conf"
_RUN_UNIT = "/etc/systemd/system/nodeadm-run.service.d/50-nodebootstrap.conf"
_BOOT_LABELS_SCRIPT = "/etc/nodebootstrap/boot-labels"
_KUBELET = "kubelet.service"
_READ_BY_NODEADM = (_DOCUMENT, _CONFIG_UNIT, _RUN_UNIT, _BOOT_LABELS_SCRIPT)


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what AL2023 cannot express, and what nodeadm would refuse or drop."""
    refuse(spec, _REFUSED, problems)
    refuse_foreign_fields(spec, problems)
    refuse_unless_managed_can(spec, _MANAGED_CAN, problems)
    if "cluster" in spec.nodeadm:
        fix = "remove it: the NodeConfig gets the fields of cluster"
        problems.add("nodeadm.cluster_field", "node_group.nodeadm.cluster", "cannot be set here", fix=fix)
    if spec.max_pods is not None and "maxPodsExpression" in section(spec.nodeadm, "kubelet"):
        problems.add(
            "input.conflict",
            "node_group.nodeadm.kubelet.maxPodsExpression",
            "conflicts with node_group.max_pods",
            fix="set only one of the two",
        )
    own = {key: value for key, value in spec.nodeadm.items() if key != "cluster"}
    if own:
        from ..nodeconfig import schema

        schema.spec_problems(own, "node_group.nodeadm", problems, spec.cluster.kubernetes_version)
    for name, values in spec.kubelet_flags.items():
        for value in values:
            reason = nodeconfig_flags.flag_value_problem(value)
            if reason:
                fix = unsafe_value_fix(name, spec.cluster.kubernetes_version)
                problems.add("kubelet.unsafe_flag_value", joined("node_group.kubelet.flags", name), reason, value=value, fix=fix)
    parts = cloud_init.placed_parts(spec, problems)
    file_places.check(spec, problems)
    override = _override(spec, problems)
    settings = _settings(spec, problems)
    _check_containerd(spec, settings, problems)
    post_commands.check(spec.commands_post, _health(settings), problems)
    placed = nodeconfig_parts.placed_configs(parts, problems)
    last = [("node_group.override", override)] if override else []
    if placed or last:
        from ..artifacts import document_agreement

        for documents in (placed, last):
            document_agreement.check(documents, problems)
    for path, document in (*placed, *last):
        cluster = section(nodeconfig_parts.settings(document), "cluster")
        if (spec.cluster.outpost or cluster.get("enableOutpost")) and isinstance(cluster.get("apiServerEndpoint"), str):
            check_outpost_endpoint(cluster["apiServerEndpoint"], f"{path}.spec.cluster.apiServerEndpoint", problems)
    _reconciled(settings, placed, override, spec, problems)


def _check_containerd(spec: NodeSpec, settings: Mapping[str, Any], problems: Problems) -> None:
    """Report TOML for containerd that does not fit what nodeadm merges it into."""
    text = section(settings, "containerd").get("config")
    path = "node_group.containerd.config" if spec.containerd.config else "node_group.nodeadm.containerd.config"
    if not isinstance(text, str) or problems.touches(path):
        return
    from ..artifacts import containerd_config
    from ..formats import toml

    config = toml.load(text, path, problems)
    containerd_config.check_version(config, spec.cluster.kubernetes_version, path, problems)
    containerd_config.check(config, path, problems, has_mirrors=bool(spec.containerd.registry_mirrors))


def notes(spec: NodeSpec) -> Notes:
    """A warning for each value that C(override) changes, and for a configuration of kubelet 1.28; scripts that are not compared."""
    found = Problems()
    if spec.override is not None:
        problems = Problems()
        existing = _existing(spec, problems)
        _reconciled(_settings(spec, problems), existing, _override(spec, problems), spec, problems, found)
    layers = kubelet_input(spec, Problems()) if spec.cluster.kubernetes_version == _KUBELET_WITH_LOST_SETTINGS else None
    if layers is not None and layers.drop_in:
        found.add(
            "kubelet.drop_in_with_defaults",
            "cluster.kubernetes_version",
            "nodeadm of newer images writes the configuration of kubelet to a drop-in file, and kubelet 1.28 merges all of its defaults "
            "with it: the cgroup driver becomes cgroupfs, and pods do not start",
            value="1.28",
            fix="use Kubernetes 1.29 or newer, or an image whose nodeadm does not create /etc/kubernetes/kubelet/config.json.d",
        )
    if not comparison.may_change_settings(spec):
        return Notes(tuple(found))
    from ..artifacts import shell_places

    return Notes(tuple(found), shell_places.unread(spec))


def _reconciled(
    ours: dict[str, Any],
    existing: list[tuple[str, dict[str, Any]]],
    override: Mapping[str, Any] | None,
    spec: NodeSpec,
    problems: Problems,
    warnings: Problems | None = None,
) -> dict[str, Any]:
    """Our settings as they have to be written beside the user's own NodeConfigs and C(override)."""
    if not existing and not override:
        return ours
    from ..artifacts import nodeconfig_precedence

    return nodeconfig_precedence.reconcile(ours, existing, override, spec, problems, warnings)


def _override(spec: NodeSpec, problems: Problems) -> dict[str, Any] | None:
    return None if spec.override is None else check_document(spec.override, "node_group.override", problems)


def _existing(spec: NodeSpec, problems: Problems) -> list[tuple[str, dict[str, Any]]]:
    """The NodeConfigs in the user's own user data, each with its place in the input."""
    return nodeconfig_parts.placed_configs(cloud_init.placed_parts(spec, problems), problems)


def kubelet_input(spec: NodeSpec, problems: Problems) -> Layers:
    """What kubelet is given by the merged NodeConfigs; by ours alone where the user's have problems."""
    if problems or not (spec.user_data or spec.override is not None):
        pods = () if spec.managed and spec.max_pods is None else ("maxPods",)
        return Layers(spec.kubelet_document(*pods), spec.kubelet_flags)
    configs = node_configs(spec)
    last = configs[-1:] if spec.override is not None else []
    inside: dict[str, str] = {}
    for path, documents in (("node_group.user_data", configs[: len(configs) - len(last)]), ("node_group.override", last)):
        for document in documents:
            kubelet = section(nodeconfig_parts.settings(document), "kubelet")
            inside |= dict.fromkeys(section(kubelet, "config"), path)
            inside |= dict.fromkeys((f"--{name}" for name in nodeconfig_flags.flag_values(kubelet)), path)
    ours = {*spec.kubelet_document("maxPods", "clusterDNS"), *(f"--{name}" for name in spec.kubelet_flags)}
    inside = {name: path for name, path in inside.items() if path == "node_group.override" or name not in ours}
    kubelet = section(nodeconfig_parts.settings(nodeconfig_parts.merged(configs)), "kubelet")
    return Layers(section(kubelet, "config"), nodeconfig_flags.flag_values(kubelet), inside=inside)


def node_configs(spec: NodeSpec) -> list[dict[str, Any]]:
    """The NodeConfig documents of a specification in the order in which nodeadm merges them."""
    problems = Problems()
    existing = _existing(spec, problems)
    own = _own(spec, existing)
    last = _override(spec, problems)
    return [*(document for _place, document in existing), *([own] if own else []), *([] if last is None else [last])]


def user_data(spec: NodeSpec) -> UserData:
    """Existing parts, pre commands, files, our NodeConfig, override: nodeadm reads the NodeConfigs, cloud-init runs the rest."""
    problems = Problems()
    existing = cloud_init.existing_parts(spec, problems)
    own = _own(spec, _existing(spec, problems))
    guard = None if spec.managed else _PRE_FAILED
    before = trust.install(spec) + cloud_init.proxy_exports(spec)
    own_parts = cloud_init.name_parts(
        "commands.pre" if spec.commands_pre else "trust", cloud_init.pre_parts(spec.commands_pre, guard, before)
    )
    script = _files_script(spec)
    if script:
        own_parts.append(("files", Part(cloud_init.SHELL, script)))
    if own:
        own_parts.append(("NodeConfig", Part(cloud_init.NODE_CONFIG, yaml.dump(own))))
    if spec.override is not None:
        own_parts.append(("override", Part(cloud_init.NODE_CONFIG, cloud_init.with_newline(spec.override))))
    named = [*cloud_init.name_parts("user_data", existing), *cloud_init.run_after(existing, own_parts)]
    return cloud_init.document(named, always_mime=True)


def files(spec: NodeSpec) -> tuple[File, ...]:
    """The NodeConfig as a drop-in document, the unit drop-in that makes nodeadm-config read it, and the common Linux files.

    Labels that only the node knows come from a script that nodeadm-run starts with: it reads the folder of drop-ins after it.
    """
    configs = node_configs(spec)
    merged = nodeconfig_parts.merged(configs) if configs else {}
    found = [*_linux_files(spec), *_trust_files(spec)]
    if merged:
        found.append(File(_DOCUMENT, yaml.dump(merged)))
        found.append(File(_CONFIG_UNIT, nodeconfig_parts.CONFIG_DROP_IN))
    _unused, labels = boot_labels.split_labels(spec.labels)
    if labels and not spec.managed:
        found.append(File(_BOOT_LABELS_SCRIPT, "#!/bin/bash\nset -eo pipefail\n" + _boot_labels_script(labels), mode="0755"))
        found.append(File(_RUN_UNIT, systemd.unit({"Service": [("ExecStartPre", _BOOT_LABELS_SCRIPT)]})))
    return for_root_only(sorted(found, key=lambda file: file.path), spec.allow_secrets)


def plan(spec: NodeSpec) -> Plan:
    """What a live node needs. Raises C(SpecError) for a managed group, and for user data that only a boot can apply."""
    from ..artifacts import live_plan
    from ..artifacts.node_plan import Machine, Service

    refuse_managed(spec)
    units = ("nodeadm-config.service", "nodeadm-run.service")
    found = files(spec)
    kubelet = section(nodeconfig_parts.settings(nodeconfig_parts.merged(node_configs(spec))), "kubelet")
    return live_plan.plan(
        spec,
        Machine(("amzn",), ("2023",), "Amazon Linux 2023"),
        files=live_plan.planned(spec, found, dict.fromkeys((*_READ_BY_NODEADM, *(file.path for file in _trust_files(spec))), ("nodeadm",))),
        owned=(_BOOT_LABELS,) if any(file.path == _BOOT_LABELS_SCRIPT for file in found) else (),
        # nodeadm starts containerd and kubelet itself, at every boot and every time it runs.
        steps=(Service("nodeadm", units, enable=units, active=(_KUBELET,)),),
        verify=live_plan.verify(_KUBELET, section(kubelet, "config"), nodeconfig_flags.flag_values(kubelet)),
    )


def _own(spec: NodeSpec, existing: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Our NodeConfig, or an empty mapping when there is nothing to say."""
    problems = Problems()
    settings = _reconciled(_settings(spec, problems), existing, _override(spec, problems), spec, problems)
    if problems:
        raise SpecError(problems)
    return {"apiVersion": API_VERSION, "kind": "NodeConfig", "spec": settings} if settings else {}


def _settings(spec: NodeSpec, problems: Problems) -> dict[str, Any]:
    """C(spec) of our NodeConfig: from the common fields, united with C(node_group.nodeadm)."""
    ours = {} if spec.managed else {"cluster": _cluster(spec)}
    ours |= _kubelet(spec) | _containerd(spec) | _instance(spec)
    own = _nodeadm(spec, problems)
    if spec.proxy:
        fields, own = proxy_environment.agreed(proxy_environment.beside(ours, [own]), own, given_at(spec, "proxy.no_proxy"))
        ours = dict(fields)
    return merge_disjoint(ours, partial(origins.of_field_place, spec), own, "node_group.nodeadm", problems)


def _nodeadm(spec: NodeSpec, problems: Problems) -> Mapping[str, Any]:
    """C(node_group.nodeadm) with nodeadm's spelling of C(localStorage.strategy), and with its TOML united with C(containerd.config)."""
    own = {key: value for key, value in spec.nodeadm.items() if key != "cluster"}
    storage = section(section(own, "instance"), "localStorage")
    strategy = _STORAGE.get(str(storage.get("strategy")).lower())
    if strategy:
        own["instance"] = {**own["instance"], "localStorage": {**storage, "strategy": strategy}}
    containerd = section(own, "containerd")
    if not spec.containerd.config or not isinstance(containerd.get("config"), str):
        return own
    from ..formats import toml

    path = "node_group.nodeadm.containerd.config"
    theirs = toml.load(containerd["config"], path, problems)
    both = merge_disjoint(spec.containerd.config, "node_group.containerd.config", theirs, path, problems)
    return own | {"containerd": dict(containerd) | {"config": toml.dump(both, "node_group.containerd.config")}}


def _cluster(spec: NodeSpec) -> dict[str, Any]:
    cluster = spec.cluster
    facts: dict[str, Any] = {
        "name": cluster.name,
        "apiServerEndpoint": cluster.endpoint,
        "certificateAuthority": cluster.certificate_authority,
        "cidr": cluster.service_cidr,
    }
    if cluster.outpost:
        facts |= {"enableOutpost": True, "id": cluster.id}
    return facts


def _kubelet(spec: NodeSpec) -> dict[str, Any]:
    # EKS's part of a managed group brings host 10 of the service CIDR; only other name servers have to be said.
    own = ("maxPods",) if spec.managed and spec.dns_of_eks else ("maxPods", "clusterDNS")
    config = spec.kubelet_document(*own)
    flags = []
    labels, _unused = boot_labels.split_labels(spec.labels)
    if labels and not spec.managed:
        flags.append(f"--node-labels={node_labels_flag(labels)}")
    if spec.taints and not spec.managed:
        flags.append(f"--register-with-taints={taints_flag(spec.taints)}")
    flags.extend(nodeconfig_flags.flag_word(name, value) for name, values in spec.kubelet_flags.items() for value in values)
    kubelet = {key: value for key, value in (("config", config), ("flags", flags)) if value}
    return {"kubelet": kubelet} if kubelet else {}


def _containerd(spec: NodeSpec) -> dict[str, Any]:
    if not spec.containerd.config or "config" in section(spec.nodeadm, "containerd"):
        return {}
    from ..formats import toml

    return {"containerd": {"config": toml.dump(spec.containerd.config, "node_group.containerd.config")}}


def _instance(spec: NodeSpec) -> dict[str, Any]:
    instance: dict[str, Any] = {}
    if spec.local_storage:
        storage = {"strategy": _STORAGE[spec.local_storage.strategy], "mountPath": spec.local_storage.mount_path}
        instance["localStorage"] = {key: value for key, value in storage.items() if value}
    if spec.proxy:
        instance["environment"] = {"default": spec.proxy.variables()}
    return {"instance": instance} if instance else {}


def _linux_files(spec: NodeSpec) -> tuple[File, ...]:
    mirrors = file_places.kept(spec, linux_files.registry_mirrors(spec.containerd.registry_mirrors))
    health = _health(_settings(spec, Problems()))
    post = post_commands.files(spec.commands_post, ("nodeadm-run.service", _KUBELET), _KUBELET, health)
    return for_root_only((*mirrors, *post), spec.allow_secrets)


def _trust_files(spec: NodeSpec) -> tuple[File, ...]:
    """Certificates, and a drop-in for the first unit that reaches out, for a node where cloud-init does not run our script."""
    return (*trust.certificate_files(spec), trust.update_drop_in(spec, "nodeadm-config.service")) if spec.trust else ()


def _health(settings: Mapping[str, Any]) -> str | None:
    """Where kubelet answers with what our NodeConfig says of it."""
    kubelet = section(settings, "kubelet")
    return healthz(section(kubelet, "config"), nodeconfig_flags.flag_values(kubelet))


def _files_script(spec: NodeSpec) -> str:
    """What cloud-init has to lay down before nodeadm-run: files, and labels whose values only the node knows."""
    lines = [shell.write_file(file.path, file.content, file.mode) for file in _linux_files(spec)]
    _unused, labels = boot_labels.split_labels(spec.labels)
    if labels and not spec.managed:
        lines.append(_boot_labels_script(labels))
    if spec.commands_post:
        lines.append(f"systemctl daemon-reload\nsystemctl start --no-block {post_commands.UNIT}\n")
    guard = "" if spec.managed else cloud_init.on_failure(_PRE_FAILED)
    return "#!/bin/bash\nset -eo pipefail\n" + guard + "".join(lines) if lines else ""


def _boot_labels_script(labels: Mapping[str, str]) -> str:
    """nodeadm-run reads this drop-in after cloud-init and adds its flag to those of the user data."""
    flag = f"--node-labels={node_labels_flag(labels)}"
    drop_in = yaml.dump({"apiVersion": API_VERSION, "kind": "NodeConfig", "spec": {"kubelet": {"flags": [flag]}}})
    body = boot_labels.shell_text(drop_in).replace('"', '\\"')
    lookups = boot_labels.shell_lookups(boot_labels.placeholders(labels))
    return f'{lookups}mkdir -p /etc/eks/nodeadm.d\nprintf %s "{body}" > {_BOOT_LABELS}\n'
