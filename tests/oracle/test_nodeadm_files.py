# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library foretells every file that nodeadm of July 2026 wrote in the 62 recorded runs of its config phase."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import InstanceShape, instance_shape
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.explanation import al2023
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.explanation.explain import explain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.explanation.outcome import Machine
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubernetes import parse_version
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import containerd_files, envelope, predict, read
from ansible_collections.nodebootstrap.eks.tests.oracle import nodeadm_rows
from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_rows import STARTED, row_id

# path → rows in which nodeadm writes the file, and which cannot be predicted from user data; the record has none of them
UNKNOWN = {
    containerd_files.RUNTIME_SPEC: {case["id"] for case in STARTED},
    predict.HOSTS: {"outpost"},
}


def shape(instance_type: str) -> InstanceShape | None:
    try:
        return instance_shape(instance_type)
    except SpecError:
        return None


def predicted(case: dict[str, Any]) -> predict.Prediction:
    instance = nodeadm_rows.RECORDED["instance"]
    node = predict.Node(
        instance_id=instance["instance_id"],
        private_dns_name=instance["private_dns_name"],
        region=instance["region"],
        availability_zone=instance["availability_zone"],
        ipv4=instance["local_ipv4"],
        ipv6=nodeadm_rows.IPV6,
        kubelet_version=case["kubelet_version"],
        containerd_version=case["containerd_version"],
        vcpus=nodeadm_rows.VCPUS,
        shape=shape(case["instance_type"]),
    )
    return predict.predict(envelope.effective(nodeadm_rows.user_data(case), nodeadm_rows.drop_ins(case))["spec"], node)


@pytest.mark.parametrize("case", STARTED, ids=row_id)
def test_the_files_of_a_row(case: dict[str, Any]) -> None:
    if not case["init"]["ok"]:
        with pytest.raises(read.NodeConfigError) as failure:
            predicted(case)
        assert failure.value.fatal
        return
    prediction = predicted(case)
    flags = case["merged"]["kubelet"].get("flags", [])
    assert {path: nodeadm_rows.meaning(path, text, flags) for path, text in prediction.files.items()} == nodeadm_rows.files(case)
    assert bool(prediction.warnings) == bool(case["init"].get("warnings")), prediction.warnings
    assert set(prediction.unknown) == {path for path, rows in UNKNOWN.items() if case["id"] in rows}


KNOWN_TYPES = [case for case in STARTED if shape(case["instance_type"]) is not None]


@pytest.mark.parametrize("case", KNOWN_TYPES, ids=row_id)
def test_the_explanation_has_the_files_of_a_row(case: dict[str, Any]) -> None:
    """For user data alone, with placeholders for the instance."""
    data, machine = nodeadm_rows.user_data(case), shape(case["instance_type"])
    assert machine is not None
    version = parse_version(case["kubelet_version"])
    found = explain(data, "al2023", Machine(machine, version))
    try:
        expected = predict.predict(envelope.effective(data)["spec"], al2023.node_of(machine, f"1.{(version or (1, 0))[1]}.0"))
    except read.NodeConfigError as error:
        assert str(error) in found.timeline[1].does
        return
    files = {file.path: file.content for file in found.files if file.written_by == "nodeadm"}
    assert files == {**expected.files, **dict.fromkeys(expected.unknown)}
    settings = {name: row.value for name, row in found.config.items() if row.source != "kubelet"}
    assert settings["maxPods"] == expected.config["maxPods"] or found.config["maxPods"].source == "user_data"


def test_there_are_62() -> None:
    assert len(STARTED) == 62 and sum(not case["init"]["ok"] for case in STARTED) == 2
