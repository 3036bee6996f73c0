# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and taints of nodes that are registered already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import ApplyRefused, Current
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import plan

BELONGS = (None, "https://x", "/var/lib/kubelet/kubeconfig")


def read(path: str) -> Current | None:
    with open(path, "rb") as handle:
        return Current(handle.read(), 0o644, 0, 0)


def test_a_fresh_node_never_registered() -> None:
    assert registration.registered(plan("al2"), {}, None, ["kubelet", "--node-labels=a=b"]) is None
    assert registration.registered(plan("al2"), {}, BELONGS, []) is None


def test_the_manifest_is_believed_before_the_process() -> None:
    manifest = {"registered": {"labels": {"a": "b"}, "taints": []}}
    assert registration.registered(plan("al2"), manifest, BELONGS, ["kubelet", "--node-labels=x=y"]) == manifest["registered"]


def test_the_words_of_a_running_kubelet_tell() -> None:
    words = [
        "kubelet",
        "--node-labels=a=1,b=2",
        "--node-labels",
        "b=3,eks.amazonaws.com/nodegroup=x",
        "--register-with-taints=k=v:NoSchedule",
    ]
    found = registration.registered(plan("al2"), {}, BELONGS, words)
    assert found == {"labels": {"a": "1", "b": "3"}, "taints": ["k=v:NoSchedule"]}
    # On Amazon Linux 2023 other sources may have given the rest.
    wanted = plan("al2023", labels={"a": "0"})
    assert registration.registered(wanted, {}, BELONGS, words) == {"labels": {"a": "1"}, "taints": []}
    wanted = plan("al2023", taints=[{"key": "k", "value": "w", "effect": "NoSchedule"}])
    assert registration.registered(wanted, {}, BELONGS, words) == {"labels": {}, "taints": ["k=v:NoSchedule"]}


def test_taints_of_configuration_files_count_the_last_one_wins(tmp_path: Path) -> None:
    first, folder = tmp_path / "config.json", tmp_path / "d"
    folder.mkdir()
    first.write_text(json.dumps({"registerWithTaints": [{"key": "old", "effect": "NoExecute"}]}), encoding="utf-8")
    (folder / "50-x.conf").write_text(
        json.dumps({"registerWithTaints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}), encoding="utf-8"
    )
    (folder / "60-x.conf").write_text("no JSON", encoding="utf-8")
    (folder / "70-x.txt").write_text(json.dumps({"registerWithTaints": []}), encoding="utf-8")
    words = ["kubelet", f"--config={first}"]
    assert registration.registered(plan("al2"), {}, BELONGS, words, read)["taints"] == ["old:NoExecute"]
    assert registration.registered(plan("al2"), {}, BELONGS, [*words, f"--config-dir={folder}"], read)["taints"] == ["k=v:NoSchedule"]


@pytest.mark.parametrize(
    ("before", "wanted", "labels", "taints"),
    [
        ({"a": "b"}, {"a": "b"}, None, ([], [])),
        ({"a": "b"}, {"a": "c", "n": "1"}, {"a": "c", "n": "1"}, ([], [])),
        ({"a": "b"}, {}, {"a": None}, ([], [])),
        ({"i": "i-0abc"}, {"i": "{instance_id}"}, None, ([], [])),
        ({"i": "x.i-0abc"}, {"i": "{instance_id}"}, {"i": "{instance_id}"}, ([], [])),
        ({"i": "{instance_id}"}, {"i": "{instance_id}"}, None, ([], [])),
        ({"z": "spot-eu-west-1a"}, {"z": "{instance_lifecycle}-{availability_zone}"}, None, ([], [])),
    ],
)
def test_labels_that_differ(before: dict[str, str], wanted: dict[str, str], labels: Any, taints: Any) -> None:
    found = registration.difference({"labels": before, "taints": ["k:NoSchedule"]}, {"labels": wanted, "taints": ["k=:NoSchedule"]})
    assert found == (None if labels is None else {"labels": labels, "taints": {"set": taints[0], "remove": taints[1]}})


def test_taints_that_differ_and_the_refusal() -> None:
    before = {"labels": {"a": "1"}, "taints": ["k=v:NoSchedule", "same:NoExecute"]}
    change = registration.difference(before, {"labels": {}, "taints": ["k=w:NoSchedule", "same:NoExecute"]})
    assert change == {"labels": {"a": None}, "taints": {"set": ["k=w:NoSchedule"], "remove": ["k=v:NoSchedule"]}}
    with pytest.raises(ApplyRefused, match=r"label a \(removed\), taint k=w:NoSchedule would have no effect"):
        registration.refuse(change)


def test_what_the_controller_patches() -> None:
    class Identity:
        def label(self, text: str) -> str:
            return text.replace("{instance_id}", "i-1")

    change = {"labels": {"a": "x-{instance_id}", "b": None}, "taints": {"set": [], "remove": []}}
    expected = {"labels": {"a": "x-i-1", "b": None}, "taints": {"set": [], "remove": []}}
    words = ["kubelet", "--hostname-override=image", "--hostname-override", "IP-10-0-0-5.ec2.internal"]
    assert registration.patch(change, words, Identity()) == {"node": "ip-10-0-0-5.ec2.internal", **expected}
    assert registration.patch(change, [], Identity(), "host.example") == {"node": "host.example", **expected}


def test_what_was_patched_before_is_patched_again() -> None:
    first = {"labels": {"a": "1", "b": None}, "taints": {"set": ["k=1:NoSchedule", "z:NoExecute"], "remove": ["old:NoSchedule"]}}
    then = {"labels": {"a": "2"}, "taints": {"set": ["k=2:NoSchedule"], "remove": ["k=1:NoSchedule"]}}
    assert registration.united(first, then) == {
        "labels": {"a": "2", "b": None},
        "taints": {"set": ["z:NoExecute", "k=2:NoSchedule"], "remove": ["old:NoSchedule", "k=1:NoSchedule"]},
    }
    back = {"labels": {"b": "x"}, "taints": {"set": ["old:NoSchedule"], "remove": ["z:NoExecute"]}}
    assert registration.united(first, back)["taints"] == {"set": ["k=1:NoSchedule", "old:NoSchedule"], "remove": ["z:NoExecute"]}
    assert registration.united(first, None) == first
    assert registration.united(None, then) == then
    assert registration.united(None, None) is None


def test_pods_or_a_signed_certificate_are_signs_of_a_cluster(tmp_path: Path) -> None:
    root, words = str(tmp_path), ["kubelet"]
    assert not registration.has_served(words, root)
    (tmp_path / "pods").mkdir()
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "kubelet.crt").write_text("its own", encoding="utf-8")
    assert not registration.has_served(words, root)
    (tmp_path / "pods" / "8c2d").mkdir()
    assert registration.has_served(words, root)
    assert not registration.has_served([*words, "--root-dir=/nowhere"], root)
    (tmp_path / "certificates").mkdir()
    (tmp_path / "certificates" / "kubelet-server-current.pem").symlink_to("x")
    assert registration.has_served([*words, "--root-dir=/nowhere", f"--cert-dir={root}/certificates"], root)
