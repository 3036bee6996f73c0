# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples that build images. tests/oracle/test_packer_templates.py has those of Packer."""

from __future__ import annotations

import json
import re
import subprocess
from copy import deepcopy
from typing import Any

import jsonschema
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.consistency import project

COMPONENT = "examples/image-builder/component.yml"
SCHEMA = json.loads(project.text("tests/oracle/data/awstoe.schema.json"))


BUILDERS = {"al2023": {"id": "amzn", "version_id": "2023"}, "ubuntu": {"id": "ubuntu", "version_id": "24.04"}}


@pytest.mark.parametrize("family", BUILDERS)
def test_the_variables_of_packer_describe_an_image(family: str) -> None:
    variables = yaml.safe_load(project.text(f"examples/packer/{family}.yml"))
    assert set(variables) == {"eks_node_image"}
    plan = image_plan(variables["eks_node_image"], {**BUILDERS[family], "architecture": "x86_64"})
    assert plan["family"] == family
    assert "kubelet" in {download["name"] for download in plan["downloads"]}


def component() -> dict[str, Any]:
    return dict(yaml.safe_load(project.text(COMPONENT)))


def errors(document: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)]


def steps() -> dict[str, dict[str, Any]]:
    (build,) = component()["phases"]
    return {step["name"]: step for step in build["steps"]}


def test_the_component_of_image_builder_has_only_documented_keys() -> None:
    assert errors(component()) == []


@pytest.mark.parametrize(
    "place", [(), ("phases", 0), ("phases", 0, "steps", 0), ("phases", 0, "steps", 1, "inputs"), ("parameters", 0, "Variables")]
)
def test_an_unknown_key_is_found(place: tuple[str | int, ...]) -> None:
    document: Any = deepcopy(component())
    part = document
    for key in place:
        part = part[key]
    part["unknown"] = 1
    assert errors(document)


def test_the_component_uses_the_parameters_that_it_declares() -> None:
    declared = {name for parameter in component()["parameters"] for name in parameter}
    assert set(re.findall(r"\{\{ (\w+) \}\}", project.text(COMPONENT))) == declared


def test_shellcheck_accepts_the_commands_of_the_component() -> None:
    commands = [command for step in steps().values() if step["action"] == "ExecuteBash" for command in step["inputs"]["commands"]]
    done = subprocess.run(["shellcheck", "-s", "bash", "-"], input="\n".join(commands), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_component_runs_the_playbook_on_the_build_instance() -> None:
    (command,) = steps()["Bake"]["inputs"]["commands"]
    assert " nodebootstrap.eks.bake " in command and " -i localhost, -c local " in command
    assert steps()["DownloadVariables"]["inputs"][0]["destination"] in command
