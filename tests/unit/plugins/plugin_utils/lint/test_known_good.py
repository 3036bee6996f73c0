# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data of all tools and families has no finding of severity error, and the reader understands it.

Public examples that are not valid are not in the corpus, for example because of a part without C(#!) (terraform-aws-eks: additions for
managed node groups of AL2; eksctl: C(preBootstrapCommands) of managed node groups of AL2), a closing delimiter with a backslash behind it
(old launch templates in the AWS documentation), or a boundary without quotes on AL2023 (documentation of eksctl).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import cloud_config, toml, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.model import ReadPart
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.known_good import (
    bottlerocket,
    nodeconfigs,
    own,
    script_examples,
    script_tools,
    texts,
    windows,
)
from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, ENDPOINT, KnownGood

PUBLIC = (*texts.ROWS, *script_tools.ROWS, *script_examples.ROWS, *nodeconfigs.ROWS, *bottlerocket.ROWS, *windows.ROWS)
ROWS = (*PUBLIC, *own.ROWS)
TOOLS = (
    "amazon-eks-ami",
    "aws-cdk",
    "aws-docs",
    "aws-samples",
    "cloudformation",
    "cluster-api",
    "crossplane",
    "eks",
    "eksctl",
    "hand-written",
    "karpenter",
    "nodebootstrap",
    "pulumi-eks",
    "terraform-aws-eks",
)

WARNINGS = {
    "bootstrap.ignored_option": ("cluster API al2 docker",),
    "bootstrap.max_pods_not_set": (
        "aws-cdk al2 on demand and more options",
        "cloudposse al2 workers",
        "cluster API al2 no max pods",
        "hand-written al2 warm pool",
        "karpenter al2 custom family",
    ),
    "nodeconfig.replaced_value": ("karpenter al2023 MIME", "karpenter al2023 old"),
    "reserved.sized_for_other_max_pods": (
        "aws-docs al2 prefixes",
        "cloudformation al2 node group of CloudFormation, arguments",
        "hand-written al2 GPU",
        "hand-written al2 labels of EKS",
        "karpenter al2 merged",
        "karpenter al2 unmerged",
        "text tf-v18-self-managed",
    ),
    "shell.missing_service": ("text cis-level",),
    "shell.uses_docker": ("text al2-heredoc-python",),
}
"""Warnings that are true: the option has no effect, kubelet runs 110 pods on any instance, a later document wins, or the image reserves
memory for another number of pods than 110. Amazon Linux 2023 does not install cron, and images for Kubernetes 1.24 have no Docker."""


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_there_is_no_error(row: KnownGood) -> None:
    found = [*lint(row.text, row.family, row.version).findings, *lint(row.text, row.family).findings]
    if not row.needs_family:
        found += lint(row.text).findings
    assert [f"{finding.rule.id}: {finding.message}" for finding in found if finding.rule.severity == "error"] == []


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_it_is_understood(row: KnownGood) -> None:
    found = read(row.text)
    assert found.family in ((row.family, None) if row.family in ("al2", "ubuntu") else (row.family,)) or not row.cluster
    assert found.cluster.get("name") == row.cluster


def test_warnings_are_true() -> None:
    found: dict[str, set[str]] = {}
    for row in ROWS:
        for finding in lint(row.text, row.family, row.version).findings:
            if finding.rule.severity == "warning":
                found.setdefault(finding.rule.id, set()).add(row.id)
    assert {rule: tuple(sorted(ids)) for rule, ids in found.items()} == WARNINGS


def test_the_corpus_is_large() -> None:
    assert len(ROWS) >= 300
    assert len(PUBLIC) >= 150
    assert all(row.url.startswith("https://") for row in PUBLIC)
    assert not any(row.url for row in own.ROWS)
    assert len({row.id for row in ROWS}) == len(ROWS)


def test_every_tool_and_family_is_present() -> None:
    assert {row.tool for row in ROWS} >= set(TOOLS)
    counts = Counter(row.family for row in PUBLIC)
    assert set(counts) == set(FAMILIES)


def test_structures_differ() -> None:
    by_structure: dict[Any, list[str]] = {}
    for row in ROWS:
        by_structure.setdefault(structure(row.text), []).append(row.id)
    assert [ids for ids in by_structure.values() if len(ids) > 1] == []


def structure(text: str | bytes) -> Any:
    """What is left of user data without its values."""
    found = read(text)
    return (found.layers, tuple(_of_part(part) for part in found.parts))


def _of_part(part: ReadPart) -> Any:
    headers = tuple(name for name, _value in part.headers)
    return (part.kind, part.content_type, headers, part.encoding, _keys(part))


def _keys(part: ReadPart) -> Any:
    if part.kind == "nodeconfig":
        return tuple(_paths(yaml.load(part.text)))
    if part.kind == "toml":
        return tuple(_paths(toml.load(part.text, "", Problems())))
    if part.kind == "cloud-config":
        return tuple(_paths(cloud_config.load(part.text, "", Problems())))
    return _shape(part.text)


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """The keys of a document, the words of its commands, and the names in its settings, without values."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from _paths(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item, f"{path}[]")
    else:
        yield f"{path}: {_shape(value) if isinstance(value, str) else type(value).__name__}"


def _shape(text: str) -> str:
    """A text without its values: names of programs, options and variables, quotes and punctuation."""
    text = text.replace(CA, "CA").replace(ENDPOINT, "URL")
    text = re.sub(r"(?<![\w-])\w[\w./-]*=[\w.-]*(?:,[\w./-]+=[\w.-]*)*", "pairs", text)
    return re.sub(r"[0-9a-f]*\d[0-9a-f.:/]*", "0", text)
