# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lint and migrate say about the disk of a node, and which nodes an entry of the sources names."""

from __future__ import annotations

import fnmatch
import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import node_results, source_entries
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.github import github
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.html import html
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.junit import junit
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.node_sources import sources_of_node
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sarif import sarif
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import Source, file_place
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.text import text
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.node import USER_DATA, source_text
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import config, mime, part, shell

BAD = "#cloud-config\nruncmd: echo hello\n"
DROP_IN = "/etc/eks/nodeadm.d/50-own.yaml"
PARTIAL = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPodz: 20\n"
NONE: dict[str, Any] = {"user_data": None, "node_configs": []}
UNREACHABLE = {"unreachable": True, "msg": "Failed to connect to the host via ssh: Connection refused"}
DAMAGED = {**NONE, "problems": [f"{USER_DATA} cannot be read: it is damaged gzip"]}
NOT_ROOT = {"failed": False, "msg": "root is required to examine a node: set become: true"}


def on_disk(content: str, path: str = USER_DATA, *, redacted: bool = False) -> dict[str, Any]:
    return {"path": path, "text": content, "redacted": redacted}


def linted(result: Any, family: str | None = None, version: tuple[int, int] | None = None) -> list[Source]:
    return sources_of_node("web-1", result, family, version, None)


def rows(sources: list[Source]) -> list[tuple[str, str, int | None, int, int]]:
    """The path, the rule, the part, the line and the column on the disk of every finding."""
    found = []
    for source in sources:
        assert source.name == "web-1" and not source.is_file
        for finding in source.findings:
            place = file_place(source, finding.where)
            found.append((source.path, finding.rule.id, finding.where.part, place.line, place.column))
    return found


def test_findings_have_the_host_the_path_and_the_place() -> None:
    assert rows(linted(node({"user_data.text": BAD}))) == [(USER_DATA, "cloud_config.wrong_type", 0, 2, 9)]
    parts = mime(part(shell("true")), part(config("maxPodz: 20"), "application/node.eks.aws"))
    ((path, rule, index, line, _column),) = rows(linted(node({"user_data.text": parts})))
    assert (path, rule, index) == (USER_DATA, "kubelet.unknown_field", 1)
    assert "maxPodz" in parts.split("\n")[line - 1]


def test_every_document_is_checked() -> None:
    """Only the NodeConfig that is alone needs the whole cluster, because nodeadm merges several."""
    result = node({"user_data.text": BAD, "node_configs": [on_disk(PARTIAL, DROP_IN), on_disk("", "/etc/eks/nodeadm.d/60-empty.yaml")]})
    assert [row[:2] for row in rows(linted(result))] == [(USER_DATA, "cloud_config.wrong_type"), (DROP_IN, "kubelet.unknown_field")]
    alone = node({"user_data": None, "node_configs": [on_disk(PARTIAL, DROP_IN)]})
    assert [row[1] for row in rows(linted(alone))] == ["nodeconfig.no_cluster", "kubelet.unknown_field"]
    named = PARTIAL.replace("spec:", "spec:\n  cluster: {name: shop}")
    both = node({"user_data.text": named, "node_configs": [on_disk(BAD, DROP_IN)]})
    assert [row[1] for row in rows(linted(both))] == ["kubelet.unknown_field", "cloud_config.wrong_type"]


def test_options_take_precedence_over_what_the_node_says() -> None:
    call = node({"user_data.text": "#!/bin/bash\n/etc/eks/bootstrap.sh shop\n", "family": "al2", "info.versions.kubelet.version": "1.32.1"})
    assert [row[1] for row in rows(linted(call))] == ["bootstrap.looks_up_cluster"]
    assert "family.not_in_version" in [row[1] for row in rows(linted(call, version=(1, 33)))]
    assert "bootstrap.removed_from_image" in [row[1] for row in rows(linted(call, family="al2023"))]


def test_lines_behind_a_removed_value_are_not_checked() -> None:
    before = node({"user_data": on_disk(f"{BAD}password: ********\n", redacted=True)})
    assert [row[1] for row in rows(linted(before))] == ["doctor.not_checked", "cloud_config.wrong_type"]
    behind = node({"user_data": on_disk("#cloud-config\npassword: ********\nruncmd: echo hello\n", redacted=True)})
    assert [row[1] for row in rows(linted(behind))] == ["doctor.not_checked"]


@pytest.mark.parametrize(
    ("result", "rule", "severity", "facts"),
    [
        (UNREACHABLE, "doctor.unreachable", "error", ["ssh", "Connection refused"]),
        (NOT_ROOT, "doctor.failed", "error", ["become: true"]),
        ({}, "doctor.failed", "error", []),
        (node(NONE), "sources.no_user_data", "note", [USER_DATA, "/etc/eks/nodeadm.d"]),
        (node({"user_data.text": ""}), "sources.no_user_data", "note", [USER_DATA]),
        (node(DAMAGED), "doctor.failed", "error", [USER_DATA, "gzip"]),
    ],
    ids=["unreachable", "not_root", "no_result", "no_user_data", "empty", "damaged"],
)
def test_nodes_without_a_text(result: Any, rule: str, severity: str, facts: list[str], golden_message: GoldenMessages) -> None:
    (source,) = linted(result)
    ((finding),) = source.findings
    assert (finding.rule.id, finding.rule.severity) == (rule, severity) and finding.fix
    assert mentions(finding.message, *facts)
    golden_message(text([source]))
    # A migration needs the text, so this is a problem there.
    problem = source_text("web-1", result).problem
    assert problem is not None and problem.rule == rule


def test_a_text_that_cannot_be_read_does_not_hide_the_others() -> None:
    result = node({"user_data.text": BAD, "problems": [f"{DROP_IN} cannot be read: Input/output error"]})
    assert [row[1] for row in rows(linted(result))] == ["cloud_config.wrong_type", "doctor.not_checked"]


def test_a_problem_elsewhere_on_the_node_is_not_reported() -> None:
    assert rows(linted(node({"problems": ["/proc/meminfo cannot be read: gone"]}))) == []


def test_every_report_names_the_host_and_the_path() -> None:
    sources = linted(node({"user_data.text": BAD}))
    title = f"web-1:{USER_DATA}"
    assert f"{title}:2:9: error: " in text(sources)
    (result,) = json.loads(sarif(sources))["runs"][0]["results"]
    assert result["locations"] == [{"logicalLocations": [{"fullyQualifiedName": title}]}]
    assert f"::{title}:2:9: " in github(sources)
    assert all(title in report for report in (junit(sources), html(sources, {}, {})))


def test_user_data_for_a_migration() -> None:
    call = "#!/bin/bash\n/etc/eks/bootstrap.sh shop\n"
    found = source_text("web-1", node({"user_data.text": call, "family": "al2"}))
    assert (found.problem, found.data, found.family) == (None, call, "al2")
    hidden = source_text("web-1", node({"user_data": on_disk("#!/bin/bash\nTOKEN=********\n", redacted=True)}))
    assert hidden.problem is not None and hidden.problem.rule == "doctor.not_checked" and hidden.data == ""
    only_nodeadm = source_text("web-1", node({"user_data": None, "node_configs": [on_disk(PARTIAL, DROP_IN)]}))
    assert only_nodeadm.problem is not None and only_nodeadm.problem.rule == "sources.no_user_data"


class Inventory:
    hosts = ("web-1", "web-2", "db-1")

    def select(self, pattern: str) -> list[str]:
        return fnmatch.filter(self.hosts, pattern)

    def names(self) -> list[str]:
        return ["all", *self.hosts]


def selected(sources: list[Any], *items: str) -> list[tuple[str, str]]:
    problems = Problems()
    results = [{"item": item, **UNREACHABLE} for item in items]
    found = node_results.select(source_entries.entries(sources, problems), results, Inventory(), problems)
    problems.raise_any()
    return [(one.option, one.host) for one in found]


def test_the_nodes_of_the_entries_each_once() -> None:
    sources = ["a.sh", {"host": "web-2"}, {"launch_template": "web"}, {"host": "web-*"}]
    assert selected(sources, "web-1", "web-2", "db-1") == [("sources[1]", "web-2"), ("sources[3]", "web-1")]
    assert selected(["a.sh"]) == []


@pytest.mark.parametrize(
    ("sources", "rule", "facts"),
    [
        ([{"host": "web1"}], "input.unknown_value", ["sources[0].host", "web1", "web-1"]),
        ([{"host": "nothing-like-it"}], "input.unknown_value", ["sources[0].host", "nothing-like-it"]),
        ([{"host": "web-*"}], "input.missing_field", ["nodes", "web-2"]),
        ([{"host": ["web-1"]}], "input.wrong_type", ["sources[0].host"]),
        ([{"host": "web-1", "version": 1}], "input.unknown_field", ["sources[0].version"]),
        ([{"host": "web-1", "instance": "i-1"}], "input.conflict", ["sources[0]"]),
    ],
    ids=["misspelt", "unknown", "not_read", "list", "unknown_field", "two_kinds"],
)
def test_entries_that_cannot_be_used(sources: list[Any], rule: str, facts: list[str], golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as error:
        selected(sources, "web-1")
    assert [problem.rule for problem in error.value.problems] == [rule]
    assert mentions(str(error.value), *facts)
    golden_message(error.value)
