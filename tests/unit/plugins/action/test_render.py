# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action render in real playbook runs: files, table, check mode, diff, errors."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJkekNDQVIyZ0F3SUJBZ0lCQURBS0JnZ3Foa2pPClBRUURBaklRCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"
CLUSTER = {"name": "demo", "endpoint": "https://abc.example.com", "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
GROUPS = [
    {"name": "web", "family": "al2023", "labels": {"role": "web"}, "max_pods": 50, "instance": {"type": "m5.large"}},
    {"name": "given", "family": "al2023", "mode": "managed", "labels": {"role": "given"}},
]


def files(folder: Path) -> list[str]:
    """The files below a folder, sorted."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


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
    return ansible_runs.run(folder, "ansible-playbook", "play.yml", "-i", "localhost,", *arguments)


def problems(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str, str | None]]:
    """(rule, path, group) of every problem in the result of the failed task."""
    start = done.stdout.index("FAILED! => ") + len("FAILED! => ")
    result = json.JSONDecoder().raw_decode(done.stdout, start)[0]
    assert not any("value" in problem for problem in result["problems"])
    return [(problem["rule"], problem["path"], problem.get("group")) for problem in result["problems"]]


def test_files_table_and_second_run(tmp_path: Path) -> None:
    first = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "changed=1" in first.stdout
    assert files(tmp_path / "out") == ["demo/web.userdata", "manifest.json"]
    assert (tmp_path / "out/demo/web.userdata").stat().st_mode & 0o777 == 0o644
    table = first.stdout
    assert "0 bytes, EKS supplies it" in table
    assert "warning: web: node_group.max_pods: " in table
    assert "left to EKS: given: labels" in table
    assert table.count("not checked: cluster.kubernetes_version: ") == 1
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
    text = done.stdout.partition("+++ after: out/manifest.json")[0]
    lines = [line for line in text.splitlines() if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]
    assert [line.split() for line in lines] == [["-", "maxPods:", "50"], ["+", "maxPods:", "60"]]


def test_diff_says_what_the_change_means_for_a_node(tmp_path: Path) -> None:
    play(tmp_path, cluster=CLUSTER, node_groups=GROUPS[:1])
    done = play(tmp_path, "--check", "--diff", cluster=CLUSTER, node_groups=[GROUPS[0] | {"max_pods": 60}], encoding="gzip")
    assert "node_group.max_pods: 50 → 60" in done.stdout


def test_raw_gzip(tmp_path: Path) -> None:
    done = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS[:1], encoding="gzip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert gzip.decompress((tmp_path / "out/demo/web.userdata").read_bytes()).startswith(b"MIME-Version: 1.0\n")


def test_every_problem_of_every_group_and_no_file(tmp_path: Path) -> None:
    bad = [GROUPS[0], {"name": "a", "family": "al2024"}, {"family": "al2023", "max_pods": 0}]
    done = play(tmp_path, cluster=CLUSTER, node_groups=bad)
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()
    text = done.stdout + done.stderr
    assert "render: 3 problems" in text
    assert "Traceback" not in text
    assert problems(done) == [
        ("input.unknown_value", "node_groups[1].family", "a"),
        ("capacity.zero_max_pods", "node_groups[2].max_pods", None),
        ("input.missing_field", "node_groups[2].name", None),
    ]


@pytest.mark.parametrize(
    ("options", "rule", "path"),
    [
        ({"cluster": CLUSTER, "eksctl_config": "missing.yaml"}, "input.unreadable_file", "eksctl_config"),
        ({"cluster": CLUSTER, "node_groups": GROUPS, "output_dir": "/proc/nowhere"}, "output.unwritable_directory", "output_dir"),
        ({"cluster": CLUSTER, "node_groups": [GROUPS[0], GROUPS[0]]}, "output.duplicate_group", "node_groups"),
        ({"cluster": CLUSTER, "node_groups": "al2023"}, "input.wrong_type", "node_groups"),
        ({"cluster": CLUSTER, "node_groups": GROUPS, "output_dir": ["out"]}, "input.wrong_type", "output_dir"),
        ({"sources": [{"eksctl_config": ["a.yaml"]}]}, "input.wrong_type", "sources[0].eksctl_config"),
        (
            {
                "sources": [
                    {"cluster": CLUSTER, "node_groups": GROUPS},
                    {"cluster": {**CLUSTER, "name": "DEMO"}, "node_groups": GROUPS[:1]},
                ]
            },
            "output.same_file",
            "node_groups",
        ),
    ],
    ids=["no file", "no folder", "same name", "no list", "no text", "no text in a source", "same file"],
)
def test_errors(tmp_path: Path, options: dict[str, Any], rule: str, path: str) -> None:
    done = play(tmp_path, **options)
    assert done.returncode == 2
    assert problems(done) == [(rule, path, None)]
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
    assert files(tmp_path / "out") == ["demo/web.userdata", "manifest.json", "other/workers.userdata"]
    assert mentions(done.stdout, ": iam (")
    bad = play(tmp_path, sources=[*sources, {"cluster": {}, "node_groups": [{"name": "x", "family": "al2023"}]}])
    assert ("cluster.missing_field", "sources[2].cluster", None) in problems(bad)


def test_two_inputs_are_one_problem(tmp_path: Path) -> None:
    done = play(tmp_path, cluster=CLUSTER, node_groups=GROUPS, eksctl_config="cluster.yaml")
    assert problems(done) == [("input.conflict", "node_groups", None)]
    assert mentions(done.stdout, "eksctl_config", "eks_node_groups, eks_node_eksctl_config")


def test_a_registered_message_is_the_librarys_own_in_every_ansible_core(tmp_path: Path) -> None:
    done = play(tmp_path, "-vvv", cluster=CLUSTER, node_groups="al2023")
    assert '"msg": "render: 1 problem\\nnode_groups: ' in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_message_shows_rules_with_v_only(tmp_path: Path) -> None:
    bad = [GROUPS[0] | {"kubelet": {"flags": {"node-labls": "x"}}}]
    quiet, verbose = (play(tmp_path, *arguments, cluster=CLUSTER, node_groups=bad) for arguments in ((), ("-v",)))
    assert "[kubelet.unknown_flag]" in verbose.stdout + verbose.stderr
    assert "[kubelet.unknown_flag]" not in quiet.stdout + quiet.stderr
    assert "node_groups[0] (web).kubelet.flags.node-labls: " in quiet.stdout + quiet.stderr
    assert problems(quiet) == problems(verbose) == [("kubelet.unknown_flag", "node_groups[0].kubelet.flags.node-labls", "web")]


def test_a_task_without_input_says_which_options_it_needs(tmp_path: Path) -> None:
    done = play(tmp_path)
    assert done.returncode == 2
    assert all(option in done.stdout + done.stderr for option in ("node_groups", "eksctl_config", "sources"))


INVENTORY: dict[str, Any] = {
    "all": {
        "hosts": {"bastion": {}},
        "children": {
            "workers": {
                "hosts": {"web-1.example": {}, "web-2.example": {}},
                "vars": {"eks_node_cluster": CLUSTER, "eks_node_group": {**GROUPS[0], "labels": {"role": "{{ role }}"}}, "role": "web"},
            },
            "stores": {
                "hosts": {"db-1": {}},
                "vars": {"eks_node_cluster": CLUSTER, "eks_node_group": {"name": "db", "family": "bottlerocket"}, "ansible_become": True},
            },
        },
    }
}


def playbook(folder: Path, inventory: Any, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the playbook render in C(folder) with an inventory."""
    (folder / "hosts.yml").write_text(json.dumps(inventory), encoding="utf-8")
    return ansible_runs.run(folder, "ansible-playbook", "nodebootstrap.eks.render", "-i", "hosts.yml", *arguments)


def test_the_groups_of_an_inventory_are_rendered_once_and_pruned_when_they_are_gone(tmp_path: Path) -> None:
    first = playbook(tmp_path, INVENTORY)
    assert first.returncode == 0, first.stdout + first.stderr
    assert files(tmp_path / "out") == ["demo/db.userdata", "demo/web.userdata", "manifest.json"]
    assert "--node-labels=role=web" in (tmp_path / "out/demo/web.userdata").read_text()
    manifest = (tmp_path / "out/manifest.json").read_bytes()
    limited = playbook(tmp_path, INVENTORY, "--limit", "stores")
    assert "changed=0" in limited.stdout
    assert "web.userdata" not in limited.stdout
    assert (tmp_path / "out/manifest.json").read_bytes() == manifest
    refused = playbook(tmp_path, INVENTORY, "--limit", "stores", "-e", "eks_node_prune=true")
    assert problems(refused) == [("output.prune_with_limit", "prune", None)]
    smaller = json.loads(json.dumps(INVENTORY))
    del smaller["all"]["children"]["stores"]
    gate = playbook(tmp_path, smaller, "-e", "eks_node_prune=true", "-e", "eks_node_fail_on_change=true")
    assert problems(gate) == [
        ("output.would_change", "out/demo/db.userdata", None),
        ("output.would_change", "out/manifest.json", None),
    ]
    assert len(files(tmp_path / "out")) == 3
    pruned = playbook(tmp_path, smaller, "-e", "eks_node_prune=true", "--diff")
    assert pruned.returncode == 0, pruned.stdout + pruned.stderr
    assert mentions(pruned.stdout, " out/demo/db.userdata\n")
    assert '-cluster-name = "demo"' in pruned.stdout
    assert CA not in pruned.stdout
    assert files(tmp_path / "out") == ["demo/web.userdata", "manifest.json"]


def test_hosts_that_disagree_about_their_group_are_named(tmp_path: Path) -> None:
    disagreeing = json.loads(json.dumps(INVENTORY))
    disagreeing["all"]["children"]["workers"]["hosts"]["web-2.example"] = {"role": "db"}
    del disagreeing["all"]["children"]["stores"]["vars"]["eks_node_cluster"]
    done = playbook(tmp_path, disagreeing)
    assert problems(done) == [
        ("input.missing_field", "hosts.db-1.eks_node_cluster", None),
        ("input.conflict", 'hosts["web-2.example"].eks_node_group.labels.role', None),
    ]
    assert not (tmp_path / "out").exists()
