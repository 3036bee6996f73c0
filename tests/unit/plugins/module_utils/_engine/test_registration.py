# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and taints of nodes that are registered already."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Manifest, RegistrationChange
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.observe import Membership
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, node_state, typed_plan

MEMBERSHIP = Membership(None, "https://x", "/var/lib/kubelet/kubeconfig")
RUNNING = Registration({"a": "1", "b": "3", "eks.amazonaws.com/nodegroup": "x"}, ("k=v:NoSchedule",))


def test_a_fresh_node_never_registered() -> None:
    assert registration.current_registration(typed_plan("al2"), node_state(kubelet_registration=RUNNING)) is None
    assert registration.current_registration(typed_plan("al2"), node_state(membership=MEMBERSHIP)) is None


def test_the_manifest_is_believed_before_the_process() -> None:
    manifest = Manifest(registered=Registration({"a": "b"}, ()))
    node = node_state(manifest=manifest, membership=MEMBERSHIP, kubelet_registration=RUNNING)
    assert registration.current_registration(typed_plan("al2"), node) == manifest.registered


def test_a_running_kubelet_tells_what_it_registered_with() -> None:
    node = node_state(membership=MEMBERSHIP, kubelet_registration=RUNNING)
    found = registration.current_registration(typed_plan("al2"), node)
    assert found == Registration({"a": "1", "b": "3"}, ("k=v:NoSchedule",))
    # On Amazon Linux 2023 other sources may have given the rest.
    wanted = typed_plan("al2023", labels={"a": "0"})
    assert registration.current_registration(wanted, node) == Registration({"a": "1"}, ())
    wanted = typed_plan("al2023", taints=[{"key": "k", "value": "w", "effect": "NoSchedule"}])
    assert registration.current_registration(wanted, node) == Registration({}, ("k=v:NoSchedule",))


@pytest.mark.parametrize(
    ("before", "wanted", "labels", "taints"),
    [
        ({"a": "b"}, {"a": "b"}, None, ((), ())),
        ({"a": "b"}, {"a": "c", "n": "1"}, {"a": "c", "n": "1"}, ((), ())),
        ({"a": "b"}, {}, {"a": None}, ((), ())),
        ({"i": "i-0123456789abcdef0"}, {"i": "{instance_id}"}, None, ((), ())),
        ({"i": "x.i-0123456789abcdef0"}, {"i": "{instance_id}"}, {"i": "{instance_id}"}, ((), ())),
        ({"i": "{instance_id}"}, {"i": "{instance_id}"}, None, ((), ())),
        ({"z": "spot-eu-west-1a"}, {"z": "{instance_lifecycle}-{availability_zone}"}, None, ((), ())),
    ],
)
def test_labels_that_differ(before: dict[str, str], wanted: dict[str, str], labels: Any, taints: Any) -> None:
    current = Registration(before, ("k:NoSchedule",))
    found = registration.difference(current, Registration(wanted, ("k=:NoSchedule",)))
    assert found == (None if labels is None else RegistrationChange(labels, *taints))


def test_taints_that_differ_and_the_refusal(golden_message: GoldenMessages) -> None:
    before = Registration({"a": "1"}, ("k=v:NoSchedule", "same:NoExecute"))
    wanted = Registration({}, ("k=w:NoSchedule", "same:NoExecute"))
    change = registration.difference(before, wanted)
    assert change == RegistrationChange({"a": None}, ("k=w:NoSchedule",), ("k=v:NoSchedule",))
    node = node_state(manifest=Manifest(registered=before), membership=MEMBERSHIP._replace(endpoint=CLUSTER["endpoint"]))
    plan = typed_plan("al2")._replace(registration=wanted)
    with pytest.raises(ApplyRefused) as caught:
        registration.decide(plan, node, take_over=False, reconcile=False, checks_join=False)
    golden_message(caught.value)
    assert registration.decide(plan, node, take_over=False, reconcile=True, checks_join=False).patched == change


def test_what_the_controller_patches() -> None:
    class Labels(Identity):
        def label(self, text: str) -> str:
            return text.replace("{instance_id}", "i-1")

    change = RegistrationChange({"a": "x-{instance_id}", "b": None}, (), ())
    expected = {"labels": {"a": "x-i-1", "b": None}, "taints": {"set": [], "remove": []}}
    assert registration.node_patch(change, "host.example", Labels()).plain() == {"node": "host.example", **expected}


def test_what_was_patched_before_is_patched_again() -> None:
    first = RegistrationChange({"a": "1", "b": None}, ("k=1:NoSchedule", "z:NoExecute"), ("old:NoSchedule",))
    then = RegistrationChange({"a": "2"}, ("k=2:NoSchedule",), ("k=1:NoSchedule",))
    assert registration.combine(first, then) == RegistrationChange(
        {"a": "2", "b": None}, ("z:NoExecute", "k=2:NoSchedule"), ("old:NoSchedule", "k=1:NoSchedule")
    )
    back = RegistrationChange({"b": "x"}, ("old:NoSchedule",), ("z:NoExecute",))
    combined = registration.combine(first, back)
    assert combined is not None
    assert (combined.set_taints, combined.remove_taints) == (("k=1:NoSchedule", "old:NoSchedule"), ("z:NoExecute",))
    assert registration.combine(first, None) == first
    assert registration.combine(None, then) == then
    assert registration.combine(None, None) is None
