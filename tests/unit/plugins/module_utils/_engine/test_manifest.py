# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest as the store keeps it and as the engine uses it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import (
    Effective,
    ManagedFile,
    Manifest,
    Moment,
    NodeadmSources,
    Original,
    RegistrationChange,
    Repair,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Cluster, Registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

PATH = "/var/lib/nodebootstrap/manifest.json"
ORIGINAL = Original("0" * 32, 0o644, 0, 0)
FULL = Manifest(
    family="al2",
    strategy="static",
    cluster=Cluster("demo", "https://x"),
    kubelet="kubelet.service",
    units=("containerd.service", "kubelet.service"),
    files={"/a": ManagedFile("x", ("kubelet",), True, ORIGINAL), "/b": ManagedFile("y", (), False, None)},
    owned=("/o",),
    once={"commands.pre": "d"},
    image={"/i": ORIGINAL, "/j": None},
    scripts={"bootstrap": "d"},
    pending=("kubelet",),
    folders=("/f",),
    enabled=("kubelet.service",),
    snap={"kubelet-eks": {"a": None, "b": 3}},
    sources=NodeadmSources("d", None),
    registered=Registration({"a": "b"}, ("k:NoSchedule",)),
    patched=RegistrationChange({"a": None}, ("k:NoSchedule",), ()),
    joined=False,
    effective={
        "/a": Effective("d", {"maxPods": 29, "dns": ["1.2.3.4"]}),
        "/b": None,
        "units": Effective("", {"kubelet.service": "enabled"}),
    },
    repaired={"/a: maxPods": Repair(5, "2026-01-01T00:00:00Z")},
    restarted=Moment("b", 12.5),
)


def stored(content: Manifest) -> Any:
    return json.loads(json.dumps(content.plain()))


@pytest.mark.parametrize(
    "content", [Manifest(), FULL, Manifest(once={"commands.pre": "d"}), Manifest(effective={}), FULL._replace(strategy=None, joined=None)]
)
def test_a_manifest_survives_the_store(content: Manifest) -> None:
    assert manifest.parse(stored(content), PATH) == content


def test_the_stored_form() -> None:
    assert Manifest().plain() == {} and Manifest().is_empty and not FULL.is_empty
    content = stored(FULL)
    assert content["format"] == 1 and content["cluster"] == {"name": "demo", "endpoint": "https://x"}
    assert content["files"]["/a"] == {
        "sha256": "x",
        "read_by": ["kubelet"],
        "sensitive": True,
        "original": {"kept": "0" * 32, "mode": 0o644, "uid": 0, "gid": 0},
    }
    assert content["registered"] == {"labels": {"a": "b"}, "taints": ["k:NoSchedule"]}
    assert content["patched"] == {"labels": {"a": None}, "taints": {"set": ["k:NoSchedule"], "remove": []}}
    assert content["joined"] is False and "joined" not in stored(FULL._replace(joined=None))


@pytest.mark.parametrize("change", [{"files": 3}, {"files": {"/a": {}}}, {"units": 3}, {"cluster": "demo"}, {"patched": {"labels": {}}}])
def test_a_damaged_manifest_is_refused(change: dict[str, Any], golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        manifest.parse({**FULL.plain(), **change}, PATH)
    golden_message(caught.value)


def test_a_manifest_of_a_newer_version_is_refused(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        manifest.parse({"format": 2}, PATH)
    golden_message(caught.value)
