# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered user data of Amazon Linux 2 and Ubuntu is migrated with its meaning, whatever field it sets. A table has the exceptions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.difference.compare import differences
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.model import Migration
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_nothing_is_dropped as T
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.readers.test_round_trip import groups
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

SHAPES: list[T.Shape] = [("al2", "self_managed", "bootstrap_script"), ("ubuntu", "self_managed", "bootstrap_script")]

DIFFERENT = {
    "family": "it is another one",
    "cluster.service_cidr": "the call has the addresses of the DNS only",
    "cluster.region": "only the pause image names it",
    "node_group.containerd.pause_image": "it is part of the AMI",
    "node_group.trust": "a NodeConfig has no field for it, so that it is read as a command",
    "node_group.commands.pre": "as node_group.trust",
    "node_group.proxy.no_proxy": "the service CIDR is known after the migration",
}
"""What the migration changes."""

DECIDED = {
    "kubelet --node-labels": "a label that only the node knows",
    "--containerd-config-file": "a file of the image",
    "kubelet --qos-reserved": "a percent sign",
    "user_data": "a password, the value of --storage-driver-password",
}
"""What has to be decided."""


def assert_same_meaning(text: str, found: Migration, family: str) -> None:
    assert found.user_data is not None
    assert [one for one in lint(found.user_data, "al2023").findings if one.rule.severity == "error"] == []
    dropped = {f"node_group.kubelet.flags.{one.name.removeprefix('--')}" for one in found.report.arguments if one.outcome == "dropped"}
    assert {one.path for one in differences(text, found.user_data, family)} <= {*DIFFERENT, *dropped}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0])
def test_every_field(shape: T.Shape) -> None:
    seen = set()
    for _path, group in groups(shape):
        try:
            spec, family = resolve(COMPLETE, group)
        except SpecError:
            continue
        text = family.user_data(spec).text
        found = migrate(text, COMPLETE)
        if found.report.decisions:
            assert found.user_data is None
            seen |= {one.path for one in found.report.decisions}
        else:
            assert_same_meaning(text, found, shape[0])
    assert seen <= DECIDED.keys()


def test_the_report_says_what_became_of_the_commands() -> None:
    commands = {"pre": ["echo first"], "post": ["echo last"]}
    spec, family = resolve(COMPLETE, {"family": "al2", "commands": commands, "max_pods": 20, "user_data": ["#!/bin/bash\necho own\n"]})
    found = migrate(family.user_data(spec).text, COMPLETE)
    assert [one.to for one in found.report.kept] == [f"node_group.{name}" for name in ("user_data", "commands.pre", "commands.post")]
    words = ("echo own", "echo first", "echo last")
    assert all(word in one.text for word, one in zip(words, found.report.kept, strict=True))
    assert found.node_group["commands"]["post"][0]["run"] == "echo last\n"


KEYS = st.sampled_from(["role", "team", "example.com/pool", "a"])
WORDS = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
GROUPS = st.fixed_dictionaries(
    {"name": st.just("web"), "family": st.sampled_from(["al2", "ubuntu"])},
    optional={
        "labels": st.dictionaries(KEYS, WORDS, max_size=3),
        "taints": st.lists(
            st.fixed_dictionaries({"key": KEYS, "value": WORDS, "effect": st.sampled_from(["NoSchedule", "NoExecute"])}),
            max_size=2,
            unique_by=lambda taint: (taint["key"], taint["effect"]),
        ),
        "max_pods": st.integers(1, 250),
        "reserved": st.just({"kube": {"cpu": "100m", "memory": "1Gi"}}),
        "kubelet": st.just({"config": {"imageGCHighThresholdPercent": 90}, "flags": {"v": 3}}),
        "commands": st.fixed_dictionaries(
            {}, optional={"pre": st.lists(WORDS.map("echo {}".format), max_size=2), "post": st.just(["echo up"])}
        ),
        "user_data": st.lists(st.sampled_from(["#!/bin/bash\necho own\n", "#cloud-config\npackages: [jq]\n"]), max_size=2, unique=True),
    },
)


@given(GROUPS)
def test_random_groups(group: dict[str, Any]) -> None:
    spec, family = resolve(COMPLETE, group)
    text = family.user_data(spec).text
    found = migrate(text, COMPLETE)
    assert_same_meaning(text, found, group["family"])
    assert found.user_data is not None
    before, after = read(text, group["family"]), read(found.user_data)
    for name in ("labels", "taints", "max_pods", "reserved", "kubelet"):
        assert before.node_group.get(name) == after.node_group.get(name)
    assert migrate(text, COMPLETE) == found


@given(st.one_of(st.text(), st.binary()), st.sampled_from(["al2023", "bottlerocket"]))
def test_any_text(text: str | bytes, family: str) -> None:
    try:
        found = migrate(text, COMPLETE, family)
    except SpecError:
        return
    assert (found.user_data is None) == bool(found.report.decisions)


PIECES = st.lists(
    st.sampled_from(
        [
            "/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20 --node-labels=a=b'\n",
            "/etc/eks/bootstrap.sh demo \\\n  --use-max-pods false\n",
            "export KUBELET_EXTRA_ARGS=--max-pods=9\n",
            "export USE_MAX_PODS=false B64_CLUSTER_CA=x\n",
            "USE_MAX_PODS=false\nexport USE_MAX_PODS\n",
            "cat <<EOF >/etc/profile.d/b.sh\nexport IP_FAMILY=ipv4\nEOF\n",
            "sed -i '/^set -o errexit/a source /etc/profile.d/b.sh' /etc/eks/bootstrap.sh\n",
            "sed -i 's/KUBELET_EXTRA_ARGS=$2/KUBELET_EXTRA_ARGS=\"$2 --v=4\"/' /etc/eks/bootstrap.sh\n",
            "if true; then\n",
            "fi\n",
            "echo x | tee /tmp/x\n",
            "exit 0\n",
            "f() {\n",
            "}\n",
            "'",
        ]
    ),
    max_size=7,
)


@given(PIECES)
def test_any_script(pieces: list[str]) -> None:
    found = migrate("#!/bin/bash\n" + "".join(pieces), COMPLETE)
    assert (found.user_data is None) == bool(found.report.decisions)
    assert all(one.reason for one in found.report.arguments if one.outcome != "moved")
    if found.user_data is not None:
        assert [one for one in lint(found.user_data, "al2023").findings if one.rule.severity == "error"] == []
