# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on one node: every rule of the doctor fires, and near misses do not; findings of other checks; arbitrary answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.fleet import fleet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.json_report import json_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.model import FAILED, NOT_JOINED, NOT_READY, READY, UNREACHABLE
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.node import node_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.text import text
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, NOT_YET, SERVER, VALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import GIB, HEALTHY, NOW, node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

DAY = 86400.0
END_OF_VALID = 4733510400.0
"""2120-01-01."""
MIB = 1024**2

KUBELET = "info.versions.kubelet.version"
DISK, RUNNING = "info.kubelet.config.effective", "info.kubelet.configz.config"
BY_OTHERS = {"info.ours": None, DISK: {"maxPods": 58, "clusterDNS": ["10.100.0.10"]}}
CONFIG = render(COMPLETE, {"name": "web", "family": "al2023", "max_pods": 58, "labels": {"team": "web"}}).document.text
ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("changed_files", {"info.ours.files": {"/b": "changed", "/a": "changed"}}, {"info.ours.files": {"/a": "unchanged"}}),
    ("changed_files", {"info.ours.files": {"/a": "missing", "/b": "unreadable"}}, {"info.ours": None}),
    ("interrupted_run", {"info.ours.interrupted": True}, {"info.ours.interrupted": False}),
    ("pending_restart", {"info.ours.pending": [{"unit": "kubelet.service"}]}, {"info.ours.pending": []}),
    ("support_ended", {KUBELET: "v1.30.2", "kubernetes_version": None}, {KUBELET: "1.31.2", "kubernetes_version": None}),
    ("support_ended", {KUBELET: "1.29.2", "kubernetes_version": None}, {KUBELET: "2.0.0", "kubernetes_version": None}),
    ("support_ends", {KUBELET: "1.31.2", "kubernetes_version": None}, {KUBELET: "1.32.2", "kubernetes_version": None}),
    ("support_ends", {KUBELET: "1.34.2"}, {KUBELET: "1.35.2"}),
    ("extended_support", {KUBELET: "1.33.2"}, {KUBELET: "1.35.2"}),
    ("certificate_expired", {"certificates": [{"use": "client", "path": "/a.pem", "pem": EXPIRED}]}, {"certificates": []}),
    ("certificate_expired", {"certificates": [{"use": "authority", "path": "/ca.pem", "pem": NOT_YET}]}, {"certificates": None}),
    (
        "certificate_expired",
        {"certificates": [{"use": "serving", "path": "/a.pem", "pem": SERVER + VALID}]},
        {"certificates": [{"use": "serving", "path": "/a.pem", "pem": VALID + EXPIRED}]},
    ),
    ("clock_skew", {"clock.skew": -30}, {"clock.skew": 29.9}),
    ("clock_skew", {"clock.skew": 75.0}, {"clock.skew": None}),
    ("clock_not_synchronized", {"clock.synchronized": False}, {"clock.synchronized": None}),
    (
        "low_disk",
        {"disks": [{"path": "/var/lib/kubelet", "free_bytes": 9, "bytes": 100}]},
        {"disks": [{"path": "/var/lib/kubelet", "free_bytes": 10, "bytes": 100}]},
    ),
    (
        "low_inodes",
        {"disks": [{"path": "/", "free_bytes": 60 * GIB, "bytes": 80 * GIB, "free_inodes": 4, "inodes": 100}]},
        {"disks": [{"path": "/", "free_bytes": 60 * GIB, "bytes": 80 * GIB, "free_inodes": 0, "inodes": 0}]},
    ),
    ("low_memory", {"memory.available": 99 * MIB}, {"memory.available": 100 * MIB}),
    ("pressure", {"pressure.memory": {"some": 50.0, "full": 10.0}}, {"pressure.memory": {"some": 50.0, "full": 9.9}}),
    ("pressure", {"pressure.cpu": {"some": 60.0}, "pressure.io": {"full": 30.0}}, {"pressure.cpu": {"some": 59.0}, "pressure.io": {}}),
    (
        "failed_unit",
        {"failures": [{"unit": "cron.service", "failed": True, "reason": "exit-code", "lines": ["a", "cannot start"]}]},
        {"failures": []},
    ),
    (
        "restarted_unit",
        {"failures": [{"unit": "kubelet.service", "failed": False, "reason": "exits with status 1", "lines": []}]},
        {"failures": [{"unit": "kubelet.service", "failed": False, "reason": "", "lines": []}]},
    ),
    ("not_checked", {"problems": ["systemctl show failed"]}, {"problems": []}),
]
DRIFT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("not_running", {DISK: {"maxPods": 110}, RUNNING: {"maxPods": 58}}, {DISK: {"maxPods": 58}, RUNNING: {"maxPods": 58}}),
    ("not_running", {RUNNING: {"maxPods": 58}, "info.kubelet.flags": {"max-pods": "9"}}, {RUNNING: {"maxPods": 58}}),
    ("not_as_described", {"user_data.text": CONFIG.replace("58", "30"), **BY_OTHERS}, {"user_data.text": CONFIG, **BY_OTHERS}),
    (
        "not_as_described",
        {**BY_OTHERS, "user_data.text": CONFIG.replace("team=web", "team=db")},
        {"user_data.text": CONFIG.replace("58", "30")},
    ),
    (
        "changed_since_start",
        {"info.kubelet.config.files": [{"path": "/etc/kubernetes/kubelet/config.json", "changed_since_start": True}]},
        {"info.kubelet.config.files": [{"path": "/etc/kubernetes/kubelet/config.json", "changed_since_start": None}]},
    ),
    (
        "changed_since_start",
        {"info.kubelet.config.files": [{"path": "/b", "changed_since_start": True}, {"path": "/a", "changed_since_start": True}]},
        {"info.kubelet.config.files": [{"path": "/b", "changed_since_start": True}], RUNNING: {"maxPods": 58}},
    ),
]
RULES = [*((f"doctor.{name}", *rest) for name, *rest in ROWS), *((f"drift.{name}", *rest) for name, *rest in DRIFT)]


def found(parts: dict[str, Any], now: float = NOW) -> list[str]:
    return [finding.rule.id for finding in node_report("n1", node(parts), now).findings]


def test_a_healthy_node() -> None:
    report = node_report("n1", node(), NOW)
    assert report.state == READY and report.findings == ()
    values = report.values
    assert (values.kubelet, values.containerd, values.image, values.disk_percent) == ("1.35.1-eks-1", "2.1.4", "ami-0a", 75)
    assert (values.support_days, values.clock_skew) == (490, 0.2)
    assert values.certificate_days is not None and values.certificate_days > 30000


@pytest.mark.parametrize(("rule", "parts", "near_miss"), RULES, ids=[f"{row[0]}-{index}" for index, row in enumerate(RULES)])
def test_rules(rule: str, parts: dict[str, Any], near_miss: dict[str, Any]) -> None:
    assert rule in found(parts)
    assert rule not in found(near_miss)


def test_every_rule_of_the_doctor_has_a_row() -> None:
    rows = {row[0] for row in RULES}
    own = {rule for rule in rules.catalogue() if rule.startswith(("doctor.", "drift."))}
    # These depend on the time, or are states of a node.
    assert own - rows == {"doctor.certificate_ends", "doctor.failed", "doctor.unreachable"}


def test_every_message(golden_message: GoldenMessages) -> None:
    reports = [node_report(f"n{index}", node(parts), NOW) for index, (_rule, parts, _near_miss) in enumerate(RULES, 10)]
    reports.append(
        node_report("soon", node({"certificates": [{"use": "authority", "path": "/ca.pem", "pem": NOT_YET}]}), END_OF_VALID - DAY)
    )
    reports.append(node_report("gone", {"unreachable": True, "msg": "Failed to connect to the host via ssh"}, NOW))
    reports.append(node_report("windows", {"failed": True, "msg": "root is required to examine a node: set become: true"}, NOW))
    golden_message(text(fleet(reports)))


@pytest.mark.parametrize(
    ("use", "days", "is_reported"),
    [
        ("authority", 30, True),
        ("authority", 31, False),
        ("client", 30, True),
        ("client", 31, False),
    ],
)
def test_certificates_that_end_soon(use: str, days: int, is_reported: bool) -> None:
    parts = {"certificates": [{"use": use, "path": "/a.pem", "pem": VALID}]}
    assert ("doctor.certificate_ends" in found(parts, END_OF_VALID - days * DAY)) == is_reported


def test_kubelet_renews_a_short_certificate_in_time() -> None:
    """The certificate is valid for one year (2119), so kubelet may have 36 days left without a reason to worry."""
    begin = END_OF_VALID - 365 * DAY
    own, authority = ({"certificates": [{"use": use, "path": "/a.pem", "pem": NOT_YET}]} for use in ("client", "authority"))
    assert "doctor.certificate_ends" in found(own, begin + 340 * DAY)
    assert "doctor.certificate_ends" not in found(own, begin + 300 * DAY)
    assert "doctor.certificate_ends" in found(authority, begin + 340 * DAY)


# --- other checks ------------------------------------------------------------------------------------------------------------------


def test_the_cause_of_a_join_has_the_rules_of_kubelet() -> None:
    settings = {
        "version": "1.33.0",
        "configs": [{"imageGCHighThresholdPercent": 70, "imageGCLowThresholdPercent": 80}],
        "flags": {},
        "cpus": 2,
        "places": {"imageGCLowThresholdPercent": ["/etc/kubernetes/kubelet/config.json", "restart kubelet"]},
    }
    parts = {
        "join.cause": "invalid_config",
        "join.message": "kubelet exits",
        "join.fix": "see the log",
        "join.final": True,
        "join.ready": False,
        "join.registered": False,
        "join.kubelet_settings": settings,
    }
    report = node_report("n1", node(parts), NOW)
    (finding,) = report.findings
    assert report.state == NOT_JOINED and finding.rule.id == "join.invalid_config"
    assert mentions(finding.fix, "imageGCLowThresholdPercent", "/etc/kubernetes/kubelet/config.json")


def test_a_node_that_is_still_joining(golden_message: GoldenMessages) -> None:
    parts = {"join.cause": "not_ready", "join.message": "the Node is not Ready", "join.fix": "wait", "join.ready": False}
    report = node_report("n1", node(parts), NOW)
    assert report.state == NOT_READY
    golden_message(report.findings[0].message)


def test_findings_of_image_verify(golden_message: GoldenMessages) -> None:
    row = {"rule": "image.noexec", "severity": "error", "path": "/proc/mounts", "message": "programs cannot run", "fix": "remove noexec"}
    newer = {"rule": "image.of_a_newer_version", "path": "/a", "message": "is new", "fix": "update"}
    report = node_report("n1", node({"findings": [newer, row]}), NOW)
    assert [finding.rule.id for finding in report.findings] == ["image.noexec", "doctor.not_checked"]
    golden_message("\n".join(f"{finding.message} | {finding.fix}" for finding in report.findings))


NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: a}\n"
BAD = "#cloud-config\nruncmd: echo hello\n"


@pytest.mark.parametrize(
    ("content", "redacted", "expected"),
    [
        (BAD, False, ["cloud_config.wrong_type"]),
        (BAD + "password: ********\n", True, ["cloud_config.wrong_type", "doctor.not_checked"]),
        ("#cloud-config\nsecret: ********\nruncmd: echo hello\n", True, ["doctor.not_checked"]),
        ("#!/bin/bash\ntrue '********'\n", False, []),
        ("", False, []),
    ],
)
def test_findings_in_the_user_data(content: str, redacted: bool, expected: list[str]) -> None:
    parts = {"user_data": {"path": "/var/lib/cloud/instance/user-data.txt", "text": content, "redacted": redacted}}
    assert found(parts) == expected


def test_findings_in_a_document_of_nodeadm() -> None:
    path = "/etc/eks/nodeadm.d/a.yaml"
    config = NODE_CONFIG + "  kubelet: {config: {maxPodz: 20}}\n"
    report = node_report("n1", node({"node_configs": [{"path": path, "text": config, "redacted": False}]}), NOW)
    assert [finding.rule.id for finding in report.findings] == ["kubelet.unknown_field"]
    assert mentions(report.findings[0].message, path)


def test_the_family_and_the_version_are_those_of_the_node() -> None:
    call = {"user_data": {"path": "/u", "text": "#!/bin/bash\n/etc/eks/bootstrap.sh shop\n", "redacted": False}}
    assert found(call) == ["bootstrap.removed_from_image"]
    assert found(call | {"family": "al2", KUBELET: "1.32.1", "kubernetes_version": None}) == [
        "doctor.extended_support",
        "bootstrap.looks_up_cluster",
    ]


def test_the_instance_type_is_that_of_the_node() -> None:
    """An m7i.large has addresses for 29 pods, and with prefixes for 110 pods."""
    text = NODE_CONFIG + "  kubelet: {config: {maxPods: 60}}\n"
    parts = {"user_data.text": text, "info.kubelet.config.effective": {"maxPods": 60}}
    assert "capacity.needs_prefixes" in found(parts)
    for other in ("m7i.24xlarge", "of-no-family", None):
        assert "capacity.needs_prefixes" not in found(parts | {"image.instance_type": other})


def test_the_last_line_of_a_log_does_not_split_a_cause() -> None:
    failures = [{"unit": "cron.service", "failed": True, "reason": "exit-code", "lines": [f"job-{name}"]} for name in "ab"]
    one, two = (node_report("n1", node({"failures": [row]}), NOW).findings[0] for row in failures)
    assert one.message != two.message and one.general == two.general
    assert mentions(one.message, "job-a") and mentions(one.fix, "journalctl -u cron.service")


# --- nodes without an answer, and with any answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "state", "rule"),
    [
        ({"unreachable": True, "msg": "Connection timed out"}, UNREACHABLE, "doctor.unreachable"),
        ({"failed": True, "msg": "/bin/sh: python3: not found"}, FAILED, "doctor.failed"),
        ({"failed": True}, FAILED, "doctor.failed"),
        ({"msg": "MODULE FAILURE", "module_stdout": "/bin/sh: 1: python3: not found\r\n", "module_stderr": ""}, FAILED, "doctor.failed"),
        ({}, FAILED, "doctor.failed"),
        (None, FAILED, "doctor.failed"),
    ],
)
def test_nodes_without_an_answer(result: Any, state: str, rule: str) -> None:
    report = node_report("n1", result, NOW)
    assert report.state == state and [finding.rule.id for finding in report.findings] == [rule]
    given = result or {}
    assert mentions(report.findings[0].message, given.get("msg", ""), given.get("module_stdout", "").strip())


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
MAPPINGS = {part: value for part, value in HEALTHY.items() if isinstance(value, dict)}
PATHS = sorted({*HEALTHY, *(f"{part}.{name}" for part, value in MAPPINGS.items() for name in value)})


@given(st.dictionaries(st.sampled_from(PATHS), ANYTHING, max_size=4))
def test_no_answer_raises(parts: dict[str, Any]) -> None:
    facts = node()
    for path in sorted(parts, key=lambda path: path.count("."), reverse=True):
        above, _dot, last = path.rpartition(".")
        (facts["node"][above] if above else facts["node"])[last] = parts[path]
    report = fleet([node_report("n1", facts, NOW), node_report("n2", node(), NOW)])
    json.loads(json_report(report))
    assert "\x00" not in text(report)


@given(ANYTHING)
def test_no_result_raises(result: Any) -> None:
    assert text(fleet([node_report("n1", result, NOW)]))
