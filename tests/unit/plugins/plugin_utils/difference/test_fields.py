# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every field whose change changes the user data is a difference whose path names the field, and the same user data has no difference.

Fields and families are those of C(test_nothing_is_dropped).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.difference.compare import Difference, differences
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_nothing_is_dropped as T
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

EVERY = ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
SCRIPT = ("al2", "ubuntu")
SHAPES: dict[str, T.Shape] = {family: (family, "self_managed", "bootstrap_script" if family in SCRIPT else None) for family in EVERY}


def rendered(group: T.Group) -> str | None:
    try:
        spec, family = resolve(COMPLETE, group)
    except SpecError:
        return None
    return family.user_data(spec).text


def changes(shape: T.Shape) -> Iterator[tuple[str, str, str]]:
    """The path of a field, and the user data before and after a change of the field."""
    for sample in T.samples(shape[0]):
        group = {**T.base(*shape), **sample.beside}
        before, after = (rendered(T.put(group, sample.place, value)) for value in (sample.one, sample.other))
        if before and after and before != after:
            yield sample.path, before, after


def swapped(found: list[Difference]) -> set[tuple[str, str, str]]:
    return {(item.path, repr(item.after), repr(item.before)) for item in found}


def names(found: list[Difference], path: str) -> bool:
    """Does a path of a difference lead to the field, around it or below it?"""
    wanted = f"node_group.{path}"
    for item in found:
        plain = re.sub(r'\["([^"]*)"\]', r".\1", item.path)
        if f"{plain}.".startswith(f"{wanted}.") or wanted.startswith((f"{plain}.", f"{plain}[")) or plain.startswith(f"{wanted}["):
            return True
    return False


@dataclass(frozen=True)
class Row:
    """A change of these fields has another path. paths: a pattern of the fields. found: a pattern of the path."""

    paths: str
    families: tuple[str, ...]
    found: str
    reason: str


LINUX = ("al2", "al2023", "ubuntu")
ROWS = (
    Row(r"instance\.(?!vcpus).*", EVERY, r"node_group\.max_pods", "the text has the computed number of pods"),
    Row(r"instance\.vcpus", EVERY, r"node_group\.reserved\.kube\.cpu", "the text has the computed reservation"),
    Row("user_data_files", (*LINUX, "windows"), r"node_group\.user_data\[0\]", "the text has the content of the files"),
    Row(r"containerd\..*", SCRIPT, r"node_group\.commands\.pre", "the lines that write files are before the call"),
    Row(r"containerd\.registry_mirrors", ("al2023",), r"node_group\.user_data\[0\]", "a script writes the files"),
    Row(r"local_storage\.mount_path", ("al2",), r"node_group\.commands\.pre", "a line before the call"),
    Row("labels", SCRIPT, r"parts\[0\]", "the node looks up labels at boot, so the call is unknown"),
    Row("labels", ("al2023",), r"node_group\.user_data\[0\]", "a script looks up labels at boot"),
    Row("trust", ("al2023", "windows"), r"node_group\.commands\.pre", "the lines that install certificates come first"),
    Row("override", SCRIPT, r"node_group\.user_data\[0\]", "the script has no call"),
    Row("override", ("al2023",), r"node_group\.max_pods", "NodeConfigs are merged"),
    Row("override", ("windows",), r"parts\[0\]", "the script has no call that is certain to run"),
    Row(r"proxy\..*", ("windows",), r"node_group\.commands\.pre", "the lines that set the proxy are before the call"),
    Row(r"nodeadm\..*", ("al2023",), r"(cluster|node_group)\.(?!nodeadm).*", "the setting has a field of its own"),
    Row(r"bottlerocket\..*", ("bottlerocket",), r"(cluster|node_group)\.(?!bottlerocket).*", "the setting has a field of its own"),
    Row(
        r"(containerd|proxy)\..*|trust|user_data.*",
        ("bottlerocket",),
        r"node_group\.bottlerocket\.settings\..*",
        "the setting has no field that every family reads",
    ),
)


@pytest.mark.parametrize("family", EVERY)
def test_a_changed_field_is_a_difference_that_names_it(family: str) -> None:
    used: set[Row] = set()
    unexplained = []
    for path, before, after in changes(SHAPES[family]):
        told = family if family in SCRIPT else None
        found = differences(before, after, told)
        assert {(item.path, repr(item.before), repr(item.after)) for item in found} == swapped(differences(after, before, told))
        assert differences(before, before, told) == []
        if names(found, path):
            continue
        rows = [
            row
            for row in ROWS
            if family in row.families and re.fullmatch(row.paths, path) and any(re.fullmatch(row.found, item.path) for item in found)
        ]
        used.update(rows)
        if not rows:
            unexplained.append((path, [item.path for item in found]))
    assert unexplained == []
    assert [row for row in ROWS if family in row.families and row not in used] == [], "these rows are not needed any more"


@pytest.mark.parametrize("family", EVERY)
def test_the_same_user_data_has_no_difference_in_any_encoding(family: str) -> None:
    group = {**T.base(*SHAPES[family]), "labels": {"a": "b"}, "taints": [{"key": "a", "effect": "NoSchedule"}]}
    text = rendered(group | {"user_data": [T.USER_DATA[family][0]]})
    assert text
    data = text.encode()
    packed = gzip_bytes(data)
    for other in (text.replace("\n", "\r\n"), base64.b64encode(data).decode(), packed, base64.b64encode(packed).decode()):
        assert differences(text, other) == []
