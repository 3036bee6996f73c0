# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The play rejects a wrong node group before it changes the node; join_check finds the same faults on nodes set up by other means."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode, supervisor
from ansible_collections.nodebootstrap.eks.tests.lab.fail_play import bootstrap, bootstrap_host, check
from ansible_collections.nodebootstrap.eks.tests.lab.failing import hand_written, unit
from ansible_collections.nodebootstrap.eks.tests.lab.joining import LAB_ONLY, PATIENCE, booted, play

pytestmark = pytest.mark.docker

CASE = "al2023-stand-in"

#: Seconds for which join_check waits. A final cause ends it earlier.
LOOK = 240

#: By name: fields of a node group, and words of the answer.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "forbidden-label": ({"labels": {"kubernetes.io/role": "web"}}, "kubelet refuses to start with this label"),
    "removed-flag": (
        {"kubelet": {"flags": {"container-runtime": "remote"}}},
        "kubelet 1.36 does not have this flag, which was removed",
    ),
    "unknown-field": ({"kubelet": {"config": {**LAB_ONLY["1.36"], "noSuchField": True}}}, "noSuchField: kubelet does not have this field"),
}

#: Everything below / except files that a machine writes by itself.
LISTING = """
find / /var/lib/kubelet -xdev \\( -path /var/log -o -path /var/lib/systemd -o -path /var/lib/containerd \\) -prune -o \
    -printf '%p %y %m %U:%G %s %C@ %l\\n' | sort
"""


@dataclass(frozen=True)
class Found:
    """A node that was set up by other means: flags and settings of kubelet in the user data, and the expected answer of join_check."""

    cause: str
    says: tuple[str, ...]
    shown: str
    flags: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)


#: Where the flags of these nodes are set.
FLAGS = ("spec.kubelet.flags of the NodeConfig in the user data", "/etc/eks/kubelet/environment")

FOUND = {
    "forbidden-label": Found(
        cause="forbidden_label",
        says=("kubernetes.io/role", *FLAGS),
        shown="labels specified with --node-labels",
        flags=("--node-labels=kubernetes.io/role=web",),
    ),
    "removed-flag": Found(
        cause="unknown_flag",
        says=("--container-runtime", *FLAGS),
        shown="unknown flag: --container-runtime",
        flags=("--container-runtime=remote",),
    ),
    "invalid-value": Found(
        cause="invalid_config",
        says=("imageGCHighThresholdPercent", "the NodeConfig in the user data", "40-nodeadm.conf", "imageGCLowThresholdPercent"),
        shown="imageGCHighThresholdPercent",
        config={"imageGCHighThresholdPercent": 10},
    ),
}
#: A later edit of kubelet's configuration file. In the drop-in directory, kubelet would ignore it silently.
CHANGED = Found(cause="unknown_config_field", says=("noSuchField",), shown="noSuchField")


def test_a_rejected_node_group_changes_nothing(lab: Lab) -> None:
    with booted(lab, CASE) as node:
        before = listing(node)
        output = bootstrap({name: bootstrap_host(node, CASE, None, **fields) for name, (fields, _unused) in REFUSED.items()})
        assert listing(node) == before
        assert node.property(unit(node), "ActiveState") == "inactive"
        assert output.code != 0
        for name, (_unused, says) in REFUSED.items():
            ended = output.ended(name)
            assert ended.failed
            assert says in ended.message
            assert "; fix: " in ended.message


def test_join_check_finds_the_fault(lab: Lab) -> None:
    with contextlib.ExitStack() as stack:
        nodes = {name: stack.enter_context(hand_written_node(lab, found)) for name, found in FOUND.items()}
        nodes["healthy"] = stack.enter_context(hand_written_node(lab, None))
        nodes["changed-since"] = stack.enter_context(changed_since(lab))
        nodes["healthy"].wait_ready(PATIENCE)
        output = check(nodes, wait_timeout=LOOK)
        expected = {**FOUND, "changed-since": CHANGED}
        for name, found in expected.items():
            ended = output.ended(name)
            assert ended.failed, name
            assert (ended.result["cause"], ended.result["final"]) == (found.cause, True), f"{name}: {ended.result}"
            for word in found.says:
                assert word in ended.message, name
            assert any(re.search(found.shown, line) for line in ended.result["evidence"]), f"{name}: {ended.result['evidence']}"
            assert ended.result["fix"][1:] in ended.message
            assert ended.result["waited"] < LOOK, f"{name}: what is final is not waited for"
        assert not output.ended("healthy").failed, output.ended("healthy")


@pytest.mark.parametrize(("before", "after"), [(128, supervisor.INSTANCES), (4096, 4096)])
def test_a_lab_raises_the_limit_for_many_nodes(tmp_path: Path, before: int, after: int) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text(f"{before}\n")
    supervisor.raise_limit(limit)
    assert int(limit.read_text()) == after


def listing(node: LabNode) -> list[str]:
    """All files and folders, with size, owner, mode and the time of their last change."""
    return node.exec(["sh", "-c", LISTING], check=True).stdout.decode(errors="replace").splitlines()


@contextlib.contextmanager
def hand_written_node(lab: Lab, found: Found | None) -> Iterator[LabNode]:
    """A node that boots with user data written by hand."""
    text = hand_written(lab, flags=found.flags, **found.config) if found is not None else hand_written(lab)
    with lab.node("al2023", user_data=text, kubelet="1.36", real_nodeadm=False) as node:
        yield node


@contextlib.contextmanager
def changed_since(lab: Lab) -> Iterator[LabNode]:
    """A node that our play brought into the cluster, and whose configuration was edited afterwards."""
    case, path = "al2-static", "/etc/kubernetes/kubelet/kubelet-config.json"
    with booted(lab, case) as node:
        play(node, case)
        node.wait_ready(PATIENCE)
        text = node.read(path).decode()
        node.write({path: text.replace("{", '{"noSuchField": true,', 1)})
        node.exec(["systemctl", "restart", unit(node)], check=True)
        yield node
