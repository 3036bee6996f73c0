# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""apply_plan and the programs of the images: bootstrap.sh, which repeats badly, and nodeadm, which reads more than our document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nodelab import Al2Node, Al2023Node, BootstrapNode

from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import HEALTHY, STATE, applied, apply, plan, snapshot
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import CLUSTER, ENDPOINT, boot
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

KUBECONFIG = "/var/lib/kubelet/kubeconfig"
EXTRA = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"
CONTAINERD = "/etc/containerd/config.toml"
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      {0}\n"


@pytest.fixture
def al2023_node() -> Any:
    with Al2023Node.start() as node:
        node.write({HEALTHY: ""})
        yield node


def script_node(family: str, request: pytest.FixtureRequest) -> Any:
    node = request.getfixturevalue(f"{family}_node")
    node.write({HEALTHY: ""})
    return node


def pause(version: str) -> dict[str, Any]:
    return {"containerd": {"pause_image": f"602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:{version}"}}


def test_what_the_script_leaves_stale_is_repaired(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    applied(al2_node, plan("al2 script", kubelet={"flags": {"v": "3"}}, **pause("3.9")))
    assert b"pause:3.9" in al2_node.read(CONTAINERD) and al2_node.kubelet_config()["maxPods"] == 29
    moved = CLUSTER | {"name": "second", "endpoint": "https://SECOND.gr7.eu-central-1.eks.amazonaws.com"}
    later = plan("al2 script", moved, max_pods=7, **pause("3.10"))
    applied(al2_node, later, take_over=True)
    kubeconfig = al2_node.read(KUBECONFIG).decode()
    assert "https://SECOND" in kubeconfig and "-i, second," in kubeconfig and "demo" not in kubeconfig
    assert b"pause:3.10" in al2_node.read(CONTAINERD) and b"v=3" not in al2_node.read(EXTRA)
    assert "maxPods" not in al2_node.kubelet_config() and "--max-pods=7" in al2_node.kubelet_starts()[-1]
    assert len(al2_node.bootstrap_calls()) == 2 and applied(al2_node, later)["changed"] is False
    last = plan("al2 script", moved)
    applied(al2_node, last)
    assert not al2_node.exists(EXTRA) and al2_node.kubelet_config()["maxPods"] == 29
    assert al2_node.starts("kubelet.service") == len(al2_node.kubelet_starts())
    al2_node.exec(["systemctl", "stop", "kubelet.service"], check=True)
    assert applied(al2_node, last)["actions"] == ["start kubelet.service"] and len(al2_node.bootstrap_calls()) == 3


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_a_node_that_user_data_set_up_runs_no_script_again(family: str, request: pytest.FixtureRequest) -> None:
    node: BootstrapNode = script_node(family, request)
    group = {"labels": {"id": "{instance_id}"}, "kubelet": {"flags": {"v": "3"}}}
    # As the boot of the image does; without it the node is never healthy.
    node.exec(["systemctl", "start", "containerd.service"], check=True)
    boot(node, **group)
    adopted = applied(node, plan(f"{family} script", **group))
    assert (adopted["actions"], adopted["restarted"]) == (["write /etc/nodebootstrap/bootstrap.sh"], [])
    assert adopted["healthy"] is True
    assert len(node.bootstrap_calls()) == 1 and len(node.kubelet_starts()) == 1
    assert applied(node, plan(f"{family} script", **group))["changed"] is False


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_a_node_that_user_data_set_up_with_other_values_is_repaired(family: str, request: pytest.FixtureRequest) -> None:
    node: BootstrapNode = script_node(family, request)
    boot(node, cluster=CLUSTER | {"endpoint": ENDPOINT.replace("ABC", "OLD"), "name": "old"}, kubelet={"flags": {"v": "3"}})
    wanted = plan(f"{family} script", max_pods=5)
    assert "take_over" in apply(node, wanted)["msg"]
    applied(node, wanted, take_over=True)
    kubeconfig = node.read(KUBECONFIG).decode()
    assert ENDPOINT in kubeconfig and "OLD" not in kubeconfig and "-i, demo," in kubeconfig
    words = node.kubelet_starts()[-1]
    assert "--max-pods=5" in words and "--v=3" not in words and len(node.bootstrap_calls()) == 2
    assert applied(node, wanted)["changed"] is False


def left(node: BootstrapNode) -> list[str]:
    """What a call that was undone may not leave behind; empty folders that the image's script makes are its own."""
    own = ("/var/lib/nodelab", "/var/lib/nodebootstrap")
    return [line for line in snapshot(node).splitlines() if not line.startswith(own) and line.split(" ")[1:2] != ["d"]]


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_a_first_run_that_fails_is_undone_without_a_word_more(family: str, request: pytest.FixtureRequest) -> None:
    node: BootstrapNode = script_node(family, request)
    script = node.read("/etc/eks/bootstrap.sh")
    node.write({"/etc/eks/bootstrap.sh": (script + b"\necho the reason >&2\nexit 7\n", 0o755)})
    before = left(node)
    refused = apply(node, plan(f"{family} script"))
    assert mentions(refused["msg"], "/etc/nodebootstrap/bootstrap.sh", "(status 7)", "the reason")
    # Not every image has all units that its script may lay down and enable.
    assert not mentions(refused["msg"], "systemctl")
    assert left(node) == before


@pytest.mark.parametrize("way", repeated([("static", "script"), ("script", "static")], ("static", "script")), ids=" to ".join)
def test_the_strategy_may_change(al2_node: Al2Node, way: tuple[str, str]) -> None:
    al2_node.write({HEALTHY: ""})
    kinds = {"static": "al2", "script": "al2 script"}
    untouched = {path: al2_node.read(path) for path in (KUBECONFIG, CONTAINERD, "/etc/systemd/system/kubelet.service")}
    for name in way:
        applied(al2_node, plan(kinds[name], kubelet={"flags": {"v": "3"}}))
        assert applied(al2_node, plan(kinds[name], kubelet={"flags": {"v": "3"}}))["changed"] is False
    assert al2_node.exists(EXTRA) is (way[-1] == "script")
    assert al2_node.exists("/etc/nodebootstrap/node-facts") is (way[-1] == "static")
    assert ENDPOINT in al2_node.read(KUBECONFIG).decode() and "--v=3" in al2_node.kubelet_starts()[-1]
    applied(al2_node, plan(kinds[way[-1]]), state="absent")
    assert {path: al2_node.read(path) for path in untouched} == untouched and not al2_node.exists(EXTRA)


def test_nodeadm_runs_only_when_what_it_reads_changed(al2023_node: Al2023Node) -> None:
    node = al2023_node

    def runs() -> int:
        return len([record for record in node.records("nodeadm") if record["argv"][0] == "init"])

    theirs = "/etc/eks/nodeadm.d/40-image.yaml"
    node.write({theirs: NODE_CONFIG.format("podPidsLimit: 100")})
    first = applied(node, plan("al2023"))
    assert first["foreign"] == {theirs: NODE_CONFIG.format("podPidsLimit: 100")} and first["healthy"] is True
    done, starts = runs(), len(node.records("kubelet"))
    assert applied(node, plan("al2023"))["changed"] is False

    node.write({theirs: NODE_CONFIG.format("podPidsLimit: 200")})
    assert "restart nodeadm-config.service nodeadm-run.service" in applied(node, plan("al2023"))["actions"]
    assert (runs(), len(node.records("kubelet"))) == (done + 2, starts + 1)
    node.write({"/etc/nodelab/user-data": NODE_CONFIG.format("maxPods: 20")})
    again = applied(node, plan("al2023"))
    assert "kubelet.service" in again["restarted"] and "maxPods: 20" in again["foreign"]["user_data"]
    assert json.loads(node.read("/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"))["maxPods"] == 20
    assert applied(node, plan("al2023"))["changed"] is False

    # Another text with the same meaning is written, and nothing runs.
    document = "/etc/eks/nodeadm.d/50-nodebootstrap.yaml"
    node.write({document: b"# a remark\n" + node.read(document)})
    done = runs()
    written = applied(node, plan("al2023"))
    assert (written["actions"], written["restarted"], runs()) == ([f"write {document}"], [], done)
    assert "user_data" not in json.loads(node.read(f"{STATE}/manifest.json"))["files"]
