# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_preflight and its playbook in real runs, with stand-ins for the programs of the admin machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._anywhere_admin import programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/eks_anywhere_preflight.yml"
MACHINE = ["memory", "disk_docker", "disk_work_dir", "inotify", "cgroup", "clock"]
"""The checks whose results depend on the machine that runs this test."""


def check(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder) with C(folder/bin) first in the path."""
    (folder / "dev.yaml").write_text(clusters.file("docker"), encoding="utf-8")
    given = {"cluster_file": "dev.yaml", "work_dir": str(folder / "work"), "registries": [], "skip_checks": MACHINE} | variables
    names = {f"eks_anywhere_{name}": value for name, value in given.items()}
    settings = programs.machine(folder / "bin") if not (folder / "bin").exists() else {"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
    inventory = ("-i", "localhost,", "-e", "ansible_connection=local")
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), *inventory, "-e", json.dumps(names), *arguments, settings=settings)


def test_a_machine_that_is_ready(tmp_path: Path) -> None:
    done = check(tmp_path, "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "CHECK", "tool_kind", "0.33.0", "bootstrap_cluster", "dev-eks-a-cluster", "changed=0", "eksa_1700000000")
    assert not (tmp_path / "work").exists()


def test_all_failures_are_printed_with_their_cures_and_fail_the_run(tmp_path: Path) -> None:
    programs.machine(tmp_path / "bin")
    programs.script(tmp_path / "bin", "kind", {"version": "kind v0.20.0"})
    done = check(tmp_path, registries=["127.0.0.1:1"])
    assert done.returncode == 2
    assert mentions(done.stdout, "tool_kind", "0.20.0", "127.0.0.1:1", "anywhere_preflight: 2 of", "tool_kind, registries")
    assert check(tmp_path, registries=["127.0.0.1:1"], skip_checks=[*MACHINE, "tool_kind", "registries"]).returncode == 0


def test_options_and_files_that_cannot_be_used(tmp_path: Path) -> None:
    for variables, fact in (
        ({"cluster_file": ""}, "eks_anywhere_cluster_file"),
        ({"cluster_file": "none.yaml"}, "none.yaml"),
        ({"skip_checks": ["disks"]}, "disk_docker"),
        ({"timeout": 61}, "61"),
    ):
        done = check(tmp_path, **variables)
        assert done.returncode == 2
        assert mentions(done.stdout + done.stderr, fact)
        assert "Traceback" not in done.stdout + done.stderr
