# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry point lock of the role, and with it the action image_lock, in real playbook runs with stand-ins for the modules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image import mirror

SYSTEM = {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}
PACKAGE = {
    "name": "jq", "version": "1", "architecture": "all", "file": "jq.deb", "url": "https://a/jq.deb", "sha256": "a" * 64, "size": 1,
}  # fmt: skip
CONTENT = b"kubelet"


def lock(folder: Path, *arguments: str, answer: Any = None, sha256: str = "", **variables: Any) -> subprocess.CompletedProcess[str]:
    answers = {"image_verify": [{"changed": False, "system": SYSTEM}], "image_lock": [answer or {"packages": [PACKAGE], "system": SYSTEM}]}
    settings = node_stand_in.make(folder, **answers)
    (folder / "kubelet").write_bytes(CONTENT)
    kubelet = {"path": str(folder / "kubelet"), "sha256": sha256 or mirror.sha256(CONTENT)}
    image = {"family": "ubuntu", "kubernetes_version": "1.32", "programs": {"kubelet": kubelet}}
    role = {"name": "nodebootstrap.eks.eks_node_image", "tasks_from": "lock"}
    given = {"eks_node_image": image, "eks_node_image_lock": str(folder / "inputs.lock"), **variables}
    play = [{"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.import_role": role}], "vars": given}]
    (folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    hosts = {"all": {"hosts": {"builder": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}}}
    (folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "-i", "hosts.json", "play.yml", *arguments, settings=settings)


def test_the_lock_is_written_once(tmp_path: Path) -> None:
    check = lock(tmp_path, "--check", "--diff", eks_node_image_inputs=str(tmp_path / "inputs"))
    assert mentions(check.stdout, "changed=1", "jq.deb"), check.stdout + check.stderr
    assert not (tmp_path / "inputs.lock").exists() and not (tmp_path / "inputs").exists()
    first = lock(tmp_path, eks_node_image_inputs=str(tmp_path / "inputs"))
    assert mentions(first.stdout, "changed=1"), first.stdout + first.stderr
    text = (tmp_path / "inputs.lock").read_text(encoding="utf-8")
    found = locks.load(text)
    assert locks.dump(found) == text
    assert [one.file for one in found.packages] == ["jq.deb"]
    assert [(one.name, one.size) for one in found.downloads] == [("kubelet", len(CONTENT))]
    assert (tmp_path / "inputs/downloads" / found.downloads[0].file).read_bytes() == CONTENT
    plan = next(given["plan"] for name, given, *_modes in node_stand_in.calls(tmp_path) if name == "image_lock")
    assert found.requested == tuple(plan["packages"])
    assert mentions(lock(tmp_path, eks_node_image_inputs=str(tmp_path / "inputs")).stdout, "changed=0")


def test_a_machine_that_cannot_resolve_writes_no_lock(tmp_path: Path) -> None:
    failed = lock(tmp_path, answer={"failed": True, "msg": "jq-4711"})
    assert failed.returncode != 0 and mentions(failed.stdout, "jq-4711")
    assert not (tmp_path / "inputs.lock").exists()


def test_a_download_with_another_digest_writes_no_lock(tmp_path: Path) -> None:
    failed = lock(tmp_path, sha256="b" * 64)
    assert failed.returncode != 0 and mentions(failed.stdout + failed.stderr, "b" * 64, mirror.sha256(CONTENT))
    assert not (tmp_path / "inputs.lock").exists()
