# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action join_check in real playbook runs. The module that it calls is a stand-in: it records its options and answers as told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.eks_api import AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in

READY: dict[str, Any] = {
    "changed": False, "node": "n", "registered": True, "ready": True, "cause": None, "message": None, "fix": None, "evidence": [],
    "final": False, "waited": 0.2, "kubelet_settings": None,
}  # fmt: skip
AWAY = {**READY, "ready": False, "cause": "endpoint_refused", "message": "it refuses", "fix": "open it", "failed": True, "msg": "x"}
SETTINGS = {
    "version": "1.36.3", "configs": [{"imageGCHighThresholdPercent": 75}], "flags": {}, "cpus": 2,
    "places": {"imageGCHighThresholdPercent": ["/etc/k.json", "restart it"]},
}  # fmt: skip
INVALID = {**AWAY, "cause": "invalid_config", "message": "kubelet exits", "final": True, "evidence": ["x"], "kubelet_settings": SETTINGS}


def play(folder: Path, answers: list[Any], **task: Any) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    settings = node_stand_in.make(folder, join_check=answers)
    show = {"copy": {"content": "{{ done | to_json }}", "dest": str(folder / "result")}}
    tasks = [{"register": "done", "ignore_errors": True, **task}, show]
    local = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        # By default, Ansible writes a job below $HOME and looks for it in the home of the user's account. ansible-test changes only $HOME.
        "ansible_async_dir": str(folder / "jobs"),
    }
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": {"web-1": local}}}), encoding="utf-8")
    (folder / "play.yml").write_text(json.dumps([{"hosts": "web-1", "gather_facts": False, "tasks": tasks}]), encoding="utf-8")
    done = ansible_runs.run(folder, "ansible-playbook", "play.yml", "-i", "hosts.json", settings=settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, json.loads((folder / "result").read_text(encoding="utf-8"))


REFUSED = {
    **AWAY, "cause": "unauthorized", "message": "the API server does not know this node", "fix": "look", "final": True, "evidence": ["x"],
    "identity": {"role": "node", "account": "123456789012", "region": "eu-west-1", "cluster": "demo", "server": ""},
}  # fmt: skip


def test_the_controller_says_what_is_missing_in_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with AwsStandIn() as aws:
        aws.eks.add_cluster("demo", authentication_mode="API")
        for name, value in {"ENDPOINT_URL": aws.url, "ACCESS_KEY_ID": "none", "SECRET_ACCESS_KEY": "none"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        task = {"nodebootstrap.eks.join_check": {"wait_timeout": 0}}
        _done, result = play(tmp_path, [REFUSED], **task)
        assert result["failed"] and mentions(result["msg"], "role node", "authentication mode API", "nodebootstrap.eks.access")
        assert "identity" not in result
        aws.deny("eks:ListAccessEntries")
        _done, result = play(tmp_path, [REFUSED], **task)
        assert result["message"] == REFUSED["message"]
        assert mentions(result["evidence"][-1], "eks:ListAccessEntries")
        assert aws.operations(changes_only=True) == []


def test_without_credentials_on_the_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"EC2_METADATA_DISABLED": "true", "CONFIG_FILE": str(tmp_path), "SHARED_CREDENTIALS_FILE": str(tmp_path)}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    _done, result = play(tmp_path, [REFUSED], **{"nodebootstrap.eks.join_check": {"wait_timeout": 0}})
    assert (result["message"], result["fix"]) == (REFUSED["message"], REFUSED["fix"])
    assert len(result["evidence"]) == 2


def options(folder: Path) -> list[dict[str, Any]]:
    return [call[1] for call in node_stand_in.calls(folder) if call[0] == "join_check"]


def test_a_wait_is_seen_and_ends(tmp_path: Path) -> None:
    done, result = play(tmp_path, [AWAY, READY], **{"nodebootstrap.eks.join_check": {"wait_timeout": "180"}})
    assert any(line.startswith("web-1: ") and AWAY["message"] in line for line in done.stdout.splitlines())
    assert options(tmp_path) == [{"wait_for": "ready", "wait_timeout": 5}, {"wait_for": "ready", "wait_timeout": 5}]
    assert not result["failed"] and result["cause"] is None and result["ready"] and "kubelet_settings" not in result


def test_a_failure_has_lines_and_the_rules_of_kubelet(tmp_path: Path) -> None:
    _done, result = play(tmp_path, [INVALID], **{"nodebootstrap.eks.join_check": {"wait_timeout": 180, "wait_for": "registered"}})
    assert len(options(tmp_path)) == 1 and result["failed"] and result["final"]
    assert [problem["rule"] for problem in result["problems"]] == ["kubelet.inconsistent_fields"]
    assert "/etc/k.json" in result["fix"] and result["fix"] in result["msg"]
    assert "\nEvidence:\n  - x" in result["msg"]


def test_invalid_options_are_rejected_before_the_node_is_contacted(tmp_path: Path) -> None:
    _done, result = play(tmp_path, [READY], **{"nodebootstrap.eks.join_check": {"wait_timeout": "soon", "wait_for": "healthy"}})
    assert result["failed"] and options(tmp_path) == []


def test_in_the_background_one_call_waits_for_all_of_the_time(tmp_path: Path) -> None:
    task = {"nodebootstrap.eks.join_check": {"wait_timeout": 30}, "async": 900, "poll": 1}
    done, result = play(tmp_path, [READY], environment={"NODE_STAND_IN": str(tmp_path)}, **task)
    assert [call["wait_timeout"] for call in options(tmp_path)] == [30] and result.get("ready"), (result, done.stdout)
