# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action bottlerocket_settings in real playbook runs, by itself and through its roles, against a stand-in of Systems Manager."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.ssm_stand_in import INSTANCE, REGION, Node, SystemsManager

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.example.com",
    "certificate_authority": base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode(),
    "service_cidr": "10.100.0.0/16",
    "region": REGION,
}
GROUP = {"name": "web", "family": "bottlerocket", "max_pods": 40}
SECRET = "canary-of-a-secret-key"
BOOTED = {
    "kubernetes": {
        "cluster-name": "demo",
        "api-server": CLUSTER["endpoint"],
        "cluster-certificate": CLUSTER["certificate_authority"],
        "cluster-dns-ip": "10.100.0.10",
        "max-pods": 29,
    }
}


class Lab:
    """A host of the inventory that no program can connect to, and the stand-ins behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.node = Node(folder / "node", BOOTED)
        self.ssm = SystemsManager(self.node)

    def play(self, *arguments: str, task: dict[str, Any], **variables: Any) -> subprocess.CompletedProcess[str]:
        play = {"hosts": "all", "gather_facts": False, "become": True, "tasks": [task, {"ansible.builtin.meta": "noop"}]}
        (self.folder / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
        hosts = {"br1": {"ansible_host": "192.0.2.1", "ansible_connection": "ssh", "ansible_python_interpreter": "/nowhere", **variables}}
        (self.folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
        settings = {
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(self.folder / "config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(self.folder / "credentials"),
        }
        return ansible_runs.run(self.folder, "ansible-playbook", "play.yml", "-i", "hosts.json", *arguments, settings=settings)

    def by_role(self, role: str, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
        task = {
            "name": "Role",
            "ansible.builtin.include_role": {"name": f"nodebootstrap.eks.{role}"},
            "environment": {"AWS_ACCESS_KEY_ID": "AKIACANARY", "AWS_SECRET_ACCESS_KEY": SECRET},
            "tags": "always",
        }
        ours = {
            "eks_node_cluster": CLUSTER,
            "eks_node_group": GROUP,
            "instance_id": INSTANCE,
            "eks_node_bottlerocket_endpoint_url": self.ssm.url,
        }
        # Keyword on an include is not inherited by its tasks.
        apply = {"environment": task.pop("environment"), "tags": "always"}
        task["ansible.builtin.include_role"]["apply"] = apply
        return self.play(*arguments, task=task, **{**ours, **variables})


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    found = Lab(tmp_path)
    yield found
    found.ssm.close()


def test_both_roles_and_a_second_run(lab: Lab) -> None:
    check = lab.by_role("eks_node_bottlerocket", "--check", "--diff", "-vvv")
    assert check.returncode == 0, check.stdout + check.stderr
    assert "changed=1" in check.stdout
    assert "-max-pods = 29" in check.stdout
    assert "+max-pods = 40" in check.stdout
    assert lab.node.changing_calls() == []
    first = lab.by_role("eks_node", "-vvv")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "changed=1" in first.stdout
    assert mentions(first.stdout, "br1: configure: set settings.kubernetes.max-pods")
    assert lab.node.settings["kubernetes"]["max-pods"] == 40
    second = lab.by_role("eks_node_bottlerocket")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "changed=0" in second.stdout
    assert not any("canary" in text or "AKIACANARY" in text for text in (check.stdout, check.stderr, first.stdout, first.stderr))


def test_tags_choose_phases(lab: Lab) -> None:
    looked = lab.by_role("eks_node", "--tags", "preflight")
    assert looked.returncode == 0, looked.stdout + looked.stderr
    assert lab.node.changing_calls() == []
    assert [operation for operation in lab.ssm.operations() if operation == "SendCommand"] == ["SendCommand"]
    stored = lab.by_role("eks_node_bottlerocket", "--skip-tags", "start,verify")
    assert stored.returncode == 0, stored.stdout + stored.stderr
    assert lab.node.changing_calls() == ["PATCH /settings?tx", "POST /tx/commit?tx"]


NO_REGION = {key: value for key, value in CLUSTER.items() if key != "region"}


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"instance_id": "br1"}, ["'br1'", "eks_node_bottlerocket_instance_id"]),
        ({"node_group": {**GROUP, "max_pods": -1, "lables": {}}}, ["node_group.max_pods", "node_group.lables", "labels"]),
        ({"cluster": "demo"}, ["cluster"]),
        ({"state": "absent"}, ["state: absent", "Bottlerocket"]),
        ({"phases": ["begin"]}, ["begin", "preflight"]),
        ({"access_key": None, "secret_key": None}, ["AWS", "access_key", "secret_key"]),
        ({"profile": "x"}, ["profile", "access_key"]),
        ({"cluster": NO_REGION}, ["AWS_REGION"]),
    ],
)
def test_an_invalid_input_is_reported(lab: Lab, options: dict[str, Any], facts: list[str]) -> None:
    keys = {"access_key": "AKIACANARY", "secret_key": SECRET}
    asked = {"cluster": CLUSTER, "node_group": GROUP, "instance_id": INSTANCE, "endpoint_url": lab.ssm.url, **keys, **options}
    given = {key: value for key, value in asked.items() if value is not None}
    done = lab.play(task={"name": "Settings", "nodebootstrap.eks.bottlerocket_settings": given})
    assert done.returncode == 2
    assert mentions(done.stdout, *facts)
    assert "Traceback" not in done.stdout + done.stderr
    assert "canary" not in done.stdout + done.stderr
    assert lab.ssm.calls == []
