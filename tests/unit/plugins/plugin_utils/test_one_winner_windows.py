# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of Start-EKSBootstrap.ps1 in C(override) are places like every other one (Windows)."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import CLUSTER

HEAD = '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"\n'
FACTS = "-EKSClusterName $EKSClusterName -APIServerEndpoint $APIServerEndpoint -Base64ClusterCA $Base64ClusterCA"
WITH_VARIABLES = (
    f"{HEAD}& $EKSBootstrapScriptFile {FACTS} -ServiceCIDR $ServiceCIDR -DNSClusterIP $DNSClusterIP "
    '-KubeletExtraArgs "$KubeletExtraArgs" 3>&1 4>&1 5>&1 6>&1\n'
)


def spec(override: str, **group: Any) -> dict[str, Any]:
    return node_spec(CLUSTER, {"family": "windows", "override": override, **group})


def replaced(found: dict[str, Any]) -> list[str]:
    return [one["message"] for one in found["warnings"] if one["rule"] == "user_data.replaced_by_override"]


def test_an_override_with_the_variables_of_eksctl_changes_nothing() -> None:
    group = {"max_pods": 58, "labels": {"a": "1"}, "taints": ["a=b:NoSchedule"], "kubelet": {"flags": {"pod-max-pids": 9}}}
    found = spec(WITH_VARIABLES, **group)
    assert (replaced(found), found["unchecked"]) == ([], [])


def test_an_argument_that_is_appended_replaces_ours() -> None:
    [warning] = replaced(spec(WITH_VARIABLES.replace('$KubeletExtraArgs"', '$KubeletExtraArgs --max-pods=20"'), max_pods=58))
    assert mentions(warning, "node_group.max_pods", "--max-pods", "20", "58", "Start-EKSBootstrap.ps1")


PARAMETERS = {
    "EKSClusterName": "cluster.name",
    "APIServerEndpoint": "cluster.endpoint",
    "Base64ClusterCA": "cluster.certificate_authority",
    "ServiceCIDR": "cluster.service_cidr",
}


@pytest.mark.parametrize(("name", "path"), PARAMETERS.items(), ids=PARAMETERS)
def test_a_parameter_of_the_cluster_that_differs_is_a_warning(name: str, path: str) -> None:
    [warning] = replaced(spec(WITH_VARIABLES.replace(f"-{name} ${name}", f"-{name} 'other'")))
    assert mentions(warning, path, "other", f"-{name}")


def test_a_parameter_that_the_script_looks_up_is_no_warning() -> None:
    without = WITH_VARIABLES.replace(" -APIServerEndpoint $APIServerEndpoint -Base64ClusterCA $Base64ClusterCA", "")
    assert replaced(spec(without)) == []
    [warning] = replaced(spec(without.replace(" -ServiceCIDR $ServiceCIDR", "")))
    assert mentions(warning, "cluster.service_cidr", "-ServiceCIDR")


WINDOWS = {"kube_proxy_extra_args": ["--v=2"], "excluded_snat_cidrs": ["10.0.0.0/8"], "container_runtime": "containerd"}


@pytest.mark.parametrize(("field", "value"), WINDOWS.items(), ids=WINDOWS)
def test_a_field_of_windows_that_is_not_passed_is_a_warning(field: str, value: Any) -> None:
    [warning] = replaced(spec(WITH_VARIABLES, windows={field: value}))
    assert mentions(warning, f"node_group.windows.{field}")


UNREAD = {
    "a condition": f"if (Test-Path C:\\x) {{\n{WITH_VARIABLES}}}\n",
    "a hashtable": f"$KubeletExtraArgsMap['max-pods'] = '3'\n{WITH_VARIABLES}",
    "an expression": WITH_VARIABLES.replace('"$KubeletExtraArgs"', "($KubeletExtraArgs + ' --max-pods=3')"),
    "an unknown variable": WITH_VARIABLES.replace('$KubeletExtraArgs"', '$env:ARGS"'),
    "no call": "Write-Output hi\n",
}


@pytest.mark.parametrize("override", UNREAD.values(), ids=UNREAD)
def test_other_powershell_is_named_and_not_guessed(override: str, golden_message: GoldenMessages) -> None:
    found = spec(override, max_pods=29)
    assert [(one["rule"], one["path"]) for one in found["unchecked"]] == [("user_data.unread_shell", "node_group.override")]
    assert not any("--max-pods" in message for message in replaced(found))
    golden_message(found["unchecked"][0]["message"])


def test_lines_of_the_user_that_touch_kubelet_are_named() -> None:
    group = {"family": "windows", "user_data": "Set-TimeZone -Id UTC\n", "commands": {"pre": ["Set-Service kubelet", "Get-Date"]}}
    assert [one["path"] for one in node_spec(CLUSTER, group)["unchecked"]] == ["node_group.commands.pre[0]"]


PODS = {
    "flag": (WITH_VARIABLES.replace('"$KubeletExtraArgs"', "'--max-pods=200'"), "2455Mi"),
    "kubelet's default": (WITH_VARIABLES.replace('"$KubeletExtraArgs"', "'--v=2'"), "1465Mi"),
    "variable": (WITH_VARIABLES, "475Mi"),
    "unread": (UNREAD["an expression"], "475Mi"),
}


@pytest.mark.parametrize(("override", "memory"), PODS.values(), ids=PODS)
def test_computed_reservations_follow_the_call_in_override(override: str, memory: str) -> None:
    group = {"max_pods": 20, "instance": {"type": "m5.large"}, "reserved": {"kube": "auto"}}
    assert spec(override, **group)["node_group"]["reserved"]["kube"]["memory"] == memory
