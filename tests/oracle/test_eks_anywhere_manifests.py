# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of Cluster API that are rendered, against the schemas of its CustomResourceDefinitions (data/cluster_api_crds.json)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import capi_manifests
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.capi_machines import CapiOptions, NodeImage
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters, rendered
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import Documents
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.valid_clusters import valid_documents

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "cluster_api_crds.json").read_text())["versions"]
VERSIONS = tuple(RECORDED)
PLAIN = {"Namespace", "Secret"}
OPTIONS = CapiOptions({f"1.{minor}": NodeImage(f"v1.{minor}.0", f"node:{minor}") for minor in range(28, 37)})
_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def schema(version: str, kind: str) -> Mapping[str, Any]:
    """The schema of C(spec). The record has kinds that did not change only once, for the first version."""
    found: Mapping[str, Any] = RECORDED[version].get(kind) or RECORDED[VERSIONS[0]][kind]
    return found


def refused(value: Any, rules: Mapping[str, Any], path: str = "spec") -> Iterator[str]:
    """What an API server would refuse, or drop without a message because the schema does not have it."""
    if rules.get("x-kubernetes-preserve-unknown-fields"):
        return
    if rules.get("x-kubernetes-int-or-string"):
        if not isinstance(value, (int, str)):
            yield f"{path}: {value!r}"
        return
    if rules["type"] in _TYPES and not isinstance(value, _TYPES[rules["type"]]):
        yield f"{path}: {value!r} is not of type {rules['type']}"
    elif isinstance(value, dict):
        yield from _refused_object(value, rules, path)
    elif isinstance(value, list):
        if not rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", len(value)):
            yield f"{path}: {len(value)} items"
        for index, item in enumerate(value):
            yield from refused(item, rules["items"], f"{path}[{index}]")
    elif isinstance(value, str):
        is_long_enough = rules.get("minLength", 0) <= len(value) <= rules.get("maxLength", len(value))
        if not is_long_enough or value not in rules.get("enum", [value]):
            yield f"{path}: {value!r}"
    elif not rules.get("minimum", value) <= value <= rules.get("maximum", value):
        yield f"{path}: {value!r}"


def _refused_object(value: Mapping[str, Any], rules: Mapping[str, Any], path: str) -> Iterator[str]:
    if len(value) < rules.get("minProperties", 0):
        yield f"{path}: has no fields"
    yield from (f"{path}.{name}: is missing" for name in rules.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in rules.get("properties", {}):
            yield from refused(item, rules["properties"][name], f"{path}.{name}")
        elif "additionalProperties" in rules:
            yield from refused(item, rules["additionalProperties"], f"{path}.{name}")
        else:
            yield f"{path}.{name}: is not a field"


def problems(version: str, objects: Iterator[dict[str, Any]]) -> list[str]:
    """What a version of Cluster API would refuse in any of the objects."""
    return [
        f"{one['kind']}/{one['metadata']['name']}: {problem}"
        for one in objects
        if one["kind"] not in PLAIN
        for problem in refused(one["spec"], schema(version, one["kind"]))
    ]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", rendered.CASES)
def test_the_golden_cases_fit_the_schemas(version: str, name: str) -> None:
    cluster = rendered.cluster(*rendered.CASES[name])
    # The reference, and the kind to which it leads, belong to the Cluster API of EKS Anywhere and not to upstream.
    objects = (one for one in capi_manifests.objects(cluster, rendered.OPTIONS) if one["kind"] != "EtcdadmCluster")
    expected = [] if cluster.etcd is None else ["Cluster/dev: spec.managedExternalEtcdRef: is not a field"]
    assert problems(version, objects) == expected


@settings.get_profile("part")
@given(valid_documents(("docker",)))
def test_any_valid_cluster_fits_the_schemas(documents: Documents) -> None:
    cluster = validate(clusters.dump(documents)).cluster
    assert cluster is not None
    for version in VERSIONS:
        assert problems(version, capi_manifests.objects(cluster, OPTIONS)) == []


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("Cluster", {"clusterNetworks": {}}, "spec.clusterNetworks"),
        ("MachineDeployment", {"clusterName": "a", "selector": {}}, "spec.template"),
        ("MachineHealthCheck", {"clusterName": 1, "selector": {}}, "spec.clusterName"),
        ("DockerMachineTemplate", {"template": {"spec": {"customImage": ""}}}, None),
    ],
)
def test_a_wrong_object_is_seen(kind: str, spec: dict[str, Any], path: str | None) -> None:
    assert [problem.partition(":")[0] for problem in refused(spec, schema(VERSIONS[0], kind))] == ([] if path is None else [path])
