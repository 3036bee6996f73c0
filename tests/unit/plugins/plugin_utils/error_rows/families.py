# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that a family, a mode or a version of Kubernetes cannot express."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, group

COMMON: dict[str, Any] = {
    "strategy": "static",
    "instance": {"hostname_type": "resource_name"},
    "max_pods": 20,
    "reserved": {"kube": {"cpu": "100m"}},
    "kubelet": {"config": {"podPidsLimit": 100}, "flags": {"v": 2}},
    "containerd": {"config": {"debug": {"level": "info"}}, "registry_mirrors": {"docker.io": "https://m.example.com"}, "pause_image": "x"},
    "local_storage": {"strategy": "mount", "mount_path": "/mnt/x"},
    "proxy": {"http": "http://p:3128"},
    "commands": {"pre": ["true"], "post": ["true"]},
    "override": "true",
    "nodeadm": {"kubelet": {}},
    "bottlerocket": {"settings": {"motd": "x"}},
    "windows": {"persist": True},
    "ubuntu": {"release": "22.04"},
}
IPV6 = {"service_cidr": "fd30::/108"}


def _only(what: str, family: str, mode: str = "self_managed", cluster: Any = None, **fields: Any) -> Row:
    return group(f"{family}: {what}", {"family": family, "mode": mode, **fields}, cluster)


def _version(name: str, version: str, **fields: Any) -> Row:
    return group(" ".join([f"{name} on {version}", *fields]), {"family": name, **fields}, {"kubernetes_version": version})


ROWS = (
    *(group(f"every field on {family}", {"family": family} | COMMON) for family in ("al2", "al2023", "bottlerocket", "ubuntu", "windows")),
    *(
        group(f"every field on {family}, managed", {"family": family, "mode": "managed"} | COMMON | {"labels": {"a": "{instance_id}"}})
        for family in ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
    ),
    _only("a managed group", "ubuntu", "managed"),
    _only("static without max pods", "al2", strategy="static", instance={"type": "m5.large"}, max_pods=None),
    _only("static without vCPUs", "al2", strategy="static", reserved={"kube": "auto"}, max_pods=20),
    _only("static with override", "al2", strategy="static", max_pods=20, instance={"vcpus": 2}, override="true"),
    _only("override with containerd", "al2", override="true", containerd={"config": {"version": 2}, "pause_image": "x/y:1"}),
    _only("pause image of another registry", "al2", containerd={"pause_image": "registry.example.com/pause:3.10"}),
    _only(
        "pause image of another region", "al2", containerd={"pause_image": "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.10"}
    ),
    _only("containerd configuration of version 3", "al2", containerd={"config": {"version": 3}}),
    _only("invalid pause image", "al2", containerd={"pause_image": "a b"}),
    _only("two DNS servers", "ubuntu", cluster={"dns_ips": ["10.100.0.10", "10.100.0.11"]}),
    _only("Outposts", "ubuntu", cluster={"outpost": True, "id": "x"}),
    _only("local storage", "ubuntu", strategy="static", max_pods=20, instance={"vcpus": 2}, local_storage={"strategy": "raid0"}),
    _only("Outposts with static", "al2", strategy="static", cluster={"outpost": True, "id": "x"}, max_pods=20, instance={"vcpus": 2}),
    _only("label known at boot only", "bottlerocket", labels={"a": "{instance_id}"}),
    _only("Outposts", "bottlerocket", cluster={"outpost": True, "id": "x"}),
    _only("unknown table", "bottlerocket", bottlerocket={"settings": {"kubernets": {}}}),
    _only("unknown setting", "bottlerocket", bottlerocket={"settings": {"kubernetes": {"max-pod": 10}}}),
    _only("setting of the wrong type", "bottlerocket", bottlerocket={"settings": {"kubernetes": {"max-pods": "ten"}}}),
    _only("max pods twice", "bottlerocket", bottlerocket={"settings": {"kubernetes": {"max-pods": 10}}}, max_pods=20),
    _only("name of the cluster twice", "bottlerocket", bottlerocket={"settings": {"kubernetes": {"cluster-name": "other"}}}),
    _only(
        "label that kubelet rejects", "bottlerocket", bottlerocket={"settings": {"kubernetes": {"node-labels": {"kubernetes.io/x": "y"}}}}
    ),
    _only("is a second table named settings", "bottlerocket", bottlerocket={"settings": {"settings": {"motd": "x"}}}),
    _only("null", "bottlerocket", bottlerocket={"settings": {"motd": None}}),
    _only(
        "identity in a managed group",
        "bottlerocket",
        "managed",
        bottlerocket={"settings": {"kubernetes": {"cluster-name": "x", "node-labels": {"a": "b"}}}},
    ),
    _only("label known at boot only", "windows", labels={"a": "{availability_zone}"}),
    _only("an IPv6 cluster", "windows", cluster=IPV6),
    _only("two DNS servers", "windows", cluster={"dns_ips": ["10.100.0.10", "10.100.0.11"]}),
    _only("Outposts", "windows", cluster={"outpost": True, "id": "x"}),
    _only("arguments of kube-proxy", "windows", windows={"kube_proxy_extra_args": ["v=2", "--a=1 --b=2", "--x=%PATH%"]}),
    _only("its own fields", "windows", windows={"version": "2016", "excluded_snat_cidrs": "10.0.0.1/8", "persists": True}),
    _only("commands after Ready", "windows", commands={"post": ["dir", {"run": "dir", "when": "ready"}]}),
    _only("a tag in a command", "windows", commands={"pre": ["echo </powershell>"]}),
    _only("a second bootstrap", "windows", commands={"pre": ["& $EKSBootstrapScriptFile -EKSClusterName x"]}),
    _only("max pods by a Linux rule", "windows", max_pods={"mode": "eni"}, instance={"type": "m5.large"}),
    _only(
        "max pods with Linux options",
        "windows",
        max_pods={"mode": "windows_prefix", "custom_networking": True, "reserved_enis": 1},
        instance={"type": "m5.large"},
    ),
    _only("label of EKS in a managed group", "al2023", "managed", labels={"eks.amazonaws.com/x": "y"}),
    _only("override that is a script", "al2023", override="#!/bin/bash\ntrue\n"),
    _version("al2", "1.33"),
    _version("windows", "1.34", windows={"version": "2025"}),
    _version("ubuntu", "1.30", ubuntu={"release": "20.04"}),
    _version("Ubuntu2004", "1.30"),
    _version("ubuntu", "1.29", ubuntu={"release": 24.04}),
    _version("ubuntu", "1.32", ubuntu={"release": "18.04"}),
    _version("al2023", "1.23"),
    group("encoding that is unknown", {"family": "al2023"}, encoding="gzip64"),
    group("gzip on Windows", {"family": "windows"}, encoding="gzip_base64"),
    *(
        group(f"gzip in a managed group: {family}", {"family": family, "mode": "managed", **fields}, encoding="gzip_base64")
        for family, fields in (
            ("al2", {"commands": {"pre": ["true"]}}),
            ("al2023", {"max_pods": 20}),
            ("bottlerocket", {"max_pods": 20}),
            ("windows", {"commands": {"pre": ["dir"]}}),
        )
    ),
)
