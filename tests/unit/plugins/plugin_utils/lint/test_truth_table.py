# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lint accepts only what cloud-init and nodeadm (its record of July 2026) accept: what one of them drops or refuses is an error."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.tests.oracle.truth_table import RECORDED, ROWS, Row, recorded

STRICTER = {
    "mime_no_version_header": "cloud-init does not recognize the document",
    "mime_close_in_middle": "both drop the second part",
    "mime_epilogue": "both drop text after the last delimiter, which may be a lost part",
    "mime_part_two_documents": "nodeadm drops the second document",
}


WITHOUT_CLUSTER = ("empty", "blank", "shell_only", "cloud_config_only", "mime_no_nodeconfig", "no_spec", "spec_null")
"""EKS and Karpenter can add a NodeConfig with the cluster."""


def errors(document: bytes, family: str | None = None) -> set[str]:
    return {finding.rule.id for finding in lint(document, family).findings if finding.rule.severity == "error"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_lint_reports_what_cloud_init_does_not_run(row: Row) -> None:
    assert errors(row.document, row.family) == set(row.errors)
    assert bool(row.errors) == (row.runs != row.meant)


@pytest.mark.parametrize("name", RECORDED)
def test_lint_reports_what_nodeadm_refuses(name: str) -> None:
    if not RECORDED[name]["check"]["ok"]:
        assert bool(errors(recorded(name))) == (name not in WITHOUT_CLUSTER)
    elif name.startswith("mime_"):
        assert bool(errors(recorded(name))) == (name in STRICTER)
