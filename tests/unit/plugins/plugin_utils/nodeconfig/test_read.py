# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One document as nodeadm reads it, beyond the recorded rows."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

HEAD = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"

REFUSED = [
    ("", "kind is missing"),
    ("kind: NodeConfig", "apiVersion is missing"),
    ("apiVersion: v1\nkind: NodeConfig", 'apiVersion is "v1", not node.eks.aws/v1alpha1'),
    ("kind: 5", "kind is 5, not NodeConfig"),
    ("- a", 'is not a mapping but ["a"]'),
    ("{kind: NodeConfig}", "is not JSON: line 1, column 2: Expecting property name enclosed in double quotes"),
    ("a: [", "is not YAML: line 1, column 5: "),
    (HEAD + "spec: {kubelet: {flags: [y]}}", "spec.kubelet.flags[0] is true, not text"),
    (HEAD + "spec: {featureGates: []}", "spec.featureGates is [], not a mapping"),
    (HEAD + "spec: {cluster: {certificateAuthority: a}}", "spec.cluster.certificateAuthority is not base64"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(text: str, message: str) -> None:
    with pytest.raises(read.NodeConfigError) as caught:
        read.parse(text)
    assert str(caught.value).startswith(message)
    assert not caught.value.fatal


def test_json_keeps_what_yaml_cannot_spell() -> None:
    """Surrogate pairs are right in JSON and an error in YAML: the brace decides."""
    text = '{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": {"config": {"a": "\\ud83d\\ude00"}}}}'
    assert read.parse(text)["spec"] == {"kubelet": {"config": {"a": "\U0001f600"}}}


def test_a_key_that_stands_twice(golden_message: GoldenMessages) -> None:
    text = HEAD + "spec: {}\nspec: {kubelet: {flags: [a]}}\n"
    assert read.parse(text)["spec"] == {"kubelet": {"flags": ["a"]}}
    with pytest.raises(read.NodeConfigError) as caught:
        read.document(text)
    golden_message(caught.value)


CLUSTER = {"name": "a", "apiServerEndpoint": "b", "certificateAuthority": "", "cidr": "c"}
MISSING = [
    (CLUSTER, None),
    ({**CLUSTER, "name": ""}, "Name is missing in cluster configuration"),
    (
        {key: value for key, value in CLUSTER.items() if key != "certificateAuthority"},
        "Certificate authority is missing in cluster configuration",
    ),
    ({**CLUSTER, "enableOutpost": True}, "cluster ID must be provided for outposts"),
    ({**CLUSTER, "enableOutpost": True, "id": "x"}, None),
    ({}, "Name is missing in cluster configuration"),
]


@pytest.mark.parametrize(("cluster", "message"), MISSING, ids=range(len(MISSING)))
def test_missing(cluster: dict[str, Any], message: str | None) -> None:
    assert read.missing({"cluster": cluster}) == message
