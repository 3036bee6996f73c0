# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each value of a document, replaced by a value of another type: no function fails."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import tomlkit

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.yaml_error import YamlError
from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, ENDPOINT
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.fuzz.calls import OTHERS, READERS, run

NODE_CONFIG: dict[str, Any] = {
    "apiVersion": "node.eks.aws/v1alpha1",
    "kind": "NodeConfig",
    "metadata": {"name": "a"},
    "spec": {
        "cluster": {
            "name": "shop",
            "apiServerEndpoint": ENDPOINT,
            "certificateAuthority": CA,
            "cidr": "10.100.0.0/16",
            "id": "x",
            "enableOutpost": False,
        },
        "containerd": {"config": "version = 2\n", "baseRuntimeSpec": {"process": {"rlimits": [{"type": "R", "soft": 1, "hard": 1}]}}},
        "featureGates": {"InstanceIdNodeName": True},
        "instance": {
            "localStorage": {"strategy": "RAID0", "mountPath": "/a", "disabledMounts": ["Containerd"]},
            "environment": {"default": {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "a"}},
        },
        "kubelet": {
            "maxPodsExpression": "1",
            "config": {
                "maxPods": 10,
                "clusterDNS": ["10.100.0.10"],
                "evictionHard": {"memory.available": "5%"},
                "evictionSoft": {"memory.available": "10%"},
                "evictionSoftGracePeriod": {"memory.available": "1m"},
                "kubeReserved": {"memory": "1Gi"},
                "systemReserved": {"cpu": "1"},
                "registerWithTaints": [{"key": "a", "value": "b", "effect": "NoSchedule"}],
                "featureGates": {"A": True},
                "shutdownGracePeriod": "1s",
                "logging": {"format": "text"},
                "tlsCipherSuites": ["a"],
                "topologyManagerPolicy": "none",
                "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
                "memorySwap": {},
                "imageGCHighThresholdPercent": 80,
                "cpuManagerPolicyOptions": {"a": "b"},
                "providerID": "x",
                "registryPullQPS": 1,
                "crashLoopBackOff": {"maxContainerRestartPeriod": "1s"},
            },
            "flags": ["--node-labels=a=b", "--register-with-taints=a=b:NoSchedule", "--v=2"],
        },
    },
}
CLOUD_CONFIG: dict[str, Any] = {
    "runcmd": ["ls", ["a", "b"], "/etc/eks/bootstrap.sh shop --kubelet-extra-args '--node-labels=a=b'"],
    "bootcmd": ["ls"],
    "write_files": [
        {
            "path": "/a",
            "content": "#!/bin/bash\nls\n",
            "permissions": "0644",
            "encoding": "b64",
            "owner": "a",
            "append": True,
            "source": {"uri": "a"},
        }
    ],
    "packages": ["a", ["b", "1"]],
    "users": [{"name": "a", "sudo": "x"}],
    "merge_how": "a",
    "mounts": [["a", "b"]],
    "yum_repos": {"a": {"b": "c"}},
    "ntp": {"servers": ["a"]},
}
SETTINGS: dict[str, Any] = {
    "settings": {
        "kubernetes": {
            "cluster-name": "shop",
            "api-server": ENDPOINT,
            "cluster-certificate": CA,
            "cluster-dns-ip": "10.100.0.10",
            "max-pods": 10,
            "node-labels": {"a": "b"},
            "node-taints": {"a": ["b:NoSchedule"]},
            "kube-reserved": {"cpu": "1"},
            "eviction-hard": {"memory.available": "5%"},
            "credential-providers": {"ecr-credential-provider": {"enabled": True, "image-patterns": ["a"]}},
            "static-pods": {"a": {"enabled": True, "manifest": "YQ=="}},
        },
        "host-containers": {"admin": {"enabled": True, "user-data": "YQ=="}},
        "kernel": {"sysctl": {"a": "b"}, "lockdown": "none", "modules": {"a": {"allowed": True}}},
        "container-registry": {"mirrors": [{"registry": "a", "endpoint": ["https://a"]}]},
        "pki": {"a": {"data": CA, "trusted": True}},
        "network": {"https-proxy": "a", "no-proxy": ["a"], "hosts": [["10.0.0.1", ["a"]]]},
        "bootstrap-containers": {"a": {"mode": "once", "source": "a"}},
        "ntp": {"time-servers": ["a"]},
    }
}


DOCUMENTS = {"NodeConfig": NODE_CONFIG, "cloud-config": CLOUD_CONFIG, "Bottlerocket": SETTINGS}
OTHER_TYPES: tuple[Any, ...] = (
    3, -1, 1.5, True, "", "x", "a: b", [], [3], [None], [[]], [{}], ["x", ["y"]], {}, {"a": 1}, {"a": {"b": [1]}}, None,
)  # fmt: skip
FEW = 6
"""Types in C(make test), another choice for each value."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


def written(name: str, path: tuple[Any, ...], value: Any) -> str | None:
    """A document with another value at a place. None if its format cannot write it."""
    document = copy.deepcopy(DOCUMENTS[name])
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        if name == "Bottlerocket":
            return tomlkit.dumps(document)
        return ("#cloud-config\n" if name == "cloud-config" else "") + yaml.dump(document)
    except (YamlError, ValueError, TypeError, AttributeError):
        return None


@pytest.mark.parametrize("name", DOCUMENTS)
def test_values_of_other_types(name: str) -> None:
    for number, path in enumerate(paths(DOCUMENTS[name])):
        for index in range(FEW):
            text = written(name, path, OTHER_TYPES[(number + 3 * index) % len(OTHER_TYPES)])
            run(text or "", READERS)


@pytest.mark.matrix
@pytest.mark.parametrize("name", DOCUMENTS)
def test_values_of_all_other_types(name: str) -> None:
    for path in paths(DOCUMENTS[name]):
        for value in OTHER_TYPES:
            run(written(name, path, value) or "", READERS | OTHERS)
