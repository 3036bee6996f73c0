# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules that no other topic shows. The id of a row is the rule, so that every rule of the catalogue has a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import capacity, data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bottlerocket_settings import bottlerocket_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import (
    cloud_config,
    mime,
    mime_reader,
    powershell,
    shell,
    systemd,
    toml,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import check_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.schema import document_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import Source, render_sources
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.outputs import NOISE
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

AL2023 = {"family": "al2023"}
HEADER = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n'


def _reports(rule: str, function: Callable[..., Any], *args: Any) -> Row:
    """A function of the library that reports to C(Problems), its last argument."""

    def call() -> None:
        problems = Problems()
        function(*args, problems)
        problems.raise_any()

    return Row(rule, call)


def _settings(rule: str, settings: Any, version: tuple[int, int] | None = None) -> Row:
    def call() -> None:
        problems = Problems()
        bottlerocket_problems(settings, "node_group.bottlerocket.settings", problems, version)
        problems.raise_any()

    return Row(rule, call)


def _kubelet(rule: str, config: Any, family: str = "bottlerocket") -> Row:
    return group(rule, {"family": family, "kubelet": {"config": config}})


def _node_config(rule: str, spec: Any) -> Row:
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
    return _reports(rule, document_problems, document, "user_data")


def _nested(levels: int) -> Any:
    tree: Any = "x"
    for _unused in range(levels):
        tree = {"a": tree}
    return tree


ROWS = (
    _settings("bottlerocket.invalid_name", {"kubernetes": {"node-labels": {"-x": "y"}}}),
    _kubelet("bottlerocket.invalid_reserved_memory", {"reservedMemory": [{"numaNode": 0}]}),
    _kubelet("bottlerocket.invalid_switch", {"topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "maybe"}}),
    _settings("bottlerocket.invalid_value", {"kubernetes": {"cluster-dns-ip": "x"}}),
    _settings("bottlerocket.missing_setting", {"oci-defaults": {"resource-limits": {"max-open-files": {"soft-limit": 1}}}}),
    group("bottlerocket.no_settings", {"family": "bottlerocket", "user_data": "settings = 1\n"}),
    _settings("bottlerocket.out_of_range", {"kubernetes": {"max-pods": -1}}),
    _settings("bottlerocket.setting_not_in_version", {"kubernetes": {"ids-per-pod": 1}}, (1, 28)),
    _settings("bottlerocket.unknown_value", {"kubernetes": {"cpu-manager-policy": "dynamic"}}),
    _settings("bottlerocket.wrong_type", {"kubernetes": {"allowed-unsafe-sysctls": "net.core.somaxconn"}}),
    Row("capacity.invalid_count", lambda: capacity.kube_reserved(0, 2)),
    Row("capacity.no_addresses", lambda: capacity.max_pods(capacity.InstanceShape("x", 1, 1, 1), mode="windows_secondary_ip")),
    _reports("cloud_config.replaced_key", cloud_config.conflicts, [("a", {"runcmd": ["x"]}), ("b", {"runcmd": ["y"]})]),
    _reports("cloud_config.unreadable", cloud_config.load, "#cloud-config\na: [\n", "user_data"),
    group("cluster.ignored_dns_ips", {"family": "ubuntu"}, {"service_cidr": "fd30:1::/108", "dns_ips": ["fd30:2::a"]}),
    group("commands.no_health_check", AL2023 | {"commands": {"post": ["true"]}, "kubelet": {"config": {"healthzPort": 0}}}),
    Row("containerd.unknown_region", lambda: data.ecr_host("eusc-de-east-1")),
    Row("input.unreadable_file", lambda: folder.read_text("/nowhere/missing.yaml", "eksctl_config")),
    _reports(
        "kubelet.missing_field", kubelet_config_problems, {"registerWithTaints": [{"key": "a"}]}, (1, 32), "node_group.kubelet.config"
    ),
    Row("live.other_region", lambda: node_plan(COMPLETE, AL2023, {"region": "us-east-1"})),
    Row("live.plan_too_large", lambda: _windows_plan(commands={"pre": [f"# {NOISE}", f"# {NOISE[::-1]}", f"# {NOISE[1::2]}"]})),
    Row(
        "live.linux_only",
        lambda: check_options({"wait_for": "healthy", "wait_timeout": 60, "drift": "report", "lock_timeout": 5}, "Windows", ("healthy",)),
    ),
    Row("live.wait_for", lambda: check_options({"wait_for": "ready", "wait_timeout": 60}, "Windows", ("healthy",))),
    Row("live.wait_timeout", lambda: check_options({"wait_for": "ready", "wait_timeout": -1}, "Ubuntu")),
    _reports("mime.encoded_document", mime_reader.read, f"{HEADER}Content-Transfer-Encoding: base64\n\n--B\n\nx\n--B--\n", "user_data"),
    _reports("mime.invalid_content_type", mime_reader.read, "MIME-Version: 1.0\nContent-Type: multipart/\n\nx\n", "user_data"),
    Row("mime.unwritable_part", lambda: mime.write([mime.Part("text/x-shellscript", "\ud800")])),
    group("mode.outpost", AL2023 | {"mode": "managed"}, {"outpost": True, "id": "x"}),
    group("mode.unsupported_dns_ips", {"family": "al2", "mode": "managed"}, {"dns_ips": ["169.254.20.10"]}),
    _node_config("nodeconfig.empty", {"kubelet": {"maxPodsExpression": ""}}),
    _node_config("nodeconfig.invalid_flag", {"kubelet": {"flags": ["--v=2 --x"]}}),
    _node_config("nodeconfig.invalid_name", {"instance": {"environment": {"kubelet.service": {"A": "b"}}}}),
    _node_config("nodeconfig.invalid_value", {"cluster": {"apiServerEndpoint": "http://x"}}),
    _reports("nodeconfig.missing_field", document_problems, {"apiVersion": "node.eks.aws/v1alpha1"}, "user_data"),
    _node_config("nodeconfig.replaces_nodeadm", {"kubelet": {"config": {"kind": "Other"}}}),
    _node_config("nodeconfig.too_deep", {"kubelet": {"config": _nested(120)}}),
    _node_config("nodeconfig.unsafe_text", {"kubelet": {"flags": ["--v=a\nb"]}}),
    Row(
        "output.same_file",
        lambda: render_sources(
            [
                Source(COMPLETE | {"name": "A"}, [AL2023 | {"name": "c"}]),
                Source(COMPLETE | {"name": "a"}, [AL2023 | {"name": "c"}]),
            ]
        ),
    ),
    Row("output.unwritable_directory", lambda: folder.write(folder.Changes("/proc/nowhere", (folder.Change("a", None, b""),), ()))),
    Row("powershell.empty_list", lambda: powershell.call("$script", [("Names", [])])),
    Row("powershell.invalid_name", lambda: powershell.call("script", [("A-B", "x")])),
    _reports(
        "powershell.unknown_tag",
        powershell.unwrap,
        "<powershell>\nls\n</powershell>\n<powershellArguments>x</powershellArguments>\n",
        "user_data",
    ),
    group("reserved.unsupported_auto", AL2023 | {"reserved": {"system": {"cpu": "auto"}}}),
    Row("shell.invalid_mode", lambda: shell.write_file("/etc/x", "y", "rw")),
    Row("shell.invalid_path", lambda: shell.write_file("etc/x", "y")),
    Row("shell.unsafe_text", lambda: shell.quote("\0")),
    group("strategy.hostname_type", {"family": "al2", "instance": {"type": "m5.large", "hostname_type": "resource_name"}}),
    Row("systemd.invalid_name", lambda: systemd.environment_assignment("a b", "x")),
    Row("systemd.unsafe_text", lambda: systemd.exec_word("a\0b")),
    Row("toml.integer_too_large", lambda: toml.dump({"a": 2**64})),
    Row("toml.key_not_text", lambda: toml.dump({1: "x"})),  # type: ignore[dict-item]
    Row("toml.null", lambda: toml.dump({"a": None})),
    Row("toml.surrogate", lambda: toml.dump({"a": "\ud800"})),
    Row("toml.too_deep", lambda: toml.dump(_nested(80))),
    _reports("toml.date", toml.load, "a = 2026-01-01\n", "user_data"),
    _reports("toml.unsafe_for_eks", toml.eks_merge_problem, {'say "x"': 1}, "settings"),
    Row("toml.unwritable", lambda: toml.dump({"a": {1, 2}})),
    Row("windows.persist_on_live_node", lambda: _windows_plan(windows={"persist": True})),
)


def _windows_plan(**fields: Any) -> Any:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import windows_live

    spec, _unused = resolve(COMPLETE, {"family": "windows", **fields})
    return windows_live.encoded(windows.live_plan(spec))
