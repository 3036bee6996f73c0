# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of clusters: valid files of every provider are accepted, one broken rule is found, and nothing raises."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import Validation, validate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import PROVIDERS, Documents
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.valid_clusters import BREAKS, PLANE, valid_documents
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

SUPPORTED = tuple(provider for provider in PROVIDERS if provider != "cloudstack")
JUNK: list[Any] = [None, True, 0, -1, 1.5, 10**20, "", "x", "a b", "ä\n", [], {}, [None], {"": None}, [[]], {"a": {"b": []}}]


def errors(text: str, **options: Any) -> list[str]:
    """Rule and path of every error."""
    return [rule_and_path(problem) for problem in validate(text, **options).errors]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_complete_file_is_valid(provider: str) -> None:
    found = validate(clusters.file(provider))
    assert not found.errors
    assert found.cluster is not None
    assert found.cluster.machine_kind is None or found.documents.of_kind(found.cluster.machine_kind)
    assert [problem.rule for problem in found.problems] == (["anywhere.removed_provider"] if provider == "cloudstack" else [])


@settings.get_profile("part")
@given(valid_documents())
def test_generated_files_are_valid_in_both_scopes(documents: Documents) -> None:
    text = clusters.dump(documents)
    assert errors(text) == []
    assert errors(text, scope="cluster") == []


@settings.get_profile("family")
@given(valid_documents(), st.sampled_from([(rule, change) for rule, changes in BREAKS.items() for change in changes]))
def test_one_broken_rule_is_found_in_both_scopes(documents: Documents, broken: tuple[str, clusters.Change]) -> None:
    rule, (_kind, path, value) = broken
    if rule in ("anywhere.cidr_overlap", "anywhere.node_mask"):
        clusters.change(documents[0], "spec.clusterNetwork.pods.cidrBlocks", ["10.0.0.0/12"])
    clusters.change(documents[0], path, value if value is clusters.DELETE else copy.deepcopy(value))
    for scope in ("file", "cluster"):
        assert rule in {problem.rule for problem in validate(clusters.dump(documents), scope).errors}


@settings.get_profile("family")
@given(valid_documents(), st.randoms(use_true_random=False))
def test_any_value_anywhere_is_reported_and_never_raised(documents: Documents, chance: random.Random) -> None:
    for _unused in range(chance.randint(1, 4)):
        _replace_one(chance.choice(documents), chance)
    text = clusters.dump(documents)
    assert _whole(validate(text)) == _whole(validate(text))


def _whole(found: Validation) -> list[dict[str, Any]]:
    """Everything that the result shows, which must not fail either."""
    return [*found.rows(), *({"text": str(problem)} for problem in found.problems)]


def _replace_one(tree: Any, chance: random.Random) -> None:
    """Replace a random value of a document."""
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    if not keys:
        return
    key = chance.choice(keys)
    if isinstance(tree[key], (dict, list)) and tree[key] and chance.random() < 0.8:
        _replace_one(tree[key], chance)
    else:
        tree[key] = chance.choice(JUNK)


@settings.get_profile("part")
@given(st.text(max_size=200))
def test_any_text_is_reported_and_never_raised(text: str) -> None:
    assert validate(text).errors


def test_all_problems_are_reported_at_once() -> None:
    text = clusters.file(
        "vsphere",
        ("Cluster", "metadata.name", "1dev"),
        ("Cluster", "spec.kubernetesVersion", "1.x"),
        ("Cluster", "spec.clusterNetwork.pods.cidrBlocks", ["x"]),
        ("Cluster", f"{PLANE}.count", 0),
        ("VSphereDatacenterConfig", "spec.server", clusters.DELETE),
        ("VSphereMachineConfig", "spec.numCPUs", 0),
    )
    assert {line.split()[0] for line in errors(text)} == {
        "anywhere.name",
        "anywhere.version",
        "anywhere.cidr",
        "anywhere.replicas",
        "input.missing_field",
        "input.out_of_range",
    }


def test_a_problem_has_the_line_of_its_value() -> None:
    text = "# a comment\n" + clusters.file("docker", ("Cluster", f"{PLANE}.count", 0))
    (row,) = validate(text).rows()
    assert text.splitlines()[row["line"] - 1].strip() == "count: 0"
    assert (row["severity"], row["file"]) == ("error", "cluster")


@pytest.mark.parametrize("broken", ["kind: a\nkind: b\n", "a: 1\n]\n"])
def test_a_problem_of_yaml_has_its_line(broken: str) -> None:
    text = clusters.file("docker") + "---\n" + broken
    (row,) = validate(text).rows()
    assert (row["rule"], row["line"]) == ("anywhere.not_yaml", len(text.splitlines()))


def test_a_broken_document_does_not_hide_the_problems_of_others() -> None:
    text = clusters.file("docker", ("Cluster", f"{PLANE}.count", 0)) + "---\nkind: a\nkind: b\n"
    assert {problem.rule for problem in validate(text).errors} == {"anywhere.not_yaml", "anywhere.replicas"}


def test_an_anchor_is_read_like_its_value() -> None:
    text = clusters.file("docker").replace("count: 3", "count: &three 3").replace("count: 2", "count: *three")
    found = validate(text)
    assert not found.problems and found.cluster
    assert found.cluster.workers[0].replicas == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_scope_cluster_ignores_other_documents(provider: str) -> None:
    first = clusters.file(provider).split("---\n")[0]
    assert errors("---\nkind: Other\na: 1\n---\n" + first + "---\nkind: [\n", scope="cluster") == []


def test_defaults_of_eks_anywhere() -> None:
    found = validate(clusters.file("docker", ("Cluster", "spec.workerNodeGroupConfigurations", [{}])))
    assert not found.problems and found.cluster
    assert [(group.name, group.replicas) for group in found.cluster.workers] == [("md-0", 1)]
    assert found.cluster.is_self_managed


def test_flags_of_the_api_server_can_be_enabled() -> None:
    text = clusters.file("docker", ("Cluster", f"{PLANE}.apiServerExtraArgs", {"v": "2"}))
    assert errors(text, allow_api_server_args=True) == []


def test_a_license_token_is_not_repeated() -> None:
    found = validate(clusters.file("docker", ("Cluster", "spec.licenseToken", 12345678)))
    assert found.errors and all("12345678" not in str(problem) for problem in found.problems)


@pytest.mark.parametrize("kind", sorted(data.eks_anywhere()["kinds"]))
def test_every_kind_refuses_an_unknown_field(kind: str) -> None:
    text = clusters.file("docker") + "---\n" + yaml.dump(clusters.document(kind, "extra", {"unknownField": 1}))
    assert f"input.unknown_field {kind}/extra.spec.unknownField" in errors(text)


@pytest.mark.parametrize("provider", SUPPORTED)
def test_a_document_that_is_removed_is_missed(provider: str) -> None:
    documents = clusters.documents(provider)
    for index, gone in enumerate(documents[1:], 1):
        rules = {problem.rule for problem in validate(clusters.dump(documents[:index] + documents[index + 1 :])).errors}
        assert rules == {"anywhere.missing_document"}, gone
