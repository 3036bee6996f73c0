# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action render in real playbook runs: files, table, check mode, diff, errors."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJkekNDQVIyZ0F3SUJBZ0lCQURBS0JnZ3Foa2pPClBRUURBaklRCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"
CLUSTER = {"name": "demo", "endpoint": "https://abc.example.com", "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
GROUPS = [
    {"name": "web", "family": "al2023", "labels": {"role": "web"}, "max_pods": 50, "instance": {"type": "m5.large"}},
    {"name": "given", "family": "al2023", "mode": "managed", "labels": {"role": "given"}},
]


def play(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run one play with the render task in C(folder); the options of the task are C(options)."""
    (folder / "play.yml").write_text(
        json.dumps(
            [
                {
                    "hosts": "localhost",
                    "connection": "local",
                    "gather_facts": False,
                    "tasks": [{"name": "Render", "nodebootstrap.eks.render": options, "register": "done"}],
                }
            ]
        ),
        encoding="utf-8",
    )
    command = ["ansible-playbook", "play.yml", "-i", "localhost,", *arguments]
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)


def test_files_table_and_second_run(tmp_path: Path) -> None:
    first = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "changed=1" in first.stdout
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["demo-web.mime"]
    assert (tmp_path / "out/demo-web.mime").stat().st_mode & 0o777 == 0o644
    table = first.stdout
    assert "0 bytes, EKS supplies it" in table
    assert "warning: web: node_group.max_pods: " in table
    assert "left to EKS: given: labels" in table
    assert "not checked: web: cluster.kubernetes_version is not given" in table
    second = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS)
    assert "changed=0" in second.stdout
    digest = next(line for line in table.splitlines() if line.startswith("web"))
    assert digest in second.stdout


def test_check_mode_writes_nothing_and_diff_shows_the_text(tmp_path: Path) -> None:
    done = play(tmp_path, "--check", "--diff", cluster=CLUSTER, node_groups=GROUPS, encoding="gzip_base64", output_dir="there")
    # managed groups have no gzip, but this one has no text either, so nothing is refused
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "there").exists()
    assert "changed=1" in done.stdout
    assert "+    maxPods: 50" in done.stdout or "+      maxPods: 50" in done.stdout
    assert CA not in done.stdout
    assert f"{CA[:12]}…{CA[-12:]}" in done.stdout


def test_diff_of_an_encoded_file_shows_only_what_changed(tmp_path: Path) -> None:
    play(tmp_path, cluster=CLUSTER, node_groups=GROUPS[:1], encoding="base64")
    changed = [GROUPS[0] | {"max_pods": 60}]
    done = play(tmp_path, "--diff", cluster=CLUSTER, node_groups=changed, encoding="base64")
    lines = [line for line in done.stdout.splitlines() if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]
    assert [line.split() for line in lines] == [["-", "maxPods:", "50"], ["+", "maxPods:", "60"]]


def test_raw_gzip(tmp_path: Path) -> None:
    done = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS[:1], encoding="gzip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert gzip.decompress((tmp_path / "out/demo-web.mime.gz").read_bytes()).startswith(b"MIME-Version: 1.0\n")


def test_every_problem_of_every_group_and_no_file(tmp_path: Path) -> None:
    bad = [GROUPS[0], {"name": "a", "family": "al2024"}, {"family": "al2023", "max_pods": 0}]
    done = play(tmp_path, cluster=CLUSTER, node_groups=bad)
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()
    text = done.stdout + done.stderr
    for part in (
        "render: 3 problems",
        "node_groups[1].family: is not a known value",
        "node_groups[2].max_pods: 0 lets",
        "node_groups[2].name: is required",
    ):
        assert part in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of the following is required: node_groups, eksctl_config, sources"),
        ({"cluster": CLUSTER, "eksctl_config": "missing.yaml"}, "eksctl_config: cannot be read"),
        ({"cluster": CLUSTER, "node_groups": GROUPS, "output_dir": "/proc/nowhere"}, "cannot be written"),
        ({"cluster": CLUSTER, "node_groups": [GROUPS[0], GROUPS[0]]}, "have the same name"),
        ({"cluster": CLUSTER, "node_groups": "al2023"}, "node_groups: must be a list of node groups"),
        ({"cluster": CLUSTER, "node_groups": GROUPS, "output_dir": ["out"]}, "output_dir: must be text, not a list"),
        ({"sources": [{"eksctl_config": ["a.yaml"]}]}, "sources[0].eksctl_config: must be text, not a list"),
        (
            {
                "sources": [
                    {"cluster": {**CLUSTER, "name": "a-b"}, "node_groups": [{**GROUPS[0], "name": "c"}]},
                    {"cluster": {**CLUSTER, "name": "a"}, "node_groups": [{**GROUPS[0], "name": "b-c"}]},
                ]
            },
            "b-c and c of cluster a-b would be written to one file",
        ),
    ],
    ids=["nothing", "no file", "no folder", "same name", "no list", "no text", "no text in a source", "same file"],
)
def test_errors(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    done = play(tmp_path, **options)
    assert done.returncode == 2
    assert message in done.stdout + done.stderr
    assert "Errno" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_eksctl_files_and_sources(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: other, region: eu-west-1}\n"
        "iam: {withOIDC: true}\nnodeGroups: [{name: workers}]\n",
        encoding="utf-8",
    )
    facts = {key: value for key, value in CLUSTER.items() if key != "name"}
    sources = [{"cluster": CLUSTER, "node_groups": GROUPS[:1]}, {"cluster": facts, "eksctl_config": "cluster.yaml"}]
    done = play(tmp_path, sources=sources)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["demo-web.mime", "other-workers.mime"]
    assert "not part of node bootstrap: iam (each path with its reason" in done.stdout
    bad = play(tmp_path, sources=[*sources, {"cluster": {}, "node_groups": [{"name": "x", "family": "al2023"}]}])
    assert "sources[2].cluster.endpoint: is required for al2023" in bad.stdout + bad.stderr


def test_a_registered_message_is_the_librarys_own_in_every_ansible_core(tmp_path: Path) -> None:
    done = play(tmp_path, "-vvv", cluster=CLUSTER, node_groups="al2023")
    assert '"msg": "render: 1 problem\\nnode_groups: must be a list of node groups (got \\"al2023\\")"' in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
