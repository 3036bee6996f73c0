# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of live nodes: what is in them for each family and strategy, and what is refused."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import post_commands
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import needs_instance, node_plan, removal_plan
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, problems_of, rules_and_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, clusters, node_groups

STATIC = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}
LARGE = {"instance_type": "m5.large"}
EVERYTHING = {
    "labels": {"role": "web", "id": "{instance_id}"},
    "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}],
    "proxy": {"http": "http://proxy:3128"},
    "containerd": {"registry_mirrors": {"docker.io": ["https://mirror"]}},
    "commands": {"pre": ["export A=1\n", "#!/bin/sh\necho x"], "post": "true"},
}
LINUX = [
    {"family": "al2"},
    {"family": "al2", **STATIC},
    {"family": "al2023"},
    {"family": "ubuntu"},
    {"family": "ubuntu", **STATIC},
]
NAMES = ["al2", "al2 static", "al2023", "ubuntu", "ubuntu static"]


def plain(running: Any = None, cluster: Any = None, **group: Any) -> dict[str, Any]:
    """The plan of a group as the node reads it."""
    word = node_plan(COMPLETE | (cluster or {}), group, running).encoded()
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(word, validate=True)))
    return found


def readers(plan: dict[str, Any]) -> dict[str, list[str]]:
    return {file["path"]: file["read_by"] for file in plan["files"]}


def steps(plan: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["name"], step["do"]) for step in plan["steps"]]


def step(plan: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in plan["steps"] if one["name"] == name)
    return found


def refusal(running: Any = None, cluster: Any = None, **group: Any) -> str:
    with pytest.raises(SpecError) as caught:
        node_plan(COMPLETE | (cluster or {}), group, running)
    return str(caught.value)


@pytest.mark.parametrize("group", LINUX, ids=NAMES)
def test_every_plan_is_whole(group: dict[str, Any]) -> None:
    plan = plain(**EVERYTHING | group)
    assert plan["format"] == 1
    assert plan["cluster"] == {"name": "demo", "endpoint": COMPLETE["endpoint"]}
    assert plan["registration"] == {"labels": EVERYTHING["labels"], "taints": ["a=b:NoSchedule", "c=:NoExecute"]}
    names = [one["name"] for one in plan["steps"]]
    assert len(names) == len(set(names))
    assert {name for file in plan["files"] for name in file["read_by"]} <= set(names)
    assert [file["path"] for file in plan["files"]] == sorted(file["path"] for file in plan["files"])
    assert names[0] == "commands.pre"
    assert names[-1] == "commands.post"
    assert plan["verify"]["healthz"] == "http://127.0.0.1:10248/healthz"
    assert plain(**EVERYTHING | group) == plan


@pytest.mark.parametrize("group", LINUX, ids=NAMES)
def test_the_files_are_those_of_node_files(group: dict[str, Any]) -> None:
    """But for what steps do: the calling script, and on Ubuntu the program that asks who the node is."""
    laid = {file["path"]: file for file in node_files(COMPLETE, EVERYTHING | group)}
    for file in plain(**EVERYTHING | group)["files"]:
        other = laid.pop(file["path"])
        if file["path"] != "/etc/nodebootstrap/bootstrap.sh":
            assert {key: file[key] for key in other} == other
    calling = {"al2 static": 1, "ubuntu static": 2}.get(NAMES[LINUX.index(group)], 0)
    assert sorted(laid) == ["/etc/nodebootstrap/bootstrap.sh", "/etc/nodebootstrap/node-facts"][:calling]


@pytest.mark.parametrize(
    ("group", "ids", "versions"),
    [
        ({"family": "al2"}, ["amzn"], ["2"]),
        ({"family": "al2023"}, ["amzn"], ["2023"]),
        ({"family": "ubuntu"}, ["ubuntu"], []),
        ({"family": "ubuntu", "ubuntu": {"release": "22.04"}}, ["ubuntu"], ["22.04"]),
        ({"family": "Ubuntu2404"}, ["ubuntu"], ["24.04"]),
    ],
)
def test_for_which_machine(group: dict[str, Any], ids: list[str], versions: list[str]) -> None:
    machine = plain(**group)["os"]
    assert (machine["ID"], machine["VERSION_ID"]) == (ids, versions)


def test_al2_static() -> None:
    plan = plain(**EVERYTHING | LINUX[1], user_data="#!/bin/bash\nfirst\n", local_storage={"strategy": "raid0"})
    assert steps(plan) == [
        ("user_data", "once"),
        ("commands.pre", "once"),
        ("local storage", "once"),
        ("containerd", "service"),
        ("pause image", "service"),
        ("kubelet", "service"),
        ("commands.post", "service"),
    ]
    assert step(plan, "user_data")["script"] == "#!/bin/bash\nfirst\n"
    assert step(plan, "local storage")["script"] == "#!/bin/bash\nset -e\nsetup-local-disks raid0\n"
    assert step(plan, "kubelet")["enable"] == step(plan, "kubelet")["active"] == ["kubelet.service"]
    assert step(plan, "pause image")["active"] == step(plan, "commands.post")["active"] == []
    assert step(plan, "commands.post")["wait"] is False
    of = readers(plan)
    units = "/etc/systemd/system"
    kubelet = [path for path, names in of.items() if names == ["kubelet"]]
    assert kubelet == [
        "/etc/kubernetes/kubelet/kubelet-config.json",
        "/etc/kubernetes/pki/ca.crt",
        "/etc/nodebootstrap/node-facts",
        f"{units}/kubelet.service",
        f"{units}/kubelet.service.d/50-nodebootstrap-proxy.conf",
        f"{units}/kubelet.service.d/50-nodebootstrap.conf",
        "/var/lib/kubelet/kubeconfig",
    ]
    assert of["/etc/containerd/config.toml"] == ["containerd", "pause image"]
    assert of[f"{units}/containerd.service.d/50-nodebootstrap-proxy.conf"] == ["containerd"]
    assert of["/etc/containerd/certs.d/docker.io/hosts.toml"] == []
    # A restart would unmount what pods hold on to.
    assert of[f"{units}/sys-fs-bpf.mount"] == []
    assert plan["owned"] == ["/run/nodebootstrap/kubelet.env"]
    assert {file["path"]: file["form"] for file in plan["files"] if file["form"] != "unit"} == {
        "/etc/containerd/certs.d/docker.io/hosts.toml": "text",
        "/etc/containerd/config.toml": "containerd",
        "/etc/kubernetes/kubelet/kubelet-config.json": "json",
        "/etc/kubernetes/pki/ca.crt": "text",
        "/etc/nodebootstrap/node-facts": "text",
        "/etc/nodebootstrap/post-commands": "text",
        "/etc/nodebootstrap/wait-until-healthy": "text",
        "/var/lib/kubelet/kubeconfig": "text",
    }
    modes = {file["path"]: file["mode"] for file in plan["files"]}
    assert modes["/var/lib/kubelet/kubeconfig"] == modes[f"{units}/kubelet.service.d/50-nodebootstrap-proxy.conf"] == "0600"


def test_the_images_script() -> None:
    plan = plain(**EVERYTHING | LINUX[0], kubelet={"config": {"maxOpenFiles": 5}})
    assert steps(plan) == [("commands.pre", "once"), ("bootstrap script", "image_script"), ("commands.post", "service")]
    call = step(plan, "bootstrap script")
    assert (call["kubelet"], call["containerd"], call["snap"]) == ("kubelet.service", "containerd.service", None)
    assert "/etc/kubernetes/kubelet/kubelet-config.json" in call["writes"]
    assert "/etc/hosts" not in call["writes"]
    of = readers(plan)
    assert {tuple(of[path]) for path in of if path not in post_commands.FILES and "certs.d" not in path} == {("bootstrap script",)}
    script = next(file["content"] for file in plan["files"] if file["path"] == call["path"])
    # The step of commands.post starts its unit, and the module reloads systemd.
    assert "nodebootstrap-post" not in script
    assert "daemon-reload" not in script
    assert "/etc/eks/bootstrap.sh demo --apiserver-endpoint" in script


def test_the_images_script_on_outposts() -> None:
    outpost = plain(cluster={"outpost": True, "id": "x"}, family="al2")
    assert {"/etc/hosts", "/var/lib/kubelet/bootstrap-kubeconfig"} <= set(step(outpost, "bootstrap script")["writes"])


def test_ubuntu_static() -> None:
    plan = plain(**EVERYTHING | LINUX[4], kubelet={"flags": {"v": "4"}})
    snap = step(plan, "kubelet")
    assert (snap["do"], snap["snap"], snap["unit"]) == ("snap", "kubelet-eks", "snap.kubelet-eks.daemon.service")
    assert snap["settings"]["node-ip"] == "${NODE_IP}"
    assert snap["settings"]["args"] == (
        "--node-labels=id=${INSTANCE_ID},role=web --register-with-taints=a=b:NoSchedule,c=:NoExecute --provider-id=${PROVIDER_ID} --v=4"
    )
    # What an earlier run of the image's script has set, kubelet would prefer to its configuration file.
    assert {"cgroup-driver", "cluster-dns", "resolv-conf"} <= set(snap["unset"])
    assert not set(snap["unset"]) & snap["settings"].keys()
    assert plan["snap_facts"] == {"domain": "eu-west-1.compute.internal", "by_address": True, "ipv6": False}
    assert "/etc/nodebootstrap/node-facts" not in readers(plan)
    named = plain(**LINUX[4] | {"instance": {"type": "m5.large", "hostname_type": "resource_name"}}, cluster={"region": "us-east-1"})
    assert named["snap_facts"] == {"domain": "ec2.internal", "by_address": False, "ipv6": False}


def test_al2023() -> None:
    own = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {healthzPort: 5}}}\n"
    plan = plain(**EVERYTHING | LINUX[2], user_data=[own, "#!/bin/bash\ntrue\n"])
    assert steps(plan) == [("user_data", "once"), ("commands.pre", "once"), ("nodeadm", "service"), ("commands.post", "service")]
    nodeadm = step(plan, "nodeadm")
    assert nodeadm["units"] == nodeadm["enable"] == ["nodeadm-config.service", "nodeadm-run.service"]
    assert nodeadm["active"] == ["kubelet.service"]
    of = readers(plan)
    assert sorted(path for path in of if of[path] == ["nodeadm"]) == [
        "/etc/eks/nodeadm.d/50-nodebootstrap.yaml",
        "/etc/nodebootstrap/boot-labels",
        "/etc/systemd/system/nodeadm-config.service.d/50-nodebootstrap.conf",
        "/etc/systemd/system/nodeadm-run.service.d/50-nodebootstrap.conf",
    ]
    document = yaml.load(next(file["content"] for file in plan["files"] if file["path"].endswith("50-nodebootstrap.yaml")))
    assert document["spec"]["kubelet"]["config"]["healthzPort"] == 5
    assert plan["verify"]["healthz"] == "http://127.0.0.1:5/healthz"
    assert plan["owned"] == ["/etc/eks/nodeadm.d/60-nodebootstrap-labels.yaml"]
    assert plain(family="al2023")["owned"] == []


@pytest.mark.parametrize(
    ("kubelet", "url"),
    [
        ({"config": {"healthzPort": 0}}, None),
        ({"config": {"healthzPort": 7, "healthzBindAddress": "0.0.0.0"}}, "http://127.0.0.1:7/healthz"),
        ({"config": {"healthzBindAddress": "::"}}, "http://[::1]:10248/healthz"),
        ({"config": {"healthzBindAddress": "10.0.0.5"}}, "http://10.0.0.5:10248/healthz"),
        ({"config": {"healthzPort": 8}, "flags": {"healthz-port": "8"}}, "http://127.0.0.1:8/healthz"),
    ],
)
def test_where_kubelet_says_that_it_is_well(kubelet: dict[str, Any], url: str | None) -> None:
    assert plain(**LINUX[1], kubelet=kubelet)["verify"]["healthz"] == url
    assert plain(family="al2023", kubelet=kubelet)["verify"]["healthz"] == url


def test_scripts_run_in_cloud_inits_order() -> None:
    document = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n'
        '--x\nContent-Type: text/x-shellscript\nContent-Disposition: attachment; filename="z.sh"\n\n#!/bin/sh\necho last\n'
        "--x\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho second\n"
        "--x\nContent-Type: text/x-shellscript-per-once\n\n#!/bin/sh\necho first\n--x--\n"
    )
    plan = plain(family="al2", user_data=[document, "#!/bin/sh\necho third\n"], commands={"pre": "echo then"})
    scripts = [(one["name"], one["script"].split("\n")[1]) for one in plan["steps"] if one["do"] == "once"]
    assert scripts == [
        ("user_data 1", "echo first"),
        ("user_data 2", "echo second"),
        ("user_data 3", "echo third"),
        ("user_data 4", "echo last"),
        ("commands.pre", "set -e"),
    ]


def test_pre_commands_share_a_shell_as_in_user_data() -> None:
    script = step(plain(family="al2", commands={"pre": ["cd /tmp", "#!/bin/sh\nexit 3", "never"]}), "commands.pre")["script"]
    assert script.startswith("#!/bin/bash\nset -e\ncd /tmp\ninstall ")
    assert script.endswith("/pre-2\nnever\n")
    assert "trap '" not in script


@pytest.mark.parametrize("group", LINUX, ids=NAMES)
def test_with_secrets_no_file_is_shown_or_readable(group: dict[str, Any]) -> None:
    secret = {"proxy": {"http": "http://me:hunter22@proxy:3128"}, "allow_secrets_in_user_data": True}
    plan = plain(**EVERYTHING | group | secret)
    assert {file["sensitive"] for file in plan["files"]} == {True}
    assert all(file["mode"].endswith("00") for file in plan["files"])
    assert {file["sensitive"] for file in plain(**EVERYTHING | group)["files"]} == {False}


@pytest.mark.parametrize("group", LINUX, ids=NAMES)
def test_a_running_node_answers_auto(group: dict[str, Any]) -> None:
    asked = group | {"max_pods": "auto"}
    assert needs_instance(asked)
    assert plain(LARGE, **asked) == plain(**group | {"max_pods": 29, "instance": {"type": "m5.large"}})
    # The node's own type counts, not the smallest of the group.
    several = asked | {"instance": {"types": ["t3.medium", "m5.large"]}, "reserved": {"kube": "auto"}}
    assert plain(LARGE, **several) == plain(**several | {"max_pods": 29, "instance": {"type": "m5.large"}})
    assert ("capacity.auto_without_node", "node_group.max_pods") in problems_of(node_plan, COMPLETE, asked)
    unknown = problems_of(node_plan, COMPLETE, asked, {"instance_type": "m99.large"})
    assert ("capacity.unknown_instance_type", "node_group.instance") in unknown
    numbers = {"instance": {"max_enis": 3, "ips_per_eni": 10, "vcpus": 2}}
    assert plain({"instance_type": "m99.large"}, **asked | numbers) == plain(**group | {"max_pods": 29, "instance": {"type": "m5.large"}})


def test_a_node_of_another_region_is_refused(golden_message: GoldenMessages) -> None:
    cluster = {"region": "eu-west-1"}
    assert plain(LARGE | {"region": "eu-west-1"}, cluster, family="al2023", max_pods="auto")["family"] == "al2023"
    with pytest.raises(SpecError) as caught:
        plain(LARGE | {"region": "us-east-1"}, cluster, family="al2023", max_pods="auto")
    assert problem_list.found(caught.value.problems) == [("live.other_region", "cluster.region")]
    golden_message(caught.value)


@pytest.mark.parametrize("group", [*LINUX, {"family": "al2", "strategy": "static", "no such": "field"}])
def test_the_way_back_needs_the_name_of_the_cluster_only(group: dict[str, Any]) -> None:
    plan = removal_plan({"name": "demo"}, group).plain()
    assert plan["cluster"] == {"name": "demo", "endpoint": ""} and plan["family"] == group["family"]
    assert (plan["files"], plan["steps"], plan["verify"]["units"]) == ([], [], [])
    assert removal_plan(COMPLETE, group).plain()["cluster"]["endpoint"] == COMPLETE["endpoint"]


@pytest.mark.parametrize(
    ("cluster", "group", "problem"),
    [
        (None, {"family": "al2"}, "cluster.missing_field cluster.name"),
        ({"region": "eu-west-1"}, {"family": "al2"}, "cluster.missing_field cluster.name"),
        ({"name": "demo", "nam": 1}, {"family": "al2"}, "input.unknown_field cluster.nam"),
        ([], {"family": "al2"}, "input.wrong_type cluster"),
        ({"name": "demo"}, {}, "input.missing_field node_group.family"),
        ({"name": "demo"}, {"family": "windows"}, "live.wrong_family node_group.family"),
        ({"name": "demo"}, {"family": "bottlerocket"}, "live.wrong_family node_group.family"),
    ],
)
def test_a_way_back_that_is_refused(cluster: Any, group: Any, problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(removal_plan, cluster, group)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_all_that_is_wrong_with_a_way_back_is_told_at_once() -> None:
    error = error_of(removal_plan, {"nam": 1}, {"family": "al2024"})
    assert {"input.unknown_field cluster.nam", "input.unknown_value node_group.family"} <= set(rules_and_paths(error))


@pytest.mark.parametrize(
    ("group", "needed"),
    [
        ({"max_pods": "auto", "instance": {"type": "m5.large"}}, True),
        ({"max_pods": 5}, False),
        ({"max_pods": 5, "strategy": "static"}, True),
        ({"max_pods": 5, "strategy": "static", "instance": {"type": "m5.large"}}, False),
        ({"max_pods": 5, "strategy": "static", "reserved": {"kube": {"cpu": "1"}}}, False),
        ({"max_pods": 5, "reserved": {"kube": "auto"}}, True),
        ({"max_pods": {"mode": "prefix"}}, True),
        ({"max_pods": {"mode": "prefix"}, "instance": {"types": ["m5.large"]}}, False),
        ({"max_pods": {"mode": "prefix"}, "instance": {"hostname_type": "ip_name"}, "strategy": "static"}, True),
        ({}, False),
        ("auto", False),
    ],
)
def test_when_the_instance_type_is_needed(group: Any, needed: bool) -> None:
    assert needs_instance(group) is needed
    if needed:
        assert plain(LARGE, family="al2", **group)


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ({"family": "windows"}, "live.wrong_family node_group.family"),
        ({"family": "bottlerocket"}, "live.wrong_family node_group.family"),
        ({"family": "al2", "mode": "managed"}, "live.managed_group node_group.mode"),
        ({"family": "al2023", "mode": "managed"}, "live.managed_group node_group.mode"),
        ({"family": "al2023", "user_data": "#cloud-config\npackages: []\n"}, "live.boot_only_part node_group.user_data"),
        ({"family": "ubuntu", "user_data": "#cloud-boothook\ntrue\n"}, "live.boot_only_part node_group.user_data"),
        ({"family": "ubuntu", "user_data": "#include\nhttps://x\n"}, "live.boot_only_part node_group.user_data"),
        ({"family": "al2", "user_data": "## template: jinja\n#!/bin/sh\n"}, "live.boot_only_part node_group.user_data"),
        (
            {"family": "al2", "user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"},
            "user_data.wrong_kind node_group.user_data",
        ),
        ({"family": "al2", "commands": {"pre": "echo \ud800"}}, "input.surrogate node_group.commands.pre"),
    ],
)
def test_what_no_live_node_takes(group: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(lambda: node_plan(COMPLETE, group).encoded())
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_kubelets_configuration_is_checked_as_for_user_data() -> None:
    message = refusal(**LINUX[1], kubelet={"config": {"maxPodz": 3, "imageGCHighThresholdPercent": 101}, "flags": {"no-such": "1"}})
    assert "node_group.kubelet.config.maxPodz" in message
    assert "node_group.kubelet.config.imageGCHighThresholdPercent" in message
    assert "node_group.kubelet.flags.no-such" in message


@pytest.mark.fuzz
@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_any_node_group_has_a_plan_or_is_refused(family: str) -> None:
    @settings(settings.get_profile("part"))
    @given(clusters(), node_groups(family))
    def check(cluster: Any, group: Any) -> None:
        try:
            first = node_plan(cluster, group, LARGE).encoded()
        except SpecError as error:
            assert error.problems
        else:
            assert node_plan(cluster, group, LARGE).encoded() == first

    check()
