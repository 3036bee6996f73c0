# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in files of other tools: what is found, its family, and its place in the file."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import file_place
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import sources_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.text import text as text_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.model import SourceText
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.read import read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SCRIPT = "#!/bin/bash\nyum install jq\n"
ENCODED = base64.b64encode(SCRIPT.encode()).decode()


def resource(address: str, values: dict[str, Any], sensitive: dict[str, Any] | None = None) -> dict[str, Any]:
    kind = address.rpartition("module.")[2].split(".")[-2]
    return {"address": address, "mode": "managed", "type": kind, "values": values, "sensitive_values": sensitive or {}}


def expressions(address: str, *names: str) -> dict[str, Any]:
    return {"address": address, "expressions": {name: {"references": ["var.text"]} for name in names}}


TEMPLATE = 'module.pool["a.b"].aws_launch_template.web[0]'
PLAN = {
    "format_version": "1.2",
    "planned_values": {
        "root_module": {
            "resources": [
                resource("aws_instance.plain", {"user_data": SCRIPT}),
                resource("aws_instance.hash", {"user_data": "0123456789" * 4}),
                resource("aws_instance.none", {}),
                resource("aws_instance.later", {}),
                resource("aws_instance.encoded", {"user_data_base64": ENCODED}, {"user_data_base64": True}),
                resource("aws_launch_configuration.old", {"user_data": SCRIPT}),
                resource("aws_launch_template.broken", {"user_data": SCRIPT}),
                resource("aws_launch_template.empty", {"user_data": None}),
                {"address": "data.aws_instance.other", "mode": "data", "type": "aws_instance", "values": {"user_data": SCRIPT}},
            ],
            "child_modules": [{"address": "module.pool", "resources": [resource(TEMPLATE, {"user_data": ENCODED})]}],
        }
    },
    "resource_changes": [
        {"address": "aws_instance.none", "change": {"after_unknown": {"user_data": True, "user_data_base64": True}}},
        {"address": "aws_instance.later", "change": {"after_unknown": {"user_data": True, "user_data_base64": True}}},
    ],
    "configuration": {"root_module": {"resources": [expressions("aws_instance.later", "user_data")]}},
}


def found(document: Any) -> list[SourceText]:
    texts = read((document if isinstance(document, str) else json.dumps(document, indent=2)).encode())
    assert texts is not None
    return texts


def summary(document: Any) -> list[tuple[str, Any]]:
    """The path of each user data, and its text or its rule."""
    return [(one.path, one.problem.rule if one.problem else one.data) for one in found(document)]


def test_terraform() -> None:
    assert summary(PLAN) == [
        ("aws_instance.plain.user_data", SCRIPT),
        ("aws_instance.hash.user_data", "sources.unknown_user_data"),
        ("aws_instance.later.user_data", "sources.unknown_user_data"),
        ("aws_instance.encoded.user_data_base64", SCRIPT.encode()),
        ("aws_launch_configuration.old.user_data", SCRIPT),
        ("aws_launch_template.broken.user_data", "sources.not_base64"),
        (f"{TEMPLATE}.user_data", SCRIPT.encode()),
    ]
    state = {"format_version": "1.0", "values": PLAN["planned_values"]}
    assert len(found(state)) == 6
    assert "install jq" not in text_report(sources_of("plan.json", json.dumps({**PLAN, "resource_changes": []}).encode(), None, None)[2:3])


def test_a_resource_of_a_module_that_is_known_later() -> None:
    module = {"module": {"resources": [expressions("aws_launch_template.web", "user_data")]}}
    plan = {
        "format_version": "1.2",
        "planned_values": {"root_module": {"child_modules": [{"resources": [resource(TEMPLATE, {})]}]}},
        "resource_changes": [{"address": TEMPLATE, "change": {"after_unknown": {"user_data": True}}}],
        "configuration": {"root_module": {"module_calls": {"pool": module}}},
    }
    assert summary(plan) == [(f"{TEMPLATE}.user_data", "sources.unknown_user_data")]


def node_class(spec: str, kind: str = "EC2NodeClass") -> str:
    return f"apiVersion: karpenter.k8s.aws/v1\nkind: {kind}\nmetadata: {{name: web}}\nspec:\n{spec}"


BLOCK = "  userData: |\n    #!/bin/bash\n\n    yum install jq\n"


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ("  amiFamily: AL2023\n", "al2023"),
        ("  amiFamily: Windows2022\n", "windows"),
        ("  amiFamily: Custom\n  amiSelectorTerms: [{alias: al2@v1}]\n", None),
        ("  amiSelectorTerms: [{alias: bottlerocket@latest}]\n", "bottlerocket"),
        ("  amiSelectorTerms: [{tags: {a: b}}, {alias: al2@v20240101}]\n", "al2"),
        ("", None),
    ],
)
def test_karpenter(spec: str, family: str | None) -> None:
    (text,) = found(node_class(spec + BLOCK))
    assert (text.path, text.data, text.family) == ("EC2NodeClass/web.spec.userData", "#!/bin/bash\n\nyum install jq\n", family)


def test_several_documents_and_lists() -> None:
    manifest = f"# nodes\n---\n{node_class(BLOCK)}---\nkind: NodePool\n---\n{node_class('  role: x')}\n---\n"
    manifest += node_class(BLOCK.replace("jq", "-y jq"), "AWSNodeTemplate")
    assert [path for path, _data in summary(manifest)] == ["EC2NodeClass/web.spec.userData", "AWSNodeTemplate/web.spec.userData"]
    listed = {"kind": "List", "items": [{"kind": "EC2NodeClass", "metadata": {"name": "b"}, "spec": {"userData": SCRIPT}}]}
    assert summary(listed) == [("EC2NodeClass/b.spec.userData", SCRIPT)]


PLACES = (
    (BLOCK, 8, 5, 3),
    ("  userData: |+ # a comment\n    #!/bin/bash\n    yum install jq\n\n", 7, 5, 3),
    ('  userData: "#!/bin/bash\\nyum install jq"\n', 5, 13, None),
    ("  userData: '#!/bin/bash\n\n    yum install jq'\n", 5, 13, None),
)


@pytest.mark.parametrize(("user_data", "line", "column", "length"), PLACES)
def test_places_in_yaml(user_data: str, line: int, column: int, length: int | None) -> None:
    for manifest in (node_class(user_data), node_class(user_data).replace("\n", "\r\n")):
        (source,) = sources_of("nodes.yaml", manifest.encode(), None, None)
        finding = next(finding for finding in source.findings if finding.rule.id == "shell.asks_question")
        place = file_place(source, finding.where)
        assert (place.line, place.column, place.length) == (line, column, length)


def template(value: str) -> str:
    head = "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Web:\n    Type: AWS::EC2::LaunchTemplate\n"
    return f"{head}    Properties:\n      LaunchTemplateData:\n        UserData: {value}\n"


CALL = "#!/bin/bash\n            yum install jq"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ENCODED, SCRIPT.encode()),
        (f"!Base64 |\n            {CALL}", SCRIPT),
        (f"\n          Fn::Base64: |\n            {CALL}", SCRIPT),
        (f"\n          Fn::Base64: !Sub |\n            {CALL}", SCRIPT),
        ("!Base64 {'Fn::Sub': '#!/bin/bash\n\n\n            echo ${!HOME}'}", "#!/bin/bash\n\necho ${HOME}"),
        ('{"Fn::Base64": {"Fn::Join": ["\\n", ["#!/bin/bash", "true", ""]]}}', "#!/bin/bash\ntrue\n"),
        ("!Base64 {'Fn::Sub': '#!/bin/bash ${AWS::StackName}'}", "sources.unknown_user_data"),
        ("!Base64 {'Fn::Sub': ['#!/bin/bash ${a}', {a: b}]}", "sources.unknown_user_data"),
        ('{"Fn::Base64": {"Fn::Join": ["", ["#!/bin/bash", {"Ref": "Name"}]]}}', "sources.unknown_user_data"),
        ("!Ref Encoded", "sources.unknown_user_data"),
        ("!Base64 [a]", "sources.unknown_user_data"),
    ],
)
def test_cloud_formation(value: str, expected: str | bytes) -> None:
    assert summary(template(value)) == [("Web.LaunchTemplateData.UserData", expected)]


def test_places_in_a_template() -> None:
    source, _options = sources_of("nodes.yaml", template(f"\n          Fn::Base64: !Sub |\n            {CALL}").encode(), None, None)
    asks = next(finding for finding in source.findings if finding.rule.id == "shell.asks_question")
    assert (file_place(source, asks.where).line, file_place(source, asks.where).column) == (10, 13)


def test_launch_templates() -> None:
    versions = [
        {"LaunchTemplateName": "web", "LaunchTemplateId": "lt-1", "VersionNumber": 3, "LaunchTemplateData": {"UserData": ENCODED}},
        {"LaunchTemplateName": "none", "VersionNumber": 1, "LaunchTemplateData": {}},
    ]
    assert summary({"LaunchTemplateVersions": versions}) == [("web, version 3.UserData", SCRIPT.encode())]
    assert summary({"LaunchTemplateData": {"UserData": ENCODED}}) == [("launch template.UserData", SCRIPT.encode())]
    old = {"LaunchConfigurations": [{"LaunchConfigurationName": "old", "UserData": ENCODED}]}
    assert summary(old) == [("old.UserData", SCRIPT.encode())]
    assert summary({"InstanceId": "i-1", "UserData": {"Value": ENCODED}}) == [("i-1.UserData", SCRIPT.encode())]


def test_places_in_json() -> None:
    text = json.dumps({"LaunchTemplateData": {"UserData": ENCODED}}, indent=2)
    source, _options = sources_of("template.json", text.encode(), None, None)
    place = file_place(source, source.findings[0].where)
    assert text.split("\n")[place.line - 1][place.column - 1 :] == f'{ENCODED}"'
    assert place.length is None


CONFIG = """kind: EKSConfigTemplate
metadata: {name: pool}
spec:
  template:
    spec:
      kubeletExtraArgs:
        node-labels: kubernetes.io/role=web
      preBootstrapCommands:
        - yum install jq
        - |
          set -e
          apt-get install curl
        - "yum install \\"jq\\""
      files:
        - {path: /etc/motd, content: hello}
        - path: /opt/setup.sh
          content: |
            #!/bin/bash
            yum install jq
"""
NODEADM = """kind: NodeadmConfig
metadata: {name: pool}
spec:
  kubelet:
    config:
      maxPodz: 20
    flags: [--max-podz=1]
  preNodeadmCommands:
    - yum install jq
"""


def test_cluster_api(golden_message: GoldenMessages) -> None:
    reports = [text_report(sources_of("pool.yaml", manifest.encode(), None, None)) for manifest in (CONFIG, NODEADM)]
    golden_message("\n".join(reports))


def test_reports_of_other_tools(golden_message: GoldenMessages) -> None:
    documents = (
        ("plan.json", json.dumps(PLAN)),
        ("nodes.yaml", node_class(BLOCK)),
        ("broken.yaml", "kind: EC2NodeClass\n{{ if .Values.a }}\n"),
        ("stack.yaml", template("!Ref Encoded")),
        ("other.yaml", node_class("  role: x")),
    )
    golden_message("\n".join(text_report(sources_of(name, text.encode(), None, None)) for name, text in documents))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"{}",
        b"[settings.kubernetes]\nmax-pods = 1\n",
        b'{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {}}',
        b"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n",
        b"#!/bin/bash\ncat <<E\nkind: EC2NodeClass\nE\n",
        b"#cloud-config\nResources: {}\n",
        b"kind: Deployment\n",
        b"Resources: {a: {Type: 1}}\n",
        b"<powershell>\n</powershell>",
    ],
)
def test_other_files_are_user_data_themselves(content: bytes) -> None:
    assert read(content) is None


@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_documents(depth: int) -> None:
    assert read(b'{"a":' * depth) is None
    assert read(b"kind: EC2NodeClass\na: " + b"[" * depth) is not None
