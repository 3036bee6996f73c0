# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a group says beside the essentials reaches the real programs: by user data, and by a play that changes a live node.

The live nodes are changed once, for all tests of this module; a test that changes them again comes after the tests that do not.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.post_commands import UNIT as POST
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import (
    CASES,
    GROUP,
    KUBELET_UNITS,
    PATIENCE,
    all_booted,
    boot,
    common_labels,
    effective,
    environment_of,
    matches_group,
    play_all,
    words_of,
)
from ansible_collections.nodebootstrap.eks.tests.lab.progress import wait_for
from ansible_collections.nodebootstrap.eks.tests.lab.registry import IMAGE, Listener, Registry, digest_of_image, pull

pytestmark = pytest.mark.docker

PODS = 25
CONFIG = {"imageGCHighThresholdPercent": 91, "podPidsLimit": 1234, "containerLogMaxSize": "21Mi"}
FLAGS = {"event-burst": "111", "v": "3"}

#: Files in which commands.post writes its time.
HEALTHY_AT, READY_AT = "/var/lib/healthy-at", "/var/lib/ready-at"

#: What needs today's nodeadm: the one of February 2024 does not have C(environment).
PROXIED = [case for case in CASES if case != "al2023"]

#: Canonical's image has a containerd configuration of its own, which nothing here can show: only where ours replaces it, it is known.
MIRRORED = [case for case in CASES if case != "ubuntu-bootstrap"]

#: Each strategy and family once: every node costs seconds.
CHANGED = ["al2-static", "al2023-stand-in", "ubuntu-bootstrap"]

#: Cases that differ from one of CHANGED only in the combination of family, strategy and kubelet version.
REPEATED = ["al2-bootstrap", "al2023"]

#: Where labels and taints are changed: where kubelet has them from several sources. The modules for it take seconds each.
RECONCILED = ["al2023-stand-in"]


class Outside:
    """What is outside of a node: a mirror that is out of order, one that is not, a proxy."""

    def __init__(self, address: str) -> None:
        self.broken = Listener(address)
        self.mirror = Registry(address)
        self.proxy = Listener(address)

    def fields(self, case: str) -> dict[str, Any]:
        """What the group of a case says."""
        mirrors = {"containerd": {"registry_mirrors": {"docker.io": [self.broken.url, self.mirror.url]}}}
        proxy = {"proxy": {"http": self.proxy.url, "https": self.proxy.url, "no_proxy": ["10.0.0.0/16"]}}
        return {
            "max_pods": PODS,
            "kubelet": {"config": CONFIG, "flags": FLAGS},
            "commands": {"post": [f"date +%s >{HEALTHY_AT}", {"run": f"date +%s >{READY_AT}", "when": "ready"}]},
            **(mirrors if case in MIRRORED else {}),
            **(proxy if case in PROXIED else {}),
        }


@pytest.fixture(scope="module")
def outside(lab: Lab) -> Iterator[Outside]:
    made = Outside(lab.network.gateway)
    with made.broken, made.mirror, made.proxy:
        yield made


@pytest.fixture(scope="module")
def born(lab: Lab, outside: Outside, request: pytest.FixtureRequest) -> Iterator[dict[str, LabNode]]:
    """Nodes that became Ready by their user data: every case of this run."""
    wanted = [case for case in CASES if case not in REPEATED or is_selected(request, ("born", case))]
    with ExitStack() as stack:
        nodes = {case: stack.enter_context(boot(lab, case, **outside.fields(case))) for case in wanted}
        for node in nodes.values():
            node.wait_ready(PATIENCE)
        yield nodes


def is_selected(request: pytest.FixtureRequest, joined: tuple[str, str]) -> bool:
    """Does a selected test use this node?"""
    return any(item.callspec.params.get("joined") == joined for item in request.session.items if hasattr(item, "callspec"))


@pytest.fixture(scope="module")
def changed(lab: Lab, outside: Outside) -> Iterator[dict[str, LabNode]]:
    """Live nodes: joined by one play, then changed by another, which ran twice."""
    with all_booted(lab, CHANGED) as nodes:
        succeeds(nodes)
        before = {case: (node.wait_ready(PATIENCE)["metadata"]["uid"], starts(node, case)) for case, node in nodes.items()}
        for expected in ("some", "none"):
            changes = succeeds(nodes, outside)
            for case, node in nodes.items():
                uid, count = before[case]
                wait_for("the new number of pods", lambda node=node: pods(node) == str(PODS), PATIENCE)
                assert node.wait_ready(PATIENCE)["metadata"]["uid"] == uid, "the same Node"
                assert starts(node, case) == count + 1, f"{case}: one restart for all that changed, and none for nothing"
                assert (changes[node.name] > 0) == (expected == "some"), case
        yield nodes


def succeeds(nodes: Mapping[str, LabNode], outside: Outside | None = None, **more: Any) -> dict[str, int]:
    """A play over the nodes that must not fail: how many tasks changed something, by node."""
    done = play_all(nodes, fields_of=outside.fields if outside else None, **more)
    found = {
        node.name: re.search(rf"^{re.escape(node.name)} +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=0 ", done.stdout, re.M)
        for node in nodes.values()
    }
    assert done.returncode == 0 and all(found.values()), done.stdout + done.stderr
    return {name: int(match[1]) for name, match in found.items() if match}


def starts(node: LabNode, case: str) -> int:
    return node.starts(KUBELET_UNITS[CASES[case].family])


def pods(node: LabNode) -> str:
    count: str = (node.object() or {})["status"]["allocatable"]["pods"]
    return count


@pytest.fixture
def joined(request: pytest.FixtureRequest) -> tuple[str, LabNode]:
    """A case, and its node that came to its settings in one way."""
    way, case = request.param
    return case, request.getfixturevalue(way)[case]


def every(cases: Iterable[str]) -> pytest.MarkDecorator:
    """Every node of these cases, whichever way it came to its settings."""
    ways = [(way, case) for way, those in (("born", CASES), ("changed", CHANGED)) for case in those if case in cases]
    marked = [pytest.param(pair, id="-".join(pair), marks=[pytest.mark.matrix] * (pair[1] in REPEATED)) for pair in ways]
    return pytest.mark.parametrize("joined", marked, indirect=True)


@every(CASES)
def test_kubelet_has_the_configuration_and_the_flags(joined: tuple[str, LabNode]) -> None:
    case, node = joined
    matches_group(node, case, PODS)
    seen = node.configz()
    assert {key: seen[key] for key in CONFIG} == CONFIG
    assert (seen["eventBurst"], seen["logging"]["verbosity"]) == (111, 3), "flags"
    # A flag may have been given before, by the image: the last one counts.
    words = words_of(node, KUBELET_UNITS[CASES[case].family])
    assert [word for word in words if word.startswith(("--v=", "--event-burst="))][-2:] == ["--event-burst=111", "--v=3"]


@every(MIRRORED)
def test_containerd_asks_the_mirrors_in_their_order(joined: tuple[str, LabNode], outside: Outside) -> None:
    _case, node = joined
    assert digest_of_image() in pull(node, f"docker.io/{IMAGE}")
    asked = "HEAD /v2/library/probe/manifests/1?ns=docker.io"
    assert asked in outside.broken.of(node)
    assert outside.mirror.of(node)[0] == asked


@every(PROXIED)
def test_proxies_are_for_what_is_outside(joined: tuple[str, LabNode], outside: Outside) -> None:
    case, node = joined
    for unit in (KUBELET_UNITS[CASES[case].family], "containerd.service"):
        seen = environment_of(node, unit)
        assert (seen["HTTP_PROXY"], seen["HTTPS_PROXY"]) == (outside.proxy.url, outside.proxy.url)
        assert {"10.0.0.0/16", "169.254.169.254", node.lab.network.gateway} <= set(seen["NO_PROXY"].split(","))
    # containerd asks the proxy for a registry that has no mirror; requests to the API server bypass it.
    assert digest_of_image() not in pull(node, f"registry.example.com/{IMAGE}")
    assert set(outside.proxy.of(node)) == {"CONNECT registry.example.com:443"}


@every(CASES)
def test_commands_run_after_the_node_is_ready(joined: tuple[str, LabNode]) -> None:
    """With every kubeconfig and every program for tokens, also beside a proxy."""
    _case, node = joined
    wait_for("the end of the unit", lambda: node.property(POST, "ActiveState") != "activating", PATIENCE)
    assert node.property(POST, "Result") == "success" and node.exists(READY_AT), node.journal(POST)
    [ready] = [found for found in (node.object() or {})["status"]["conditions"] if found["type"] == "Ready"]
    since = datetime.datetime.fromisoformat(ready["lastTransitionTime"].replace("Z", "+00:00")).timestamp()
    assert int(node.read(HEALTHY_AT)) <= int(node.read(READY_AT)) >= since


def test_a_play_and_user_data_end_alike(born: dict[str, LabNode], changed: dict[str, LabNode]) -> None:
    assert {case: effective(node) for case, node in changed.items()} == {case: effective(born[case]) for case in changed}


# --- labels and taints ------------------------------------------------------------------------------------------------------

LABELS = {"example.com/pool": "db", "shelf": "2"}
TAINTS = [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}, {"key": "old", "effect": "PreferNoSchedule"}]
OTHERS_LABELS = {"other.example.com/else": "kept"}
OTHERS_TAINT = {"key": "other.example.com/else", "value": "kept", "effect": "NoExecute"}


def test_other_labels_and_taints_are_refused_before_anything_is_touched(changed: dict[str, LabNode], outside: Outside) -> None:
    before = {case: (traces(node), starts(node, case)) for case, node in changed.items()}
    done = play_all(
        changed,
        *("-e", "eks_node_max_fail_percentage=100"),
        fields_of=lambda case: outside.fields(case) | {"labels": LABELS, "taints": TAINTS, "max_pods": 30},
    )
    assert done.returncode != 0
    for node in changed.values():
        told = re.search(rf"^fatal: \[{re.escape(node.name)}\]: FAILED! => (.*)$", done.stdout, re.M)
        assert told and "this node is registered already" in told[1] and "eks_node_reconcile: true" in told[1], done.stdout
        for what in ("label example.com/pool=db", "label shelf=2", "label tier (removed)", "taint dedicated=db:NoSchedule"):
            assert what in told[1]
    assert {case: (traces(node), starts(node, case)) for case, node in changed.items()} == before


def traces(node: LabNode) -> bytes:
    """Every file of the configuration and of our own records, with its time."""
    return node.exec(
        ["find", "/etc", "/var/lib/nodebootstrap", "/var/lib/kubelet/kubeconfig", "-type", "f", "-printf", "%p %T@ %i\n"]
    ).stdout


@pytest.mark.matrix
def test_labels_and_taints_are_reconciled_and_those_of_others_stay(lab: Lab, changed: dict[str, LabNode], outside: Outside) -> None:
    nodes = {case: changed[case] for case in RECONCILED}
    for node in nodes.values():
        lab.api.patch(f"/api/v1/nodes/{node.name}", {"metadata": {"labels": OTHERS_LABELS}})
        taints = [*lab.node_object(node.name)["spec"]["taints"], OTHERS_TAINT]
        lab.api.patch(f"/api/v1/nodes/{node.name}", {"spec": {"taints": taints}})
    for labels, taints, expected in (
        (LABELS, TAINTS, "some"),
        (LABELS, TAINTS, "none"),
        (GROUP["labels"], GROUP["taints"], "some"),
    ):
        changes = succeeds(
            nodes,
            outside,
            variables={"eks_node_reconcile": True},
            environment={"K8S_AUTH_KUBECONFIG": str(lab.kubeconfig())},
            labels=labels,
            taints=taints,
        )
        for case, node in nodes.items():
            found = lab.node_object(node.name)
            assert found["metadata"]["labels"] == labels | OTHERS_LABELS | common_labels(node), case
            # The control plane adds its own for a moment, when kubelet has restarted.
            lasting = [taint for taint in found["spec"]["taints"] if not taint["key"].startswith("node.kubernetes.io/")]
            assert by_key(lasting) == by_key([*taints, OTHERS_TAINT]), case
            assert (changes[node.name] > 0) == (expected == "some"), case


def by_key(taints: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(taints, key=lambda taint: (taint["key"], taint["effect"]))
