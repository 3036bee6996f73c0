# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs that are wrong whatever the family: names, types, forms, what is required."""

from __future__ import annotations

import base64
from datetime import date
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, cluster, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

AL2023 = {"family": "al2023"}
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


PRIVATE_KEY = "-----BEGIN RSA PRIVATE " + "KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n"


CRI = "io.containerd.grpc.v1.cri"


def containerd(plugins: dict[str, Any]) -> dict[str, Any]:
    return {"containerd": {"config": {"plugins": plugins}}}


def mirrors(*listed: Any) -> dict[str, Any]:
    return {"containerd": {"registry_mirrors": {"docker.io": listed[0] if len(listed) == 1 else list(listed)}}}


def _nested(levels: int) -> Any:
    tree: Any = "x"
    for _unused in range(levels):
        tree = [tree]
    return tree


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ROWS = (
    # Unknown fields, on each level.
    cluster("unknown field of the cluster", {"certificate_autority": _base64(PEM)}),
    cluster("unknown field of the cluster without a similar name", {"colour": "blue"}),
    Row("cluster and node group exchanged", lambda: render({"name": "web", **AL2023}, COMPLETE)),
    cluster("required field of the cluster in another spelling", {"endpoint": None, "apiServerEndpoint": "https://e.example.com"}),
    cluster("region for a strategy that the family does not have", {"region": None}, AL2023 | {"strategy": "static"}),
    group("unknown field of the node group", AL2023 | {"lables": {"a": "b"}}),
    group("unknown field in another spelling", AL2023 | {"maxPods": 20}),
    group("field of eksctl", AL2023 | {"kubeletExtraConfig": {}, "amiFamily": "AmazonLinux2023"}),
    group("flags as one text", AL2023 | {"kubelet_extra_args": "--v=2"}),
    group("field of EKS", AL2023 | {"amiType": "AL2023_x86_64_STANDARD", "instance_type": "m5.large"}),
    cluster("field of DescribeCluster", {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16"}, "version": "1.33"}),
    cluster("result of cluster_info", {"cluster": {"name": "demo"}, "name": None}),
    group("command with a colon", AL2023 | {"commands": {"post": [{'echo "a': 'b"'}]}}),
    group("command as a mapping without run", AL2023 | {"commands": {"post": [{"command": "true", "when": "Ready"}]}}),
    group("misspelt fields of a command", AL2023 | {"commands": {"post": [{"run": "true", "wen": "ready"}, {"runs": "true", "run": ""}]}}),
    group(
        "values of a command",
        AL2023 | {"commands": {"post": [5, {"run": "true", "when": "joined", "timeout": 0}, {"run": 5, "timeout": "5m"}]}},
    ),
    group("one command that is a mapping", AL2023 | {"commands": {"post": {"run": "true"}}}),
    group("unknown field of a taint", AL2023 | {"taints": [{"key": "a", "effects": "NoSchedule", "effect": "NoSchedule"}]}),
    group("required field of a taint in another spelling", AL2023 | {"taints": [{"key": "a", "efect": "NoSchedule"}]}),
    group("family in another spelling", {"famly": "al2023"}),
    group("unknown field of instance", AL2023 | {"instance": {"type": "m5.large", "vcpu": 2}}),
    group("unknown field of max_pods", AL2023 | {"max_pods": {"mode": "eni", "ceilling": True}, "instance": {"type": "m5.large"}}),
    group("unknown field of kubelet", AL2023 | {"kubelet": {"extra_args": []}}),
    group("unknown resource to reserve", AL2023 | {"reserved": {"kube": {"mem": "1Gi"}}}),
    group("key that is not text", AL2023 | {1: "x"}),
    # Wrong types, each kind.
    Row("a node group that is a list", lambda: render({}, [1])),
    Row("a cluster that is a text", lambda: render("demo", AL2023)),
    Row("nothing at all", lambda: render(None, None)),
    group("a node group without family", {"name": "workers"}),
    group("text for a list", AL2023 | {"instance": {"types": "m5.large"}}),
    group("a list for a mapping", AL2023 | {"labels": ["a=b"]}),
    group("a mapping for a list", AL2023 | {"taints": {"dedicated": "gpu:NoSchedule"}}),
    group("a document that is not text", AL2023 | {"override": {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}}),
    group("the main field of a mapping alone", AL2023 | {"instance": "m5.large"}),
    group("misspelt auto", AL2023 | {"reserved": {"kube": "autoo"}, "instance": {"type": "m5.large"}}),
    group("a number for a label", AL2023 | {"labels": {"a": 1, "b": True}}),
    group("text for a boolean", AL2023 | {"allow_secrets_in_user_data": "yes"}),
    group("a number for text", AL2023 | {"name": 7}),
    group("a fraction for an integer", AL2023 | {"max_pods": 10.5}),
    group("a boolean for an integer", AL2023 | {"max_pods": True}),
    group("a mapping for a flag", AL2023 | {"kubelet": {"flags": {"v": {"level": 2}}}}),
    group("a fraction for a flag", AL2023 | {"kubelet": {"flags": {"v": 1.5}}}),
    group("text for reserved.kube", AL2023 | {"reserved": {"kube": "500Mi"}}),
    group("text for kubelet.config", AL2023 | {"kubelet": {"config": "maxPods: 5"}}),
    group("a date", AL2023 | {"name": date(2026, 7, 1)}),
    group("bytes", AL2023 | {"override": b"x"}),
    group("not a number", AL2023 | {"nodeadm": {"x": float("nan")}}),
    group("a huge integer", AL2023 | {"max_pods": 10**30}),
    group("deeply nested", AL2023 | {"nodeadm": {"x": _nested(60)}}),
    group("half of a surrogate pair", AL2023 | {"override": "\ud800"}),
    group("an empty name", AL2023 | {"name": ""}),
    group("a name with spaces", AL2023 | {"name": "my group"}),
    # Choices.
    group("unknown family", {"family": "al2032"}),
    group("unknown family without a similar name", {"family": "debian"}),
    group("unknown family that is long", {"family": "x" * 500}),
    group("family of eksctl that is misspelt", {"family": "AmazonLinux2032"}),
    group("unknown mode", AL2023 | {"mode": "manged"}),
    group("unknown effect", AL2023 | {"taints": [{"key": "a", "effect": "NoScheduling"}]}),
    # The cluster's facts.
    cluster("CIDR with host bits", {"service_cidr": "10.100.0.1/16"}),
    cluster("CIDR without a prefix length", {"service_cidr": "10.100.0.0"}),
    cluster("CIDR with a netmask", {"service_cidr": "10.100.0.0/255.255.0.0"}),
    cluster("invalid CIDR", {"service_cidr": "ten/16"}),
    cluster("CIDR with too long a prefix", {"service_cidr": "10.100.0.0/33"}),
    cluster("CIDR that is too small", {"service_cidr": "10.100.0.0/29"}),
    cluster("IPv6 CIDR that is too small", {"service_cidr": "fd00::/126"}),
    cluster("invalid DNS address", {"dns_ips": ["10.100.0.300"]}),
    cluster("DNS address with a zone", {"dns_ips": ["fe80::1%eth0"]}),
    cluster("no DNS address", {"dns_ips": []}),
    cluster("certificate authority: bad base64", {"certificate_authority": "LS0t*LS0t"}),
    cluster("certificate authority: cut base64", {"certificate_authority": "LS0tL"}),
    cluster("certificate authority: PEM", {"certificate_authority": PEM}),
    cluster("certificate authority: base64 of something else", {"certificate_authority": _base64("hello")}),
    cluster("certificate authority: base64 of a key", {"certificate_authority": _base64(PEM.replace("CERTIFICATE", "PUBLIC KEY"))}),
    cluster("certificate authority: a line break", {"certificate_authority": _base64(PEM) + "\n"}),
    cluster("endpoint without https", {"endpoint": "http://abc.gr7.eu-west-1.eks.amazonaws.com"}),
    cluster("endpoint without scheme", {"endpoint": "abc.gr7.eu-west-1.eks.amazonaws.com"}),
    cluster("name with a space", {"name": "my cluster"}),
    cluster("region that is a zone", {"region": "eu-west-1a"}),
    cluster("kubernetes_version as number", {"kubernetes_version": 1.3}),
    cluster("kubernetes_version of another form", {"kubernetes_version": "1.x"}),
    cluster("kubernetes_version with a suffix", {"kubernetes_version": "1.33-eks"}),
    cluster("Outposts without id", {"outpost": True}),
    cluster("id without Outposts", {"id": "abc"}),
    # What is required where.
    *(
        Row(f"no cluster facts: {family}", lambda family=family: render({}, {"family": family}))
        for family in ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
    ),
    Row("no cluster facts: managed_custom_ami", lambda: render({}, AL2023 | {"mode": "managed_custom_ami"})),
    Row("no cluster facts: static", lambda: render({}, {"family": "al2", "strategy": "static", "max_pods": 20, "reserved": {"kube": {}}})),
    cluster("DNS addresses do not replace the CIDR on al2023", {"service_cidr": None, "dns_ips": ["10.100.0.10"]}),
    cluster("IPv6 addresses need the CIDR on al2", {"service_cidr": None, "dns_ips": ["fd00::a"]}, {"family": "al2"}),
    # Labels and taints.
    group("label that kubelet rejects", AL2023 | {"labels": {"node-role.kubernetes.io/worker": "x"}}),
    group("label of EKS in a managed group", AL2023 | {"mode": "managed", "labels": {"eks.amazonaws.com/nodegroup": "x"}}),
    group("label key with a space", AL2023 | {"labels": {"my key": "x"}}),
    group("label key with two slashes", AL2023 | {"labels": {"a/b/c": "x"}}),
    group("label key with capitals in its prefix", AL2023 | {"labels": {"Example.com/c": "x"}}),
    group("label value that is too long", AL2023 | {"labels": {"a": "x" * 64}}),
    group("label value with a space", AL2023 | {"labels": {"a": "two words"}}),
    group("label value with a line break", AL2023 | {"labels": {"a": "b\nc"}}),
    group("unknown placeholder", AL2023 | {"labels": {"a": "{instance_idd}"}}),
    group("unknown placeholder without a similar name", AL2023 | {"labels": {"a": "{x}"}}),
    group(
        "the same taint twice",
        AL2023 | {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]},
    ),
    group("taint without effect", AL2023 | {"taints": [{"key": "a"}]}),
    group("invalid taint key", AL2023 | {"taints": [{"key": "a b", "effect": "NoExecute"}]}),
    group("invalid taint value", AL2023 | {"taints": [{"key": "a", "value": "b c", "effect": "NoExecute"}]}),
    group("taint as text", AL2023 | {"taints": ["dedicated=gpu", "a=b:NoSchedule,c:NoExecute", "a=b:Never"]}),
    # Pods and reservations.
    group("no pods", AL2023 | {"max_pods": 0}),
    group("no pods as text", AL2023 | {"max_pods": "0"}),
    group("too many pods", AL2023 | {"max_pods": 70000}),
    group("pods as a word", AL2023 | {"max_pods": "many"}),
    group("auto in user data", AL2023 | {"max_pods": "auto"}),
    group("auto in user data of Windows", {"family": "windows", "max_pods": "auto"}),
    group("rule without instance", AL2023 | {"max_pods": {"mode": "eni"}}),
    group("rule without mode", AL2023 | {"max_pods": {"ceiling": True}, "instance": {"type": "m5.large"}}),
    group("rule of another family", AL2023 | {"max_pods": {"mode": "windows_prefix"}, "instance": {"type": "m5.large"}}),
    group("unknown instance type", AL2023 | {"max_pods": {"mode": "eni"}, "instance": {"type": "m5.lage"}}),
    group("one of several types is unknown", AL2023 | {"max_pods": {"mode": "eni"}, "instance": {"types": ["m5.large", "m99.large"]}}),
    group("type and types", AL2023 | {"instance": {"type": "m5.large", "types": ["m5.large"]}}),
    group("one of two numbers", AL2023 | {"max_pods": {"mode": "eni"}, "instance": {"max_enis": 3}}),
    group("prefixes without Nitro", AL2023 | {"max_pods": {"mode": "prefix"}, "instance": {"type": "m4.large"}}),
    group("no interface left", AL2023 | {"max_pods": {"mode": "eni", "reserved_enis": 3}, "instance": {"type": "m5.large"}}),
    group("ceiling without vCPUs", AL2023 | {"max_pods": {"mode": "eni", "ceiling": True}, "instance": {"max_enis": 3, "ips_per_eni": 10}}),
    group("instance count out of range", AL2023 | {"instance": {"max_enis": 0}}),
    group("reserved.kube: auto without instance", AL2023 | {"reserved": {"kube": "auto"}}),
    group("reserved.kube: auto without vCPUs", AL2023 | {"reserved": {"kube": "auto"}, "max_pods": 50}),
    group("reserved.kube: auto for an unknown type", AL2023 | {"reserved": {"kube": "auto"}, "instance": {"type": "x9.huge"}}),
    group("more memory than the type has", AL2023 | {"reserved": {"kube": {"memory": "16Gi"}}, "instance": {"type": "m5.large"}}),
    group(
        "more memory and CPU than the type has, together",
        AL2023
        | {
            "reserved": {"kube": {"memory": "4Gi", "cpu": "1500m"}, "system": {"memory": "3Gi", "cpu": "600m"}},
            "kubelet": {"config": {"evictionHard": {"memory.available": "1Gi"}}},
            "instance": {"types": ["m5.xlarge", "m5.large"]},
        },
    ),
    group("image of another architecture", {"family": "BOTTLEROCKET_ARM_64", "instance": {"types": ["m7g.large", "m7i.large"]}}),
    group("Windows on arm64", {"family": "windows", "instance": {"type": "m7g.large"}}),
    group("invalid quantity", AL2023 | {"reserved": {"kube": {"memory": "much"}, "system": {"cpu": "1 core"}}}),
    # Other common fields.
    group("proxy without an address", AL2023 | {"proxy": {"no_proxy": ["10.0.0.0/8"]}}),
    group("proxy without scheme", AL2023 | {"proxy": {"https": "proxy.example.com:3128"}}),
    group("proxy exception with a space", AL2023 | {"proxy": {"https": "http://p:3128", "no_proxy": ["a b"]}}),
    group("storage without strategy", AL2023 | {"local_storage": {"mount_path": "/mnt/x"}}),
    group("storage at a relative path", AL2023 | {"local_storage": {"strategy": "mount", "mount_path": "mnt"}}),
    group("mirror without scheme", AL2023 | {"containerd": {"registry_mirrors": {"docker.io": "mirror.example.com"}}}),
    group("mirrors of nothing", AL2023 | {"containerd": {"registry_mirrors": {"docker.io": []}}}),
    group("mirror without a URL", AL2023 | mirrors({"ca": PEM})),
    group("unknown field of a mirror", AL2023 | mirrors({"url": "https://m.example.com", "overridePath": True})),
    group("mirror that is a number", AL2023 | mirrors([7])),
    group("parts of a mirror's URL that containerd drops", AL2023 | mirrors(["https://me@m.example.com/x?a=b#c", "https://m:x"])),
    group("mirror twice", AL2023 | mirrors(["https://m.example.com", {"url": "https://m.example.com", "override_path": True}])),
    group("TLS settings of a mirror without TLS", AL2023 | mirrors({"url": "http://m.example.com", "ca": PEM, "skip_verify": True})),
    group("unknown capability of a mirror", AL2023 | mirrors({"url": "https://m.example.com", "capabilities": ["pul"]})),
    group("timeout of a mirror without a unit", AL2023 | mirrors({"url": "https://m.example.com", "dial_timeout": "30"})),
    group("relative path of a mirror's certificate", AL2023 | mirrors({"url": "https://m.example.com", "ca": "certs/ca.pem"})),
    group(
        "settings that a mirror of Bottlerocket lacks",
        {"family": "bottlerocket"}
        | mirrors(
            {"url": "https://m.example.com", "override_path": True, "ca": PEM, "capabilities": ["pull"]},
            {"url": "https://n.example.com", "skip_verify": True, "dial_timeout": "3s"},
        ),
    ),
    group(
        "mirrors and a duration in the configuration of containerd",
        AL2023
        | containerd(
            {
                CRI: {
                    "registry": {"mirrors": {"docker.io": {}}, "configs": {"a": {"tls": {"ca_file": "x"}}}},
                    "stream_idle_timeout": "5 minutes",
                }
            }
        ),
    ),
    group(
        "runtimes of containerd",
        AL2023
        | containerd(
            {
                CRI: {
                    "systemd_cgroup": True,
                    "containerd": {
                        "default_runtime_name": "own",
                        "runtimes": {"runc": {"runtime_root": "x", "privileged_without_host_devices_all_devices_allowed": True}},
                    },
                }
            }
        ),
    ),
    group("values of another type for containerd", AL2023 | containerd({CRI: {"registry": "none", "sandbox_image": 5}})),
    group("containerd without CRI", {"family": "al2", "containerd": {"config": {"disabled_plugins": ["cri"]}}}),
    group("plugins of containerd that are not a list", AL2023 | {"containerd": {"config": {"disabled_plugins": "cri"}}}),
    group(
        "mirrors that containerd does not read",
        AL2023
        | {
            "containerd": mirrors("https://m.example.com")["containerd"]
            | containerd({CRI: {"registry": {"config_path": "/x"}}})["containerd"]
        },
    ),
    group("version 3 on containerd 1", AL2023 | containerd({"io.containerd.cri.v1.images": {}}), {"kubernetes_version": "1.29"}),
    group("both versions for containerd", AL2023 | containerd({"io.containerd.cri.v1.images": {}, CRI: {"sandbox_image": "x"}})),
    group("version 3 with names of version 2", AL2023 | {"containerd": {"config": {"version": 3, "plugins": {CRI: {}}}}}),
    group(
        "unknown version for containerd",
        AL2023 | {"nodeadm": {"containerd": {"config": 'version = 4\n[plugins."io.containerd.cri.v1.images"]\n'}}},
    ),
    group("trust in a number", AL2023 | {"trust": 7}),
    group("trust in a list of mappings", AL2023 | {"trust": [{"name": "corporate", "data": PEM}]}),
    group("trust in base64 of PEM", AL2023 | {"trust": _base64(PEM)}),
    group("trust in the path of a file", AL2023 | {"trust": "certs/corporate.pem"}),
    group("trust in PEM without its end", AL2023 | {"trust": [PEM, PEM[:-20]]}),
    group("trust in PEM with invalid base64", AL2023 | {"trust": PEM.replace("MIIB", "MII=B")}),
    group("trust in another kind of PEM", AL2023 | {"trust": PEM.replace("CERTIFICATE", "TRUSTED CERTIFICATE")}),
    group("trust in a private key", AL2023 | {"trust": PEM + PRIVATE_KEY, "allow_secrets_in_user_data": True}, secret="c2VjcmV0"),
    group("mirror for a registry that is a path", AL2023 | {"containerd": {"registry_mirrors": {"../etc": ["https://m.example.com"]}}}),
    # Several at once: sorted by path, each once.
    group(
        "several problems at once",
        {
            "family": "al2023",
            "taints": [{"key": "a", "effect": "Never"}],
            "labels": {"kubernetes.io/x": "1", "b": 2},
            "max_pods": 0,
            "colour": "blue",
        },
        {"service_cidr": "10.1.1.1/8", "endpoint": None, "certificate_authority": "?"},
    ),
)
