# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An admin machine for real runs of Ansible: stand-ins of the programs in PATH over one state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_bed, anywhere_controllers, anywhere_programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

PLAYBOOKS = Path(__file__).resolve().parents[4] / "playbooks"
OF_THIS_MACHINE = ("memory", "disk_docker", "disk_work_dir", "inotify", "cgroup", "clock")
"""The checks whose results depend on the machine that runs the tests."""

PROGRAM = Path(anywhere_programs.__file__)


class Machine:
    """An admin machine in a folder: programs in C(bin), their state, the file of a cluster and its variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        for name in ("docker", "kind", "kubectl", "clusterctl", "helm"):
            program = folder / "bin" / name
            program.write_text(f"#!{sys.executable} -SE\n{PROGRAM.read_text(encoding='utf-8')}", encoding="utf-8")
            program.chmod(0o755)
        model = Path(anywhere_controllers.__file__)
        (folder / "bin" / model.name).write_text(model.read_text(encoding="utf-8"), encoding="utf-8")
        self.state_file = folder / "state.json"
        self.save(anywhere_programs.new_state())
        count = ("Cluster", "spec.controlPlaneConfiguration.count", 1)
        (folder / "dev.yaml").write_text(clusters.file("docker", count), encoding="utf-8")
        (folder / "network.yaml").write_text(anywhere_bed.NETWORK, encoding="utf-8")

    @property
    def state(self) -> dict[str, Any]:
        return dict(json.loads(self.state_file.read_text(encoding="utf-8")))

    def save(self, state: dict[str, Any]) -> None:
        self.state_file.write_text(json.dumps(state), encoding="utf-8")

    def command(self, operation: str, *arguments: str, **more: Any) -> list[str]:
        """The words with which a playbook creates, deletes or shows the cluster."""
        given = {
            "cluster_file": "dev.yaml",
            "work_dir": str(self.folder),
            "bootstrap_image": "kindest/node:v1.34.2",
            "node_images": [{"version": "v1.34.2", "image": "kindest/node:v1.34.2"}],
            "repository": anywhere_bed.repository(self.folder / "repository"),
            "cluster_api_version": "v1.13.4",
            "cert_manager_version": "v1.20.2",
            "network_manifest": "network.yaml",
            "registries": [],
            "skip_checks": list(OF_THIS_MACHINE),
        }
        given = {name: value for name, value in (given | more).items() if value is not None}
        variables: dict[str, Any] = {f"eks_anywhere_{name}": value for name, value in given.items()}
        variables["ansible_python_interpreter"] = sys.executable
        playbook = str(PLAYBOOKS / f"eks_anywhere_{operation}.yml")
        return ["ansible-playbook", playbook, "-i", "localhost,", "-c", "local", "-e", json.dumps(variables), *arguments]

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that lead to the programs."""
        return {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "STATE_OF_PROGRAMS": str(self.state_file)}

    def play(self, operation: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a playbook. more: other variables, without their prefix; None leaves one out."""
        return ansible_runs.run(self.folder, *self.command(operation, *arguments, **more), settings=self.settings)
