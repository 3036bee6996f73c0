# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of /etc/eks/bootstrap.sh in the user's shell scripts are places like every other one (Amazon Linux 2, Ubuntu)."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.shell_reader import source
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import CLUSTER

PAUSE = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:{}"
IDENTITY = ["--apiserver-endpoint", CLUSTER["endpoint"], "--b64-cluster-ca", CLUSTER["certificate_authority"]]

Case = tuple[dict[str, Any], dict[str, Any], dict[str, str], dict[str, str], str]
VALUES: dict[str, Case] = {
    "max pods": ({"max_pods": 58}, {}, {"max-pods": "58"}, {"max-pods": "20"}, "node_group.max_pods"),
    "max pods of kubelet.config": (
        {"kubelet": {"config": {"maxPods": 58}}},
        {},
        {"max-pods": "58"},
        {"max-pods": "20"},
        "node_group.kubelet.config.maxPods",
    ),
    "label": ({"labels": {"a": "1"}}, {}, {"node-labels": "a=1,b=2"}, {"node-labels": "a=2"}, "node_group.labels.a"),
    "taint": (
        {"taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}]},
        {},
        {"register-with-taints": "a=1:NoSchedule"},
        {"register-with-taints": "a=2:NoSchedule"},
        "node_group.taints",
    ),
    "flag": (
        {"kubelet": {"flags": {"pod-max-pids": 9}}},
        {},
        {"pod-max-pids": "9"},
        {"pod-max-pids": "8"},
        "node_group.kubelet.flags.pod-max-pids",
    ),
    "map": (
        {"kubelet": {"flags": {"eviction-hard": "memory.available<1Gi"}}},
        {},
        {"eviction-hard": "nodefs.available<5%,memory.available<1024Mi"},
        {"eviction-hard": "memory.available<2Gi"},
        "node_group.kubelet.flags.eviction-hard",
    ),
    "name servers": ({}, {"dns_ips": ["9.9.9.9"]}, {"--dns-cluster-ip": "9.9.9.9"}, {"--dns-cluster-ip": "8.8.8.8"}, "cluster.dns_ips"),
    "endpoint": (
        {},
        {},
        {"--apiserver-endpoint": f"{CLUSTER['endpoint']}/"},
        {"--apiserver-endpoint": "https://other.example"},
        "cluster.endpoint",
    ),
    "pause image": (
        {"containerd": {"pause_image": PAUSE.format("3.9")}},
        {"region": "eu-west-1"},
        {"--pause-container-account": "602401143452", "--pause-container-version": "3.9"},
        {"--pause-container-account": "602401143452", "--pause-container-version": "3.5"},
        "node_group.containerd.pause_image",
    ),
}


def call(given: dict[str, str], name: str = "demo") -> str:
    """A script that calls the image's script with kubelet's flags (without dashes) and other options."""
    flags = " ".join(f"--{flag}={value}" for flag, value in given.items() if not flag.startswith("-"))
    options = [word for option, value in given.items() if option.startswith("-") for word in (option, value)]
    identity = [] if "--apiserver-endpoint" in given else IDENTITY
    return f"#!/bin/bash\nset -e\n{shlex.join(['/etc/eks/bootstrap.sh', name, *identity, *options, '--kubelet-extra-args', flags])}\n"


def spec(family: str, group: dict[str, Any], cluster: dict[str, Any], **more: Any) -> dict[str, Any]:
    return node_spec({**CLUSTER, **cluster}, {"family": family, **group, **more})


def replaced(found: dict[str, Any]) -> list[str]:
    return [one["message"] for one in found["warnings"] if one["rule"] == "user_data.replaced_by_override"]


FAMILIES = ("al2", "ubuntu")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)
def test_an_override_that_passes_the_same_value_is_no_warning(family: str, case: Case) -> None:
    group, cluster, same, _other, _path = case
    if "pause_image" in str(group):
        return  # refused beside override
    found = spec(family, group, cluster, override=call(same))
    assert (replaced(found), found["unchecked"]) == ([], [])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", [case for name, case in VALUES.items() if name != "pause image"])
def test_what_the_call_in_override_changes_is_a_warning_that_names_both_places(family: str, case: Case) -> None:
    group, cluster, _same, other, path = case
    [warning] = replaced(spec(family, group, cluster, override=call(other)))
    [value] = [text.partition("=")[2] if name in ("node-labels",) else text for name, text in other.items()]
    assert mentions(warning, path, "/etc/eks/bootstrap.sh", value.partition("<")[0].partition("=")[0])


@pytest.mark.parametrize("name", ["max pods", "label", "taint", "flag", "name servers"])
def test_what_the_call_in_override_does_not_pass_is_a_warning(name: str) -> None:
    group, cluster, _same, _other, path = VALUES[name]
    [warning] = replaced(spec("al2", group, cluster, override=call({})))
    assert mentions(warning, path)


def test_a_configuration_that_the_call_in_override_does_not_use_is_a_warning() -> None:
    group = {"kubelet": {"config": {"podPidsLimit": 9}}}
    [warning] = replaced(spec("al2", group, {}, override=call({})))
    assert mentions(warning, "node_group.kubelet.config", "--config-dir")
    assert replaced(spec("al2", group, {}, override=call({"config-dir": "/etc/kubernetes/kubelet/config.json.d/"}))) == []


def test_what_the_script_looks_up_or_we_compute_is_no_warning() -> None:
    assert replaced(spec("al2", {}, {}, override="#!/bin/bash\n/etc/eks/bootstrap.sh demo\n")) == []
    assert replaced(spec("al2", {}, {}, override=call({"--dns-cluster-ip": "9.9.9.9"}))) == []
    [warning] = replaced(spec("al2", {}, {}, override="#!/bin/bash\n/etc/eks/bootstrap.sh other\n"))
    assert mentions(warning, "cluster.name", "other")


OUTPOST = {"outpost": True, "id": "0e1f2a3b"}
OF_AL2: dict[str, Case] = {
    "outpost": (
        {},
        OUTPOST,
        {"--enable-local-outpost": "true", "--cluster-id": "0e1f2a3b"},
        {"--enable-local-outpost": "false", "--cluster-id": "0e1f2a3b"},
        "cluster.outpost",
    ),
    "id of the cluster": (
        {},
        OUTPOST,
        {"--enable-local-outpost": "true", "--cluster-id": "0e1f2a3b"},
        {"--enable-local-outpost": "true", "--cluster-id": "ffff"},
        "cluster.id",
    ),
    "disks": (
        {"local_storage": {"strategy": "raid0"}},
        {},
        {"--local-disks": "raid0"},
        {"--local-disks": "mount"},
        "node_group.local_storage.strategy",
    ),
}
"""Options that only the script of Amazon Linux 2 has."""


@pytest.mark.parametrize("case", OF_AL2.values(), ids=OF_AL2)
def test_options_of_al2_have_one_winner(case: Case) -> None:
    group, cluster, same, other, path = case
    assert replaced(spec("al2", group, cluster, override=call(same))) == []
    [warning] = replaced(spec("al2", group, cluster, override=call(other)))
    assert mentions(warning, path, "/etc/eks/bootstrap.sh")
    twice, conflict = "user_data.bootstraps_twice node_group.user_data", "user_data.conflict node_group.user_data"
    assert rules_and_paths(error_of(spec, "al2", group, cluster, user_data=call(same))) == [twice]
    refused = error_of(spec, "al2", group, cluster, user_data=call(other))
    assert set(rules_and_paths(refused)) == {twice, conflict}
    assert mentions(refused, path)


def test_a_call_without_the_options_of_al2() -> None:
    assert replaced(spec("al2", {"local_storage": {"strategy": "raid0"}}, {}, override=call({}))) == []
    warnings = replaced(spec("al2", {}, OUTPOST, override=call({})))
    assert [mentions(warnings, path) for path in ("cluster.outpost", "cluster.id")] == [True, True]
    options = "--enable-local-outpost $ENABLE_LOCAL_OUTPOST --cluster-id $CLUSTER_ID"
    found = spec("al2", {}, OUTPOST, override=WITH_VARIABLES.replace(" --apiserver", f" {options} --apiserver"))
    assert (replaced(found), found["unchecked"]) == ([], [])


HELPER = "/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh"
WITH_VARIABLES = f"""#!/bin/bash
source {HELPER}
/etc/eks/bootstrap.sh ${{CLUSTER_NAME}} --apiserver-endpoint "$API_SERVER_URL" --b64-cluster-ca $B64_CLUSTER_CA \\
  --dns-cluster-ip ${{CLUSTER_DNS}} --kubelet-extra-args "${{KUBELET_EXTRA_ARGS}}"
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_an_override_with_the_variables_of_eksctl_changes_nothing(family: str) -> None:
    group = {
        "max_pods": 58,
        "labels": {"a": "1"},
        "taints": [{"key": "a", "effect": "NoSchedule"}],
        "kubelet": {"config": {"podPidsLimit": 9}},
    }
    found = spec(family, group, {"dns_ips": ["9.9.9.9"]}, override=WITH_VARIABLES)
    assert (replaced(found), found["unchecked"]) == ([], [])


# --- user data -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["user_data", "commands"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)
def test_a_second_call_is_an_error_that_names_what_disagrees(family: str, case: Case, place: str) -> None:
    group, cluster, same, other, path = case

    def refused(given: dict[str, str], precedence: str | None) -> SpecError:
        text = {"commands": {"pre": [call(given)]}} if place == "commands" else {"user_data": call(given)}
        return error_of(spec, family, group, cluster, **text, **({"user_data_precedence": precedence} if precedence else {}))

    where = "node_group.commands.pre[0]" if place == "commands" else "node_group.user_data"
    twice = f"user_data.bootstraps_twice {where}"
    assert rules_and_paths(refused(same, None)) == [twice]
    assert set(rules_and_paths(refused(other, None))) == {twice, f"user_data.conflict {where}"}
    assert mentions(refused(other, None), path, "/etc/eks/bootstrap.sh")
    for precedence in ("ours", "theirs"):
        assert rules_and_paths(refused(other, precedence)) == [twice]


# --- what is not read --------------------------------------------------------------------------------------------------------------------

UNREAD = {
    "a variable": '#!/bin/bash\nARGS=$(cat /etc/arguments)\n/etc/eks/bootstrap.sh demo --kubelet-extra-args "$ARGS"\n',
    "a condition": f"#!/bin/bash\nif [ -e /x ]; then\n{call({}).splitlines()[-1]}\nfi\n",
    "quotes for systemd": "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--x=\"a b\"'\n",
    "another command": f"{call({})}sed -i s/110/20/ /etc/kubernetes/kubelet/kubelet-config.json\n",
    "a redirect": f"{call({})}echo x > /etc/eks/x\n",
    "another program": "#!/usr/bin/python3\nprint('/etc/eks/bootstrap.sh')\n",
    "a changed variable": f"{WITH_VARIABLES.replace('source', 'KUBELET_EXTRA_ARGS=--max-pods=3; source')}",
    "no bash": "#!/bin/bash\nif\n",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_other_shell_is_named_and_not_guessed(text: str, golden_message: GoldenMessages) -> None:
    found = spec("al2", {"max_pods": 29}, {}, override=text)
    assert [(one["rule"], one["path"]) for one in found["unchecked"]] == [("user_data.unread_shell", "node_group.override")]
    golden_message(found["unchecked"][0]["message"])


def test_scripts_in_user_data_are_named_and_plain_commands_are_not() -> None:
    group = {
        "user_data": "#!/bin/bash\nyum install -y x\n",
        "commands": {"pre": ["yum install -y y", "sed -i s/a/b/ /etc/eks/bootstrap.sh"]},
    }
    paths = [one["path"] for one in spec("al2", group, {})["unchecked"]]
    assert paths == ["node_group.user_data", "node_group.commands.pre[1]"]


def test_without_the_grammar_the_script_is_named(monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    source.parse.cache_clear()
    override = call({"max-pods": "20"})
    found = spec("al2", {"max_pods": 58}, {}, override=override)
    [note] = found["unchecked"]
    assert (note["rule"], note["path"], replaced(found)) == ("shell.missing_package", "node_group.override", [])
    golden_message(note["message"])
    assert render(CLUSTER, {"family": "al2", "max_pods": 58, "override": override}).document.text


# --- the pods in force -------------------------------------------------------------------------------------------------------------------

PODS = {
    "variable of the script": ('#!/bin/bash\nARGS=--max-pods=200\n/etc/eks/bootstrap.sh demo --kubelet-extra-args "$ARGS"\n', "2455Mi"),
    "flag": (call({"max-pods": "200"}), "2455Mi"),
    "kubelet's default": (call({"--use-max-pods": "false"}), "1465Mi"),
    "computed by the script": (call({}), "574Mi"),
    "variable": (WITH_VARIABLES, "475Mi"),
    "unread": (UNREAD["a variable"], "475Mi"),
}


@pytest.mark.parametrize(("override", "memory"), PODS.values(), ids=PODS)
def test_computed_reservations_follow_the_call_in_override(override: str, memory: str) -> None:
    group = {"max_pods": 20, "instance": {"type": "m5.large"}, "reserved": {"kube": "auto"}}
    assert spec("al2", group, {}, override=override)["node_group"]["reserved"]["kube"]["memory"] == memory
