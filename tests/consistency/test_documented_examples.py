# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples that ansible-doc shows run as they stand, pasted into a playbook."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.consistency import documented, project

# These kinds run on the controller alone, AWS modules too, against a stand-in for AWS. Lookup plugins will need more than a localhost.
KINDS = ("filter", "test", "action", "modules")
CASES = [(kind, stem) for kind in KINDS for stem in project.plugins(kind) if kind != "modules" or stem not in project.plugins("action")]


def as_playbook(examples: str) -> list[dict[str, Any]]:
    """Tasks become one play on localhost; plays stay what they are."""
    items = yaml.safe_load(examples)
    plays = [item for item in items if "hosts" in item]
    tasks = [item for item in items if "hosts" not in item]
    return plays + ([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}] if tasks else [])


def run_playbook(plays: list[dict[str, Any]], folder: Path, settings: Mapping[str, str]) -> str:
    """Run C(plays) in C(folder): '' when all went well, otherwise what ansible-playbook printed."""
    (folder / "ca.pem").write_text(documented.CERTIFICATE, encoding="utf-8")
    playbook = folder / "examples.yml"
    playbook.write_text(yaml.safe_dump(plays, sort_keys=False), encoding="utf-8")
    command = ["ansible-playbook", "--inventory", "localhost,", str(playbook)]
    # A host that is named gets some Python of the machine, which need not have boto3.
    environment = {**os.environ, "ANSIBLE_PYTHON_INTERPRETER": sys.executable, **settings}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(("kind", "stem"), CASES, ids=[f"{kind}-{stem}" for kind, stem in CASES])
def test_examples_run(kind: str, stem: str, tmp_path: Path) -> None:
    plays = as_playbook(project.documentation(kind, stem).get("examples") or "")
    assert plays
    with documented.aws_stand_in() as aws:
        output = run_playbook(plays, tmp_path, aws)
    project.none_of([f"{kind} {stem}: {output}"] if output else [])


def test_an_example_that_fails_is_seen(tmp_path: Path) -> None:
    plays = as_playbook("- name: Wrong\n  ansible.builtin.debug:\n    msg: \"{{ 'x' | nodebootstrap.eks.cluster_dns_ips }}\"\n")
    assert "cluster_dns_ips" in run_playbook(plays, tmp_path, {})
