# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_validate and its playbook in real runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/eks_anywhere_validate.yml"
TWO_ERRORS = clusters.file(
    "tinkerbell", ("Cluster", "spec.kubernetesVersion", 1.3), ("TinkerbellDatacenterConfig", "spec.tinkerbellIP", "10.0.0")
)


def validate(folder: Path, text: str | None = None, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder) for a file with C(text)."""
    if text is not None:
        (folder / "dev.yaml").write_text(text, encoding="utf-8")
    given = {f"eks_anywhere_{name}": value for name, value in ({"cluster_file": "dev.yaml"} | variables).items()}
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-i", "localhost,", "-e", json.dumps(given), *arguments)


def test_a_valid_file_is_described_in_one_line(tmp_path: Path) -> None:
    done = validate(tmp_path, clusters.file("tinkerbell"), "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout, "dev.yaml: valid: ", "dev, ", "1.34", "changed=0")


def test_all_problems_are_printed_with_their_lines_and_fail_the_run(tmp_path: Path) -> None:
    done = validate(tmp_path, TWO_ERRORS)
    assert done.returncode == 2
    lines = TWO_ERRORS.splitlines()
    for word, rule in (("kubernetesVersion: 1.3", "anywhere.version_not_text"), ("tinkerbellIP: 10.0.0", "input.invalid_ip")):
        number = next(index for index, line in enumerate(lines, 1) if word in line.replace("'", ""))
        assert mentions(done.stdout, f"dev.yaml:{number}: error: ", f"[{rule}]")
    assert mentions(done.stdout, "anywhere_validate: 2 errors in dev.yaml")


def test_warnings_do_not_fail_the_run(tmp_path: Path) -> None:
    done = validate(tmp_path, clusters.file("docker", ("Cluster", "spec.kubernetesVersion", "1.99")))
    assert done.returncode == 0
    assert mentions(done.stdout, ": warning: ", "[anywhere.unknown_version]")


def test_hardware_is_compared_with_the_cluster_and_passwords_are_not_printed(tmp_path: Path) -> None:
    (tmp_path / "hardware.csv").write_text(clusters.hardware(4), encoding="utf-8")
    done = validate(tmp_path, clusters.file("tinkerbell"), "-vvv", hardware_csv="hardware.csv")
    assert done.returncode == 2
    assert mentions(done.stdout, "[anywhere.hardware_count]")
    assert "secret-of-bmc" not in done.stdout + done.stderr
    (tmp_path / "hardware.csv").write_text(clusters.hardware(5), encoding="utf-8")
    assert validate(tmp_path, clusters.file("tinkerbell"), hardware_csv="hardware.csv").returncode == 0


def test_the_scope_cluster_needs_no_other_document(tmp_path: Path) -> None:
    first = clusters.file("vsphere").split("---\n")[0]
    assert validate(tmp_path, first).returncode == 2
    assert validate(tmp_path, first, validate_scope="cluster").returncode == 0


@pytest.mark.parametrize(
    ("variables", "fact"),
    [
        ({"cluster_file": ""}, "eks_anywhere_cluster_file"),
        ({"cluster_file": "none.yaml"}, "none.yaml"),
        ({"hardware_csv": "none.csv"}, "none.csv"),
        ({"validate_scope": "all"}, "file, cluster"),
    ],
)
def test_options_that_cannot_be_used(variables: dict[str, Any], fact: str, tmp_path: Path) -> None:
    done = validate(tmp_path, clusters.file("docker"), **variables)
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, fact)
    assert "Traceback" not in done.stdout + done.stderr
