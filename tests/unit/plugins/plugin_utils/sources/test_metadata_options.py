# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the instance metadata service in files of other tools: which are reported, and where in the file."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.github import github
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.html import html
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.junit import junit
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sarif import sarif
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import file_place
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import sources_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.read import read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

ENCODED = base64.b64encode(b"#!/bin/bash\necho hello\n").decode()
IMDSV1, LIMIT, OFF = "launch_template.imdsv1", "launch_template.hop_limit", "launch_template.no_metadata"
TOKENS = [{"http_tokens": True}]
"""What Terraform says of a value that is known only after apply."""


def options_in(text: str) -> list[tuple[str, str]]:
    """The path and the rule of each finding about metadata options."""
    sources = sources_of("file", text.encode(), None, None)
    found = ((one.path, finding.rule.id) for one in sources for finding in one.findings)
    return [(path, rule) for path, rule in found if rule.startswith("launch_template.")]


def rules_in(text: str) -> list[str]:
    return [rule for _path, rule in options_in(text)]


def node_class(options: str, *, user_data: str = "", kind: str = "EC2NodeClass") -> str:
    return f"kind: {kind}\nmetadata:\n  name: web\nspec:\n  role: x\n{user_data}{options}"


@pytest.mark.parametrize("user_data", ["", "  userData: |\n    #!/bin/bash\n    echo hello\n"])
@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ("", []),
        ("  metadataOptions: {}\n", []),
        ("  metadataOptions: {httpTokens: required, httpPutResponseHopLimit: 1}\n", []),
        ("  metadataOptions:\n    httpTokens: optional\n", [IMDSV1]),
        ("  metadataOptions:\n    httpEndpoint: disabled\n", [OFF]),
    ],
)
def test_karpenter(options: str, rules: list[str], user_data: str) -> None:
    assert rules_in(node_class(options, user_data=user_data)) == rules


def plan(values: dict[str, Any], *, kind: str = "aws_launch_template", unknown: Any = None, written: Any = None) -> str:
    address = f"{kind}.web"
    resource = {"address": address, "mode": "managed", "type": kind, "name": "web", "values": values}
    expressions = {} if written is None else {"metadata_options": written}
    return json.dumps(
        {
            "format_version": "1.2",
            "planned_values": {"root_module": {"resources": [resource]}},
            "resource_changes": [{"address": address, "change": {"after_unknown": {"metadata_options": unknown}}}],
            "configuration": {"root_module": {"resources": [{"address": address, "expressions": expressions}]}},
        }
    )


def block(**options: Any) -> dict[str, Any]:
    return {"metadata_options": [options]}


@pytest.mark.parametrize("user_data", [{}, {"user_data": ENCODED}])
@pytest.mark.parametrize(
    ("values", "more", "rules"),
    [
        (block(http_tokens="required", http_put_response_hop_limit=2), {}, []),
        (block(http_tokens="required", http_put_response_hop_limit=1), {}, [LIMIT]),
        (block(http_tokens="required"), {"unknown": [{"http_put_response_hop_limit": True}], "written": [{}]}, [LIMIT]),
        (block(http_tokens="required", http_put_response_hop_limit=0), {}, [LIMIT]),
        (block(http_tokens="optional", http_put_response_hop_limit=2), {}, [IMDSV1]),
        (block(http_tokens="", http_put_response_hop_limit=2), {}, [IMDSV1]),
        (block(http_endpoint="disabled", http_tokens="required"), {}, [OFF]),
        # Nothing is set, so the provider computes the block.
        ({}, {"unknown": True}, [IMDSV1]),
        ({"metadata_options": []}, {}, [IMDSV1]),
        # The whole block, or one value, depends on another resource.
        ({}, {"unknown": True, "written": {"references": ["var.options"]}}, []),
        (block(http_put_response_hop_limit=2), {"unknown": TOKENS, "written": [{"http_tokens": {"references": ["a.b"]}}]}, []),
        (block(http_put_response_hop_limit=2), {"unknown": TOKENS, "written": [{}]}, [IMDSV1]),
    ],
)  # fmt: skip
def test_terraform(values: dict[str, Any], more: dict[str, Any], rules: list[str], user_data: dict[str, Any]) -> None:
    found = options_in(plan({"name": "web", **user_data, **values}, **more))
    assert found == [("aws_launch_template.web.metadata_options", rule) for rule in rules]


@pytest.mark.parametrize(
    ("values", "rules"),
    [
        ({"user_data": "#!/bin/bash\necho hello\n"}, [IMDSV1]),
        ({"user_data": "#!/bin/bash\necho hello\n", "launch_template": [{"id": "lt-1"}]}, []),
        # A machine that is not a node, as far as the plan shows.
        ({"ami": "ami-1"}, []),
    ],
)
def test_an_instance_of_terraform(values: dict[str, Any], rules: list[str]) -> None:
    assert rules_in(plan(values, kind="aws_instance")) == rules


def stack(options: str, *, kind: str = "AWS::EC2::LaunchTemplate") -> str:
    head = f"Resources:\n  Web:\n    Type: {kind}\n    Properties:\n"
    return f"{head}      LaunchTemplateData:\n        ImageId: ami-1\n{options}"


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ("", [IMDSV1]),
        ("        MetadataOptions: {HttpTokens: required, HttpPutResponseHopLimit: 2}\n", []),
        ("        MetadataOptions: {HttpTokens: required, HttpPutResponseHopLimit: '2'}\n", []),
        ("        MetadataOptions: {HttpTokens: required, HttpPutResponseHopLimit: '1'}\n", [LIMIT]),
        ("        MetadataOptions: {HttpTokens: !Ref Tokens, HttpPutResponseHopLimit: !Ref Limit}\n", []),
        ("        MetadataOptions: !If [Strict, {HttpTokens: required}, !Ref 'AWS::NoValue']\n", []),
        ("        MetadataOptions: {HttpTokens: optional}\n", [IMDSV1]),
        ("        MetadataOptions: {HttpEndpoint: disabled}\n", [OFF]),
    ],
)
def test_cloud_formation(options: str, rules: list[str]) -> None:
    assert options_in(stack(options)) == [("Web.LaunchTemplateData.MetadataOptions", rule) for rule in rules]


def test_answers_of_the_cli() -> None:
    good = {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    versions = [
        {"LaunchTemplateName": "web", "VersionNumber": 3, "LaunchTemplateData": {"ImageId": "ami-1"}},
        {"LaunchTemplateName": "db", "VersionNumber": 1, "LaunchTemplateData": {"UserData": ENCODED, "MetadataOptions": good}},
    ]
    assert options_in(json.dumps({"LaunchTemplateVersions": versions})) == [("web, version 3.MetadataOptions", IMDSV1)]
    old = {"LaunchConfigurations": [{"LaunchConfigurationName": "old", "UserData": ENCODED, "MetadataOptions": {"HttpTokens": "optional"}}]}
    assert options_in(json.dumps(old)) == [("old.MetadataOptions", IMDSV1)]
    assert options_in(json.dumps({"InstanceId": "i-1", "UserData": {"Value": ENCODED}})) == []


MANIFESTS = {
    "nodes.yaml": node_class("  metadataOptions:\n    httpPutResponseHopLimit: 2\n    httpTokens: optional\n"),
    "plan.json": json.dumps(json.loads(plan(block(http_tokens="optional", http_put_response_hop_limit=2))), indent=2),
    "stack.yaml": stack("        MetadataOptions:\n          HttpTokens: optional\n"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_reports_show_the_value_in_the_file(name: str) -> None:
    text = MANIFESTS[name]
    sources = sources_of(name, text.encode(), None, None)
    (source,) = (one for one in sources if any(finding.rule.id == IMDSV1 for finding in one.findings))
    place = file_place(source, source.findings[0].where)
    line = text.split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith("optional")
    assert place.length == len("optional")
    result = next(one for one in json.loads(sarif(sources))["runs"][0]["results"] if one["ruleId"] == IMDSV1)
    region = {"startLine": place.line, "startColumn": place.column, "endColumn": place.column + place.length}
    assert result["locations"][0]["physicalLocation"]["region"] == region
    assert result["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": source.path}]
    assert f"file={name},line={place.line},col={place.column},endColumn=" in github(sources)
    assert source.path in junit(sources)
    assert source.path in html(sources)
    # The name of the field is that of the tool.
    field = line[: place.column - 1].strip(' ":-')
    assert mentions(source.findings[0].message, field)
    assert mentions(source.findings[0].fix, field)


def test_a_migration_does_not_get_the_options() -> None:
    assert [item.problem.rule for item in read(node_class("").encode()) or () if item.problem] == ["sources.no_user_data"]
