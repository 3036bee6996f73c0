# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Bottlerocket node behind a stand-in of Systems Manager: our scripts run in a real shell, with an apiclient that keeps transactions.

Systems Manager and Bottlerocket cannot run here. ssm_stand_in.py says what the stand-ins assume of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import ssm
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apiclient, bottlerocket
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.oracle.bottlerocket_lab import BOOTED, CHANGES, CLUSTER, GROUP, PEM, Lab, running
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.ssm_stand_in import INSTANCE


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    monkeypatch.setattr(ssm, "FIRST_PAUSE", 0.01)
    with running(tmp_path) as found:
        yield found


def test_one_transaction_and_then_nothing(lab: Lab) -> None:
    first = lab.apply()
    assert (first.get("msg"), first["changed"], first["healthy"]) == (None, True, True)
    assert first["changes"] == [{"setting": "settings.kubernetes.max-pods", "before": 29, "after": 40}]
    assert first["actions"] == ["set settings.kubernetes.max-pods", "apply settings"]
    expected = {**BOOTED, "kubernetes": {**BOOTED["kubernetes"], "max-pods": 40}}
    assert lab.node.settings == expected
    assert lab.node.changing_calls() == CHANGES
    assert lab.node.read("applied") == [["kubernetes.max-pods"]]
    assert lab.node.pending() == []
    assert lab.ssm.operations().count("SendCommand") == 3  # read, change, wait for kubelet
    lab.ssm.calls.clear()
    second = lab.apply()
    assert (second["changed"], second["healthy"], second["changes"], second["diff"]) == (False, True, [], [])
    assert lab.node.changing_calls() == CHANGES
    assert lab.ssm.operations().count("SendCommand") == 1
    assert lab.node.settings == expected


def test_a_run_ignores_no_option(lab: Lab) -> None:
    """The same check of the other operating systems: tests/unit/plugins/plugin_utils/live/test_options.py."""
    lab.apply()
    # The adapter reads the phases and files_dir, and refuses drift and lock_timeout; ssm.Runner reads the timeout of a command.
    assert bottlerocket.OPTIONS.keys() - lab.options.read == {"files_dir", "phases", "command_timeout", "drift", "lock_timeout"}


def test_every_call_of_aws(lab: Lab) -> None:
    lab.apply()
    sent = [parameters for operation, parameters in lab.ssm.calls if operation == "SendCommand"]
    for parameters in sent:
        assert parameters.pop("Parameters")["executionTimeout"] == ["30"]
    common = {"InstanceIds": [INSTANCE], "DocumentName": "AWS-RunShellScript", "TimeoutSeconds": 30}
    purposes = ["read the settings", "change the settings", "wait for kubelet"]
    assert sent == [{**common, "Comment": f"nodebootstrap.eks: {purpose}"} for purpose in purposes]
    asked = [parameters for operation, parameters in lab.ssm.calls if operation == "GetCommandInvocation"]
    assert {one["InstanceId"] for one in asked} == {INSTANCE}
    assert set(lab.ssm.operations()) == {"SendCommand", "GetCommandInvocation"}


def test_check_mode_shows_and_changes_nothing(lab: Lab) -> None:
    result = lab.apply(check=True)
    assert result["changed"]
    (diff,) = result["diff"]
    assert diff["before"] == "[settings.kubernetes]\nmax-pods = 29\n"
    assert diff["after"] == "[settings.kubernetes]\nmax-pods = 40\n"
    assert {words[0] for words in lab.node.calls()} == {"get"}
    assert lab.node.settings == BOOTED


def test_a_certificate_is_shortened_in_the_diff(lab: Lab) -> None:
    other = base64.b64encode(PEM.replace(b"MIIB", b"MIIC")).decode()
    result = lab.apply(check=True, cluster={**CLUSTER, "certificate_authority": other})
    (diff,) = result["diff"]
    assert "characters, sha256 " in diff["after"]
    assert diff["before"] != diff["after"]
    assert len(diff["after"]) < 300
    assert other not in json.dumps(result)


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("call", ["get", "PATCH", "POST", "DELETE"])
def test_a_call_that_fails_leaves_old_or_new(lab: Lab, call: str, fault: str, golden_message: Any) -> None:
    lab.node.write("faults", {call: fault})
    result = lab.apply()
    stored = {**BOOTED, "kubernetes": {**BOOTED["kubernetes"], "max-pods": 40}}
    if call == "DELETE":
        assert result["changed"]  # Nothing had to be dropped.
    elif (call, fault) == ("POST", "after"):
        golden_message(result["msg"])
        assert (result["failed"], result["changed"]) == (True, True)
    else:
        assert (result["failed"], result["changed"]) == (True, False)
    kept = call == "DELETE" or (call, fault) == ("POST", "after")
    assert lab.node.settings == (stored if kept else BOOTED)
    assert lab.node.pending() == []
    lab.node.write("faults", {})
    again = lab.apply()
    assert "msg" not in again
    assert lab.node.settings == stored


def test_settings_that_cannot_be_read_back(lab: Lab, golden_message: Any) -> None:
    lab.node.write("faults", {"get after POST": "before"})
    result = lab.apply()
    assert (result["failed"], result["changed"]) == (True, True)
    golden_message(result["msg"])
    assert lab.node.settings["kubernetes"]["max-pods"] == 40


def test_a_transaction_is_dropped_when_it_is_not_taken(lab: Lab, golden_message: Any) -> None:
    group = {**GROUP, "bottlerocket": {"settings": {"aws": {"region": "eu-west-1"}}}}
    result = lab.apply(node_group=group)
    golden_message(result["msg"])
    assert lab.node.changing_calls() == ["PATCH /settings?tx", "DELETE /tx?tx"]
    assert lab.node.settings == BOOTED


def test_another_cluster(lab: Lab, golden_message: Any) -> None:
    moved = {**CLUSTER, "name": "other", "endpoint": "https://def.example.com"}
    group = {**GROUP, "labels": {"role": "db"}}
    result = lab.apply(cluster=moved, node_group=group)
    golden_message(result["msg"])
    assert lab.node.changing_calls() == []
    result = lab.apply(cluster=moved, node_group=group, take_over=True)
    assert "msg" not in result
    live = lab.node.settings["kubernetes"]
    assert (live["cluster-name"], live["node-labels"]["role"]) == ("other", "db")
    assert result["node_patches"] == []  # The node registers anew, with its labels.


def test_a_node_that_is_not_a_bottlerocket_node_for_kubernetes(lab: Lab, golden_message: Any) -> None:
    lab.node.write("os", {"variant_id": "aws-ecs-2", "version_id": "1.44.0"})
    golden_message(lab.apply()["msg"])
    (lab.node.bin / "apiclient").unlink()
    golden_message(lab.apply()["msg"])
    assert lab.node.settings == BOOTED


def test_labels_and_taints_of_a_registered_node(lab: Lab, golden_message: Any) -> None:
    lab.node.write("live", {**BOOTED, "kubernetes": {**BOOTED["kubernetes"], "node-taints": {"dedicated": ["web:NoSchedule"]}}})
    taints = [{"key": "dedicated", "value": "db", "effect": "NoExecute"}]
    group = {**GROUP, "labels": {"role": "db"}, "taints": taints}
    before = lab.node.settings
    refused = lab.apply(node_group=group)
    golden_message(refused["msg"])
    assert lab.node.settings == before
    result = lab.apply(node_group=group, reconcile=True)
    name = "ip-10-0-0-5.eu-west-1.compute.internal"
    assert result["node_patches"] == [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"role": "db"}}}]
    assert result["node_taints"] == [
        {"name": name, "state": "absent", "taints": [{"key": "dedicated", "effect": "NoSchedule"}]},
        {"name": name, "state": "present", "taints": [{"key": "dedicated", "effect": "NoExecute", "value": "db"}]},
    ]
    assert lab.node.settings["kubernetes"]["node-taints"] == {"dedicated": ["db:NoExecute"]}


def test_a_node_that_has_yet_to_register_gets_its_labels(lab: Lab) -> None:
    lab.node.write("live", {"motd": "Welcome"})
    result = lab.apply()
    assert "msg" not in result
    assert lab.node.settings["kubernetes"]["node-labels"] == GROUP["labels"]
    assert not lab.apply()["changed"]


def test_restart_never_stores_and_does_not_apply(lab: Lab) -> None:
    for changed, phases in (({"restart": "never"}, PHASES), ({}, ("configure",))):
        lab.node.write("live", BOOTED)
        result = lab.apply(phases, **changed)
        assert result["needs_reboot"] == ["settings.kubernetes.max-pods"]
        assert lab.node.changing_calls()[-2:] == ["PATCH /settings?tx", "POST /tx/commit?tx"]
        assert lab.node.settings["kubernetes"]["max-pods"] == 40
        assert lab.node.read("applied") is None


def test_validate_alone_lets_bottlerocket_read_and_keeps_nothing(lab: Lab, golden_message: Any) -> None:
    result = lab.apply(("preflight", "validate"))
    assert not result["changed"]
    assert lab.node.changing_calls() == ["PATCH /settings?tx", "DELETE /tx?tx"]
    assert lab.node.settings == BOOTED
    lab.node.write("faults", {"PATCH": "before"})
    golden_message(lab.apply(("validate",))["msg"])


def test_what_needs_a_reboot_is_said(lab: Lab) -> None:
    settings = {"boot": {"kernel-parameters": {"quiet": [""]}}, "kernel": {"lockdown": "integrity"}, "motd": "Hello"}
    result = lab.apply(node_group={**GROUP, "bottlerocket": {"settings": settings}})
    assert result["needs_reboot"] == ["settings.boot.kernel-parameters.quiet", "settings.kernel.lockdown"]
    assert any("takes effect at the next boot; this run does not reboot" in line for line in lab.lines)
    assert not any("reboot" in " ".join(words) for words in lab.node.calls())


def test_secrets_are_neither_read_nor_sent(lab: Lab, golden_message: Any) -> None:
    settings = {
        "container-registry": {"credentials": [{"registry": "docker.io", "username": "u", "password": "canary-new"}]},
        "network": {"https-proxy": "http://u:canary-new@proxy:3128"},
    }
    group = {**GROUP, "allow_secrets_in_user_data": True, "bottlerocket": {"settings": settings}}
    result = lab.apply(node_group=group)
    assert result["changed"]
    assert lab.node.settings["container-registry"] == BOOTED["container-registry"]
    for text in result["warnings"]:
        golden_message(text)
    assert "canary" not in json.dumps(result)
    decoded = "".join(base64.b64decode(word).decode("utf-8", "replace") for script in lab.ssm.scripts() for word in _base64_words(script))
    assert "canary" not in decoded


def _base64_words(script: str) -> list[str]:
    return [line.split("'")[3] for line in script.splitlines() if line.startswith("body=")]


def test_the_proxy_of_the_node_is_read_without_its_password(lab: Lab) -> None:
    lab.node.write("live", {**BOOTED, "network": {"https-proxy": "http://u:canary@old:3128"}})
    result = lab.apply(node_group={**GROUP, "proxy": {"https": "http://new:3128"}})
    assert {"setting": "settings.network.https-proxy", "before": "http://***@old:3128", "after": "http://new:3128"} in result["changes"]
    assert lab.node.settings["network"]["https-proxy"] == "http://new:3128"


def test_hostile_values_arrive_as_they_are(lab: Lab) -> None:
    motd = "'; apiclient raw -m POST -u /x; \" $(touch /tmp/x) `id` {{ssm:secret}} \\ \u00e9\u4e16\U0001f600"
    result = lab.apply(node_group={**GROUP, "bottlerocket": {"settings": {"motd": motd}}})
    assert "msg" not in result
    assert lab.node.settings["motd"] == motd
    assert not any("{{" in script for script in lab.ssm.scripts())
    assert not lab.apply(node_group={**GROUP, "bottlerocket": {"settings": {"motd": motd}}})["changed"]


def test_other_forms_of_the_same_value_are_no_change(lab: Lab) -> None:
    group = {
        **GROUP,
        "bottlerocket": {"settings": {"kubernetes": {"image-gc-high-threshold-percent": 85}}},
        "containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example.com"]}},
    }
    assert lab.apply(node_group=group)["changed"]
    assert lab.node.settings["kubernetes"]["image-gc-high-threshold-percent"] == "85"
    assert not lab.apply(node_group=group)["changed"]


def test_long_settings_are_read_in_pages(lab: Lab) -> None:
    motd = "".join(f"{number:06d}" for number in range(6_000))
    lab.node.write("live", {**BOOTED, "motd": motd})
    group = {**GROUP, "max_pods": 29, "bottlerocket": {"settings": {"motd": motd}}}
    result = lab.apply(node_group=group)
    assert ("msg" in result, result["changed"]) == (False, False)
    pages = lab.ssm.operations().count("SendCommand")
    assert pages == -(-len(base64.b64encode(motd.encode())) // apiclient.PAGE)
    result = lab.apply(node_group={**group, "bottlerocket": {"settings": {"motd": f"{motd}!"}}})
    assert (result.get("msg"), result["changed"]) == (None, True)
    assert lab.node.settings["motd"] == f"{motd}!"


def test_too_much_for_one_transaction_is_refused(lab: Lab, golden_message: Any) -> None:
    result = lab.apply(node_group={**GROUP, "bottlerocket": {"settings": {"motd": "x" * apiclient.BODY_LIMIT}}})
    golden_message(result["msg"])
    assert lab.node.changing_calls() == []


def test_output_that_is_cut_or_foreign_is_refused(lab: Lab, golden_message: Any) -> None:
    for output in ("", "hello\n", "nodebootstrap 100 0123456789abcdef ok\n", "nodebootstrap 4 0123456789abcdef ok\nAAAA"):
        lab.ssm.endings = [{"Status": "Success", "ResponseCode": 0, "StandardOutputContent": output}]
        golden_message(lab.apply()["msg"])
    assert lab.node.settings == BOOTED


def test_absent_is_refused_with_the_reason(lab: Lab, golden_message: Any) -> None:
    result = lab.apply(state="absent")
    golden_message(result["msg"])
    assert lab.ssm.calls == []


def test_an_invalid_input_contacts_no_node(lab: Lab, golden_message: Any) -> None:
    for group in ({"name": "x", "family": "al2023"}, {**GROUP, "bottlerocket": {"settings": {"mtod": "x"}}}):
        with pytest.raises(SpecError) as refused:
            lab.apply(node_group=group)
        golden_message(refused.value)
    assert "eks_node_bottlerocket_instance_id" in lab.apply(instance_id="i-1; reboot")["msg"]
    assert lab.ssm.calls == []


def test_an_unhealthy_kubelet_ends_the_wait(lab: Lab, golden_message: Any) -> None:
    lab.node.healthy(False)
    result = lab.apply(wait_timeout=3)
    assert (result["failed"], result["changed"], result["healthy"]) == (True, True, False)
    golden_message(result["msg"])
    assert any("kubelet does not answer" in line and "s of 3 s" in line for line in lab.lines)


def test_kubelet_cannot_be_asked(lab: Lab) -> None:
    (lab.node.bin / "curl").unlink()
    for _run in range(2):
        result = lab.apply()
        assert (result["healthy"], "msg" in result) == (None, False)
        assert any(mentions(text, "curl") for text in result["warnings"])
