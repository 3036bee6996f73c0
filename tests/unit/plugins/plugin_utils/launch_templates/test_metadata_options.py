# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lint and publish apply the same rules to the metadata options of a launch template."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.launch_templates import metadata_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import source_of, sources_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.publish import requirements
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.publish.entries import Entry
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.model import SourceText, no_user_data

SAFE = {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
ROWS = [
    (SAFE, None),
    ({**SAFE, "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 3}, None),
    ({**SAFE, "HttpEndpoint": "disabled"}, ("no_metadata", "error")),
    ({"HttpEndpoint": "disabled"}, ("no_metadata", "error")),
    ({**SAFE, "HttpTokens": "optional"}, ("imdsv1", "warning")),
    ({"HttpPutResponseHopLimit": 2}, ("imdsv1", "warning")),
    (None, ("imdsv1", "warning")),
    ({**SAFE, "HttpPutResponseHopLimit": 1}, ("hop_limit", "warning")),
    ({"HttpTokens": "required"}, ("hop_limit", "warning")),
]


def template(options: Any) -> dict[str, Any]:
    data = {"UserData": base64.b64encode(b"#!/bin/bash\ntrue\n").decode(), "MetadataOptions": options}
    return {name: value for name, value in data.items() if value is not None}


@pytest.mark.parametrize(("options", "expected"), ROWS)
@pytest.mark.parametrize("kind", ["LaunchTemplateVersions", "LaunchConfigurations"])
def test_lint_and_publish_agree(kind: str, options: Any, expected: tuple[str, str] | None) -> None:
    data = template(options)
    item = {"LaunchTemplateName": "web", "LaunchTemplateData": data} if kind == "LaunchTemplateVersions" else data
    sources = sources_of("web.json", json.dumps({kind: [item]}).encode(), None, None)
    findings = [one for source in sources for one in source.findings if one.rule.id.startswith("launch_template.")]
    found = [(one.rule.id, one.rule.severity) for one in findings]
    assert found == ([(f"launch_template.{expected[0]}", expected[1])] if expected else [])
    entry = Entry("templates[0]", "web", "web")
    published = requirements.problems_of(entry, "managed", {name: value for name, value in data.items() if name != "UserData"})
    # Messages of lint begin with the path of the options in the file.
    assert [(one.rule, one.message) for one in published] == [
        (one.rule.id, one.message.partition("MetadataOptions: ")[2]) for one in findings
    ]


@pytest.mark.parametrize("value", [{"Ref": "Tokens"}, {"Fn::If": ["a", "b", "c"]}])
def test_a_value_that_is_known_later_has_no_problem(value: Any) -> None:
    assert not list(metadata_options.problems_of({"HttpTokens": value, "HttpPutResponseHopLimit": value, "HttpEndpoint": value}, "options"))


def test_user_data_of_unknown_origin_has_no_finding_of_a_launch_template() -> None:
    (source,) = sources_of("web.userdata", b"#!/bin/bash\ntrue\n", None, None)
    assert source.findings == ()


def test_a_launch_template_without_user_data_is_checked() -> None:
    text = no_user_data("launch template web, version 1")
    found = source_of("web", SourceText(text.path, "", problem=text.problem, settings={}), None, None, None, is_file=False)
    assert [one.rule.id for one in found.findings] == ["sources.no_user_data", "launch_template.imdsv1"]
