# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for AWX, Systems Manager and ansible-pull agree with the collection, and with what these programs accept."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import boto3
import pytest
import yaml
from ansible import context
from ansible.cli.pull import PullCLI
from botocore.validate import validate_parameters

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores

# --- execution environment -------------------------------------------------------------------------------------------------


def definition(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(project.text(f"examples/execution-environment/{name}.yml"))
    return loaded


def test_both_definitions_differ_only_in_the_source_of_the_collection() -> None:
    galaxy, artifact = definition("execution-environment"), definition("from-artifact")
    [file] = artifact.pop("additional_build_files")
    [source] = artifact["dependencies"].pop("galaxy")["collections"]
    assert galaxy["dependencies"].pop("galaxy") == {"collections": [{"name": "nodebootstrap.eks"}]}
    assert galaxy == artifact
    assert source == {"name": f"{file['dest']}/{file['src']}", "type": "file"}


def test_the_definition_names_the_artifact_of_this_version() -> None:
    version = yaml.safe_load(project.text("galaxy.yml"))["version"]
    assert definition("from-artifact")["additional_build_files"][0]["src"] == f"nodebootstrap-eks-{version}.tar.gz"


def test_the_definition_has_the_newest_and_names_the_oldest_tested_core() -> None:
    text = project.text("examples/execution-environment/execution-environment.yml")
    assert yaml.safe_load(text)["dependencies"]["ansible_core"] == {"package_pip": f"ansible-core~={cores()[-1]}.0"}
    assert f"use ansible-core~={cores()[0]}.0" in text


def test_the_collection_asks_only_for_lower_bounds() -> None:
    needs = yaml.safe_load(project.text("meta/execution-environment.yml"))
    assert needs["version"] == 1
    lines = [line for line in project.text(needs["dependencies"]["python"]).splitlines() if line and not line.startswith("#")]
    assert lines and all(">=" in line and "<" not in line and not line.startswith("ansible") for line in lines)
    assert [line for line in project.text(needs["dependencies"]["system"]).splitlines() if not line.startswith("#")] == []


# --- AWX ---------------------------------------------------------------------------------------------------------------------

SURVEYS = {"bootstrap": "role eks_node.main", "render": "module render"}
"""Playbook → where the public surface describes values that the playbook hands on."""

#: What AWX accepts: _validate_spec_data in awx/api/views/__init__.py of github.com/ansible/awx, read on 2026-11-23.
SURVEY_FIELDS: dict[str, type] = {"name": str, "description": str, "spec": list}
QUESTION_FIELDS: dict[str, type] = {"question_name": str, "variable": str, "type": str, "required": bool}
QUESTION_TYPES: dict[str, type] = {
    "text": str, "textarea": str, "password": str, "multiplechoice": str, "multiselect": str, "integer": int, "float": float,
}  # fmt: skip
OPTIONAL_FIELDS = {"question_description", "default", "choices", "min", "max", "new_question"}


def survey_problems(survey: dict[str, Any]) -> list[str]:
    """What AWX would refuse, or would not know."""
    found = [name for name, kind in SURVEY_FIELDS.items() if not isinstance(survey.get(name), kind)]
    found += sorted(set(survey) - set(SURVEY_FIELDS))
    questions = survey.get("spec", [])
    variables = [question.get("variable") for question in questions]
    found += [f"{name} twice" for name in variables if variables.count(name) > 1]
    return found + [f"{question.get('variable')}: {problem}" for question in questions for problem in question_problems(question)]


def question_problems(question: dict[str, Any]) -> list[str]:
    """The same for one question."""
    found = [name for name, kind in QUESTION_FIELDS.items() if not isinstance(question.get(name), kind)]
    found += sorted(set(question) - set(QUESTION_FIELDS) - OPTIONAL_FIELDS)
    kind, default, choices = str(question.get("type")), question.get("default"), question.get("choices", [])
    if kind not in QUESTION_TYPES:
        return [*found, f"type {kind}"]
    # AWX sets an empty default as the value of the variable.
    found += ["default"] if not isinstance(default, QUESTION_TYPES[kind]) or default == "" else []
    found += [name for name in ("min", "max") if not isinstance(question.get(name, 0), int)]
    found += ["choices"] if (kind in ("multiplechoice", "multiselect")) != bool(choices) else []
    return found + (["default is not one of the choices"] if choices and default not in choices else [])


def survey(playbook: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(project.text(f"examples/awx/survey-{playbook}.json"))
    return loaded


@pytest.mark.parametrize("playbook", SURVEYS)
def test_awx_accepts_the_survey(playbook: str) -> None:
    assert survey_problems(survey(playbook)) == []


@pytest.mark.parametrize("playbook", SURVEYS)
def test_a_survey_asks_for_variables_of_its_playbook(playbook: str) -> None:
    surface = project.text("tests/consistency/public_surface.txt").splitlines()
    shapes = {line.partition(": ")[0]: line.partition(": ")[2] for line in surface}
    for question in survey(playbook)["spec"]:
        variable = question["variable"]
        option = f"{SURVEYS[playbook]} {variable if playbook == 'bootstrap' else variable.removeprefix('eks_node_')}"
        assert f"playbook {playbook} {variable}" in surface or option in shapes, variable
        allowed = shapes.get(option, "bool").partition(" default")[0]
        if "choices" in question:
            values = {"true", "false"} if allowed == "bool" else set(allowed.removeprefix("str in ").split("|"))
            assert set(question["choices"]) <= values, variable


QUESTION = {"question_name": "A", "variable": "a", "type": "multiplechoice", "required": True, "choices": ["x"], "default": "x"}


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 0),
        ({"required": "yes"}, 1),
        ({"type": "choice"}, 1),
        ({"type": "text", "choices": []}, 0),
        ({"type": "integer", "choices": [], "default": 1, "min": "0"}, 1),
        ({"type": "integer", "choices": [], "default": "1"}, 1),
        ({"default": "y"}, 1),
        ({"choices": []}, 1),
        ({"label": "A"}, 1),
    ],
)
def test_a_wrong_question_is_seen(change: dict[str, Any], count: int) -> None:
    assert len(survey_problems({"name": "a", "description": "b", "spec": [QUESTION | change]})) == count


def test_a_wrong_survey_is_seen() -> None:
    assert len(survey_problems({"name": "a", "spec": [QUESTION, QUESTION]})) == 3


# --- AWS Systems Manager -------------------------------------------------------------------------------------------------------

#: The parameters of the document AWS-ApplyAnsiblePlaybooks with the values that it allows. Names and values: the user guide (the page
#: systems-manager-state-manager-ansible.md of github.com/awsdocs/aws-systems-manager-user-guide). Patterns, and TimeoutSeconds: copies of
#: the document in public Terraform modules; of two patterns, the stricter one. Read on 2026-11-23.
DOCUMENT = {
    "SourceType": r"GitHub|S3",
    "SourceInfo": r"\{.+\}",
    "InstallDependencies": r"True|False",
    "PlaybookFile": r"[(a-z_A-Z0-9\-)/]+(.yml|.yaml)",
    "ExtraVariables": r"|\w+\=[^\s|:();&]+(\s\w+\=[^\s|:();&]+)*",
    "Check": r"True|False",
    "Verbose": r"-v|-vv|-vvv|-vvvv",
    "TimeoutSeconds": r"[0-9]+",
}


def association() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(project.text("examples/ssm/association.json"))
    return loaded


def test_the_association_has_the_parameters_of_the_document() -> None:
    given = association()["Parameters"]
    assert set(given) == set(DOCUMENT)
    assert {name for name, values in given.items() if len(values) != 1 or not re.fullmatch(DOCUMENT[name], values[0])} == set()
    assert set(json.loads(given["SourceInfo"][0])) == {"path"}, "a source in S3 has only a path"
    assert given["PlaybookFile"][0] in [name.removeprefix("examples/ssm/") for name in project.under("examples/ssm", ".yml")]


def test_the_association_is_a_request_that_aws_accepts() -> None:
    client = boto3.client("ssm", region_name="eu-west-1", aws_access_key_id="none", aws_secret_access_key="none")
    validate_parameters(association(), client.meta.service_model.operation_model("CreateAssociation").input_shape)


def test_the_variables_of_the_association_are_those_of_the_role() -> None:
    surface = project.text("tests/consistency/public_surface.txt")
    names = [pair.partition("=")[0] for pair in association()["Parameters"]["ExtraVariables"][0].split()]
    assert names and all(f"role eks_node.main {name}:" in surface for name in names)


# --- ansible-pull --------------------------------------------------------------------------------------------------------------


def test_ansible_pull_knows_the_options_of_the_service() -> None:
    [command] = re.findall(r"^ExecStart=(.+)$", project.text("examples/ansible-pull/eks-node-pull.service"), flags=re.MULTILINE)
    program, *arguments = shlex.split(command)
    cli = PullCLI(["ansible-pull", *arguments])
    cli.parse()
    assert program.endswith("/ansible-pull")
    assert (context.CLIARGS["url"], context.CLIARGS["checkout"]) == ("https://git.example.com/eks-nodes.git", "main")
    [playbook] = context.CLIARGS["args"]
    assert f"examples/ansible-pull/{playbook}" in project.files()
