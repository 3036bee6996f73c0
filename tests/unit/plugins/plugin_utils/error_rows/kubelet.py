# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's flags and configuration: fields that a version does not have, values in two places, values that cannot arrive."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, group


def _flags(id: str, flags: Any, family: str = "al2023", version: str = "1.32") -> Row:
    return group(id, {"family": family, "kubelet": {"flags": flags}}, {"kubernetes_version": version})


def _config(id: str, config: Any, family: str = "al2023", version: str = "1.32", **fields: Any) -> Row:
    return group(id, {"family": family, "kubelet": {"config": config}, **fields}, {"kubernetes_version": version})


def _nodeadm(id: str, nodeadm: Any, **fields: Any) -> Row:
    return group(id, {"family": "al2023", "nodeadm": nodeadm, **fields})


ROWS = (
    _flags("unknown flag", {"node-labls": "a=b"}),
    _flags("unknown flag without a similar name", {"colour": "blue"}),
    _flags("flag with its dashes", {"--v": 2}),
    _flags("flag with its value", {"v=2": ""}),
    _flags("flag a version has removed", {"container-runtime": "remote"}),
    _flags(
        "flag a version has removed, with a field instead",
        {"keep-terminated-pod-volumes": True, "pod-infra-container-image": "x"},
        version="1.35",
    ),
    group(
        "flags and fields of the group that differ",
        {
            "family": "al2023",
            "labels": {"a": "1"},
            "taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}],
            "max_pods": 5,
            "reserved": {"kube": {"cpu": "1"}, "system": {"cpu": "1"}},
            "kubelet": {
                "config": {"clusterDNS": ["10.0.0.9"], "registerWithTaints": [{"key": "a", "value": "2", "effect": "NoSchedule"}]},
                "flags": {
                    "node-labels": "a=2,b=3",
                    "register-with-taints": "a=3:NoSchedule",
                    "max-pods": 6,
                    "cluster-dns": "10.0.0.10",
                    "kube-reserved": "cpu=2",
                    "system-reserved": "cpu=2",
                },
            },
        },
    ),
    _flags("flags with a separate field that it does not accept", {"node-labels": "a=?", "register-with-taints": "a", "max-pods": "x"}),
    _flags("flags the image decides", {"config": "/x", "kubeconfig": "/y"}),
    _flags("flag that is given once, twice", {"v": [1, 2]}),
    _flags("flag of the wrong type", {"fail-swap-on": "maybe", "event-burst": "ten"}),
    _flags("flag of the wrong form", {"feature-gates": "A", "eviction-hard": "memory.available=5%"}),
    _flags("flag that is not an address", {"node-ip": "eth0"}),
    _flags("flag with two addresses of one family", {"node-ip": "10.0.0.1,10.0.0.2"}, "al2"),
    _flags("flag with an address and an unspecified one", {"node-ip": "10.0.0.1,::"}, "ubuntu"),
    _nodeadm("flag that is not an address, in nodeadm", {"kubelet": {"flags": ["--v=2", "--node-ip=10.0.0.1,"]}}),
    _flags("unsafe value of a flag with a field", {"resolv-conf": "a'b"}, "al2"),
    _flags("unknown flag that is similar to a removed one", {"container-runtim": "remote"}),
    _config("unknown field that is similar to one of another version", {"imageMaximumGCAg": "1h"}, version="1.28"),
    _flags("flag with a choice", {"cpu-manager-policy": "statick"}),
    _flags("flag with an empty list", {"feature-gates": []}),
    _flags("flag with a line break: al2023", {"root-dir": "a\nb"}),
    _flags("flag with a line break: al2", {"root-dir": "a\nb"}, "al2"),
    _flags("flag with a line break: ubuntu", {"root-dir": "a\nb"}, "ubuntu"),
    _flags("flag with a line break: windows", {"root-dir": "a\r\nb"}, "windows"),
    _flags("flag with NUL", {"root-dir": "a\0b"}, "al2"),
    _flags("flag with quotes: al2023", {"root-dir": 'a"b'}),
    _flags("flag with a single quote: al2", {"root-dir": "a'b"}, "al2"),
    _flags("flag with a backslash: al2", {"root-dir": "a\\b"}, "al2"),
    _flags("flag with a space: ubuntu", {"root-dir": "a b"}, "ubuntu"),
    _flags("flag with a dollar: ubuntu", {"root-dir": "$HOME"}, "ubuntu"),
    _flags("flag with a variable: windows", {"root-dir": "%PATH%"}, "windows"),
    _flags("flag Bottlerocket does not pass", {"kernel-memcg-notification": True}, "bottlerocket"),
    _config("unknown field", {"maxPod": 10}),
    _config("unknown field without a similar name", {"colour": "blue"}),
    _config("addresses that are names", {"address": "eth0", "healthzBindAddress": "localhost"}),
    _config("root of cgroups as a slice", {"cgroupRoot": "/system.slice"}),
    _config("root of cgroups with an empty part", {"cgroupRoot": "/a//b"}),
    _config("unknown nested field", {"authentication": {"anonymus": {"enabled": False}}}),
    _config("field a version does not know yet", {"imageMaximumGCAge": "1h"}, version="1.28"),
    _config("field a version has removed", {"dynamicKubeletConfigDir": "/x"}, version="1.32"),
    _config("field of the wrong type", {"evictionHard": [], "podPidsLimit": "many", "failSwapOn": "no", "eventRecordQPS": 1.5}),
    _config("field of the wrong form", {"evictionHard": {"memory.available": "x"}, "syncFrequency": "1 hour"}),
    _config("field out of range", {"imageGCHighThresholdPercent": 101}),
    _config("fields that exclude each other", {"imageGCHighThresholdPercent": 50, "imageGCLowThresholdPercent": 60}),
    _config("grace period without threshold", {"evictionSoft": {"memory.available": "1Gi"}, "evictionSoftGracePeriod": {}}),
    _config("field with a choice", {"cpuManagerPolicy": "statick"}),
    _config("fields written by the collection", {"registerWithTaints": [], "apiVersion": "v1", "kind": "KubeletConfiguration"}),
    _config("no pods in the configuration", {"maxPods": 0}),
    _config("DNS server that is not an address", {"clusterDNS": ["dns"]}),
    _config("reserved that is not a mapping", {"kubeReserved": "1Gi"}),
    _config("unknown resource in reserved", {"kubeReserved": {"gpu": "1"}}),
    _config("key that is not text", {"evictionHard": {5: "1Gi"}}),
    # Given twice.
    _config("max pods twice", {"maxPods": 10}, max_pods=20),
    _config("DNS twice", {"clusterDNS": ["10.100.0.11"]}, nodeadm={"kubelet": {"config": {"clusterDNS": ["10.100.0.12"]}}}),
    _config("reservation twice", {"kubeReserved": {"memory": "1Gi"}}, reserved={"kube": {"memory": "2Gi"}}),
    _config("field twice", {"podPidsLimit": 100}, nodeadm={"kubelet": {"config": {"podPidsLimit": 200}}}),
    _config("nested field twice", {"evictionHard": {"a": "1Gi"}}, nodeadm={"kubelet": {"config": {"evictionHard": {"a": "2Gi"}}}}),
    _nodeadm("flag twice", {"kubelet": {"flags": ["--v=3"]}}, kubelet={"flags": {"v": 2}}),
    group("family and release disagree", {"family": "Ubuntu2204", "ubuntu": {"release": "24.04"}}),
    # NodeConfig.
    _nodeadm("unknown field of nodeadm", {"kublet": {}}),
    _nodeadm("unknown nested field of nodeadm", {"kubelet": {"flag": []}}),
    _nodeadm("wrong type in nodeadm", {"kubelet": {"flags": "--v=2"}, "instance": []}),
    _nodeadm("cluster in nodeadm", {"cluster": {"name": "x"}}),
    _nodeadm("invalid flag in nodeadm", {"kubelet": {"flags": ["v=2", "--v 2", "--root-dir=a\nb"]}}),
    _nodeadm("unknown feature gate", {"featureGates": {"InstanceIdNodeNam": True}}),
    _nodeadm("containerd configuration that is not TOML", {"containerd": {"config": "a = "}}),
    _nodeadm("environment without service", {"instance": {"environment": {"HTTP_PROXY": "x"}}}),
    _nodeadm("storage strategy of nodeadm", {"instance": {"localStorage": {"strategy": "RAID5"}}}),
    _nodeadm("expression with an unknown name", {"kubelet": {"maxPodsExpression": "enis * 2"}}),
    _nodeadm("max pods as number and expression", {"kubelet": {"maxPodsExpression": "110"}}, max_pods=50),
    # al2 and ubuntu: the configuration goes through --config-dir.
    _config("al2 before --config-dir", {"podPidsLimit": 100}, "al2", "1.27"),
    group("al2 without version", {"family": "al2", "kubelet": {"config": {"podPidsLimit": 100}}}, {"kubernetes_version": None}),
    _config("ubuntu before --config-dir", {"podPidsLimit": 100}, "ubuntu", "1.29"),
    _config("al2: field the image passes as flag", {"containerRuntimeEndpoint": "unix:///x"}, "al2"),
    _config("ubuntu: field the image passes as flag", {"clusterDomain": "x.local"}, "ubuntu"),
    _config("al2: reserved CPUs", {"reservedSystemCPUs": "0"}, "al2"),
    # What kubelet refuses of the configuration that it would run with.
    _config("threshold above the default one", {"imageGCHighThresholdPercent": 75}),
    _config("grace period of critical pods beyond nodeadm's own", {"shutdownGracePeriodCriticalPods": "200s"}, version="1.36"),
    _config("serial pulls in parallel", {"serializeImagePulls": True, "maxParallelImagePulls": 5}),
    _config("enforcement without a cgroup", {"enforceNodeAllocatable": ["pods", "kube-reserved"], "kubeReservedCgroup": ""}),
    _config("static memory manager without reserved memory", {"memoryManagerPolicy": "Static"}, instance={"type": "m5.large"}),
    _config("options of the CPU manager without the policy", {"cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}),
    _config("option of the topology manager", {"topologyManagerPolicy": "restricted", "topologyManagerPolicyOptions": {"closest": "1"}}),
    _config("feature gate with a typo", {"featureGates": {"MemoryQos": True}}),
    _config("feature gate that is locked", {"featureGates": {"DynamicResourceAllocation": False}}, version="1.36"),
    _config("field that needs a feature gate", {"crashLoopBackOff": {"maxContainerRestartPeriod": "10s"}}),
    _config(
        "CPU that the type does not have",
        {"reservedSystemCPUs": "64", "systemReservedCgroup": "", "kubeReservedCgroup": ""},
        instance={"type": "m5.large"},
    ),
    _config("al2: cgroup v2 only", {"singleProcessOOMKill": False}, "al2"),
    _flags("header without a name", {"manifest-url-header": "x"}),
    _flags("feature gate of a flag with a typo", {"feature-gates": "MemoryQos=true"}),
    # Bottlerocket and Windows.
    _config("bottlerocket: field without setting", {"nodeStatusMaxImages": 10, "resolvConf": "/x"}, "bottlerocket"),
    _config("windows: field with a flag", {"podPidsLimit": 100}, "windows"),
    _config("windows: field without a flag", {"memorySwap": {"swapBehavior": "NoSwap"}}, "windows"),
)
