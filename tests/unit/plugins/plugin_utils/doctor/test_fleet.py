# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on a fleet: nodes grouped by cause, in one order, as text and JSON, with little memory for each node."""

from __future__ import annotations

import gc
import itertools
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.fleet import fleet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.generalize import generalize
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.json_report import json_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.model import NodeReport
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.node import node_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.text import text
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import NOW, node


def unauthorized(instance: str) -> dict[str, Any]:
    message = f"the API server does not know the identity of this node, the role node-role of the instance {instance}"
    return {
        "join.cause": "unauthorized", "join.final": True, "join.ready": False, "join.registered": False, "join.message": message,
        "join.fix": "map the role node-role to nodes in the cluster", "image.instance": instance,
    }  # fmt: skip


SIX: list[tuple[str, dict[str, Any]]] = [
    ("web-1", node(unauthorized("i-0aaaaaaaaaaaaaaa1"))),
    ("web-2", node(unauthorized("i-0aaaaaaaaaaaaaaa2") | {"clock.skew": 3.0})),
    ("web-3", node({"clock.skew": 45.0, "disks": [{"path": "/", "free_bytes": 5, "bytes": 100}]})),
    ("web-4", node({"clock.skew": -60.0})),
    ("web-5", node()),
    ("web-6", {"unreachable": True, "msg": "ssh: connect to host 10.0.0.6 port 22: Connection timed out", "changed": False}),
]


def reports() -> Iterator[NodeReport]:
    return (node_report(name, result, NOW) for name, result in SIX)


def test_six_nodes(golden_message: GoldenMessages) -> None:
    golden_message(text(fleet(reports())))
    golden_message(json_report(fleet(reports())))


def test_the_order_of_the_hosts_does_not_matter() -> None:
    for order in itertools.islice(itertools.permutations(reports()), 0, 720, 97):
        found = fleet(order)
        assert [row.name for row in found.rows] == [row.name for row in fleet(reports()).rows]
        assert [(cause.rule, sorted(cause.nodes)) for cause in found.causes] == [
            (cause.rule, sorted(cause.nodes)) for cause in fleet(reports()).causes
        ]


def test_the_same_cause_is_one_group() -> None:
    found = fleet(reports())
    groups = {cause.rule.id: cause for cause in found.causes}
    assert groups["join.unauthorized"].nodes == ("web-1", "web-2")
    assert mentions(groups["join.unauthorized"].message, "INSTANCE")
    messages = {row.name: [message for _index, message in row.findings] for row in found.rows}
    assert mentions(messages["web-1"][0], "i-0aaaaaaaaaaaaaaa1") and mentions(messages["web-2"][0], "i-0aaaaaaaaaaaaaaa2")
    assert messages["web-5"] == []


def test_two_findings_of_a_cause_on_one_node_count_once() -> None:
    disks = [{"path": "/", "free_bytes": 5, "bytes": 100}, {"path": "/", "free_bytes": 6, "bytes": 100}]
    (cause,) = fleet([node_report("n1", node({"disks": disks}), NOW)]).causes
    assert cause.nodes == ("n1",)


def test_no_nodes(golden_message: GoldenMessages) -> None:
    golden_message(text(fleet([])))
    assert json.loads(json_report(fleet([])))["nodes"] == []


MESSAGES = (
    "web-1 (10.0.0.5) is not known",
    "web-12 is not known",
    "ip-10-0-0-5.eu-central-1.compute.internal is away",
    "since 2026-11-23T10:00:00Z, pid 1234, after 2 restarts",
    "exits with status 255 after 12.5 s",
    "answers 401, kubelet 1.33, /etc/a-1.conf",
    "the node n1",
)


def test_values_of_a_node(golden_message: GoldenMessages) -> None:
    golden_message("\n".join(generalize(message, ("web-1", "n1", "")) for message in MESSAGES))


def many(number: int) -> Iterator[NodeReport]:
    """Nodes of a large fleet, each with an answer of its own: a third does not join, and each has a different clock."""
    for index in range(number):
        parts: dict[str, Any] = unauthorized(f"i-{index:017x}") if index % 3 == 0 else {"clock.skew": 30.0 + index}
        large = {"info.nodeadm": [{"path": "/a", "text": f"{index:07}" * 5000}], "problems": [f"cannot read /a after {index} s"]}
        yield node_report(f"node-{index}", node(parts | large), NOW)


def peak(number: int) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        fleet(many(number))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_thousand_nodes_need_little_memory() -> None:
    fleet(many(3))
    assert peak(1000) - peak(500) < 500 * 4096, "more than 4 KiB for each node, whose answer has 35 KiB"


def test_the_report_on_a_thousand_nodes() -> None:
    found = fleet(many(1000))
    assert [(cause.rule.id, len(cause.nodes)) for cause in found.causes] == [
        ("join.unauthorized", 334), ("doctor.clock_skew", 666), ("doctor.not_checked", 1000)
    ]  # fmt: skip
    lines = text(found).splitlines()
    assert len(lines) == 1 + 1000 + 1 + 3 * 4 + 1
    assert len(json.loads(json_report(found))["nodes"]) == 1000
