# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendered user data is read back with the same meaning, except for a table of the values that a form cannot carry.

Every field is tried in every family, mode and strategy, as in C(test_nothing_is_dropped).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import Cluster, NodeSpec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_nothing_is_dropped as T
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

OUTSIDE = {name: COMPLETE[name] for name in ("region", "kubernetes_version")}
"""Facts of the cluster that no user data contains."""

DERIVED = {"warnings", "unchecked", "given", "user_data_paths", "dns_of_eks", "dns_of_group", "cluster"}
"""Attributes that say where a value of the input comes from."""


def groups(shape: T.Shape) -> Iterator[tuple[str, T.Group]]:
    """Node groups that set one field, with its path."""
    yield "nothing", T.base(*shape)
    tried = T.samples(shape[0])
    if shape[1] == "self_managed":
        tried += [*map(T.field_sample, T.FIELDS), *map(T.flag_sample, T.FLAGS)]
    for sample in tried:
        path = ".".join(sample.place[:2]) if sample.place[0] == "kubelet" else sample.path
        yield path, T.put({**T.base(*shape), **sample.beside}, sample.place, sample.one)


def differences(one: Any, other: Any, kind: type, prefix: str = "") -> set[str]:
    names = {field.name for field in fields(kind)} - DERIVED
    return {f"{prefix}{name}" for name in names if getattr(one, name) != getattr(other, name)}


def observed(shape: T.Shape, group: T.Group) -> set[str]:
    """What differs after rendering and reading: attributes, or C(empty), C(family), C(unread), and C(text) of a second rendering."""
    try:
        spec, family = resolve(COMPLETE, group)
    except SpecError:
        return set()
    text = family.user_data(spec).text
    if not text:
        return {"empty"}
    found = read(text, shape[0] if shape[0] in ("al2", "ubuntu") else None)
    assert not found.problems
    if found.family is None:
        assert found.node_group.get("user_data") or found.not_understood
        return {"family"}
    assert found.family == spec.family
    try:
        again, same_family = resolve(OUTSIDE | dict(found.cluster), found.node_group)
    except SpecError:
        assert found.node_group.get("user_data") or found.not_understood
        return {"unread"}
    result = differences(spec, again, NodeSpec) | differences(spec.cluster, again.cluster, Cluster, "cluster.")
    return result | ({"text"} if same_family.user_data(again).text != text else set())


# --- tests


@dataclass(frozen=True)
class Row:
    """What user data of these families cannot carry. attributes, modes, paths: patterns; modes are mode and strategy."""

    attributes: str
    families: tuple[str, ...]
    modes: str
    paths: str
    reason: str

    def covers(self, attribute: str, family: str, mode: str, path: str) -> bool:
        wanted = ((self.attributes, attribute), (self.modes, mode), (self.paths, path))
        return family in self.families and all(re.fullmatch(pattern, text) for pattern, text in wanted)


EVERY = ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
SCRIPT = ("al2", "ubuntu")
OWN = "(self_managed|managed_custom_ami|karpenter-bootstrap_script).*"
COMPLETED = "(managed|karpenter).*"

ROWS = (
    Row("mode", EVERY, "(managed_custom_ami|karpenter).*", ".*", "the text is the same as for your own group, or for a managed group"),
    Row("empty", ("al2", "al2023", "bottlerocket", "windows"), COMPLETED, ".*", "EKS or Karpenter renders everything"),
    Row("family", ("al2023", "windows"), COMPLETED, ".*", "scripts without a call or NodeConfig do not tell the family"),
    Row("unread", ("al2",), COMPLETED, ".*", "scripts without a call do not tell the mode"),
    Row("unread", SCRIPT, ".*-static", ".*", "finished files are not read back: the script is kept as user_data"),
    Row("commands_pre|labels|text", SCRIPT, OWN, "labels", "labels that the node looks up are unknown; the lines are in commands.pre"),
    Row("unread", ("al2", "ubuntu", "windows"), ".*", "override", "the script has no call with known arguments"),
    Row("commands_pre|commands_post|proxy|text", ("windows",), OWN, "proxy.*", "the lines that set the proxy come back as commands"),
    Row("cluster.*|dns_ips", ("al2023", "bottlerocket", "windows"), COMPLETED, ".*", "EKS or Karpenter adds the facts of the cluster"),
    Row("cluster.(service_cidr|dns_ips)", (*SCRIPT, "bottlerocket"), OWN, ".*", "the text has the name servers, not the CIDR"),
    Row("cluster.dns_ips", ("al2023", "windows"), OWN, r"(nodeadm\.)?kubelet.config", "name servers come back as those of the cluster"),
    Row("instance_types", EVERY, ".*", "instance.*|max_pods.*|reserved.kube", "the text has the computed values, not the instance type"),
    Row("taints", ("ubuntu",), "karpenter.*", ".*", "the taint of Karpenter is in the text"),
    Row("commands_pre", ("al2", "al2023", "ubuntu"), ".*", "commands.pre", "the commands come back as one, with a line end"),
    Row(
        "commands_post",
        ("al2", "al2023", "ubuntu", "windows"),
        ".*",
        "commands.post",
        "the commands come back with line ends, and those with one wait as one",
    ),
    Row("commands_pre|trust|text", ("al2023", "windows"), ".*", "trust", "the lines that install certificates come back in commands.pre"),
    Row("commands_pre|containerd|text", SCRIPT, OWN, "containerd.registry_mirrors", "the lines that write files come back in commands.pre"),
    Row("user_data|containerd", ("al2023",), OWN, "containerd.registry_mirrors", "the script that writes files comes back as user_data"),
    Row("user_data|labels", ("al2023",), OWN, "labels", "the script that looks up labels comes back as user_data"),
    Row(
        "commands_pre|containerd|text", ("al2",), OWN, "containerd.config", "the option is not understood, and the file is in commands.pre"
    ),
    Row("commands_pre|local_storage|text", ("al2",), OWN, "local_storage.mount_path", "the line comes back in commands.pre"),
    Row("proxy|text", SCRIPT, OWN, "proxy.*", "no_proxy contains the service CIDR, which the call does not tell"),
    Row("proxy|text", ("al2023",), COMPLETED, "proxy.*", "no_proxy contains the facts of the cluster, which are not in the text"),
    Row("nodeadm|containerd", ("al2023",), ".*", "nodeadm.containerd.config", "it comes back as containerd.config"),
    Row("nodeadm|local_storage", ("al2023",), ".*", "nodeadm.instance.localStorage.*", "it comes back as local_storage"),
    Row("override|max_pods|text", ("al2023",), ".*", "override", "merged NodeConfigs come back as fields"),
    Row("bottlerocket|user_data", ("bottlerocket",), ".*", "user_data.*", "settings come back below bottlerocket.settings"),
    Row(
        "bottlerocket|containerd|proxy|trust|local_storage|kubelet_config|kubelet_flags",
        ("bottlerocket",),
        ".*",
        "containerd.*|proxy.*|trust|local_storage.*|kubelet.*",
        "settings without a field of the cluster or of pods come back below bottlerocket.settings",
    ),
    Row("bottlerocket|labels|taints", ("bottlerocket",), OWN, "bottlerocket.settings.*", "labels and taints come back as their fields"),
    Row(
        "user_data|commands_pre|trust",
        ("windows",),
        ".*",
        "user_data.*|commands.pre|trust",
        "lines come back with a line end, or as user_data",
    ),
)


@pytest.mark.parametrize("family", EVERY)
def test_what_is_rendered_is_read_back(family: str) -> None:
    used: set[Row] = set()
    unexplained = []
    for shape in (shape for shape in T.SHAPES if shape[0] == family):
        mode = "-".join(filter(None, shape[1:]))
        for path, group in groups(shape):
            for attribute in observed(shape, group):
                rows = [row for row in ROWS if row.covers(attribute, family, mode, path)]
                used.update(rows)
                if not rows:
                    unexplained.append((attribute, mode, path))
    assert unexplained == []
    assert [row for row in ROWS if family in row.families and row not in used] == [], "these rows are not needed any more"
