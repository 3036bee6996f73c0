# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way in which an eksctl configuration is refused: where the problem is, what it says."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers import eksctl_fields
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.importers.eksctl_files import CALLER, config, problems

# id → (managed, fields of the eksctl group, how the line of the problem begins, what else it says)
REFUSED: dict[str, tuple[bool, dict[str, Any], str, str]] = {
    "unknown-field": (False, {"maxPodPerNode": 3}, "nodeGroups[0].maxPodPerNode: is not a field", "rename it to maxPodsPerNode"),
    "unknown-ssh-field": (True, {"ssh": {"allowx": True}}, "managedNodeGroups[0].ssh.allowx: is not a field", "rename it to allow"),
    "unknown-bottlerocket-field": (
        False,
        {"amiFamily": "Bottlerocket", "bottlerocket": {"setting": {}}},
        "nodeGroups[0].bottlerocket.setting: is not a field",
        "rename it to settings",
    ),
    "unknown-taint-field": (
        False,
        {"taints": [{"key": "a", "effect": "NoExecute", "valuex": ""}]},
        "nodeGroups[0].taints[0].valuex",
        "value",
    ),
    "kubelet-of-managed": (True, {"kubeletExtraConfig": {}}, "managedNodeGroups[0].kubeletExtraConfig: does not exist", "kubelet.config"),
    "types-of-self-managed": (
        False,
        {"instanceTypes": ["m5.large"]},
        "nodeGroups[0].instanceTypes: does not exist",
        "instancesDistribution",
    ),
    "taint-map-of-managed": (True, {"taints": {"a": "NoExecute"}}, "managedNodeGroups[0].taints: is a mapping", "list"),
    "taint-map-form": (False, {"taints": {"a": "b:c:NoExecute"}}, "nodeGroups[0].taints.a: is not a taint", "value:Effect"),
    "taint-without-effect": (False, {"taints": [{"key": "a"}]}, "nodeGroups[0].taints[0].effect: is required", "effect"),
    "taint-effect": (
        False,
        {"taints": [{"key": "a", "effect": "NoSchedul"}]},
        "nodeGroups[0].taints[0].effect: ",
        'did you mean "NoSchedule"?',
    ),
    "taint-key": (False, {"taints": [{"key": "a b", "effect": "NoExecute"}]}, "nodeGroups[0].taints[0].key: ", "letters"),
    "taint-value": (False, {"taints": [{"key": "a", "value": "v&5", "effect": "NoExecute"}]}, "nodeGroups[0].taints[0].value: ", "letters"),
    "label": (
        False,
        {"labels": {"node-role.kubernetes.io/x": ""}},
        'nodeGroups[0].labels["node-role.kubernetes.io/x"]: kubelet refuses',
        "prefix",
    ),
    "label-of-eksctl": (
        False,
        {"labels": {"alpha.eksctl.io/nodegroup-name": "x"}},
        'nodeGroups[0].labels["alpha.eksctl.io/nodegroup-name"]',
        "eksctl",
    ),
    "label-not-text": (False, {"labels": {"a": True}}, "nodeGroups[0].labels.a: must be text", "quote it"),
    "negative-max-pods": (False, {"maxPodsPerNode": -1}, "nodeGroups[0].maxPodsPerNode: is negative", "1 to 65535"),
    "max-pods-text": (False, {"maxPodsPerNode": "3"}, "nodeGroups[0].maxPodsPerNode: must be an integer", "integer"),
    "dns-is-no-address": (False, {"clusterDNS": "$(reboot)"}, "nodeGroups[0].clusterDNS: is not an IP address", "IPv4"),
    "dns-disagrees": (
        False,
        {"clusterDNS": "1.2.3.4", "kubeletExtraConfig": {"clusterDNS": ["4.3.2.1"]}},
        "nodeGroups[0].clusterDNS: conflicts with nodeGroups[0].kubeletExtraConfig.clusterDNS",
        "one place",
    ),
    "bottlerocket-dns-disagrees": (
        False,
        {"amiFamily": "Bottlerocket", "clusterDNS": "1.2.3.4", "bottlerocket": {"settings": {"kubernetes": {"cluster-dns-ip": "4.3.2.1"}}}},
        "nodeGroups[0].clusterDNS: conflicts with nodeGroups[0].bottlerocket.settings.kubernetes.cluster-dns-ip",
        "one place",
    ),
    **{
        f"kubelet-{name}": (
            False,
            {"kubeletExtraConfig": {name: "x"}},
            f"nodeGroups[0].kubeletExtraConfig.{name}: is refused by eksctl",
            "remove it",
        )
        for name in eksctl_fields.FORBIDDEN_KUBELET_FIELDS
    },
    "kubelet-unknown": (False, {"kubeletExtraConfig": {"foo": "bar"}}, "nodeGroups[0].kubeletExtraConfig.foo: ", ""),
    "kubelet-of-bottlerocket": (
        False,
        {"amiFamily": "Bottlerocket", "kubeletExtraConfig": {"maxPods": 3}},
        "nodeGroups[0].kubeletExtraConfig: cannot be set for Bottlerocket",
        "bottlerocket.settings.kubernetes",
    ),
    "kubelet-of-windows": (
        False,
        {"amiFamily": "WindowsServer2022CoreContainer", "kubeletExtraConfig": {"maxPods": 3}},
        "nodeGroups[0].kubeletExtraConfig: cannot be set for Windows",
        "kubelet.flags",
    ),
    "docker": (False, {"containerRuntime": "docker"}, "nodeGroups[0].containerRuntime: does not exist any more", "containerd"),
    "dockerd": (False, {"containerRuntime": "dockerd"}, "nodeGroups[0].containerRuntime: does not exist any more", "containerd"),
    "runtime": (False, {"containerRuntime": "crio"}, "nodeGroups[0].containerRuntime: is not a container runtime", "containerd"),
    "family": (False, {"amiFamily": "AmazonLinux3"}, "nodeGroups[0].amiFamily: is not a family", 'did you mean "AmazonLinux2"?'),
    "family-2004": (False, {"amiFamily": "WindowsServer2004CoreContainer"}, "nodeGroups[0].amiFamily: is not supported any more", "2021"),
    "family-20h2": (False, {"amiFamily": "windowsserver20h2corecontainer"}, "nodeGroups[0].amiFamily: is not supported any more", "2022"),
    "family-1804": (False, {"amiFamily": "Ubuntu1804"}, "nodeGroups[0].amiFamily: is not supported any more", "18.04"),
    "bottlerocket-elsewhere": (False, {"bottlerocket": {}}, "nodeGroups[0].bottlerocket: has no effect on AmazonLinux2023", "Bottlerocket"),
    "bottlerocket-pre": (
        False,
        {"amiFamily": "Bottlerocket", "preBootstrapCommands": ["date"]},
        "nodeGroups[0].preBootstrapCommands: cannot run",
        "bootstrap-commands",
    ),
    "bottlerocket-override": (
        False,
        {"amiFamily": "Bottlerocket", "overrideBootstrapCommand": "date"},
        "nodeGroups[0].overrideBootstrapCommand: ",
        "",
    ),
    "admin-disagrees": (
        True,
        {
            "amiFamily": "Bottlerocket",
            "bottlerocket": {"enableAdminContainer": True, "settings": {"host-containers": {"admin": {"enabled": False}}}},
        },
        "managedNodeGroups[0].bottlerocket.enableAdminContainer: conflicts with "
        "managedNodeGroups[0].bottlerocket.settings.host-containers.admin.enabled",
        "one place",
    ),
    "type-and-types": (
        True,
        {"instanceType": "m5.large", "instanceTypes": ["m6i.large"]},
        "managedNodeGroups[0].instanceType: cannot be set together with",
        "one of",
    ),
    "no-name": (False, {"name": None}, "nodeGroups[0].name: is required", "add name"),
    "name": (False, {"name": "a/b"}, "nodeGroups[0].name: ", "letters"),
    "override-is-no-nodeconfig": (False, {"overrideBootstrapCommand": "#!/bin/bash\ndate\n"}, "nodeGroups[0].overrideBootstrapCommand", ""),
    "ami-number": (False, {"ami": 3}, "nodeGroups[0].ami: must be text", "text"),
}


@pytest.mark.parametrize(("managed", "fields", "begins", "says"), REFUSED.values(), ids=REFUSED)
def test_refused(managed: bool, fields: dict[str, Any], begins: str, says: str) -> None:
    lines = problems(config(managed=fields) if managed else config(own=fields), CALLER).splitlines()
    found = [line for line in lines if line.startswith(begins)]
    assert found, lines
    assert says in found[0]
