# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows: the block, its one call with its parameters, and what is refused."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.35",
}
SCRIPT = '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"'
STOP, CONTINUE = "$ErrorActionPreference = 'Stop'", "$ErrorActionPreference = 'Continue'"
RUNS = "(Get-Service kubelet).WaitForStatus('Running', [TimeSpan]::FromSeconds(900))"
IDENTITY = (
    f"& $EKSBootstrapScriptFile -EKSClusterName 'demo' -APIServerEndpoint 'https://abc.gr7.eu-west-1.eks.amazonaws.com' "
    f"-Base64ClusterCA '{CA}' -ServiceCIDR '10.100.0.0/16' -DNSClusterIP '10.100.0.10'"
)
STREAMS = "3>&1 4>&1 5>&1 6>&1"


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(CLUSTER if cluster is None else cluster, {"family": "windows", **fields}).document.text


def lines(cluster: dict[str, Any] | None = None, **fields: Any) -> list[str]:
    """The lines between the tags."""
    found = text(cluster, **fields).split("\n")
    assert (found[0], found[-2:]) == ("<powershell>", ["</powershell>", ""])
    return found[1:-2]


def call(**fields: Any) -> str:
    """What follows the cluster's parameters in the one call."""
    (found,) = [line for line in lines(**fields) if line.startswith("& ")]
    assert found.startswith(IDENTITY)
    assert found.endswith(f" {STREAMS}")
    return found[len(IDENTITY) : -len(STREAMS)].strip()


def problems(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        text(cluster, **fields)
    return str(caught.value)


def test_the_whole_document() -> None:
    expected = f"<powershell>\n{SCRIPT}\n{IDENTITY} -KubeletExtraArgs '--node-labels=a=b' {STREAMS}\n</powershell>\n"
    assert text(labels={"a": "b"}) == expected


TAINTS = [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}]

CALL_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("nothing but the cluster", {}, ""),
    (
        "labels, sorted and quoted for the service's command line",
        {"labels": {"b": "1", "a": "2"}},
        "-KubeletExtraArgs '--node-labels=\"a=2,b=1\"'",
    ),
    ("taints keep their order", {"taints": TAINTS}, "-KubeletExtraArgs '--register-with-taints=\"k=v:NoSchedule,k=:NoExecute\"'"),
    (
        "order: labels, taints, max pods, reservations, the user's flags by name",
        {
            "labels": {"a": "b"},
            "taints": TAINTS[:1],
            "max_pods": 20,
            "reserved": {"kube": {"cpu": "100m", "memory": "1Gi"}, "system": {"memory": "2Gi"}},
            "kubelet": {"flags": {"v": 4, "feature-gates": ["A=true", "B=false"]}},
        },
        "-KubeletExtraArgs '--node-labels=a=b --register-with-taints=k=v:NoSchedule --max-pods=20 "
        '--kube-reserved="cpu=100m,memory=1Gi" --system-reserved=memory=2Gi --feature-gates=A=true --feature-gates=B=false --v=4\'',
    ),
    ("quotes in a flag", {"kubelet": {"flags": {"root-dir": "a'b\"c\\"}}}, "-KubeletExtraArgs '--root-dir=\"a''b\\\"c\\\\\"'"),
    (
        "max pods in secondary IP mode: addresses of one interface less one",
        {"max_pods": {"mode": "windows_secondary_ip"}, "instance": {"type": "m5.large"}},
        "-KubeletExtraArgs '--max-pods=9'",
    ),
    (
        "what only Windows has",
        {
            "windows": {
                "container_runtime": "containerd",
                "kube_proxy_extra_args": ["--v=4", "--feature-gates=WinDSR=true,WinOverlay=true"],
                "excluded_snat_cidrs": ["10.0.0.0/8", "172.16.0.0/12"],
                "eks_endpoint": "https://eks.example.com",
            }
        },
        "-ContainerRuntime 'containerd' -KubeProxyExtraArgs '--v=4 --feature-gates=\"WinDSR=true,WinOverlay=true\"' "
        "-ExcludedSnatCIDRs '10.0.0.0/8','172.16.0.0/12' -Endpoint 'https://eks.example.com'",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in CALL_ROWS])
def test_parameters(fields: dict[str, Any], expected: str) -> None:
    assert call(**fields) == expected


ORDER_ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "pre commands: verbatim, in the session, and the first that fails ends it",
        {"commands": {"pre": ['echo "a"', "b\nc\n"]}},
        [SCRIPT, STOP, 'echo "a"', "b", "c", CONTINUE, f"{IDENTITY} {STREAMS}"],
    ),
    ("post commands: only when kubelet runs", {"commands": {"post": "p"}}, [SCRIPT, f"{IDENTITY} {STREAMS}", STOP, RUNS, "p"]),
    (
        "line ends of Windows become LF",
        {"commands": {"pre": "a\r\nb\rc"}},
        [SCRIPT, STOP, "a", "b", "c", CONTINUE, f"{IDENTITY} {STREAMS}"],
    ),
    ("a last line without its end is not glued to ours", {"user_data": "Get-Date"}, ["Get-Date", SCRIPT, f"{IDENTITY} {STREAMS}"]),
    (
        "existing tags are unwrapped, several blocks united",
        {"user_data": ["<powershell>\r\na\r\n</powershell>\n<powershell>b</powershell>", "c\n"]},
        ["a", "b", "c", SCRIPT, f"{IDENTITY} {STREAMS}"],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ORDER_ROWS])
def test_order(fields: dict[str, Any], expected: list[str]) -> None:
    assert lines(**fields) == expected


def test_override_replaces_the_call_and_finds_its_variables() -> None:
    found = lines(
        override="& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName\nx",
        labels={"a": "b", "c": "d"},
        taints=TAINTS,
        max_pods=9,
        commands={"pre": "p"},
        windows={"excluded_snat_cidrs": ["10.0.0.0/8"]},
    )
    arguments = '--node-labels="a=b,c=d" --register-with-taints="k=v:NoSchedule,k=:NoExecute" --max-pods=9'
    assert found == [
        SCRIPT,
        STOP,
        "p",
        CONTINUE,
        "[string]$EKSClusterName = 'demo'",
        "[string]$APIServerEndpoint = 'https://abc.gr7.eu-west-1.eks.amazonaws.com'",
        f"[string]$Base64ClusterCA = '{CA}'",
        "[string]$ServiceCIDR = '10.100.0.0/16'",
        "[string]$DNSClusterIP = '10.100.0.10'",
        "[string]$ContainerRuntime = 'containerd'",
        f"[string]$KubeletExtraArgs = '{arguments}'",
        "[string[]]$ExcludedSnatCIDRs = @('10.0.0.0/8')",
        "$KubeletExtraArgsMap = @{ 'node-labels' = 'a=b,c=d'; 'register-with-taints' = 'k=v:NoSchedule,k=:NoExecute'; 'max-pods' = '9' }",
        "& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName",
        "x",
    ]
    assert "[string]$KubeletExtraArgs = ''" in lines(override="x")
    assert "$KubeletExtraArgsMap = @{}" in lines(override="x")


def test_persist() -> None:
    end = "</powershell>\n<persist>true</persist>\n"
    assert text(windows={"persist": True}).endswith(end)
    kept = text(user_data="<powershell>a</powershell><persist>true</persist>")
    assert kept.endswith(end)
    assert kept.count("<persist>") == kept.count("<powershell>") == 1
    assert text(windows={"persist": False}) == text()


@pytest.mark.parametrize("version", ["2019", "2022", "2025"])
@pytest.mark.parametrize("edition", ["core", "full"])
def test_versions_and_editions_boot_alike(version: str, edition: str) -> None:
    assert text(windows={"version": version, "edition": edition}) == text()
    assert render(CLUSTER, {"family": f"WindowsServer{version}{edition.title()}Container"}).document.text == text()


MANAGED_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("nothing to say", {}, ""),
    ("labels and taints are left to EKS", {"labels": {"a": "b"}, "taints": TAINTS}, ""),
    ("pre commands", {"commands": {"pre": ["a", "b"]}}, "<powershell>\na\nb\n</powershell>\n"),
    (
        "existing lines come first",
        {"commands": {"pre": "b"}, "user_data": "<powershell>a</powershell>"},
        "<powershell>\na\nb\n</powershell>\n",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in MANAGED_ROWS])
def test_managed(fields: dict[str, Any], expected: str) -> None:
    assert text({}, mode="managed", **fields) == expected


def test_managed_custom_ami_renders_like_self_managed() -> None:
    fields = {"labels": {"a": "b"}, "max_pods": 9}
    assert text(mode="managed_custom_ami", **fields) == text(**fields)


def kubelet(**config: Any) -> dict[str, Any]:
    return {"kubelet": {"config": config}}


REFUSED_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("configuration with a flag", kubelet(podPidsLimit=9), "windows.kubelet_config node_group.kubelet.config.podPidsLimit"),
    (
        "a nested one",
        kubelet(authentication={"anonymous": {"enabled": False}}),
        "windows.kubelet_config node_group.kubelet.config.authentication",
    ),
    ("log level", kubelet(logging={"verbosity": 4}), "windows.kubelet_config node_group.kubelet.config.logging"),
    (
        "configuration without a flag",
        kubelet(maxParallelImagePulls=3),
        "windows.kubelet_config node_group.kubelet.config.maxParallelImagePulls",
    ),
    ("several DNS servers", kubelet(clusterDNS=["10.0.0.1", "10.0.0.2"]), "cluster.too_many_dns_ips node_group.kubelet.config.clusterDNS"),
    ("containerd", {"containerd": {"registry_mirrors": {"a": "https://b"}}}, "family.unsupported_field node_group.containerd"),
    ("local storage", {"local_storage": {"strategy": "raid0"}}, "family.unsupported_field node_group.local_storage"),
    ("a proxy with a variable", {"proxy": {"https": "http://%x%:1"}}, "windows.unsafe_word node_group.proxy.https"),
    ("no_proxy with a variable", {"proxy": {"https": "http://p:1", "no_proxy": "%x%"}}, "windows.unsafe_word node_group.proxy.no_proxy"),
    (
        "proxy in a managed group",
        {"proxy": {"https": "http://p:1"}, "mode": "managed"},
        "mode.unsupported_field node_group.proxy",
    ),
    ("strategy", {"strategy": "static"}, "family.unsupported_field node_group.strategy"),
    ("another family's field", {"bottlerocket": {"settings": {"motd": "x"}}}, "family.foreign_field node_group.bottlerocket"),
    ("a label of the booting node", {"labels": {"a": "{instance_id}"}}, "labels.known_at_boot_only node_group.labels.a"),
    (
        "another max pods mode",
        {"max_pods": {"mode": "eni"}, "instance": {"type": "m5.large"}},
        "capacity.unsupported_mode node_group.max_pods.mode",
    ),
    (
        "the closing tag in a command",
        {"commands": {"pre": ["a", "x\ny</powershell>"]}},
        "powershell.unsafe_text node_group.commands.pre[1]",
    ),
    ("its line", {"commands": {"pre": ["a", "x\ny</powershell>"]}}, "powershell.unsafe_text node_group.commands.pre[1]"),
    ("in any case, in post", {"commands": {"post": "</PowerShell >"}}, "powershell.unsafe_text node_group.commands.post"),
    ("persist in an override", {"override": "<persist>true</persist>"}, "powershell.unsafe_text node_group.override"),
    (
        "a tag in a flag",
        {"kubelet": {"flags": {"root-dir": "</powershell>"}}},
        "kubelet.unsafe_flag_value node_group.kubelet.flags.root-dir",
    ),
    ("a variable in a flag", {"kubelet": {"flags": {"root-dir": "%PATH%"}}}, "kubelet.unsafe_flag_value node_group.kubelet.flags.root-dir"),
    ("a tag in an endpoint", {"windows": {"eks_endpoint": "https://a<script>"}}, "windows.unsafe_word node_group.windows.eks_endpoint"),
    (
        "two words in one",
        {"windows": {"kube_proxy_extra_args": "--v=4 --x=y"}},
        "windows.invalid_kube_proxy_argument node_group.windows.kube_proxy_extra_args",
    ),
    (
        "no flag",
        {"windows": {"kube_proxy_extra_args": "x"}},
        "windows.invalid_kube_proxy_argument node_group.windows.kube_proxy_extra_args",
    ),
    ("cmd.exe", {"user_data": "<script>dir</script>"}, "powershell.script_block node_group.user_data"),
    ("text outside of the block", {"user_data": "a<powershell>b</powershell>"}, "powershell.text_outside node_group.user_data"),
    ("an unclosed block", {"user_data": "<powershell>b"}, "powershell.unbalanced_tag node_group.user_data"),
    ("a shell script", {"user_data": "#!/bin/bash\n"}, "user_data.wrong_kind node_group.user_data"),
    ("a second bootstrap", {"user_data": "& $EKSBootstrapScriptFile -x"}, "user_data.bootstraps_twice node_group.user_data"),
    (
        "a second bootstrap by its path",
        {"commands": {"pre": "& 'C:\\Program Files\\Amazon\\EKS\\Start-EKSBootstrap.ps1' -x"}},
        "user_data.bootstraps_twice node_group.commands.pre",
    ),
    (
        "persist said twice",
        {"windows": {"persist": False}, "user_data": "<powershell>a</powershell><persist>true</persist>"},
        "input.conflict node_group.windows.persist",
    ),
]


@pytest.mark.parametrize(("fields", "problem"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED_ROWS])
def test_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)


CLUSTER_ROWS = [
    ({"service_cidr": "fd40:6404:f93b::/108"}, "windows.ipv6 cluster.service_cidr"),
    ({"dns_ips": ["fd40::a"]}, "windows.ipv6 cluster.dns_ips"),
    ({"dns_ips": ["10.100.0.10", "10.100.0.11"]}, "cluster.too_many_dns_ips cluster.dns_ips"),
    ({"outpost": True, "id": "x"}, "cluster.unsupported_outpost cluster.outpost"),
]


@pytest.mark.parametrize(("facts", "problem"), CLUSTER_ROWS)
def test_clusters_that_windows_cannot_join(facts: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, {**CLUSTER, **facts})
    assert problem in rules_and_paths(error)
    golden_message(error)


VERSION_ROWS = [("2025", "1.34", True), ("2025", "1.35", False), ("2022", "1.24", False), ("2019", "1.35", False)]


@pytest.mark.parametrize(("release", "kubernetes", "refused"), VERSION_ROWS)
def test_releases_begin_with_a_kubernetes_version(release: str, kubernetes: str, refused: bool, golden_message: GoldenMessages) -> None:
    cluster = {**CLUSTER, "kubernetes_version": kubernetes}
    if refused:
        golden_message(problems(cluster, windows={"version": release}))
    else:
        assert text(cluster, windows={"version": release}) == text()


MANAGED_REFUSED_ROWS = [
    ({"max_pods": 9}, "mode.unsupported_field node_group.max_pods"),
    ({"kubelet": {"flags": {"v": 4}}}, "mode.unsupported_field node_group.kubelet"),
    ({"reserved": {"kube": {"cpu": "1"}}}, "mode.unsupported_field node_group.reserved"),
    ({"override": "x"}, "mode.unsupported_field node_group.override"),
    ({"commands": {"post": "x"}}, "mode.unsupported_field node_group.commands.post"),
    ({"windows": {"persist": True}}, "mode.unsupported_field node_group.windows.persist"),
    ({"user_data": "<powershell>a</powershell><persist>true</persist>"}, "windows.persist_in_managed_group node_group.user_data"),
    ({"user_data": "& $EKSBootstrapScriptFile"}, "user_data.bootstraps_twice node_group.user_data"),
]


@pytest.mark.parametrize(("fields", "problem"), MANAGED_REFUSED_ROWS)
def test_managed_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, {}, mode="managed", **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)


@pytest.mark.parametrize("mode", ["self_managed", "managed"])
def test_gzip_is_refused(mode: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        render(CLUSTER, {"family": "windows", "mode": mode, "commands": {"pre": "x"}}, "gzip_base64")
    assert problem_list.found(caught.value.problems) == [("output.unsupported_encoding", "encoding")]
    golden_message(caught.value)


def test_all_problems_at_once() -> None:
    found = problems(
        {"kubernetes_version": "1.33"},
        labels={"a": "{instance_id}"},
        commands={"pre": ["</powershell>"]},
        user_data="<script>x</script>",
        containerd={"pause_image": "x"},
        **kubelet(podPidsLimit=1),
    )
    paths = {line.partition(": ")[0] for line in found.splitlines()}
    assert paths >= {
        "cluster.name",
        "cluster.endpoint",
        "cluster.certificate_authority",
        "cluster.service_cidr",
        "node_group.labels.a",
        "node_group.commands.pre[0]",
        "node_group.user_data",
        "node_group.containerd",
        "node_group.kubelet.config.podPidsLimit",
    }


PROXY = {"http": "http://p:1", "https": "http://it's:2", "no_proxy": ["10.0.0.0/8"]}


def proxied(found: list[str]) -> list[int]:
    """The lines with which the loop over the services begins."""
    return [number for number, line in enumerate(found) if line == "foreach ($ServiceName in 'containerd', 'kubelet') {"]


def test_the_proxy_reaches_the_script_and_the_services_before_and_after_the_bootstrap() -> None:
    found = lines(proxy=PROXY, trust=[], commands={"pre": "pre", "post": "post"})
    variables = [line for line in found if line.startswith("$env:")]
    assert variables[:2] == ["$env:HTTP_PROXY = 'http://p:1'", "$env:HTTPS_PROXY = 'http://it''s:2'"]
    assert variables[2].startswith("$env:NO_PROXY = '") and "10.0.0.0/8" in variables[2] and "169.254.169.254" in variables[2]
    first, second = proxied(found)
    [bootstrap] = [number for number, line in enumerate(found) if line.startswith("& ")]
    assert found.index(variables[0]) < first < found.index("pre") < bootstrap < second < found.index("post")
    for start in (first, second):
        items = re.findall(r"'((?:[^']|'')*)'", found[start - 1])
        assert [item.partition("=")[0] for item in items] == ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]
        assert items[1] == "HTTPS_PROXY=http://it''s:2"
        assert found[start - 2 - 3 * (start == first)] == STOP


def test_the_proxy_reaches_the_services_beside_an_override() -> None:
    found = lines(proxy=PROXY, override="over")
    first, second = proxied(found)
    assert first < found.index("over") < second


def test_without_a_proxy_no_service_is_changed() -> None:
    assert proxied(lines(commands={"pre": "pre"})) == []


def test_node_files() -> None:
    group = {
        "family": "windows",
        "labels": {"a": "b"},
        "commands": {"pre": "p"},
        "windows": {"excluded_snat_cidrs": ["10.0.0.0/8", "10.1.0.0/16"]},
    }
    script, data = node_files(CLUSTER, group)
    assert script["path"] == "C:\\ProgramData\\nodebootstrap\\bootstrap.ps1"
    assert script["content"].splitlines() == [
        SCRIPT,
        STOP,
        "p",
        CONTINUE,
        '$Parameters = Import-PowerShellDataFile -LiteralPath "$PSScriptRoot\\bootstrap.psd1"',
        f"& $EKSBootstrapScriptFile @Parameters {STREAMS}",
    ]
    assert data["path"] == "C:\\ProgramData\\nodebootstrap\\bootstrap.psd1"
    pairs = re.findall(r"^    (\w+) = (.*)$", data["content"], re.MULTILINE)
    assert dict(pairs)["ExcludedSnatCIDRs"] == "@('10.0.0.0/8', '10.1.0.0/16')"
    assert dict(pairs)["KubeletExtraArgs"] == "'--node-labels=a=b'"
    assert [name for name, _unused in pairs][:5] == [
        "EKSClusterName",
        "APIServerEndpoint",
        "Base64ClusterCA",
        "ServiceCIDR",
        "DNSClusterIP",
    ]
    (only,) = node_files(CLUSTER, {"family": "windows", "override": "x"})
    assert only["content"].splitlines()[-1] == "x"
    assert node_files({}, {"family": "windows", "mode": "managed"}) == []


def test_inputs_stay_as_they_are_and_order_does_not_matter() -> None:
    fields = {
        "family": "windows",
        "labels": {"b": "1", "a": "2"},
        "taints": TAINTS,
        "kubelet": {"flags": {"v": 1, "root-dir": "x"}},
        "reserved": {"kube": {"memory": "1Gi", "cpu": "1"}},
    }
    cluster, group = copy.deepcopy(CLUSTER), copy.deepcopy(fields)
    first = render(cluster, group).document
    assert (cluster, group) == (CLUSTER, fields)
    turned = {key: dict(reversed(value.items())) if isinstance(value, dict) else value for key, value in reversed(fields.items())}
    assert render(dict(reversed(CLUSTER.items())), turned).document == first
