# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action migrate and its playbook in real runs: the files, decisions, check mode, diff, and options that cannot be used."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/migrate.yml"
WEB = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n"
UNCLEAR = "#!/bin/bash\nif true; then\n  /etc/eks/bootstrap.sh demo\nfi\n"


def migrate(folder: Path, *arguments: str, cluster: Any = None, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder), which has two files."""
    (folder / "web.sh").write_text(WEB, encoding="utf-8")
    (folder / "unclear.sh").write_text(UNCLEAR, encoding="utf-8")
    given = {f"eks_node_migrate_{name}": value for name, value in variables.items()}
    if cluster is not None:
        given["eks_node_cluster"] = cluster
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-i", "localhost,", "-e", json.dumps(given), *arguments)


def test_files_are_written_once_and_not_in_check_mode(tmp_path: Path) -> None:
    given: dict[str, Any] = {"cluster": COMPLETE, "sources": ["web.sh"], "output": "new"}
    check = migrate(tmp_path, "--check", "--diff", **given)
    assert check.returncode == 0, check.stdout + check.stderr
    assert mentions(check.stdout, "changed=1", "+++ after: new/web.userdata", "+    maxPods: 20".replace("    ", "      "))
    assert not (tmp_path / "new").exists()
    done = migrate(tmp_path, **given)
    assert mentions(done.stdout, "changed=1", "new/web.userdata", "new/web.md")
    assert "maxPods: 20" in (tmp_path / "new/web.userdata").read_text(encoding="utf-8")
    assert mentions((tmp_path / "new/web.md").read_text(encoding="utf-8"), "web.sh", "`--max-pods`", "`spec.kubelet.config.maxPods`")
    assert "changed=0" in migrate(tmp_path, **given).stdout


def test_all_decisions_are_printed_and_fail_the_run(tmp_path: Path) -> None:
    done = migrate(tmp_path, sources=["web.sh", "unclear.sh"])
    assert done.returncode == 2
    assert mentions(done.stdout, "web.sh: cluster.endpoint: ", "unclear.sh:3: user_data: ", "migrate: 4 decisions")
    assert not (tmp_path / "out/web.userdata").exists()
    assert (tmp_path / "out/unclear.md").exists()
    one = migrate(tmp_path, sources=["web.sh", "unclear.sh"], cluster=COMPLETE)
    assert one.returncode == 2
    assert mentions(one.stdout, "migrate: 1 decision")
    assert (tmp_path / "out/web.userdata").exists()


def test_bottlerocket(tmp_path: Path) -> None:
    done = migrate(tmp_path, sources=["web.sh"], cluster=COMPLETE, family="Bottlerocket")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "max-pods = 20" in (tmp_path / "out/web.userdata").read_text(encoding="utf-8")


def test_each_source_that_cannot_be_migrated_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.sh").write_text("", encoding="utf-8")
    (tmp_path / "new.yaml").write_text("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n", encoding="utf-8")
    done = migrate(tmp_path, sources=["empty.sh", "web.sh", "new.yaml"], cluster=COMPLETE)
    assert done.returncode == 2
    assert mentions(done.stdout, "sources[0]: ", "sources[2]: ")
    assert "user_data: " not in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("variables", "rule"),
    [
        ({}, "input.missing_field"),
        ({"sources": ["none.sh"]}, "input.unreadable_file"),
        ({"sources": ["web.sh"], "family": "al2"}, "input.unknown_value"),
        ({"sources": ["web.sh"], "cluster": [1]}, "input.wrong_type"),
        ({"sources": ["web.sh"], "cluster": COMPLETE, "output": "web.sh/a"}, "output.unwritable_directory"),
        ({"sources": ["web.sh", "sub/web.txt"]}, "input.conflict"),
        ({"sources": ["web.userdata"], "output": "."}, "input.conflict"),
        ({"sources": ["web.md"]}, "user_data.wrong_kind"),
    ],
)
def test_options_that_cannot_be_used(variables: dict[str, Any], rule: str, tmp_path: Path) -> None:
    (tmp_path / "web.userdata").write_text(WEB, encoding="utf-8")
    (tmp_path / "web.md").write_text("# a report\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/web.txt").write_text(WEB, encoding="utf-8")
    done = migrate(tmp_path, "-v", **variables)
    assert done.returncode == 2
    assert rule in done.stdout
