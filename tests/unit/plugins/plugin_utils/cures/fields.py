# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for the fields of a cluster and of a node group: their form, labels, taints, modes, families, versions."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, call, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.user_data import AUTH, AWS_KEY, KEY, SESSION, TOKEN
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA, COMPLETE

AL2: dict[str, Any] = {"family": "al2"}
AL2023: dict[str, Any] = {"family": "al2023"}
BOTTLEROCKET: dict[str, Any] = {"family": "bottlerocket"}
UBUNTU: dict[str, Any] = {"family": "ubuntu"}
WINDOWS: dict[str, Any] = {"family": "windows"}
LARGE: dict[str, Any] = {"type": "m5.large"}
STATIC: dict[str, Any] = {"strategy": "static", "max_pods": 29, "instance": LARGE}
OUTPOST: dict[str, Any] = {"outpost": True, "id": "x"}
TWO_DNS = {"dns_ips": ["10.100.0.10", "10.100.0.11"]}
IPV6 = {"service_cidr": "fd30:1::/108"}
ALLOW = {"node_group.allow_secrets_in_user_data": True}
TWENTY_PODS, THIRTY_PODS = (
    f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {{kubelet: {{config: {{maxPods: {pods}}}}}}}\n" for pods in (20, 30)
)


def nested(levels: int) -> Any:
    """A list within a list, C(levels) deep."""
    tree: Any = "x"
    for _unused in range(levels):
        tree = [tree]
    return tree


def _secret(rule: str, line: str) -> tuple[Any, ...]:
    """The text without the secret is accepted, and so is the secret if it is allowed."""
    before = {"family": "al2023", "user_data": f"#!/bin/bash\n{line}\n"}
    fetched = {"node_group.user_data": "#!/bin/bash\naws ssm get-parameter --name x --with-decryption\n"}
    return group(rule, before, fetched), group(rule, before, ALLOW)


ROWS = (
    # The form of the input.
    group(
        "input.conflict", AL2023 | {"max_pods": 20, "kubelet": {"config": {"maxPods": 10}}}, {"node_group.kubelet.config.maxPods": REMOVED}
    ),
    group(
        "input.conflict",
        AL2023 | {"labels": {"a": "1"}, "kubelet": {"flags": {"node-labels": "a=2"}}},
        {"node_group.kubelet.flags.node-labels": REMOVED},
    ),
    group(
        "input.conflict",
        AL2023 | {"user_data": [TWENTY_PODS, THIRTY_PODS]},
        {"node_group.user_data": TWENTY_PODS, "node_group.override": THIRTY_PODS},
    ),
    group("input.conflict", AL2023 | {"instance": {"type": "m5.large", "types": ["m5.large"]}}, {"node_group.instance.types": REMOVED}),
    group("input.conflict", AL2023 | {"instance": {"type": "m5.large", "types": ["m5.large"]}}, {"node_group.instance.type": REMOVED}),
    group("input.control_character", AL2023 | {"name": "a\nb"}, {"node_group.name": "ab"}),
    group("input.empty", AL2023 | {"name": ""}, {"node_group.name": "workers"}),
    group("input.empty", AL2023 | {"name": ""}, {"node_group.name": REMOVED}),
    group("input.empty", AL2023, {"cluster.dns_ips": REMOVED}, {"dns_ips": []}),
    group("input.integer_too_large", AL2023 | {"labels": {"a": 10**30}}, {"node_group.labels.a": str(10**30)}),
    group("input.invalid_cidr", AL2023, {"cluster.service_cidr": "10.100.0.0/16"}, {"service_cidr": "10.100.0.1/16"}),
    group("input.invalid_ip", AL2023, {"cluster.dns_ips[0]": "fe80::1"}, {"dns_ips": ["fe80::1%eth0"]}),
    group("input.invalid_quantity", AL2023 | {"reserved": {"kube": {"memory": "much"}}}, {"node_group.reserved.kube.memory": "574Mi"}),
    group("input.invalid_text", AL2023, {"cluster.name": "my-cluster"}, {"name": "my cluster"}),
    group("input.key_not_text", AL2023 | {"labels": {1: "x"}}, {"node_group.labels": {"1": "x"}}),
    group("input.missing_field", {"name": "workers"}, {"node_group.family": "al2023"}),
    group("input.missing_field", AL2023 | {"taints": [{"key": "a"}]}, {"node_group.taints[0].effect": "NoSchedule"}),
    group("input.not_finite", AL2023 | {"labels": {"a": float("nan")}}, {"node_group.labels.a": "nan"}),
    group("input.out_of_range", AL2023 | {"max_pods": 70000}, {"node_group.max_pods": 110}),
    group("input.surrogate", AL2023 | {"commands": {"pre": ["echo \ud800"]}}, {"node_group.commands.pre[0]": "echo"}),
    group("input.too_deep", AL2023 | {"commands": {"pre": nested(60)}}, {"node_group.commands.pre": ["x"]}),
    group("input.unknown_field", AL2023 | {"lables": {"a": "b"}}, {"node_group.lables": REMOVED, "node_group.labels": {"a": "b"}}),
    group("input.unknown_field", AL2023 | {"labels": {"a": "b"}, "lables": {"c": "d"}}, {"node_group.lables": REMOVED}),
    group("input.unknown_field", AL2023 | {"colour": "blue"}, {"node_group.colour": REMOVED}),
    group(
        "input.unknown_field",
        AL2023,
        {"cluster.kubernetesNetworkConfig": REMOVED, "cluster.service_cidr": "10.1.0.0/16"},
        {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.1.0.0/16"}},
    ),
    group(
        "input.unknown_field",
        AL2023,
        {"cluster.version": REMOVED, "cluster.kubernetes_version": "1.33"},
        {"version": "1.33", "kubernetes_version": None},
    ),
    group(
        "input.unknown_field",
        AL2023 | {"kubelet_extra_args": "--v=2"},
        {"node_group.kubelet_extra_args": REMOVED, "node_group.kubelet.flags.v": 2},
    ),
    group(
        "input.unknown_field",
        AL2023 | {"instance_type": "m5.large"},
        {"node_group.instance_type": REMOVED, "node_group.instance.type": "m5.large"},
    ),
    group(
        "input.unknown_field",
        AL2023 | {"amiType": "AL2023_x86_64_STANDARD"},
        {"node_group.amiType": REMOVED, "node_group.family": "AL2023_x86_64_STANDARD"},
    ),
    group("input.invalid_text", AL2023 | {"taints": ["a=b"]}, {"node_group.taints[0]": "a=b:NoSchedule"}),
    group(
        "input.invalid_text", AL2023 | {"taints": "a=b:NoSchedule,c:NoExecute"}, {"node_group.taints": ["a=b:NoSchedule", "c:NoExecute"]}
    ),
    group("input.unknown_value", {"family": "al2032"}, {"node_group.family": "al2023"}),
    call("input.unreadable_file", lambda path: folder.read_text(path, "eksctl_config"), "missing.yaml", __file__),
    call("input.wrong_type", lambda given: render(*given), ({"family": "al2023"}, COMPLETE), (COMPLETE, {"family": "al2023"})),
    group("input.wrong_type", AL2023 | {"labels": {"a": 1}}, {"node_group.labels.a": "1"}),
    group("input.wrong_type", AL2023, {"cluster.kubernetes_version": "1.30"}, {"kubernetes_version": 1.3}),
    # The cluster.
    group("cluster.id_without_outpost", AL2023, {"cluster.outpost": True}, {"id": "x"}),
    group("cluster.id_without_outpost", AL2023, {"cluster.id": REMOVED}, {"id": "x"}),
    group(
        "cluster.outpost_port",
        AL2023,
        {"cluster.endpoint": "https://local.example"},
        {"endpoint": "https://local.example:6443", "outpost": True, "id": "x"},
    ),
    group("cluster.ignored_dns_ips", UBUNTU, {"cluster.dns_ips": REMOVED}, IPV6 | {"dns_ips": ["fd30:2::a"]}),
    group(
        "cluster.ignored_dns_ips",
        UBUNTU | {"max_pods": 29, "instance": LARGE},
        {"node_group.strategy": "static"},
        IPV6 | {"dns_ips": ["fd30:2::a"]},
    ),
    group("cluster.invalid_certificate_authority", AL2023, {"cluster.certificate_authority": CA}, {"certificate_authority": "LS0t*LS0t"}),
    group("cluster.missing_field", AL2023, {"cluster.endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com"}, {"endpoint": None}),
    group("cluster.missing_field", AL2, {"cluster.service_cidr": "10.100.0.0/16"}, {"service_cidr": None}),
    group("cluster.missing_field", AL2, {"cluster.dns_ips": ["10.100.0.10"]}, {"service_cidr": None}),
    group("cluster.missing_field", AL2 | STATIC, {"cluster.region": "eu-west-1"}, {"region": None}),
    group("cluster.missing_field", AL2023, {"cluster.id": "x"}, {"outpost": True}),
    group("cluster.missing_service_cidr", AL2, {"cluster.service_cidr": "fd00::/108"}, {"service_cidr": None, "dns_ips": ["fd00::a"]}),
    group("cluster.no_dns_address", AL2023, {"cluster.dns_ips": ["10.100.0.2"]}, {"service_cidr": "10.100.0.0/29"}),
    group("cluster.no_dns_address", AL2023, {"cluster.service_cidr": "10.100.0.0/24"}, {"service_cidr": "10.100.0.0/29"}),
    group("cluster.too_many_dns_ips", UBUNTU, {"cluster.dns_ips": ["10.100.0.10"]}, TWO_DNS),
    group("cluster.too_many_dns_ips", UBUNTU | {"max_pods": 29, "instance": LARGE}, {"node_group.strategy": "static"}, TWO_DNS),
    group("cluster.too_many_dns_ips", WINDOWS, {"cluster.dns_ips": ["10.100.0.10"]}, TWO_DNS),
    group("cluster.unsupported_outpost", BOTTLEROCKET, {"node_group.family": "al2023"}, OUTPOST),
    group("cluster.unsupported_outpost", UBUNTU, {"node_group.family": "al2"}, OUTPOST),
    group("cluster.unsupported_outpost", WINDOWS, {"node_group.family": "al2023"}, OUTPOST),
    group("cluster.unsupported_outpost", AL2 | STATIC, {"node_group.strategy": "bootstrap_script"}, OUTPOST),
    group("input.invalid_text", AL2023, {"cluster.kubernetes_version": "1.33"}, {"kubernetes_version": "1.33-eks"}),
    group("cluster.version_too_old", AL2023, {"cluster.kubernetes_version": "1.24"}, {"kubernetes_version": "1.23"}),
    group("cluster.version_not_known", AL2023, {"cluster.kubernetes_version": "1.36"}, {"kubernetes_version": "1.99"}),
    group("cluster.version_unknown", AL2023, {"cluster.kubernetes_version": "1.33"}, {"kubernetes_version": None}),
    # Labels and taints.
    group(
        "labels.forbidden_prefix",
        AL2023 | {"labels": {"node-role.kubernetes.io/worker": "x"}},
        {'node_group.labels["node-role.kubernetes.io/worker"]': REMOVED, 'node_group.labels["example.com/worker"]': "x"},
    ),
    group("labels.invalid_key", AL2023 | {"labels": {"a/b/c": "x"}}, {"node_group.labels": {"a/c": "x"}}),
    group("labels.invalid_value", AL2023 | {"labels": {"a": "two words"}}, {"node_group.labels.a": "two-words"}),
    group("labels.known_at_boot_only", BOTTLEROCKET | {"labels": {"a": "{instance_id}"}}, {"node_group.labels.a": "fixed"}),
    group(
        "labels.known_at_boot_only",
        AL2023 | {"mode": "managed", "labels": {"a": "{instance_id}"}},
        {"node_group.mode": "managed_custom_ami"},
    ),
    group(
        "labels.reserved_by_eks",
        AL2023 | {"mode": "managed", "labels": {"eks.amazonaws.com/x": "y"}},
        {'node_group.labels["eks.amazonaws.com/x"]': REMOVED, 'node_group.labels["example.com/x"]': "y"},
    ),
    group("labels.unknown_placeholder", AL2023 | {"labels": {"a": "{instance_idd}"}}, {"node_group.labels.a": "{instance_id}"}),
    group(
        "taints.duplicate",
        AL2023 | {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]},
        {"node_group.taints[1]": REMOVED},
    ),
    group("taints.invalid_key", AL2023 | {"taints": [{"key": "a b", "effect": "NoExecute"}]}, {"node_group.taints[0].key": "a-b"}),
    group(
        "taints.invalid_value",
        AL2023 | {"taints": [{"key": "a", "value": "b c", "effect": "NoExecute"}]},
        {"node_group.taints[0].value": "b-c"},
    ),
    # Modes, families, strategies.
    group("mode.outpost", AL2023 | {"mode": "managed"}, {"node_group.mode": "self_managed"}, OUTPOST),
    group("mode.static_strategy", AL2 | STATIC | {"mode": "managed"}, {"node_group.mode": "managed_custom_ami"}),
    group("mode.static_strategy", AL2 | {"mode": "managed", "strategy": "static"}, {"node_group.strategy": REMOVED}),
    group("mode.unknown_on_family", UBUNTU | {"mode": "managed"}, {"node_group.mode": "managed_custom_ami"}),
    group("mode.unsupported_dns_ips", AL2 | {"mode": "managed"}, {"cluster.dns_ips": REMOVED}, {"dns_ips": ["169.254.20.10"]}),
    group("mode.unsupported_dns_ips", AL2 | {"mode": "managed"}, {"node_group.mode": "managed_custom_ami"}, {"dns_ips": ["169.254.20.10"]}),
    group("mode.unsupported_field", AL2 | {"mode": "managed", "max_pods": 20}, {"node_group.mode": "managed_custom_ami"}),
    group("mode.unsupported_field", AL2 | {"mode": "managed", "max_pods": 20}, {"node_group.max_pods": REMOVED}),
    group("family.foreign_field", AL2 | {"bottlerocket": {"settings": {"motd": "x"}}}, {"node_group.bottlerocket": REMOVED}),
    group("family.foreign_field", AL2 | {"bottlerocket": {"settings": {"motd": "x"}}}, {"node_group.family": "bottlerocket"}),
    group("family.not_in_version", AL2, {"node_group.family": "al2023"}, {"kubernetes_version": "1.33"}),
    group("family.not_in_version", UBUNTU | {"ubuntu": {"release": "20.04"}}, {"node_group.ubuntu.release": "22.04"}),
    group(
        "family.not_in_version",
        WINDOWS | {"windows": {"version": "2025"}},
        {"node_group.windows.version": "2022"},
        {"kubernetes_version": "1.34"},
    ),
    group("family.unsupported_field", AL2023 | {"containerd": {"pause_image": "x/y:1"}}, {"node_group.containerd": REMOVED}),
    group(
        "family.unsupported_field",
        BOTTLEROCKET | {"containerd": {"config": {"x": 1}}},
        {"node_group.containerd": REMOVED, "node_group.bottlerocket.settings.container-runtime.max-concurrent-downloads": 3},
    ),
    group("family.unsupported_field", AL2 | STATIC | {"override": "true"}, {"node_group.strategy": "bootstrap_script"}),
    group(
        "strategy.hostname_type",
        AL2 | {"instance": LARGE | {"hostname_type": "resource_name"}},
        {"node_group.instance.hostname_type": REMOVED},
    ),
    group("strategy.missing_max_pods", AL2 | {"strategy": "static", "instance": LARGE}, {"node_group.max_pods": 29}),
    group("strategy.missing_max_pods", AL2 | {"strategy": "static", "instance": LARGE}, {"node_group.max_pods": {"mode": "eni"}}),
    group(
        "commands.no_health_check",
        AL2023 | {"commands": {"post": ["true"]}, "kubelet": {"config": {"healthzPort": 0}}},
        {"node_group.kubelet.config.healthzPort": 10248},
    ),
    group(
        "commands.no_health_check",
        AL2023 | {"commands": {"post": ["true"]}, "kubelet": {"config": {"healthzPort": 0}}},
        {"node_group.commands.post": REMOVED},
    ),
    group(
        "commands.no_health_check",
        AL2023 | {"commands": {"post": ["true"]}, "kubelet": {"config": {"healthzPort": 0}}},
        {"node_group.commands.post": [{"run": "true", "when": "ready"}]},
    ),
    group(
        "family.unsupported_field",
        WINDOWS | {"commands": {"post": ["Get-Date", {"run": "Get-Date", "when": "ready"}]}},
        {"node_group.commands.post[1].when": "healthy"},
    ),
    group("proxy.empty", AL2023 | {"proxy": {"no_proxy": ["10.0.0.0/8"]}}, {"node_group.proxy.https": "http://p:3128"}),
    # Secrets.
    *_secret("secrets.private_key", f"{KEY}\nMIIEow"),
    *_secret("secrets.aws_secret_key", f"export AWS_SECRET_ACCESS_KEY={AWS_KEY}"),
    *_secret("secrets.aws_session_token", f"export AWS_SESSION_TOKEN={SESSION}"),
    *_secret("secrets.activation_code", "amazon-ssm-agent -register -code x -activation-code 'Abcdefghij0123456789'"),
    *_secret("secrets.bootstrap_token", f"kubeadm join --token {TOKEN}"),
    *_secret("secrets.registry_credential", f'echo \'{{"auths": {{"r": {{"auth": "{AUTH}"}}}}}}\''),
    *_secret("secrets.password", 'echo \'{"password": "hunter22"}\''),
    *_secret("secrets.token", "export API_TOKEN=a1b2c3d4e5f6a7b8c9d0"),
    *_secret("secrets.proxy_credential", "export https_proxy=http://user:hunter22@proxy:3128"),
)
