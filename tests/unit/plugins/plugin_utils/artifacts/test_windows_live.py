# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live Windows node: scripts, what makes them run again, what is expected afterwards, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import windows_live
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

VARIABLE = '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"\n'


def plan(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    spec, _unused = resolve({**COMPLETE, **(cluster or {})}, {"family": "windows", **fields})
    return windows.live_plan(spec)


def files(**fields: Any) -> dict[str, str]:
    return {file["name"]: file["content"] for file in plan(**fields)["files"]}


def refused(**fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        plan(**fields)
    return str(caught.value)


def test_the_files_are_those_of_the_library() -> None:
    """Without commands they are what node_files gives for the same node group."""
    fields = {"family": "windows", "labels": {"a": "b"}}
    listed = {file["path"].rpartition("\\")[2]: file["content"] for file in node_files(COMPLETE, fields)}
    assert files(labels={"a": "b"}) == listed
    assert list(listed) == ["bootstrap.ps1", "bootstrap.psd1"]


def test_the_script_of_the_node_sets_the_proxy_of_services() -> None:
    """The commands see the variables, too. A change of the proxy is not a reason to run the image's script again."""
    proxy = {"https": "http://p:1"}
    found = plan(proxy=proxy, commands={"pre": "one"})
    assert [item.partition("=")[0] for item in found["proxy"]] == ["HTTPS_PROXY", "NO_PROXY"]
    assert "$env:HTTPS_PROXY = 'http://p:1'" in files(proxy=proxy, commands={"pre": "one"})["pre.ps1"]
    assert list(files(proxy=proxy)) == list(files()) and plan(proxy=proxy)["bootstrap"] == plan()["bootstrap"]
    assert plan()["proxy"] == []
    assert not any("ServiceName" in content for content in files(proxy=proxy, commands={"pre": "one"}).values())


def test_commands_are_scripts_of_their_own() -> None:
    found = files(commands={"pre": "one", "post": "two"}, user_data="<powershell>zero</powershell>")
    stop, go_on = "$ErrorActionPreference = 'Stop'\n", "$ErrorActionPreference = 'Continue'\n"
    assert list(found) == ["pre.ps1", "bootstrap.ps1", "bootstrap.psd1", "post.ps1"]
    assert found["pre.ps1"] == f"zero\n{VARIABLE}{stop}one\n{go_on}"
    assert found["bootstrap.ps1"].startswith(VARIABLE)
    assert not {"zero", "one", "two"} & set(found["bootstrap.ps1"].split("\n"))
    assert found["post.ps1"] == f"{VARIABLE}{stop}(Get-Service kubelet).WaitForStatus('Running', [TimeSpan]::FromSeconds(900))\ntwo\n"


def test_an_override_keeps_the_lines_before_it() -> None:
    found = plan(override="& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName", commands={"pre": "$x = 1"})
    (script,) = found["files"]
    assert (script["name"], found["pre"], found["expected"], found["parameters"]) == ("bootstrap.ps1", None, None, [])
    assert script["content"].index("$x = 1") < script["content"].index("& $EKSBootstrapScriptFile")
    assert found["bootstrap"]["name"] == "override"
    assert found["bootstrap"]["key"] == hashlib.sha256(script["content"].encode()).hexdigest()


def test_what_is_expected() -> None:
    found = plan(
        labels={"a": "b"},
        windows={"kube_proxy_extra_args": ["--v=4"], "excluded_snat_cidrs": ["10.0.0.0/8"], "version": "2022", "edition": "core"},
        taints=[{"key": "k", "effect": "NoSchedule"}],
    )
    assert found["expected"] == {
        "certificate_authority": COMPLETE["certificate_authority"],
        "dns": "10.100.0.10",
        "service_cidr": "10.100.0.0/16",
        "excluded_snat_cidrs": ["10.0.0.0/8"],
        "kubelet_arguments": "--node-labels=a=b --register-with-taints=k=:NoSchedule",
        "kube_proxy_arguments": "--v=4",
    }
    assert found["registration"] == {"labels": ["a=b"], "taints": ["k=:NoSchedule"]}
    assert found["windows"] == {"version": "2022", "build": 20348, "edition": "core"}
    assert found["cluster"] == {"name": COMPLETE["name"], "endpoint": COMPLETE["endpoint"]}


# name → the fields that differ, whether the image's script has to run again
KEYS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "nothing": ({}, {}, False),
    "labels": ({}, {"labels": {"c": "d"}}, False),
    "max pods": ({}, {"max_pods": 9}, False),
    "arguments of kube-proxy": ({}, {"windows": {"kube_proxy_extra_args": ["--v=4"]}}, False),
    "commands": ({}, {"commands": {"pre": "x"}}, False),
    "DNS": ({"dns_ips": ["10.100.0.11"]}, {}, True),
    "endpoint": ({"endpoint": "https://other.gr7.eu-west-1.eks.amazonaws.com"}, {}, True),
    "SNAT": ({}, {"windows": {"excluded_snat_cidrs": ["10.0.0.0/8"]}}, True),
    "endpoint of EKS": ({}, {"windows": {"eks_endpoint": "https://eks.example.com"}}, True),
}


@pytest.mark.parametrize("row", KEYS)
def test_the_images_script_runs_again_only_for_what_it_alone_writes(row: str) -> None:
    cluster, fields, again = KEYS[row]
    assert (plan()["bootstrap"]["key"] != plan(cluster, **fields)["bootstrap"]["key"]) is again


def test_commands_run_again_when_they_change() -> None:
    first, second = (plan(commands={"pre": text, "post": text}) for text in ("a", "b"))
    assert first == plan(commands={"pre": "a", "post": "a"})
    assert all(first[name]["key"] != second[name]["key"] for name in ("pre", "post"))


@pytest.mark.parametrize(
    ("flags", "url"),
    [
        ({}, "http://127.0.0.1:10248/healthz"),
        ({"healthz-port": 10300}, "http://127.0.0.1:10300/healthz"),
        ({"healthz-port": 0}, None),
    ],
)
def test_where_kubelet_says_that_it_is_well(flags: dict[str, Any], url: str | None) -> None:
    assert plan(kubelet={"flags": flags})["healthz"] == url


def test_secrets_are_known() -> None:
    secret = "Set-Item env:AWS_SECRET_ACCESS_KEY='aws_secret_access_key=" + "A1b2" * 10 + "'"
    assert plan(commands={"pre": secret}, allow_secrets_in_user_data=True)["sensitive"] is True
    assert plan()["sensitive"] is False


def test_what_only_a_boot_can_do_is_refused() -> None:
    assert "node_group.windows.persist" in refused(windows={"persist": True})
    assert "node_group.windows.persist" in refused(user_data="<powershell>a</powershell>\n<persist>true</persist>")
    assert "node_group.mode" in refused(mode="managed")


def test_no_text_of_users_is_a_key() -> None:
    """Windows PowerShell reads no object with keys that differ in case alone."""

    def keys(value: Any) -> set[str]:
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        return (set(value) if isinstance(value, dict) else set()).union(*(keys(child) for child in children))

    group = {"labels": {"Key": "1", "key": "2"}, "kubelet": {"flags": {"v": 4}}, "taints": [{"key": "T", "effect": "NoSchedule"}]}
    assert keys(plan(**group)) == keys(plan())
    assert plan(**group)["registration"]["labels"] == ["Key=1", "key=2"]


def test_the_encoded_plan_is_one_word_that_comes_back() -> None:
    found = plan(commands={"pre": "echo \u00e9\u2019"})
    packed = windows_live.encoded(found)
    assert packed == windows_live.encoded(plan(commands={"pre": "echo \u00e9\u2019"}))
    assert json.loads(zlib.decompress(base64.b64decode(packed))) == found


def test_a_plan_that_cannot_travel_is_refused(golden_message: GoldenMessages) -> None:
    noise = base64.b64encode(b"".join(hashlib.sha512(str(number).encode()).digest() for number in range(900))).decode()
    with pytest.raises(SpecError) as caught:
        windows_live.encoded(plan(commands={"pre": f"# {noise}"}))
    assert problem_list.found(caught.value.problems) == [("live.plan_too_large", "node_group.commands")]
    golden_message(caught.value)
