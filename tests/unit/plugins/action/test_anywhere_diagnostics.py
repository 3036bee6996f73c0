# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_diagnostics and its playbook in real runs, with stand-ins for kubectl, kind and docker."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cause, diagnostics_task
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._anywhere_admin import test_diagnostics as lab
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import capi_objects

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/eks_anywhere_diagnostics.yml"


def collect(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder)."""
    settings = lab.bed(folder)
    given = {"cluster_name": "dev", "work_dir": str(folder / "clusters")} | variables
    names = {f"eks_anywhere_{name}": value for name, value in given.items()}
    inventory = ("-i", "localhost,", "-e", "ansible_connection=local")
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), *inventory, "-e", json.dumps(names), *arguments, settings=settings)


def test_the_summary_names_the_first_failing_object_and_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    done = collect(tmp_path, "-vvv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "Pod capd-manager in capd-system", "CrashLoopBackOff")
    places = [tmp_path / "diagnostics" / f"dev-diagnostics.{suffix}" for suffix in ("tar.gz", "txt")]
    assert [stat.S_IMODE(place.stat().st_mode) for place in places] == [0o600, 0o600]
    assert stat.S_IMODE(places[0].parent.stat().st_mode) == 0o700
    summary = places[1].read_text(encoding="utf-8")
    assert summary.strip() in done.stdout and len(summary.splitlines()) < 40
    texts = (done.stdout, done.stderr, summary, str(lab.unpacked(places[0].read_bytes())))
    assert [planted for planted in lab.PLANTED if any(planted in text for text in texts)] == []


def test_check_mode_collects_nothing(tmp_path: Path) -> None:
    done = collect(tmp_path, "--check")
    assert done.returncode == 0 and "changed=1" in done.stdout
    assert not (tmp_path / "diagnostics").exists() and not (tmp_path / "bin/calls").exists()


def test_a_time_limit_that_cannot_be_used_and_an_answer_that_is_not_an_archive(tmp_path: Path, golden_message: GoldenMessages) -> None:
    options = {"name": "dev", "folder": str(tmp_path)}

    def answer(result: dict[str, Any]) -> dict[str, Any]:
        def write(_path: str, _content: bytes) -> bool:
            raise AssertionError("nothing may be written")

        return diagnostics_task.diagnostics_task(options, lambda *_unused: result, write=write, say=print, check_mode=False)

    assert answer({"failed": True, "msg": "timeout 61"}) == {"failed": True, "msg": "timeout 61"}
    golden_message(answer({"archive_base64": "%"})["msg"])


def test_a_summary_of_two_clusters(golden_message: GoldenMessages) -> None:
    causes = {"dev": None, "dev-eks-a-cluster": cause.find(capi_objects.creation()), "other": None}
    golden_message(diagnostics_task.summary("dev", causes, {"third": "connection refused"}, 12))
    golden_message(diagnostics_task.summary("dev", {}, {}, 0))
