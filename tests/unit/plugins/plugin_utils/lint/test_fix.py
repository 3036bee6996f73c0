# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections: the finding is gone, nothing else changed, and the meaning differs only in what the rule says."""

from __future__ import annotations

import base64
import difflib
import gzip
from collections import Counter
from dataclasses import dataclass

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.difference.compare import differences
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.fix import CORRECTIONS, fix
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.rows import ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import (
    HEAD,
    SCRIPT,
    SLASHES,
    cloud,
    config,
    document,
    mime,
    node_config,
    part,
    powershell,
    settings,
    shell,
)

DOCUMENT = ("document",)
"""nodeadm refused the whole document before the correction."""
PART = ("parts[0]",)
NOW_RUN = ("node_group.user_data[0]", *PART)
"""Nothing on the node ran the part before the correction."""


@dataclass(frozen=True)
class Fix:
    """rule: the corrected rule. changes: the lines that are removed (-) and added (+). paths: of the differences in meaning, sorted."""

    rule: str
    wrong: str
    changes: tuple[str, ...]
    paths: tuple[str, ...]
    family: str | None = None


INSTALL = shell("set -e", "sudo yum install jq")
TYPED = mime(part("#!/bin/bash\ntrue", "text/x-sh"))
FIXES = (
    Fix(
        "bottlerocket.unknown_setting",
        settings("max_pods = 20"),
        ("-max_pods = 20", "+max-pods = 20"),
        ("node_group.bottlerocket.settings.kubernetes.max_pods", "node_group.max_pods"),
    ),
    Fix(
        "cloud_config.decimal_mode",
        cloud("write_files:", "- path: /a", "  permissions: 644 # read", "  content: a"),
        ("-  permissions: 644 # read", "+  permissions: '0644' # read"),
        ("node_group.user_data[0].write_files",),
    ),
    Fix(
        "powershell.broken_continuation",
        powershell("& 'C:\\EKS\\Start-EKSBootstrap.ps1' -EKSClusterName shop ` ", "  -ServiceCIDR 10.100.0.0/16"),
        ("-& 'C:\\EKS\\Start-EKSBootstrap.ps1' -EKSClusterName shop ` ", "+& 'C:\\EKS\\Start-EKSBootstrap.ps1' -EKSClusterName shop `"),
        ("cluster.name", "cluster.service_cidr", "parts[0]"),
    ),
    Fix(
        "kubelet.unknown_field",
        config("maxpods: 20\nregistryBurst: 1"),
        ("-      maxpods: 20", "+      maxPods: 20"),
        ("node_group.kubelet.config.maxpods", "node_group.max_pods"),
    ),
    Fix(
        "nodeconfig.unknown_field",
        document("  Kubelet:\n    flags: [--v=2]\n"),
        ("-  Kubelet:", "+  kubelet:"),
        ("node_group.kubelet.flags.v", "parts[0].spec.Kubelet"),
    ),
    Fix(
        "mime.invalid_content_type",
        SLASHES % "//",
        ("-Content-Type: multipart/mixed; boundary=//", '+Content-Type: multipart/mixed; boundary="//"'),
        DOCUMENT,
    ),
    Fix("mime.leading_blank", f"\n\n{mime(SCRIPT)}", ("-", "-"), (*DOCUMENT, *NOW_RUN)),
    Fix("mime.missing_end", f"{HEAD}{part(node_config(), 'application/node.eks.aws')}".rstrip("\n") + "\n", ("+--B--",), DOCUMENT),
    Fix("mime.missing_version", mime(SCRIPT).replace("MIME-Version: 1.0\n", ""), ("+MIME-Version: 1.0",), (*DOCUMENT, *NOW_RUN)),
    Fix("mime.no_interpreter", mime(part("set -e\ntrue"), SCRIPT), ("+#!/bin/bash",), (*NOW_RUN, *PART)),
    Fix("mime.no_interpreter", mime(part("\n\n#!/bin/sh\ntrue")), ("-", "-"), (*NOW_RUN, *PART)),
    Fix("mime.unknown_type", TYPED, ("-Content-Type: text/x-sh", "+Content-Type: text/x-shellscript"), PART),
    Fix(
        "nodeconfig.wrong_document",
        mime(part("#!/bin/bash\ntrue", "application/node.eks.aws")),
        ("-Content-Type: application/node.eks.aws", "+Content-Type: text/x-shellscript"),
        (*NOW_RUN, *PART),
    ),
    Fix("shell.asks_question", INSTALL, ("-sudo yum install jq", "+sudo yum install -y jq"), ("node_group.user_data[0]",)),
    Fix("user_data.crlf", INSTALL.replace("jq", "-y jq").replace("\n", "\r\n"), ("all",), ()),
    Fix("user_data.wrong_kind", f"\n \n{shell('true')}", ("-", "- "), NOW_RUN),
)
IDS = [f"{row.rule} {index}" for index, row in enumerate(FIXES)]


def changes(before: str, after: str) -> tuple[str, ...]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return tuple(line[0] + line[2:] for line in lines if line[:1] in "+-")


def counts(data: bytes | str, family: str | None) -> Counter[str]:
    return Counter(finding.rule.id for finding in lint(data, family).findings)


def test_every_fixable_rule_has_a_correction_and_a_row() -> None:
    fixable = {rule.id for rule in rules.catalogue().values() if rule.fixable}
    assert fixable == set(CORRECTIONS) == {row.rule for row in FIXES}
    assert all(rules.catalogue()[name].fixable.endswith(".") for name in fixable)


@pytest.mark.parametrize("row", FIXES, ids=IDS)
def test_a_correction(row: Fix) -> None:
    before = row.wrong.encode()
    result = fix(before, row.family)
    assert row.rule in [finding.rule.id for finding in result.corrected]
    after = result.content.decode()
    expected = row.wrong.replace("\r\n", "\n") if row.changes == ("all",) else None
    assert after == expected if expected else changes(row.wrong, after) == row.changes
    # The finding is gone, and no other one came.
    old, new = counts(before, row.family), counts(result.content, row.family)
    assert new[row.rule] < old[row.rule]
    assert not +(new - old)
    # A second run changes nothing.
    assert fix(result.content, row.family).content == result.content


@pytest.mark.parametrize("row", FIXES, ids=IDS)
def test_the_meaning(row: Fix) -> None:
    found = differences(row.wrong, fix(row.wrong.encode(), row.family).content)
    assert tuple(difference.path for difference in found) == row.paths


@pytest.mark.parametrize(
    "data",
    [
        base64.b64encode(INSTALL.encode()),
        gzip.compress(INSTALL.encode(), mtime=0),
        mime(part(base64.b64encode(INSTALL.encode()).decode(), "text/x-shellscript", "Content-Transfer-Encoding: base64")).encode(),
        config("maxPodz: 20").encode(),  # A typing error has more than one right answer.
        b"echo hello\n",
        mime(part("import os\nprint(1)")).encode(),
        mime(part("a: 1", "application/json")).encode(),
        shell("echo yum; yum install jq").encode(),
        b"",
        b"\xff\xfe\0",
    ],
)
def test_what_is_not_changed(data: bytes) -> None:
    result = fix(data)
    assert result.content == data
    assert result.corrected == ()


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule} {index}" for index, row in enumerate(ROWS)])
def test_every_example_of_a_rule(row: object) -> None:
    wrong, family, version = row.wrong, row.family, row.version  # type: ignore[attr-defined]
    data = wrong if isinstance(wrong, bytes) else wrong.encode("utf-8", "surrogatepass")
    result = fix(data, family, version)
    again = fix(result.content, family, version)
    assert again.content == result.content
    assert {finding.rule.id for finding in result.corrected} <= set(CORRECTIONS)
    assert (result.content == data) == (not result.corrected)


def test_several_corrections_of_one_text() -> None:
    text = "\r\n".join(["", *mime(part("yum install jq\nyum install -y curl")).replace("MIME-Version: 1.0\n", "").split("\n")])
    fixed = fix(text.encode(), "al2").content.decode()
    assert fixed == mime(part("#!/bin/bash\nyum install -y jq\nyum install -y curl"))
