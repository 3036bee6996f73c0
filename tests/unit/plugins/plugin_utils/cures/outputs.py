# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for Bottlerocket and Windows, the outputs, live nodes, and configuration files of eksctl."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles import aws_auth_map_roles
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import windows_live
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import check_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import Source, render_groups, render_sources
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.karpenter import karpenter_manifests
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.fields import AL2, AL2023, BOTTLEROCKET, IPV6, WINDOWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, Cure, call, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.outputs import HEAD, NOISE
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

SETTINGS = "node_group.bottlerocket.settings"
POWERSHELL = "<powershell>\nls\n</powershell>\n"


def settings(**tables: Any) -> dict[str, Any]:
    """A Bottlerocket node group with settings; underscores in the names of tables stand for dashes."""
    return BOTTLEROCKET | {"bottlerocket": {"settings": {name.replace("_", "-"): value for name, value in tables.items()}}}


def _eksctl(rule: str, before: Any, after: Any) -> Cure:
    """Changes of a complete ClusterConfig."""
    return call(rule, lambda change: from_eksctl(HEAD | change), before, after)


def _ng(rule: str, before: dict[str, Any], after: dict[str, Any]) -> Cure:
    """Changes of one group of nodeGroups."""
    return _eksctl(rule, {"nodeGroups": [{"name": "ng"} | before]}, {"nodeGroups": [{"name": "ng"} | after]})


def _plan(rule: str, before: Any, after: Any, run: Any = None) -> Cure:
    """A node group on a live node of eu-west-1."""
    return call(rule, run or (lambda given: node_plan(COMPLETE, given)), before, after)


def _windows_plan(given: Any) -> None:
    spec, _unused = resolve(COMPLETE, given)
    windows_live.encoded(windows.live_plan(spec))


def _groups(rule: str, before: str, after: str) -> Cure:
    """Two groups: C(a), and one of this name."""
    return call(rule, lambda name: render_sources([Source(COMPLETE, [AL2023 | {"name": "a"}, AL2023 | {"name": name}])]), before, after)


def _write(path: str | None) -> None:
    """Write a file to a directory, by default a temporary one."""
    with tempfile.TemporaryDirectory() as temporary:
        _changes(path or temporary)


def _changes(directory: str) -> folder.Changes:
    """Write a group to a directory. Returns the changes."""
    changes = folder.plan_changes(render_groups(COMPLETE, [AL2023 | {"name": "a"}]), directory)
    folder.write(changes)
    return changes


def _check_committed(committed: bool) -> None:
    """Fail if a directory would change. committed: whether it contains what a render has written."""
    with tempfile.TemporaryDirectory() as directory:
        changes = [_changes(directory) for _unused in range(1 + committed)][-1]
    if changes.files:
        raise SpecError(folder.refusals(changes))


def _with_manifest(text: str | None) -> None:
    """Write to a directory with this manifest, or without one."""
    with tempfile.TemporaryDirectory() as directory:
        if text is not None:
            Path(directory, "manifest.json").write_text(text, encoding="utf-8")
        _changes(directory)


def _karpenter(rule: str, family: dict[str, Any], edits: dict[str, Any], fields: Any = None) -> Cure:
    return group(f"karpenter.{rule}", {**family, "mode": "karpenter", **(fields or {})}, edits)


ROWS = (
    # Bottlerocket.
    group("bottlerocket.http_proxy", BOTTLEROCKET | {"proxy": {"http": "http://p:1"}}, {"node_group.proxy": {"https": "http://p:1"}}),
    group(
        "bottlerocket.invalid_name", settings(kubernetes={"node-labels": {"-x": "y"}}), {f"{SETTINGS}.kubernetes.node-labels": {"x": "y"}}
    ),
    group(
        "bottlerocket.invalid_reserved_memory",
        BOTTLEROCKET | {"kubelet": {"config": {"reservedMemory": [{"numaNode": 0}]}}},
        {"node_group.kubelet.config.reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
    ),
    group(
        "bottlerocket.invalid_switch",
        BOTTLEROCKET | {"kubelet": {"config": {"topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "maybe"}}}},
        {"node_group.kubelet.config.topologyManagerPolicyOptions.prefer-closest-numa-nodes": "true"},
    ),
    group("bottlerocket.invalid_value", settings(kubernetes={"cluster-domain": "a b"}), {f"{SETTINGS}.kubernetes.cluster-domain": "a.b"}),
    group(
        "bottlerocket.missing_setting",
        settings(oci_defaults={"resource-limits": {"max-open-files": {"soft-limit": 1}}}),
        {f"{SETTINGS}.oci-defaults.resource-limits.max-open-files.hard-limit": 2},
    ),
    group("bottlerocket.nested_settings", settings(settings={"motd": "x"}), {SETTINGS: {"motd": "x"}}),
    group("bottlerocket.null", settings(motd=None), {f"{SETTINGS}.motd": REMOVED}),
    group("bottlerocket.null", settings(motd=None), {f"{SETTINGS}.motd": "x"}),
    group("bottlerocket.out_of_range", settings(kubernetes={"pod-pids-limit": -5}), {f"{SETTINGS}.kubernetes.pod-pids-limit": 100}),
    group(
        "bottlerocket.setting_not_in_version",
        settings(kubernetes={"ids-per-pod": 65536}),
        {f"{SETTINGS}.kubernetes.ids-per-pod": REMOVED},
        {"kubernetes_version": "1.28"},
    ),
    group("bottlerocket.unknown_setting", settings(kubernets={}), {f"{SETTINGS}.kubernets": REMOVED, f"{SETTINGS}.kubernetes": {}}),
    group(
        "bottlerocket.unknown_value",
        settings(kubernetes={"cpu-manager-policy": "dynamic"}),
        {f"{SETTINGS}.kubernetes.cpu-manager-policy": "static"},
    ),
    group(
        "bottlerocket.unsupported_storage",
        BOTTLEROCKET | {"local_storage": {"strategy": "mount"}},
        {"node_group.local_storage.strategy": "raid0"},
    ),
    group(
        "bottlerocket.unsupported_storage", BOTTLEROCKET | {"local_storage": {"strategy": "mount"}}, {"node_group.local_storage": REMOVED}
    ),
    group(
        "bottlerocket.written_by_eks",
        settings(kubernetes={"cluster-name": "x"}) | {"mode": "managed"},
        {f"{SETTINGS}.kubernetes.cluster-name": REMOVED},
    ),
    group(
        "bottlerocket.written_by_eks",
        settings(kubernetes={"node-labels": {"a": "b"}}) | {"mode": "managed"},
        {SETTINGS: REMOVED, "node_group.labels": {"a": "b"}},
    ),
    group(
        "bottlerocket.wrong_type",
        settings(kubernetes={"allowed-unsafe-sysctls": "net.core.somaxconn"}),
        {f"{SETTINGS}.kubernetes.allowed-unsafe-sysctls": ["net.core.somaxconn"]},
    ),
    # Windows.
    group(
        "windows.invalid_kube_proxy_argument",
        WINDOWS | {"windows": {"kube_proxy_extra_args": ["--a=1 --b=2"]}},
        {"node_group.windows.kube_proxy_extra_args": ["--a=1", "--b=2"]},
    ),
    group("windows.ipv6", WINDOWS, {"node_group.family": "al2023"}, IPV6),
    group("windows.ipv6", WINDOWS, {"cluster.dns_ips": ["10.100.0.10"]}, {"dns_ips": ["fd30::a"]}),
    group(
        "windows.persist_in_managed_group",
        WINDOWS | {"mode": "managed", "user_data": f"{POWERSHELL}<persist>true</persist>"},
        {"node_group.user_data": POWERSHELL},
    ),
    _plan("windows.persist_on_live_node", WINDOWS | {"windows": {"persist": True}}, WINDOWS, _windows_plan),
    group(
        "windows.unsafe_word",
        WINDOWS | {"windows": {"kube_proxy_extra_args": ["--x=%PATH%"]}},
        {"node_group.windows.kube_proxy_extra_args[0]": "--x=y"},
    ),
    # Live nodes.
    _plan("live.boot_only_part", AL2023 | {"user_data": "#cloud-config\nruncmd: [ls]\n"}, AL2023 | {"commands": {"pre": ["ls"]}}),
    _plan("live.managed_group", AL2023 | {"mode": "managed"}, AL2023 | {"mode": "managed_custom_ami"}),
    call(
        "live.other_region",
        lambda cluster: node_plan(cluster, AL2023, {"region": "us-east-1"}),
        COMPLETE,
        COMPLETE | {"region": "us-east-1"},
    ),
    _plan(
        "live.plan_too_large",
        WINDOWS | {"commands": {"pre": [f"# {NOISE}", f"# {NOISE[::-1]}", f"# {NOISE[1::2]}"]}},
        WINDOWS | {"commands": {"pre": ["Invoke-WebRequest https://example.com/x -OutFile x.ps1"]}},
        _windows_plan,
    ),
    _plan("live.wrong_family", WINDOWS, AL2023),
    call(
        "live.linux_only",
        lambda drift: check_options({"wait_for": "healthy", "wait_timeout": 60, "drift": drift}, "Windows", ("healthy",)),
        "ignore",
        None,
    ),
    call(
        "live.wait_for", lambda state: check_options({"wait_for": state, "wait_timeout": 60}, "Windows", ("healthy",)), "ready", "healthy"
    ),
    call("live.wait_timeout", lambda seconds: check_options({"wait_for": "ready", "wait_timeout": seconds}, "Ubuntu"), -1, 0),
    # Outputs.
    _groups("output.duplicate_group", "a", "b"),
    call("output.no_node_config", lambda family: node_config(COMPLETE, {"family": family}), "al2", "al2023"),
    call(
        "output.same_file",
        lambda name: render_sources(
            [Source(COMPLETE | {"name": "A"}, [AL2023 | {"name": name}]), Source(COMPLETE | {"name": "a"}, [AL2023 | {"name": "c"}])]
        ),
        "c",
        "d",
    ),
    call("output.invalid_manifest", _with_manifest, "{}", None),
    call("output.prune_with_limit", lambda limit: folder.check_prune(True, limit), "web", None),
    call("output.would_change", _check_committed, False, True),
    group("output.unsupported_encoding", WINDOWS, {"encoding": "base64"}, encoding="gzip_base64"),
    call("output.unsupported_encoding", lambda encoding: render_text(COMPLETE, AL2023, encoding), "gzip", "gzip_base64"),
    call("output.unwritable_directory", _write, "/proc/nowhere", None),
    call(
        "aws_auth.invalid_arn",
        lambda arn: aws_auth_map_roles([{"role_arn": arn, "family": "al2023"}]),
        "arn:aws:iam::1:role/x",
        "arn:aws:iam::111122223333:role/x",
    ),
    # Karpenter.
    _karpenter("changed_text", AL2, {"node_group.commands.pre[0]": "true\n"}, {"commands": {"pre": ["cat <<X\n--//\nX\n"]}}),
    _karpenter(
        "dropped_header",
        AL2023,
        {"node_group.user_data": REMOVED, "node_group.commands.pre": ["yum install -y htop", "true"]},
        {"user_data": "#cloud-config\npackages: [htop]\n", "commands": {"pre": ["true"]}},
    ),
    _karpenter(
        "dropped_setting",
        BOTTLEROCKET,
        {f"{SETTINGS}.kubernetes.node-ip": REMOVED},
        {"bottlerocket": {"settings": {"kubernetes": {"node-ip": "10.0.0.1"}}}},
    ),
    _karpenter(
        "interpreted_flag",
        AL2023,
        {"node_group.kubelet": {"config": {"evictionHard": {"memory.available": "5%"}}}},
        {"kubelet": {"flags": {"eviction-hard": "memory.available<5%"}}},
    ),
    _karpenter(
        "invalid_kubelet",
        AL2023,
        {"node_group.kubelet.config.evictionHard": {"memory.available": "5%"}},
        {"kubelet": {"config": {"evictionHard": {"containerfs.available": "5%"}}}},
    ),
    call("karpenter.invalid_name", lambda name: karpenter_manifests({}, AL2023 | {"mode": "karpenter", "name": name}), "Web_1", "web-1"),
    _karpenter("restricted_label", AL2023, {"node_group.labels": {"a/b": "c"}}, {"labels": {"karpenter.sh/a": "c"}}),
    _karpenter("unsupported_field", AL2, {"node_group.proxy": REMOVED}, {"proxy": {"https": "http://p:1"}}),
    _karpenter("windows_version", WINDOWS, {"node_group.windows.version": "2022"}),
    _karpenter(
        "written_by_karpenter",
        AL2023,
        {"node_group.user_data": REMOVED, "node_group.kubelet.config.maxPods": 5},
        {"user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n"},
    ),
    call("output.no_karpenter_manifests", lambda mode: karpenter_manifests(COMPLETE, AL2023 | {"mode": mode}), "managed", "karpenter"),
    # eksctl.
    call("eksctl.unreadable", from_eksctl, "a: [\n", HEAD),
    call("eksctl.no_cluster_config", from_eksctl, "", HEAD),
    _eksctl("eksctl.wrong_kind", {"kind": "ClusterConfg"}, {"kind": "ClusterConfig"}),
    _eksctl("eksctl.unknown_field", {"managedNodeGroup": []}, {"managedNodeGroups": []}),
    _ng("eksctl.wrong_group_kind", {"spot": True}, {}),
    _ng("eksctl.wrong_group_kind", {"instanceTypes": ["m5.large"]}, {"instancesDistribution": {"instanceTypes": ["m5.large"]}}),
    _ng("eksctl.removed_family", {"amiFamily": "WindowsServer2004CoreContainer"}, {"amiFamily": "WindowsServer2022CoreContainer"}),
    _ng("eksctl.own_label", {"labels": {"alpha.eksctl.io/cluster-name": "other"}}, {"labels": {}}),
    _ng("eksctl.invalid_taint", {"taints": {"a": "b:c:NoSchedule"}}, {"taints": {"a": "b:NoSchedule"}}),
    _ng("eksctl.refused_kubelet_field", {"kubeletExtraConfig": {"clusterDomain": "x"}}, {"kubeletExtraConfig": {}}),
    _ng(
        "eksctl.refused_kubelet_field",
        {"amiFamily": "Bottlerocket", "kubeletExtraConfig": {"maxPods": 5}},
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"kubernetes": {"max-pods": 5}}}},
    ),
    _ng("eksctl.container_runtime", {"containerRuntime": "dockerd"}, {}),
)
