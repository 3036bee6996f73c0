# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the explanation of user data says for every family: whole in golden files, and by its effects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import instance_shape
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.explanation.explain import explain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.explanation.outcome import PLACEHOLDERS, Machine
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.explain_user_data import explain_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.explanation import user_datas
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.explanation.user_datas import CASES, NODE_CONFIG
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.test_any_text import WORDS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.readers.test_foreign import DOCUMENTS, Foreign


def does(result: dict[str, Any]) -> list[str]:
    return [step["does"] for step in result["timeline"]]


def row(result: dict[str, Any], name: str, table: str = "config") -> dict[str, Any]:
    [found] = [row for row in result["kubelet"][table] if row["name"] == name]
    return dict(found)


def lines(result: dict[str, Any]) -> str:
    """The explanation with one line for each step, file, value and unknown. Defaults of kubelet are left out."""
    found = []
    tables = result.pop("kubelet")
    for section, items in {**result, **tables}.items():
        found += [section, *(json.dumps(item) for item in items if item.get("source") != "kubelet")]
    return "\n".join(found)


@pytest.mark.parametrize("name", CASES)
def test_the_whole_explanation(name: str, golden_message: GoldenMessages) -> None:
    golden_message(lines(explain_user_data(*CASES[name])))


def test_the_order_of_al2023() -> None:
    steps = explain_user_data(*CASES["al2023-all-parts"])["timeline"]
    texts = [f"{step['unit']} {step['does']}" for step in steps]
    marks = (
        "nodeadm-config.service writes", "cloud-init.service runs echo hook", "cloud-init.service runs echo early",
        "cloud-init.service writes /etc/motd", "cloud-config.service applies packages", "cloud-final.service runs echo first",
        "cloud-final.service runs systemctl restart chronyd", "cloud-final.service runs echo second", "nodeadm-run.service reads",
        "nodeadm-run.service sets up", "nodeadm-run.service starts containerd", "nodeadm-run.service starts kubelet",
        "kubelet.service registers",
    )  # fmt: skip
    found = [next(index for index, text in enumerate(texts) if text.startswith(mark)) for mark in marks]
    assert found == sorted(found)


def test_commands_after_the_call_run_after_kubelet_is_started() -> None:
    result = explain_user_data(*CASES["al2"])
    steps = does(result)
    assert steps.index("starts kubelet.service") < steps.index("runs systemctl restart chronyd")
    assert steps.index("runs yum install -y nfs-utils") < steps.index("calls /etc/eks/bootstrap.sh")
    assert [step["does"] for step in result["timeline"] if step["conditional"]] == ['runs echo "proxy"']


def test_a_drop_in_wins_over_user_data() -> None:
    result = explain_user_data(*CASES["al2023-all-parts"])
    found = row(result, "maxPods")
    assert (found["value"], found["source"], found["path"]) == (7, "user_data", "parts[1].write_files[0].content")


@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("maxPods", 42, "user_data"),
        ('evictionHard["memory.available"]', "5%", "user_data"),
        ('evictionHard["nodefs.available"]', "10%", "image"),
        ("kubeReserved.memory", "574Mi", "instance_type"),
        ("clusterDNS", ["10.100.0.10"], "service_cidr"),
        ("providerID", "aws:///<availability-zone>/<instance-id>", "instance"),
        ("cpuManagerPolicy", "none", "kubelet"),
    ],
)
def test_the_origin_of_a_value(name: str, value: Any, source: str) -> None:
    found = row(explain_user_data(NODE_CONFIG, "m5.large", "1.33"), name)
    assert (found["value"], found["source"]) == (value, source)
    if source == "user_data":
        where = found["where"]
        assert str(value) in NODE_CONFIG.split("\n")[where["line"] - 1][where["column"] - 1 :]


def test_a_flag_wins_over_the_configuration() -> None:
    result = explain_user_data(NODE_CONFIG + "      - --max-pods=9\n", "m5.large", "1.33")
    assert row(result, "maxPods") == row(result, "maxPods") | {"value": 9, "path": "spec.kubelet.flags[2]"}


def test_a_value_that_a_drop_in_loses_is_not_the_users() -> None:
    text = NODE_CONFIG.replace("maxPods: 42", "resolvConf: /etc/own.conf")
    assert row(explain_user_data(text, "m5.large", "1.31"), "resolvConf")["source"] == "kubelet"
    assert row(explain_user_data(text, "m5.large", "1.33"), "resolvConf")["source"] == "user_data"


def test_without_a_type_and_a_version_only_what_is_the_same_everywhere_is_known() -> None:
    result = explain_user_data(NODE_CONFIG)
    unknown = {item["what"]: item["why"] for item in result["unknown"]}
    assert row(result, "kubeReserved.memory")["value"] is None and unknown["kubeReserved.memory"] == "depends on the instance type"
    assert row(result, "failCgroupV1")["value"] is None and unknown["failCgroupV1"] == "depends on the Kubernetes version"
    assert row(result, "maxPods")["value"] == 42
    for instance_type, version in (("t3.nano", "1.29"), ("m5.24xlarge", "1.36")):
        one = explain_user_data(NODE_CONFIG, instance_type, version)
        for table in ("config", "flags"):
            values = {item["name"]: item["value"] for item in one["kubelet"][table]}
            known = {item["name"]: item["value"] for item in result["kubelet"][table] if item["value"] is not None}
            assert known == {name: values[name] for name in known}
        texts = {file["path"]: file["content"] for file in one["files"]}
        assert all(file["content"] in (None, texts[file["path"]]) for file in result["files"])


def test_every_unknown_content_has_a_reason_and_every_placeholder_is_listed() -> None:
    for case in CASES.values():
        result = explain_user_data(*case)
        unknown = {item["what"] for item in result["unknown"]}
        assert {file["path"] for file in result["files"] if file["content"] is None} <= unknown
        shown = json.dumps([result["files"], result["kubelet"]])
        assert {name for name in PLACEHOLDERS if name in shown} == unknown & PLACEHOLDERS.keys()


def test_the_first_runcmd_of_two_is_replaced() -> None:
    parts = [(user_datas.CONFIG, f"#cloud-config\nruncmd:\n- echo {word}\n") for word in ("one", "two")]
    result = explain_user_data(user_datas.mime(*parts))
    assert does(result) == ["runs echo two"]
    assert any(item["what"] == "parts[0].runcmd" for item in result["unknown"])
    merged = user_datas.mime(parts[0], (user_datas.CONFIG, f"{parts[1][1]}merge_how: list(append)\n"))
    assert does(explain_user_data(merged)) == ["runs echo one", "runs echo two"]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cp own.yaml /etc/eks/nodeadm.d/own.yaml", "/etc/eks/nodeadm.d"),
        ("sed -i s/a/b/ /etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet/config.json"),
    ],
)
def test_a_script_that_mentions_a_file_is_listed(command: str, path: str) -> None:
    parts = ((user_datas.SHELL, f"#!/bin/bash\n{command}"), (user_datas.NODEADM, NODE_CONFIG))
    found = explain_user_data(user_datas.mime(*parts), "m5.large", "1.33")["unknown"]
    [where] = [item["where"] for item in found if item["what"] == path]
    assert (where["part"], where["line"], where["column"]) == (0, 2, command.index(path) + 1)


def test_nodeadm_stops_at_what_it_cannot_read() -> None:
    result = explain_user_data(*CASES["al2023-broken"])
    assert not result["files"] and not result["kubelet"]["config"]
    assert result["timeline"][1]["does"].startswith("fails, and kubelet does not start: CIDR is missing")


def test_no_secret_is_shown() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    text = f"#!/bin/bash\nexport AWS_SECRET_ACCESS_KEY={secret}\nconfigure aws_secret_access_key {secret}\n"
    config = f"#cloud-config\nwrite_files:\n- path: /root/x\n  content: aws_secret_access_key = {secret}\npassword: {secret}\n"
    for one in (text, config, user_datas.TOML.replace('"web"', f'"secret_access_key={secret}"')):
        assert secret not in json.dumps(explain_user_data(one))


@settings(settings.get_profile("part"))
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from([None, *FAMILIES]), st.booleans())
def test_any_bytes(words: list[bytes], family: str | None, is_known: bool) -> None:
    text = b"".join(words)
    machine = Machine(instance_shape("m5.large"), (1, 33)) if is_known else None
    result = explain(text, family, machine)
    assert result == explain(text, family, machine)
    plain = result.plain()
    json.dumps(plain)
    parts = read(text, family if family in ("al2", "ubuntu") else None)
    for item in (*result.timeline, *result.unknown):
        if item.where is not None:
            of = parts.document if item.where.part is None else parts.parts[item.where.part].text
            assert 1 <= item.where.line <= len(of.split("\n")) and item.where.column >= 1


@settings(settings.get_profile("part"))
@given(st.sampled_from(sorted(CASES)), st.data())
def test_cut_texts(name: str, choice: st.DataObject) -> None:
    text, *_others, family = CASES[name]
    start, end = sorted((choice.draw(st.integers(0, len(text))), choice.draw(st.integers(0, len(text)))))
    json.dumps(explain(text[:start] + text[end:], family, Machine(instance_shape("m5.large"), (1, 33))).plain())


@pytest.mark.parametrize(
    "arguments", [("x", "m5.lrage"), ("x", 5), ("x", "m5.large", "1.99"), ("x", None, 1.3), (None,), ("x", None, None, "al2032")]
)
def test_wrong_arguments(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        explain_user_data(*arguments)
    golden_message(caught.value)


def test_the_versions_of_the_explanation_have_defaults() -> None:
    assert data.kubelet_defaults()["first"] <= 28 and data.kubelet_defaults()["last"] == data.kubelet_flags()["last"]


CALL = "/etc/eks/bootstrap.sh demo --apiserver-endpoint https://example.com --b64-cluster-ca aGVsbG8= --dns-cluster-ip 10.100.0.10"


@pytest.mark.parametrize(
    "text",
    [
        f"export USE_MAX_PODS=false\n{CALL}",
        f"USE_MAX_PODS=false {CALL}",
        f"sed -i s/a/b/ /etc/eks/bootstrap.sh\n{CALL}",
        f"{CALL} --kubelet-extra-args \"$EXTRA\"",
        f"{CALL} --kubelet-extra-args \"--v=3 $EXTRA\"",
        f"{CALL} --kubelet-extra-args '--max-pods=\"9\"'",
        f"{CALL} --use-max-pods \"$USE\"",
        f"{CALL} --kubelet-extra-args \"--max-pods=$PODS\"",
        f"{CALL} $MORE",
    ],
)  # fmt: skip
def test_a_value_that_something_unknown_can_change_is_not_claimed(text: str) -> None:
    result = explain_user_data(f"#!/bin/bash\n{text}\n", "m5.large", "1.30", "al2")
    assert all(item["value"] is None for item in result["kubelet"]["config"] if item["name"] == "maxPods")
    assert result["unknown"]


@pytest.mark.parametrize("text", [CASES["al2"][0], user_datas.POWERSHELL])
def test_an_authority_that_is_not_base64_is_no_file(text: str) -> None:
    result = explain_user_data(text.replace("aGVsbG8=", "ä"), "m5.large", "1.30")
    assert not [file for file in result["files"] if "ca" in file["path"] and file["content"]]


def test_an_unknown_value_of_one_flag_leaves_the_others() -> None:
    text = f'#!/bin/bash\n{CALL} --kubelet-extra-args "--node-labels=zone=$ZONE --max-pods=9"\n'
    result = explain_user_data(text, "m5.large", "1.30", "al2")
    assert row(result, "maxPods")["value"] == 9
    assert row(result, "--node-labels", "flags")["value"] is None
    assert row(result, "clusterDNS")["source"] == "service_cidr"


def test_an_item_of_flags_can_be_several_flags() -> None:
    result = explain_user_data(NODE_CONFIG + "      - --v=3 --max-pods=9\n", "m5.large", "1.33")
    assert (row(result, "maxPods")["value"], row(result, "--v", "flags")["value"]) == (9, "3")


@pytest.mark.parametrize(
    ("expression", "value", "source"),
    [("max_pods - 3", 26, "user_data"), ("0 - max_pods", 29, "instance_type"), ("size('ab')", None, "instance_type")],
)
def test_an_expression_for_the_number_of_pods(expression: str, value: int | None, source: str) -> None:
    text = NODE_CONFIG.replace("      maxPods: 42\n", "").replace("  kubelet:\n", f'  kubelet:\n    maxPodsExpression: "{expression}"\n')
    result = explain_user_data(text, "m5.large", "1.33")
    found = [item for item in result["kubelet"]["config"] if item["name"] == "maxPods"]
    assert [(item["value"], item["source"]) for item in found] == ([] if value is None else [(value, source)])
    assert any(item["what"] == "maxPods" for item in result["unknown"]) == (value is None)
    assert any(step["does"].startswith("logs a warning") for step in result["timeline"]) == (value == 29)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents_of_other_tools(document: Foreign) -> None:
    found = read(document.text)
    result = explain_user_data(document.text, "m5.large", "1.30")
    names = {step["does"] for step in result["timeline"]}
    if found.cluster.get("name") and found.family in ("al2", "ubuntu"):
        assert "calls /etc/eks/bootstrap.sh" in names
    if "max_pods" in found.node_group and found.family in ("al2", "al2023", "ubuntu"):
        assert row(result, "maxPods")["value"] == found.node_group["max_pods"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#cloud-config-archive\n- |\n  #!/bin/bash\n  echo a\n", {"an archive of parts", "kubelet"}),
        ("## template: jinja\n#cloud-config\nhostname: {{ v1.local_hostname }}\n", {"a template", "kubelet"}),
        ("#include\nhttps://example.com/a\n", {"user data from URLs", "kubelet"}),
        ("version: 1.1\ntasks:\n- task: executeScript\n", {"version: 1.1"}),
    ],
)
def test_what_is_built_on_the_node_is_unknown(text: str, expected: set[str]) -> None:
    found = explain(text, "al2")
    assert {one.what for one in found.unknown} == expected
    assert not any("nothing in this user data starts it" in one.why for one in found.unknown)


def test_other_tags_of_ec2launch_are_unknown() -> None:
    call = "<powershell>\n& 'C:\\EKS\\Start-EKSBootstrap.ps1' -EKSClusterName shop\n</powershell>\n"
    found, plain = explain(f"{call}<runAsLocalSystem>true</runAsLocalSystem>\n"), explain(call)
    assert found.timeline == plain.timeline
    assert {one.what for one in found.unknown} - {one.what for one in plain.unknown} == {"<runaslocalsystem>"}
