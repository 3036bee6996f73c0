# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What eksctl's own unit tests hold eksctl to, held here against what this collection renders from the same files.

Ids name the behaviour (AL2-2: the second behaviour of eksctl's tests for Amazon Linux 2). Where eksctl is wrong, the row states
what is right, and its id carries the weakness of docs/parity.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.network import cluster_dns_ips
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.importers.eksctl_files import CA, CALLER, refusal, user_data


@dataclass(frozen=True)
class Row:
    """One behaviour. C(has) and C(lacks) are regular expressions over the rendered text; C(says) one over the refusal."""

    fields: dict[str, Any]
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    managed: bool = False
    cluster: dict[str, Any] = field(default_factory=dict)
    top: dict[str, Any] = field(default_factory=dict)
    empty: bool = False


OUTPOST = {"outpost": {"controlPlaneOutpostARN": "arn:aws:outposts:us-west-2:111122223333:outpost/op-1"}}
CIDR_12 = {"service_cidr": "172.16.0.0/12"}
AMI = {"ami": "ami-0123456789abcdef0"}
OVERRIDE_VARIABLES = (
    "API_SERVER_URL",
    "B64_CLUSTER_CA",
    "INSTANCE_ID",
    "INSTANCE_LIFECYCLE",
    "CLUSTER_DNS",
    "NODE_TAINTS",
    "MAX_PODS",
    "NODE_LABELS",
    "CLUSTER_NAME",
    "CONTAINER_RUNTIME",
    "KUBELET_EXTRA_ARGS",
)
A_LABEL = "alpha.eksctl.io/cluster-name=c,alpha.eksctl.io/nodegroup-name=[gm]"
NOSCHEDULE = [{"key": "key1", "value": "value1", "effect": "NoSchedule"}]
VALUELESS = [{"key": "foo", "effect": "NoSchedule"}]
TWO_TAINTS = [{"key": "one", "value": "1", "effect": "NoSchedule"}, {"key": "two", "effect": "NoExecute"}]
CALL = r"/etc/eks/bootstrap\.sh"


def script(family: str, prefix: str) -> dict[str, Row]:
    """The behaviours that eksctl's tests for Amazon Linux 2 and Ubuntu share."""

    def row(fields: dict[str, Any], *has: str, **rest: Any) -> Row:
        return Row({"amiFamily": family, **fields}, has, **rest)

    ours = {
        "no fields": row(
            {},
            rf"{CALL} c\b",
            CALLER["endpoint"],
            re.escape(CA),
            "alpha.eksctl.io/cluster-name=c",
            "alpha.eksctl.io/nodegroup-name=g",
            lacks=("--max-pods", "--register-with-taints"),
        ),
        "max pods": row({"maxPodsPerNode": 123}, r"--max-pods=123\b"),
        "labels and taints": row(
            {"labels": {"role": "worker"}, "taints": NOSCHEDULE}, r"[=,]role=worker\b", r"--register-with-taints=key1=value1:NoSchedule\b"
        ),
        "service CIDR": row({}, r"--dns-cluster-ip[ =]'?172\.16\.0\.10\b", cluster=CIDR_12),
        "calls the image's script once": row(
            {}, CALL, lacks=(f"(?s){CALL} .*{CALL} ", "systemctl restart kubelet", "snap restart", r"\bjq\b")
        ),
        "value-less taint": row({"taints": VALUELESS}, r"--register-with-taints=foo=:NoSchedule\b"),
        "two taints": row({"taints": TWO_TAINTS}, r"one=1:NoSchedule,two=:NoExecute\b"),
        "cluster DNS": row({"clusterDNS": "1.2.3.4"}, r"--dns-cluster-ip[ =]'?1\.2\.3\.4\b", lacks=(r"10\.100\.0\.10",)),
        "pre commands": row({"preBootstrapCommands": ["echo 'it''s'"]}, re.escape("echo 'it''s'")),
        "override": row({"overrideBootstrapCommand": "echo custom"}, "echo custom", lacks=(rf"{CALL} c",)),
        "override finds its variables": row(
            {"overrideBootstrapCommand": "source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\necho x\n"},
            r"/var/lib/cloud/scripts/eksctl/bootstrap\.helper\.sh",
            *(rf"\b{name}=" for name in OVERRIDE_VARIABLES),
        ),
        "kubelet configuration": row({"kubeletExtraConfig": {"shutdownGracePeriod": "30s"}}, "shutdownGracePeriod", "--config-dir"),
        "unknown kubelet field (W-13)": row({"kubeletExtraConfig": {"foo": "bar"}}, says=(r"^nodeGroups\[0\]\.kubeletExtraConfig\.foo: ",)),
        "labels known at boot": row({}, "node-lifecycle=", "alpha.eksctl.io/instance-id=", "latest/api/token"),
    }
    return {f"{prefix}: {name}": one for name, one in ours.items()}


ROWS: dict[str, Row] = {
    **script("AmazonLinux2", "AL2"),
    "AL2-4: container runtime": Row(
        {"amiFamily": "AmazonLinux2", "containerRuntime": "containerd"}, (CALL,), lacks=("--container-runtime",)
    ),
    "AL2-6: Outposts": Row(
        {"amiFamily": "AmazonLinux2"},
        (r"--enable-local-outpost[ =]'?true\b", r"--cluster-id[ =]'?local-1\b"),
        cluster={"id": "local-1"},
        top=OUTPOST,
    ),
    **script("Ubuntu2204", "UB"),
    "MUB-1: custom service CIDR": Row(
        {"amiFamily": "Ubuntu2204"}, (r"10\.255\.0\.10\b",), managed=True, cluster={"service_cidr": "10.255.0.0/16"}
    ),
    "MUB-2: default service CIDR": Row(
        {"amiFamily": "Ubuntu2204"}, (r"172\.20\.0\.10\b",), managed=True, cluster={"service_cidr": "172.20.0.0/16"}
    ),
    "A23-1: default": Row(
        {},
        (
            "kind: NodeConfig",
            f"apiServerEndpoint: {CALLER['endpoint']}",
            f"certificateAuthority: {re.escape(CA)}",
            "cidr: 10.100.0.0/16",
            "name: c\n",
            r"clusterDNS:\n +- 10\.100\.0\.10\n",
            f"--node-labels={A_LABEL}",
        ),
        lacks=("enableOutpost", "node-lifecycle", "maxPods", r"\{\}"),
    ),
    "A23-2: EFA changes nothing": Row({"efaEnabled": True}, ("kind: NodeConfig",), lacks=("efa",)),
    "A23-3: Outposts": Row({}, ("enableOutpost: true", "id: local-1"), cluster={"id": "local-1"}, top=OUTPOST),
    "A23-4: managed, EKS's AMI": Row({"labels": {"a": "b"}, "taints": TWO_TAINTS}, managed=True, empty=True),
    "A23-5: managed, custom AMI": Row(
        {**AMI, "taints": [{"key": "special", "value": "true", "effect": "NoSchedule"}]},
        ("--register-with-taints=special=true:NoSchedule", "cidr: 10.100.0.0/16"),
        managed=True,
    ),
    "A23-6: managed, custom AMI, IPv6": Row(
        AMI, (r"cidr: '?\"?fd40:6404:f93b::/108", r"fd40:6404:f93b::a\b"), managed=True, cluster={"service_cidr": "fd40:6404:f93b::/108"}
    ),
    "A23-7: max pods and taints": Row({"maxPodsPerNode": 11, "taints": TWO_TAINTS}, ("maxPods: 11", "one=1:NoSchedule,two=:NoExecute")),
    "A23-8: max pods, taints and kubelet configuration": Row(
        {
            "maxPodsPerNode": 11,
            "taints": TWO_TAINTS,
            "kubeletExtraConfig": {"shutdownGracePeriod": "5m0s", "kubeReserved": {"cpu": "500m"}},
        },
        ("maxPods: 11", "shutdownGracePeriod: '?5m0s", r"kubeReserved:\n +cpu: '?500m", "clusterDNS"),
    ),
    "A23-9: override, as JSON": Row(
        {
            "overrideBootstrapCommand": '{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": '
            '{"featureGates": {"InstanceIdNodeName": true}, "instance": {"localStorage": {"strategy": "RAID0"}}}}'
        },
        ('(?s)apiServerEndpoint.*"InstanceIdNodeName": true',),
    ),
    "A23: managed, pre commands get an interpreter line": Row(
        {"preBootstrapCommands": ["date"]}, (r"#!/bin/bash\n(.*\n)*date\n",), managed=True
    ),
    "A23: managed, max pods": Row({"maxPodsPerNode": 123}, ("maxPods: 123",), lacks=("apiServerEndpoint",), managed=True),
    "A23: managed, override": Row(
        {"overrideBootstrapCommand": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 123}}}\n"},
        ("maxPods: 123",),
        lacks=("apiServerEndpoint",),
        managed=True,
    ),
    "BR-1: standard": Row(
        {"amiFamily": "Bottlerocket"},
        ('cluster-name = "c"', f'api-server = "{CALLER["endpoint"]}"', f'cluster-certificate = "{re.escape(CA)}"'),
        lacks=("host-containers", "max-pods", "node-taints"),
    ),
    "BR-3: dotted keys stay one key": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"kernel": {"sysctl": {"vm.max_map_count": "1"}}}}},
        ('"vm.max_map_count" = "1"',),
    ),
    "BR-4: host containers": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"host-containers": {"control": {"enabled": False}}}}},
        (r"\[settings\.host-containers\.control\]\nenabled = false",),
    ),
    "BR-5: admin container": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"enableAdminContainer": True}},
        (r"\[settings\.host-containers\.admin\]\nenabled = true",),
    ),
    "BR-6: switch against setting is said, not guessed": Row(
        {
            "amiFamily": "Bottlerocket",
            "bottlerocket": {"enableAdminContainer": True, "settings": {"host-containers": {"admin": {"enabled": False}}}},
        },
        says=(r"enableAdminContainer: conflicts with",),
    ),
    "BR-7: labels": Row(
        {"amiFamily": "Bottlerocket", "labels": {"foo": "bar"}}, (r"\[settings\.kubernetes\.node-labels\]\n(.*\n)*foo = \"bar\"",)
    ),
    "BR-8: taints": Row({"amiFamily": "Bottlerocket", "taints": VALUELESS}, (r"foo = .*\":NoSchedule\"",)),
    "BR-9: cluster DNS": Row({"amiFamily": "Bottlerocket", "clusterDNS": "1.2.3.4"}, (r'cluster-dns-ip = .*"1\.2\.3\.4"',)),
    "BR-10: max pods": Row({"amiFamily": "Bottlerocket", "maxPodsPerNode": 32}, (r"max-pods = 32\n",)),
    "BR-11: no max pods": Row({"amiFamily": "Bottlerocket"}, ("settings",), lacks=("max-pods",)),
    "BR: integers stay integers": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"kubernetes": {"registry-qps": 10}}}}, (r"registry-qps = 10\n",)
    ),
    "MBR-1: cluster identity is EKS's": Row({"amiFamily": "Bottlerocket"}, managed=True, empty=True),
    "MBR-2: max pods": Row({"amiFamily": "Bottlerocket", "maxPodsPerNode": 32}, (r"max-pods = 32\n",), lacks=("api-server",), managed=True),
    "MBR-3: admin container": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"enableAdminContainer": True}}, ("enabled = true",), managed=True
    ),
    "MBR-6: labels and taints are EKS's": Row(
        {"amiFamily": "Bottlerocket", "labels": {"a": "b"}, "taints": VALUELESS, "maxPodsPerNode": 3},
        lacks=("node-labels", "node-taints"),
        managed=True,
    ),
    "MBR-8: cluster settings": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"kubernetes": {"cluster-name": "x"}}}},
        says=(r"^managedNodeGroups\[0\]\.bottlerocket\.settings\.kubernetes\.cluster-name: ",),
        managed=True,
    ),
    "MBR-9: labels in the settings": Row(
        {"amiFamily": "Bottlerocket", "bottlerocket": {"settings": {"kubernetes": {"node-labels": {"a": "b"}}}}},
        says=(r"^managedNodeGroups\[0\]\.bottlerocket\.settings\.kubernetes\.node-labels",),
        managed=True,
    ),
    "MBR-10: both admin switches": Row(
        {
            "amiFamily": "Bottlerocket",
            "bottlerocket": {"enableAdminContainer": False, "settings": {"host-containers": {"admin": {"enabled": True}}}},
        },
        says=("enableAdminContainer: conflicts with",),
        managed=True,
    ),
}

WINDOWS = {"amiFamily": "WindowsServer2022FullContainer"}
CALL_PS = r"& \$EKSBootstrapScriptFile "
ROWS |= {
    "WIN-1: standard": Row(
        WINDOWS,
        (
            r"^<powershell>\n\[string\]\$EKSBootstrapScriptFile = ",
            CALL_PS,
            f"-EKSClusterName 'c' -APIServerEndpoint '{CALLER['endpoint']}' -Base64ClusterCA '{re.escape(CA)}'",
            "-ServiceCIDR '10.100.0.0/16'",
            r"3>&1 4>&1 5>&1 6>&1\n</powershell>\s*$",
        ),
        lacks=("register-with-taints", "max-pods"),
    ),
    "WIN-2: labels": Row({**WINDOWS, "labels": {"role": "x"}}, (r"--node-labels=[^ ]*role=x\b",)),
    "WIN-3: taints": Row({**WINDOWS, "taints": NOSCHEDULE}, ("--register-with-taints=key1=value1:NoSchedule",)),
    "WIN-4: order of the arguments": Row(
        {**WINDOWS, "taints": NOSCHEDULE, "maxPodsPerNode": 123}, ("--node-labels=.* --register-with-taints=.* --max-pods=123",)
    ),
    "WIN-5: a pre command": Row(
        {**WINDOWS, "preBootstrapCommands": ['Write-Output "a b"']}, (rf'(?s)SWrite|Write-Output "a b"\n.*{CALL_PS}',)
    ),
    "WIN-6: several": Row({**WINDOWS, "preBootstrapCommands": ["one", "two"]}, (rf"(?s)\none\ntwo\n.*{CALL_PS}",)),
    "WIN-7: containerd": Row({**WINDOWS, "containerRuntime": "containerd"}, ("-ContainerRuntime 'containerd'",)),
    "WIN-8: cluster DNS": Row({**WINDOWS, "clusterDNS": "1.2.3.4"}, (r"-ServiceCIDR '10\.100\.0\.0/16' -DNSClusterIP '1\.2\.3\.4'",)),
    "WIN-9: override": Row(
        {**WINDOWS, "overrideBootstrapCommand": "& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName"},
        (r"\[string\]\$EKSClusterName = 'c'", r"\$KubeletExtraArgsMap = @\{", "'node-labels'", r"\$KubeletExtraArgs = "),
        lacks=(rf"{CALL_PS}-EKSClusterName '",),
    ),
    "WIN-10: pre commands before the variables": Row(
        {**WINDOWS, "preBootstrapCommands": ["one"], "overrideBootstrapCommand": "two"}, (r"(?s)\none\n.*\$EKSClusterName = .*\ntwo\n",)
    ),
    "MWIN-1: nothing": Row(WINDOWS, managed=True, empty=True),
    "MWIN-2: labels are EKS's": Row({**WINDOWS, "labels": {"a": "b"}}, managed=True, empty=True),
    "MWIN-3: taints are EKS's": Row({**WINDOWS, "taints": NOSCHEDULE}, managed=True, empty=True),
    "MWIN-4: a pre command": Row(
        {**WINDOWS, "preBootstrapCommands": ["one"]}, (r"^<powershell>\n(.*\n)*one\n",), lacks=(CALL_PS,), managed=True
    ),
    "MWIN-5: several": Row({**WINDOWS, "preBootstrapCommands": ["one", "two"]}, (r"\none\ntwo\n",), managed=True),
    "MWIN: max pods (W-07)": Row({**WINDOWS, "maxPodsPerNode": 3}, says=(r"^managedNodeGroups\[0\]\.maxPodsPerNode: ",), managed=True),
    "MAL2-1: nothing": Row({"amiFamily": "AmazonLinux2", "ssh": {"enableSsm": True}}, managed=True, empty=True),
    "MAL2-2: custom AMI with a script of its own": Row(
        {
            "amiFamily": "AmazonLinux2",
            **AMI,
            "preBootstrapCommands": ["date", "echo hello"],
            "overrideBootstrapCommand": "#!/bin/bash\nset -ex\nB=1\n",
        },
        (r"(?s)\ndate\n.*echo hello\n.*B=1\n",),
        lacks=(rf"{CALL} c\b",),
        managed=True,
    ),
    "MAL2: pre commands get an interpreter line (W-23)": Row(
        {"amiFamily": "AmazonLinux2", "preBootstrapCommands": ["date"]}, (r"#!/bin/bash\n(.*\n)*date\n",), managed=True
    ),
    "MAL2-3: max pods by editing the image's script (W-25)": Row(
        {"amiFamily": "AmazonLinux2", "maxPodsPerNode": 123},
        says=(r"^managedNodeGroups\[0\]\.maxPodsPerNode: .*managed_custom_ami",),
        managed=True,
    ),
}

REFUSED_TWICE = {
    "override of a managed AL2 group": ({"amiFamily": "AmazonLinux2", "overrideBootstrapCommand": "x"}, True),
    "override of a managed Windows group": ({**WINDOWS, "overrideBootstrapCommand": "x"}, True),
    "AL2 on 1.33": ({"amiFamily": "AmazonLinux2"}, False),
    "Windows 2025 on 1.34": ({"amiFamily": "WindowsServer2025CoreContainer"}, False),
    "Ubuntu 20.04 on 1.33": ({"amiFamily": "Ubuntu2004"}, False),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_behaviour(row: Row) -> None:
    if row.says:
        found = refusal(row.fields, managed=row.managed, cluster=row.cluster, **row.top)
        assert all(re.search(one, found, re.MULTILINE) for one in row.says), found
        return
    text = user_data(row.fields, managed=row.managed, cluster=row.cluster, **row.top)
    assert (text == "") == row.empty
    assert [one for one in row.has if not re.search(one, text)] == [], text
    assert [one for one in row.lacks if re.search(one, text)] == [], text


FAMILY_OF = {
    "AL2": "AmazonLinux2",
    "MAL2": "AmazonLinux2",
    "UB": "Ubuntu",
    "MUB": "Ubuntu",
    "A23": None,
    "BR": "Bottlerocket",
    "MBR": "Bottlerocket",
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_tests_what_its_name_says(name: str) -> None:
    """A table whose rows pass the wrong family tests less than it claims (W-42)."""
    prefix = re.match(r"[A-Z]+[0-9]*", name)
    assert prefix
    family = FAMILY_OF.get(prefix[0], "Windows")
    given = ROWS[name].fields.get("amiFamily")
    assert given is None if family is None else given.startswith(family)
    assert ROWS[name].managed == (name.startswith("M") or "managed" in name)


@pytest.mark.parametrize(("fields", "managed"), REFUSED_TWICE.values(), ids=REFUSED_TWICE)
def test_what_eksctl_refuses_is_refused_here(fields: dict[str, Any], managed: bool) -> None:
    metadata = {"name": "c", "version": "1.34" if "2025" in fields["amiFamily"] else "1.33"}
    assert refusal(fields, managed=managed, metadata=metadata).startswith("managedNodeGroups[0]." if managed else "nodeGroups[0].")


@pytest.mark.parametrize(
    ("cidr", "expected"),
    [
        ("10.100.0.0/16", "10.100.0.10"),
        ("172.16.0.0/12", "172.16.0.10"),
        ("10.255.0.0/16", "10.255.0.10"),
        ("fd40:6404:f93b::/108", "fd40:6404:f93b::a"),
        ("10.100.0.64/26", "10.100.0.74"),
    ],
    ids=["DNS-1", "DNS-2", "DNS-2b", "DNS-IPv6", "DNS: not the last octet"],
)
def test_cluster_dns(cidr: str, expected: str) -> None:
    assert cluster_dns_ips(cidr) == [expected]


def test_cluster_dns_of_an_empty_network_and_of_an_invalid_one() -> None:
    """DNS-3, DNS-4: without a CIDR there is no address and no crash; a wrong one is named."""
    assert "cluster.service_cidr" in _refused({"service_cidr": "10.100.0.0"})
    assert (
        "service_cidr"
        not in from_eksctl({"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig", "metadata": {"name": "c"}})["cluster"]
    )


def _refused(cluster: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        from_eksctl({"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig", "metadata": {"name": "c"}}, cluster)
    return str(caught.value)


@pytest.mark.parametrize("row", [one for one in ROWS.values() if not one.says], ids=[name for name, one in ROWS.items() if not one.says])
def test_the_same_bytes_twice(row: Row) -> None:
    first, second = (user_data(row.fields, managed=row.managed, cluster=row.cluster, **row.top) for _unused in range(2))
    assert first == second
