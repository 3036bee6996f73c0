# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from kubelet's command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import facts, versions
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import evidence, wait
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.api_client import ApiClient
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import ApiResult
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_process as kubelet
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, FakeNode
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import node_state, unit

LOGGED = 'I1121 22:55:32.2 7 kubelet_node_status.go:70] "Attempting to register node" node="ip-10-0-0-5.ec2.internal"'


def no_log() -> list[str]:
    raise AssertionError("the log is not needed")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "host"),
        (["--hostname-override= I-1.Ec2 "], "i-1.ec2"),
        (["--hostname-override=a", "--hostname_override", "b"], "b"),
        (["--cloud-provider=external", "--hostname-override=a"], "a"),
        (["--cloud-provider=external", "--provider-id=aws:///eu-central-1a/i-1234567890abcdef0"], "host"),
    ],
)
def test_the_name_on_the_command_line(words: list[str], name: str) -> None:
    """As GetHostname and getNodeName of cmd/kubelet/app/server.go: the provider ID has no influence on the name."""
    assert kubelet.node_name(kubelet.parse(words), "Host", no_log) == (name, True)


def test_a_name_from_ec2_is_in_the_log_or_a_guess() -> None:
    flags = {"cloud-provider": "aws", "hostname-override": "ignored"}
    assert kubelet.node_name(flags, "Host", lambda: ["x", LOGGED, "y"]) == ("ip-10-0-0-5.ec2.internal", True)
    assert kubelet.node_name(flags, "Host", lambda: ["x"]) == ("host", False)


@pytest.mark.parametrize(
    ("words", "log", "name"),
    [
        (["--hostname-override=Node-1"], [], "node-1"),
        ([], [], "host.example"),
        (["--cloud-provider=aws"], [LOGGED], "ip-10-0-0-5.ec2.internal"),
        (["--cloud-provider=aws"], [], None),
    ],
)
def test_apply_node_info_and_join_check_agree_about_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], log: list[str], name: str | None
) -> None:
    """None: the name is not certain. node_info shows none then, apply patches no Node, and join_check draws no conclusion from it."""
    node = FakeNode(tmp_path)
    monkeypatch.setattr(programs, "first_lines", node.first_lines)
    for module in (evidence, registration, versions):
        monkeypatch.setattr(module, "read_hostname", lambda: "Host.example")
    monkeypatch.setattr(ApiClient, "request_node", lambda *_unused: ApiResult("answer", status=404, is_kubernetes=True))
    node.unit(KUBELET)
    node.process("--kubeconfig=/k", *words)
    node.logs(*log, at=101.0)
    joining = evidence.EvidenceCollector(node).collect()
    state = node_state(kubelet=unit(KUBELET)._replace(pid=7), kubelet_argv=["kubelet", *words])
    shown = facts.facts(node, configz=False)["node_name"]
    assert shown == name and joining.node_name == (name or "host.example") and joining.is_node_name_certain is (name is not None)
    if name is None:
        with pytest.raises(ApplyRefused):
            registration.node_name(state)
        assert wait.never_joined(lambda: joining) is False, "another Node does not exist"
    else:
        assert registration.node_name(state) == name and wait.never_joined(lambda: joining) is True


def test_the_kubeconfig_that_is_used_now(tmp_path: Path) -> None:
    flags = {"kubeconfig": "/k", "bootstrap-kubeconfig": "/b"}
    host = machine(tmp_path, {})
    assert kubelet.find_kubeconfig(host, flags) == "/k" and kubelet.find_kubeconfig(host, {}) is None
    machine(tmp_path, {"/b": ""})
    assert kubelet.find_kubeconfig(host, flags) == "/b"
    machine(tmp_path, {"/k": ""})
    assert kubelet.find_kubeconfig(host, flags) == "/k"


def test_pods_or_a_signed_certificate_are_signs_of_a_cluster(tmp_path: Path) -> None:
    host, root = machine(tmp_path, {}), tmp_path / "var/lib/kubelet"
    assert not kubelet.has_served(host, {})
    machine(tmp_path, {"/var/lib/kubelet/pki/kubelet.crt": "its own"})
    (root / "pods").mkdir()
    assert not kubelet.has_served(host, {})
    (root / "pods" / "8c2d").mkdir()
    assert kubelet.has_served(host, {}) and not kubelet.has_served(host, {"root-dir": "/nowhere"})
    (tmp_path / "certificates").mkdir()
    (tmp_path / "certificates" / "kubelet-server-current.pem").symlink_to("x")
    assert kubelet.has_served(host, {"root-dir": "/nowhere", "cert-dir": "/certificates"})
