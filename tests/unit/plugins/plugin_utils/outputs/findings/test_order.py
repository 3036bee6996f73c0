# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of findings in a report: that of the lines of the file, also if they are about the document or about a part."""

from __future__ import annotations

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import file_place
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import sources_of

DOCUMENT = b"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=//

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec: {kubelet: {config: {maxPod: 58}}}
--//
Content-Type: text/x-shellscript

true
--//--
"""


def test_findings_are_in_the_order_of_the_file() -> None:
    (source,) = sources_of("web.userdata", DOCUMENT, None, None)
    rules = {finding.rule.id: file_place(source, finding.where).line for finding in source.findings}
    expected = [("mime.invalid_content_type", 2), ("kubelet.unknown_field", 9), ("mime.no_interpreter", 13)]
    assert [item for item in rules.items() if item in expected] == expected
    assert list(rules.values()) == sorted(rules.values())
