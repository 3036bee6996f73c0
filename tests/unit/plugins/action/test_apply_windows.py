# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action apply_windows: options in, module calls out, errors as results. Real playbook runs: tests/oracle/test_windows_role.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.nodebootstrap.eks.plugins.action import apply_windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import ansible_adapter
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import windows
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

GROUP = {"family": "windows", "max_pods": 20}
FACTS = {"inventory_hostname": "w", "ansible_run_tags": ["start", "other"], "ansible_skip_tags": []}
WELL = {"problem": "", "actions": [], "restarted": [], "recovered": None, "warnings": [], "missing": [], "registration": None}


class Task:
    """As much of a task as the action asks for."""

    async_val, check_mode, diff, action, no_log = 0, True, False, "apply_windows", False

    def __init__(self, args: dict[str, Any]) -> None:
        self.args = args


class Connection:
    """Counts how often it is reset; it is made anew at once, as that of psrp is, and the node is still gone."""

    resets = 0
    supports_persistence = False
    _shell = type("Shell", (), {"tmpdir": None})

    def reset(self) -> None:
        self.resets += 1
        raise AnsibleConnectionFailure("no route to host")


def action(monkeypatch: pytest.MonkeyPatch, answers: list[Any], **options: Any) -> tuple[Any, list[Any]]:
    task = Task({"cluster": COMPLETE, "node_group": GROUP} | options)
    found = apply_windows.ActionModule(task, Connection(), None, None, None, None)
    calls: list[Any] = []

    def execute(**given: Any) -> Any:
        calls.append(given)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(found, "_execute_module", execute)
    monkeypatch.setattr(apply_windows.time, "sleep", lambda _seconds: None)
    # With ansible-core alone, the collection is missing.
    monkeypatch.setattr(ansible_adapter, "_is_installed", lambda _name: True)
    return found, calls


def test_without_its_collection_the_node_is_not_contacted(monkeypatch: pytest.MonkeyPatch) -> None:
    run, calls = action(monkeypatch, [])
    monkeypatch.setattr(ansible_adapter, "_is_installed", lambda _name: False)
    result = run.run(task_vars=FACTS)
    assert result["failed"] and [problem["rule"] for problem in result["problems"]] == ["live.missing_collection"]
    assert mentions(result["msg"], "ansible-galaxy collection install", "ansible.windows:>=3.0.0")
    assert calls == []


def test_only_our_roles_need_the_collection_that_patches_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "_role", None, raising=False)
    for role, name in (
        (None, "x"),
        ("other.roles.nodes", "x"),
        ("nodebootstrap.eks.eks_node", "kubernetes.core"),
        ("eks_node_windows", "kubernetes.core"),
    ):
        run, _calls = action(monkeypatch, [{"failed": True, "msg": "x"}], reconcile=True)
        monkeypatch.setattr(ansible_adapter, "_is_installed", lambda name: name == "ansible.windows")
        run._task._role = role and SimpleNamespace(get_name=lambda role=role: role)
        assert mentions(run.run(task_vars=FACTS)["msg"], name)


def test_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    found, calls = action(monkeypatch, [{"changed": False, "result": WELL}])
    result = found.run(task_vars=FACTS)
    (call,) = calls
    assert (call["module_name"], call["task_vars"]) == ("ansible.windows.win_powershell", FACTS)
    assert call["module_args"]["parameters"]["Steps"] == ["start"]
    assert call["module_args"]["script"] == "\n".join((apply_windows.FOLDER / name).read_text("utf-8") for name in windows.SCRIPT)
    assert (result.get("failed"), result["phases"]) == (None, ["start"])


def test_problems_of_the_input_are_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    found, calls = action(monkeypatch, [], node_group={"family": "windows", "max_pods": 0, "lables": {}})
    result = found.run(task_vars=FACTS)
    assert result["failed"] is True
    assert result["msg"].startswith("apply_windows: 2 problems\n")
    assert calls == []


def test_an_option_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found, calls = action(monkeypatch, [], restart="sometimes")
    assert "restart" in found.run(task_vars=FACTS)["msg"]
    assert calls == []


def test_only_while_it_is_waited_for_a_node_may_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = AnsibleConnectionFailure("refused")
    late = {"changed": False, "result": WELL | {"missing": ["x"]}}
    found, calls = action(monkeypatch, [late, gone, {"changed": False, "result": WELL}], phases=["verify"])
    assert found.run(task_vars=FACTS)["healthy"] is True
    assert (len(calls), found._connection.resets) == (3, 1)
    first, calls = action(monkeypatch, [gone])
    with pytest.raises(AnsibleConnectionFailure):
        first.run(task_vars=FACTS)
    assert first._connection.resets == 0
