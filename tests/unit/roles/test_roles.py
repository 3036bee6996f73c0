# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles in real playbook runs. Modules of nodes, of EKS and of Kubernetes are stand-ins that record their options."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

FACADE = "nodebootstrap.eks.eks_node"
GROUP = {"family": "al2023", "max_pods": 29}
PHASES = ["preflight", "configure", "validate", "start", "verify"]
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}


class Lab:
    """One play with a role, and stand-ins for the modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        cluster = {"changed": False, "cluster": dict(COMPLETE, service_cidr="10.9.0.0/16")}
        done = {"changed": True}
        settings = node_stand_in.make(folder, cluster_info=[cluster], k8s=[done], k8s_taint=[done])
        self.settings = settings | {"ANSIBLE_INJECT_FACT_VARS": "false"}

    def answer(self, module: str, *answers: Mapping[str, Any]) -> None:
        node_stand_in.answer(self.folder, **{module: list(answers)})

    def run(
        self, hosts: Mapping[str, Mapping[str, Any]], *arguments: str, role: str | Mapping[str, Any] = FACADE, playbook: str = "play.yml"
    ) -> subprocess.CompletedProcess[str]:
        """Run the role on C(hosts), name → variables."""
        inventory = {"all": {"hosts": {name: LOCAL | dict(variables) for name, variables in hosts.items()}}}
        (self.folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
        play = [{"hosts": "all", "gather_facts": False, "roles": [role]}]
        (self.folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
        return ansible_runs.run(self.folder, "ansible-playbook", playbook, "-i", "hosts.json", *arguments, settings=self.settings)

    def calls(self, module: str) -> list[dict[str, Any]]:
        """The options of every call of a module; a plan is unpacked."""
        found = [options for name, options, *_unused in node_stand_in.calls(self.folder) if name == module]
        for options in found:
            if "plan" in options:
                options["plan"] = json.loads(zlib.decompress(base64.b64decode(options["plan"])))
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def node(**variables: Any) -> dict[str, Any]:
    return {"eks_node_cluster": COMPLETE, "eks_node_group": GROUP} | variables


def test_the_facade_runs_the_role_of_each_family(lab: Lab) -> None:
    families = {"one": "AmazonLinux2", "two": "al2023", "three": "Ubuntu2204"}
    hosts = {name: node(eks_node_group={"family": family, "labels": {"host": name}}) for name, family in families.items()}
    done = lab.run(hosts)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {call["plan"]["registration"]["labels"]["host"]: call["plan"]["family"] for call in lab.calls("apply_plan")}
    assert found == {"one": "al2", "two": "al2023", "three": "ubuntu"}
    assert lab.calls("cluster_info") == []


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_a_role_of_a_family_works_alone_and_hands_everything_on(lab: Lab, family: str) -> None:
    given = {"eks_node_state": "absent", "eks_node_restart": "never", "eks_node_take_over": True, "eks_node_reconcile": True}
    done = lab.run({"one": node(eks_node_group={"labels": {"a": "b"}}, eks_node_wait_timeout=3, **given)}, role=f"{FACADE}_{family}")
    assert done.returncode == 0, done.stdout + done.stderr
    (call,) = lab.calls("apply_plan")
    assert call["plan"]["family"] == family
    expected = {"state": "absent", "restart": "never", "take_over": True, "reconcile": True, "wait_timeout": 3, "phases": PHASES}
    assert {key: call[key] for key in expected} == expected


def test_files_of_the_node_group_are_read_on_the_controller(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "extra.yml").write_text(
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {podPidsLimit: 77}}}\n"
    )
    group = {"family": "al2023", "user_data_files": ["extra.yml"]}
    done = lab.run({"one": node(eks_node_group=group, eks_node_files_dir=str(tmp_path))})
    assert done.returncode == 0, done.stdout + done.stderr
    (call,) = lab.calls("apply_plan")
    assert any("podPidsLimit: 77" in file["content"] for file in call["plan"]["files"])


@pytest.mark.parametrize(("given", "asked"), [({}, "ready"), ({"eks_node_wait_for": "registered"}, "registered")])
def test_the_join_is_waited_for(lab: Lab, given: dict[str, Any], asked: str) -> None:
    lab.answer(
        "apply_plan",
        node_stand_in.HEALTHY | {"join": {"ready": False, "cause": "slow", "message": "kubelet-sleeps", "fix": "wait", "evidence": []}},
    )
    done = lab.run({"one": node(eks_node_wait_timeout=0, **given)})
    assert done.returncode == 2 and mentions(done.stdout, ": kubelet-sleeps")
    assert [call["wait_for"] for call in lab.calls("apply_plan")] == [asked]


@pytest.mark.parametrize("role", [{"role": FACADE, "tags": "mine"}, {"role": f"{FACADE}_al2023", "tags": "mine"}], ids=["facade", "family"])
@pytest.mark.parametrize(
    ("arguments", "phases"),
    [
        ([], PHASES),
        (["--tags", "configure,validate"], ["configure", "validate"]),
        (["--skip-tags", "verify"], PHASES[:-1]),
        (["--tags", "mine", "--skip-tags", "start,verify"], PHASES[:3]),
        (["--tags", "other"], None),
        (["--skip-tags", "mine"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_tags_choose_steps(lab: Lab, role: Mapping[str, Any], arguments: list[str], phases: list[str] | None) -> None:
    done = lab.run({"one": node()}, *arguments, role=role)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [call["phases"] for call in lab.calls("apply_plan")] == ([] if phases is None else [phases])


def test_removal_does_not_ask_eks(lab: Lab) -> None:
    done = lab.run({"one": node(eks_node_cluster={"name": "demo", "region": "eu-west-1"}, eks_node_state="absent")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (lab.calls("cluster_info"), len(lab.calls("apply_plan"))) == ([], 1)


def test_eks_is_asked_once_for_the_hosts_of_one_cluster(lab: Lab) -> None:
    some = {"name": "demo", "region": "eu-west-1", "dns_ips": ["10.9.0.99"]}
    done = lab.run({name: node(eks_node_cluster=some) for name in ("one", "two", "three")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert lab.calls("cluster_info") == [{"name": "demo", "region": "eu-west-1"}]
    calls = lab.calls("apply_plan")
    assert len(calls) == 3
    for call in calls:
        assert call["plan"]["cluster"]["endpoint"] == COMPLETE["endpoint"]
        assert "10.9.0.99" in json.dumps(call["plan"]["files"]), "what is given wins over what EKS says"


def test_eks_is_asked_for_every_cluster(lab: Lab) -> None:
    hosts = {name: node(eks_node_cluster={"name": name, "region": "eu-west-1"}) for name in ("one", "two")}
    done = lab.run(hosts | {"whole": node()})
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(call["name"] for call in lab.calls("cluster_info")) == ["one", "two"]
    assert sorted(call["plan"]["cluster"]["name"] for call in lab.calls("apply_plan")) == sorted(["one", "two", str(COMPLETE["name"])])


def test_a_cluster_that_the_role_names_wins_over_the_inventory(lab: Lab) -> None:
    role = {"role": FACADE, "vars": {"eks_node_cluster": {"name": "mine", "region": "eu-west-1"}}}
    done = lab.run({name: node(eks_node_cluster={"name": "other", "region": "eu-west-1"}) for name in ("one", "two")}, role=role)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [call["name"] for call in lab.calls("cluster_info")] == ["mine"]
    assert [call["plan"]["cluster"]["name"] for call in lab.calls("apply_plan")] == ["mine", "mine"]


@pytest.mark.parametrize(
    ("variables", "facts"),
    [
        ({"eks_node_state": "gone"}, ["eks_node_state", "present, absent", "gone"]),
        ({"eks_node_group": {"family": "al20223"}}, ["al20223"]),
        ({"eks_node_group": {"family": "al2023", "label": {}}}, ["node_group.label:", "labels"]),
    ],
)
def test_an_invalid_input_is_refused_before_a_node_is_contacted(lab: Lab, variables: dict[str, Any], facts: list[str]) -> None:
    done = lab.run({"one": node(**variables)})
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, *facts)
    assert lab.calls("apply_plan") == []


def test_an_invalid_family_fails_its_host_only_with_all_problems(lab: Lab) -> None:
    wrong = {"missing": {"label": {}}, "unknown": {"family": "al20223", "label": {}}}
    done = lab.run({"right": node(), **{name: node(eks_node_group=group) for name, group in wrong.items()}})
    assert done.returncode == 2
    assert len(lab.calls("apply_plan")) == 1
    for name in wrong:
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"fatal: [{name}]")]
        assert mentions(line, "node_group.family:", "al2023", "node_group.label:", "labels")


@pytest.mark.parametrize(
    ("cluster", "rule", "path"),
    [
        ({"name": "demo"}, "cluster.missing_field", "cluster"),
        ({"name": "demo", "regio": "eu-west-1"}, "input.unknown_field", "cluster.regio"),
    ],
)
def test_an_incomplete_cluster_is_one_problem(lab: Lab, cluster: dict[str, Any], rule: str, path: str) -> None:
    done = lab.run({"one": node(eks_node_cluster=cluster)})
    assert done.returncode == 2
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("fatal: [one]")]
    (problem,) = json.loads(line.partition(" => ")[2])["problems"]
    assert (problem["rule"], problem["path"]) == (rule, path)
    assert mentions(problem["fix"], "region")


def test_what_is_required_is_required(lab: Lab) -> None:
    done = lab.run({"one": {"eks_node_cluster": COMPLETE}})
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, ": eks_node_group"), "the message of Ansible"


def test_labels_and_taints_are_patched_from_the_controller_when_that_is_asked_for(lab: Lab) -> None:
    registration = {"node": "ip-1", "labels": {"a": "b", "old": None}, "taints": {"set": ["k=v:NoSchedule"], "remove": ["o=:NoExecute"]}}
    # From an INI inventory it is text.
    for reconcile, count in ((False, 0), ("false", 0), (True, 1), ("true", 2)):
        lab.answer("apply_plan", node_stand_in.HEALTHY | ({"registration": registration} if count else {}))
        done = lab.run({"one": node(eks_node_reconcile=reconcile)})
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(lab.calls("k8s")) == count
    patch, _again = lab.calls("k8s")
    assert patch == {
        "state": "patched",
        "definition": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-1", "labels": {"a": "b", "old": None}}},
    }
    assert [(call["name"], call["state"], call["taints"]) for call in lab.calls("k8s_taint")] == [
        ("ip-1", "absent", [{"key": "o", "effect": "NoExecute"}]),
        ("ip-1", "present", [{"key": "k", "value": "v", "effect": "NoSchedule"}]),
    ] * 2


def test_the_playbook_takes_hosts_batches_and_a_limit_of_failures(lab: Lab) -> None:
    hosts = {name: node() for name in ("n1", "n2", "n3", "other")}
    more = ["-e", "eks_node_hosts=n*", "-e", "eks_node_serial=2"]
    for limit, count in ((0, 2), (50, 3)):
        lab.answer("apply_plan", {"failed": True, "msg": "no"}, node_stand_in.HEALTHY)
        before = len(lab.calls("apply_plan"))
        done = lab.run(hosts, *more, "-e", f"eks_node_max_fail_percentage={limit}", playbook="nodebootstrap.eks.bootstrap")
        assert done.returncode == 2 and "other" not in done.stdout
        assert len(lab.calls("apply_plan")) - before == count, "one of two failed"
