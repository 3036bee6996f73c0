# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plugins, roles and playbooks: names, documentation and code say the same, and the public surface changes on purpose only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.consistency import plugin_rules as rules
from ansible_collections.nodebootstrap.eks.tests.consistency import project, surface

JINJA = ("filter", "test")
ENVELOPES = ("filter", "test", "action", "lookup")
DOCUMENTED = ("filter", "test", "lookup", "modules", "action")


def found(*kinds: str) -> list[tuple[str, str, str]]:
    """Kind, name and file of every public plugin of these kinds."""
    return [(kind, stem, name) for kind in kinds for stem, name in project.plugins(kind).items()]


def test_envelopes_are_small() -> None:
    project.none_of(problem for *_kind, name in found(*ENVELOPES) for problem in rules.envelope_problems(name, project.text(name)))


def test_names_are_one() -> None:
    project.none_of(
        problem
        for kind, stem, name in found(*JINJA)
        for problem in rules.name_problems(name, stem, project.documentation(kind, stem).get("doc") or {}, project.callables(kind, name))
    )


def test_no_documentation_without_a_plugin() -> None:
    sidecars = [name for kind in JINJA for name in project.under(f"plugins/{kind}", ".yml")]
    project.none_of(name for name in sidecars if name.replace(".yml", ".py") not in project.files())


def test_every_action_has_its_module() -> None:
    project.none_of(name for _kind, stem, name in found("action") if stem not in project.plugins("modules"))


def test_every_plugin_is_documented() -> None:
    project.none_of(
        problem for kind, stem, name in found(*DOCUMENTED) for problem in rules.doc_problems(name, stem, project.documentation(kind, stem))
    )


def test_a_fragment_of_documentation_is_said_by_many() -> None:
    """Text of a single module is in that module; and no fragment is missing. The generated fragment (fields) is also used by filters."""
    own = [yaml.safe_load(project.constants(project.text(name))["DOCUMENTATION"]) for name in project.plugins("modules").values()]
    users = Counter(name for doc in own for name in doc.get("extends_documentation_fragment", ()))
    assert users.keys() | {"nodebootstrap.eks.fields.filter"} == project.fragments().keys()
    assert not [name for name, count in users.items() if count < 2]


@pytest.mark.parametrize("name", ["phases", "problems", "unchecked"])
def test_a_result_of_every_action_that_renders_is_described_in_one_way(name: str) -> None:
    """Ansible has no fragments for results, so each module repeats the text."""
    results = [project.documentation("action", stem)["return"] for stem in project.plugins("action")]
    texts = [result[name] for result in results if name in result and "unchecked" in result]
    assert len(texts) > 2 and all(text == texts[0] for text in texts)


def test_results_do_not_use_names_of_ansible() -> None:
    """A result with C(skipped), for example, is never checked against C(failed_when)."""
    reserved = {"ansible_facts", "exception", "failed", "invocation", "results", "skipped", "unreachable"}
    project.none_of(
        f"{name}: RETURN has {word}, which has a meaning for Ansible"
        for _kind, stem, name in found("modules")
        for word in sorted(reserved & (project.documentation("modules", stem).get("return") or {}).keys())
    )


def test_documented_parameters_are_the_real_ones() -> None:
    project.none_of(
        problem
        for kind, stem, name in found(*JINJA)
        for problem in rules.signature_problems(
            name, project.documentation(kind, stem).get("doc") or {}, project.callables(kind, name).get(stem, lambda value: value)
        )
    )


def test_every_plugin_has_unit_tests() -> None:
    """Some test of the plugin's kind names it."""
    for kind in ENVELOPES:
        tests = "\n".join(project.text(name) for name in project.under(f"tests/unit/plugins/{kind}", ".py"))
        project.none_of(
            f"plugins/{kind}/{stem}.py: no file in tests/unit/plugins/{kind} names {stem}"
            for stem in project.plugins(kind)
            if not re.search(rf"\b{stem}\b", tests)
        )


def test_role_defaults_are_their_specification() -> None:
    problems = []
    for role in project.roles():
        options = project.argument_specs(role).get("main", {}).get("options") or {}
        # A role of a family imports the tasks of eks_node, and with them its defaults.
        sources = [name for name in (role, "eks_node") if f"roles/{name}/defaults/main.yml" in project.files()]
        defaults = yaml.safe_load(project.text(f"roles/{sources[0]}/defaults/main.yml"))
        problems += rules.role_problems(role, defaults, options)
        problems += [
            f"{role}: no {file}" for file in ("README.md", "meta/argument_specs.yml") if f"roles/{role}/{file}" not in project.files()
        ]
    project.none_of(problems)


def test_ansible_doc_lists_internal_modules_as_internal() -> None:
    """Ansible has no hidden modules: a leading underscore means deprecated, and sanity requires documentation."""
    environment = os.environ | {"ANSIBLE_COLLECTIONS_PATH": str(project.TOP / ".cache")}
    command = [Path(sys.executable).with_name("ansible-doc"), "-l", "-t", "module", "--json", "nodebootstrap.eks"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    listed = {name.rpartition(".")[2]: text for name, text in json.loads(done.stdout).items()}
    assert set(listed) == set(project.plugins("modules"))
    assert [name for name, text in listed.items() if text.startswith("Internal")] == ["anywhere_eksctl", "anywhere_step", "apply_plan"]


def test_the_public_surface_is_the_written_one() -> None:
    written, real = surface.FILE.read_text(encoding="utf-8").splitlines(), surface.lines()
    project.none_of([f"gone: {line}" for line in written if line not in real] + [f"new: {line}" for line in real if line not in written])


GOOD: dict[str, Any] = {
    "doc": {
        "name": "thing",
        "short_description": "x",
        "description": ["x"],
        "version_added": "0.1.0",
        "author": ["x"],
        "options": {"_input": {"required": True}, "cluster": {"required": True}, "size": {"default": 3}},
    },
    "examples": '- debug:\n    msg: "{{ 1 | nodebootstrap.eks.thing({}) }}"\n',
    "return": {"_value": {}},
}


def test_good_plugins_pass() -> None:
    assert rules.doc_problems("thing.py", "thing", GOOD) == []
    assert rules.name_problems("thing.py", "thing", GOOD["doc"], ["thing"]) == []
    assert rules.signature_problems("thing.py", GOOD["doc"], lambda value, cluster, size=3: None) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc": None}, "no documentation"),
        ({"examples": ""}, "no example uses"),
        ({"examples": "nodebootstrap.eks.thing"}, "no list of tasks"),
        ({"examples": "- nodebootstrap.eks.thing: ["}, "no YAML"),
        ({"return": None}, "return value"),
        ({"doc": {**GOOD["doc"], "version_added": None}}, "lacks version_added"),
    ],
)
def test_missing_documentation_is_seen(change: dict[str, Any], message: str) -> None:
    assert any(message in problem for problem in rules.doc_problems("thing.py", "thing", {**GOOD, **change}))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda value, cluster: None, "parameters"),
        (lambda value, size, cluster: None, "parameters"),
        (lambda value, cluster, size: None, "size is required"),
        (lambda value, cluster, size=4: None, "defaults to 4"),
    ],
)
def test_another_signature_is_seen(function: Any, message: str) -> None:
    assert any(message in problem for problem in rules.signature_problems("thing.py", GOOD["doc"], function))


def test_other_names_are_seen() -> None:
    assert rules.name_problems("thing.py", "thing", {"name": "other"}, ["thing"])
    assert rules.name_problems("thing.py", "thing", {"name": "thing"}, ["thing", "other"])


def test_code_lines_are_counted() -> None:
    envelope = (
        'DOCUMENTATION = """\n' + "x\n" * 60 + '"""\n\n\ndef f():\n    """Says\n    a lot."""\n    # why\n    return (\n        1\n    )\n'
    )
    assert rules.code_lines(envelope) == 4
    assert rules.envelope_problems("a.py", envelope) == []
    assert rules.envelope_problems("a.py", "x = 1\n" * 41)


@pytest.mark.parametrize(
    ("defaults", "options", "message"),
    [
        ({"eks_a": 1}, {}, "does not know"),
        ({}, {"eks_a": {"type": "int", "description": "x", "default": 1}}, "no default in"),
        ({"eks_a": 2}, {"eks_a": {"type": "int", "description": "x", "default": 1}}, "specified 1"),
        ({}, {"eks_a": {"type": "int"}}, "lacks description"),
        ({}, {"other": {"type": "int", "description": "x"}}, "does not begin"),
        ({"eks_a": 1}, {"eks_a": {"type": "int", "description": "x", "default": 1}}, None),
    ],
)
def test_a_role_that_disagrees_is_seen(defaults: dict[str, Any], options: dict[str, Any], message: str | None) -> None:
    problems = rules.role_problems("example", defaults, options)
    assert [message in problem for problem in problems] == ([True] if message else [])
