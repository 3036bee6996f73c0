# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of the input: generated from one declaration, complete in ansible-doc, and a JSON Schema that accepts every example."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.model import test_described_cluster as described
from ansible_collections.nodebootstrap.eks.tools import input_reference

GENERATED = input_reference.files()
DECLARED = input_reference.declarations()
FRAGMENT = "nodebootstrap.eks.fields"
NAMES = {"cluster": "cluster", "node_group": "node_group", "node_groups": "node_group", "_input": "node_group"}
DOCUMENTED = {
    ("modules", "apply"): ["cluster", "node_group"],
    ("modules", "apply_windows"): ["cluster", "node_group"],
    ("modules", "bottlerocket_settings"): ["cluster", "node_group"],
    ("modules", "render"): ["cluster", "node_groups"],
    ("filter", "user_data"): ["_input", "cluster"],
    ("filter", "node_config"): ["_input", "cluster"],
    ("filter", "node_files"): ["_input", "cluster"],
    ("filter", "node_spec"): ["_input", "cluster"],
    ("filter", "from_eksctl"): ["cluster"],
    ("test", "valid_node_group"): ["_input", "cluster"],
}


@pytest.mark.parametrize("path", sorted(GENERATED))
def test_generated_files_are_up_to_date(path: str) -> None:
    assert GENERATED[path] == (project.TOP / path).read_text(encoding="utf-8"), "run make golden"


@pytest.mark.parametrize("name", DECLARED)
def test_every_field_is_described_in_sentences(name: str) -> None:
    fields = dict(input_reference.all_fields(DECLARED[name]))
    assert len(fields) > 8
    assert [path for path, field in fields.items() if not field.get("description", "").endswith(".")] == []
    assert [path for path, field in fields.items() if not input_reference.types(field)] == []


def option_paths(options: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, option in options.items():
        yield f"{prefix}{name}"
        if "suboptions" in option:
            yield from option_paths(option["suboptions"], f"{prefix}{name}.")


@pytest.mark.parametrize(("kind", "stem"), DOCUMENTED, ids=" ".join)
def test_the_documentation_lists_every_field(kind: str, stem: str) -> None:
    options = project.documentation(kind, stem)["doc"]["options"]
    for option in DOCUMENTED[kind, stem]:
        expected = [path.replace("[]", "") for path, _field in input_reference.all_fields(DECLARED[NAMES[option]])]
        assert sorted(option_paths(options[option].get("suboptions", {}))) == sorted(expected), option


def test_the_role_describes_every_field_and_validates_none() -> None:
    spec = yaml.safe_load(project.text(input_reference.ROLE))["argument_specs"]["main"]
    options, lines = spec["options"], spec["description"]
    for option, name in (("eks_node_cluster", "cluster"), ("eks_node_group", "node_group")):
        missing = [
            path for path, _field in input_reference.all_fields(DECLARED[name]) if not any(line.startswith(f"C({path}) ") for line in lines)
        ]
        assert missing == []
        assert "options" not in options[option]


# JSON Schema


def schemas() -> dict[str, Any]:
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (project.TOP / input_reference.SCHEMAS).glob("*.json")}


def validator(name: str) -> Draft202012Validator:
    found = schemas()
    registry: Registry[Any] = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in found.values())
    return Draft202012Validator(found[f"{name}.schema.json"], registry=registry)


def problems(name: str, value: Any) -> list[str]:
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator(name).iter_errors(value)]


def loaded(path: str) -> Any:
    return yaml.safe_load(project.text(path))


#: The files of variables, which are mappings. Playbooks are lists.
EXAMPLES = sorted(
    str(path.relative_to(project.TOP))
    for path in (project.TOP / "examples").rglob("*.yml")
    if re.search(r"^eks_node_\w+:", path.read_text(encoding="utf-8"), re.MULTILINE) and "inventory" not in path.parts
)
INVENTORIES = sorted(str(path.relative_to(project.TOP)) for path in (project.TOP / "examples" / "inventory").glob("*.yml"))
EKSCTL = sorted(path.name for path in (project.TOP / "examples" / "eksctl").glob("*.yaml"))


@pytest.mark.parametrize("name", ["cluster", "node_group", "variables"])
def test_the_schema_is_valid(name: str) -> None:
    Draft202012Validator.check_schema(schemas()[f"{name}.schema.json"])


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_schema_accepts_every_example(path: str) -> None:
    assert problems("variables", loaded(path)) == []


def variables_in(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping of an inventory that sets our variables."""
    if isinstance(tree, dict):
        if tree.keys() & {"eks_node_cluster", "eks_node_group", "eks_node_groups"}:
            yield tree
        for value in tree.values():
            yield from variables_in(value)


def test_the_schema_accepts_the_variables_of_every_inventory() -> None:
    # An inventory plugin (C(plugin: …)) sets variables with Jinja2 expressions.
    trees = [tree for path in INVENTORIES if "plugin" not in (tree := loaded(path))]
    found = [variables for tree in trees for variables in variables_in(tree)]
    assert len(found) > 1
    assert [problem for variables in found for problem in problems("variables", variables)] == []


@pytest.mark.parametrize("name", EKSCTL)
def test_the_schema_accepts_what_eksctl_files_are_translated_to(name: str) -> None:
    config = project.text(f"examples/eksctl/{name}")
    facts = loaded(f"examples/clusters/{yaml.safe_load(config)['metadata']['name']}.yml")["eks_node_cluster"]
    translated = from_eksctl(config, facts)
    assert problems("cluster", translated["cluster"]) == []
    assert [found for group in translated["node_groups"] for found in problems("node_group", group)] == []


RESPONSES = {
    "response": described.RESPONSE,
    "IPv6": described.IPV6,
    "Outposts": described.LOCAL,
    "snake_case": described.SNAKE_CASE,
    "without an authority": {**described.RESPONSE, "certificateAuthority": None},
    "with own fields": {**described.RESPONSE, "dns_ips": ["169.254.20.10"], "kubernetes_version": "{{ version }}"},
}


@pytest.mark.parametrize("name", RESPONSES)
def test_the_schema_accepts_a_describe_cluster_response(name: str) -> None:
    response = json.loads(json.dumps(RESPONSES[name], default=str))
    for cluster in (response, {"cluster": response}, {"cluster": response, "dns_ips": ["169.254.20.10"]}):
        assert problems("variables", {"eks_node_cluster": cluster}) == []


@pytest.mark.parametrize(
    ("cluster", "where"),
    [
        ({**described.RESPONSE, "version": 1.32}, "version"),
        ({**described.RESPONSE, "certificateAuthority": {"data": 5}}, "certificateAuthority/data"),
        ({"cluster": {**described.RESPONSE, "kubernetesNetworkConfig": {"serviceIpv4Cidr": 10}}}, "cluster/kubernetesNetworkConfig"),
        ({**described.RESPONSE, "dns_ips": 10}, "dns_ips"),
        # None of these is a response: it has neither an authority nor an ARN.
        ({"name": "demo", "kubernetesNetworkConfig": {}}, ""),
        ({"cluster": {"name": "demo"}}, "cluster"),
        ({"name": "demo", "endpoints": "https://x"}, ""),
    ],
)
def test_the_schema_rejects_what_is_wrong_in_a_cluster(cluster: dict[str, Any], where: str) -> None:
    found = [found.partition(":")[0] for found in problems("cluster", json.loads(json.dumps(cluster, default=str)))]
    assert found and all(place.startswith(where) for place in found), found


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_schema_rejects_a_misspelt_key_in_every_example(path: str) -> None:
    given = loaded(path)
    groups = given.get("eks_node_groups") or []
    if isinstance(groups, list):
        for index, group in enumerate(groups):
            if isinstance(group, dict):
                changed = copy.deepcopy(given)
                changed["eks_node_groups"][index]["labells"] = {}
                assert [found for found in problems("variables", changed) if "labells" in found], group["name"]


@pytest.mark.parametrize(
    ("group", "where"),
    [
        ({"family": "al2023", "instance": {"typ": "m5.large"}}, "instance"),
        ({"family": "al2024"}, "family"),
        ({"family": "al2023", "max_pods": True}, "max_pods"),
        ({"family": "al2023", "max_pods": 0}, "max_pods"),
        ({"family": "al2023", "max_pods": {"mode": "prefix", "cieling": True}}, "max_pods"),
        ({"family": "al2023", "taints": [{"key": "a", "effect": "NoScedule"}]}, "taints/0/effect"),
        ({"family": "al2023", "reserved": {"kube": {"cpus": "1"}}}, "reserved/kube"),
        ({"family": "al2023", "reserved": {"kube": "automatic"}}, "reserved/kube"),
        ({"family": "al2023", "commands": {"pre": [{"run": "x"}]}}, "commands/pre/0"),
        ({"labels": {}}, ""),
    ],
)
def test_the_schema_rejects_a_mistake_at_its_place(group: dict[str, Any], where: str) -> None:
    assert [found.partition(":")[0] for found in problems("node_group", group)] == [where]


@pytest.mark.parametrize(
    "group",
    [
        {"family": "{{ family }}", "labels": "{{ labels }}", "max_pods": "{{ pods }}", "instance": {"types": "{{ types }}"}},
        {"family": "AmazonLinux2023", "max_pods": "58", "taints": None, "reserved": {"kube": "auto", "system": {"cpu": 1}}},
        {"family": "windows", "windows": {"version": 2022, "persist": "{{ persists }}"}, "commands": {"pre": "Get-Date"}},
        {"family": "ubuntu", "ubuntu": {"release": 22.04}, "kubelet": {"flags": {"v": 2, "x": ["a", "b"]}}},
    ],
)
def test_the_schema_accepts_every_spelling_of_variables_files(group: dict[str, Any]) -> None:
    assert problems("node_group", group) == []
