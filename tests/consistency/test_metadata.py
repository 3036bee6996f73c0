# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said in several places is the same everywhere: versions, matrices, requirements, links."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.versions import known_minors
from ansible_collections.nodebootstrap.eks.tests.consistency import project

GALAXY: dict[str, Any] = yaml.safe_load(project.text("galaxy.yml"))
CORES = re.findall(r"^(\d+\.\d+) 3\.", project.text("tools/pythons.sh"), flags=re.MULTILINE)
README_SECTIONS = (
    "Description", "Requirements", "Installation", "Use Cases", "Testing", "Contributing", "Support", "Release Notes and Roadmap",
    "Related Information", "Code of Conduct", "License Information",
)  # fmt: skip


def missing_sections(readme: str) -> list[str]:
    """README sections that reviewers look for and do not find, or find empty."""
    bodies = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", readme, flags=re.MULTILINE | re.DOTALL))
    return [section for section in README_SECTIONS if not bodies.get(section, "").strip()]


def requirement_problems(lines: list[str]) -> list[str]:
    """Lower bounds only, and never Ansible itself: an execution environment brings that."""
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    return [line for line in wanted if not re.fullmatch(r"[A-Za-z0-9_.-]+>=[0-9.]+", line) or re.match(r"ansible(-core|-base)?\b", line)]


def test_readme_has_every_section() -> None:
    project.none_of(missing_sections(project.text("README.md")))


def test_a_missing_section_is_seen() -> None:
    assert missing_sections("# x\n\n## Description\n\n## Testing\n\nyes\n") == [
        section for section in README_SECTIONS if section != "Testing"
    ]


def test_the_readme_names_every_tested_core() -> None:
    assert len(CORES) >= 3
    readme = project.text("README.md")
    project.none_of(core for core in CORES if core not in readme)


def test_the_oldest_supported_core_is_tested() -> None:
    runtime = yaml.safe_load(project.text("meta/runtime.yml"))
    assert runtime["requires_ansible"] == f">={CORES[0]}.0"


def test_python_floors_agree() -> None:
    settings = project.text("pyproject.toml")
    assert 'target-version = "py310"' in settings
    assert 'python_version = "3.10"' in settings
    readme = project.text("README.md")
    assert "| Python on the controller | 3.10 or newer" in readme
    assert yaml.safe_load(project.text("tests/config.yml")) == {"modules": {"python_requires": ">=3.7"}}


def test_execution_environment_requirements_are_lower_bounds() -> None:
    project.none_of(requirement_problems(project.text("meta/ee-requirements.txt").splitlines()))
    environment = yaml.safe_load(project.text("meta/execution-environment.yml"))
    assert set(environment["dependencies"].values()) <= set(project.files())


@pytest.mark.parametrize("line", ["tomlkit==0.11", "tomlkit", "tomlkit>=0.11,<1", "ansible>=12", "ansible-core>=2.16"])
def test_a_tight_requirement_is_seen(line: str) -> None:
    assert requirement_problems([line]) == [line]


def test_every_link_of_the_collection_is_filled() -> None:
    project.none_of(key for key in ("repository", "documentation", "homepage", "issues") if "nodebootstrap/eks" not in GALAXY.get(key, ""))


def test_names_are_the_published_ones() -> None:
    assert f"{GALAXY['namespace']}.{GALAXY['name']}" == project.NAME
    assert re.fullmatch(r"\d+\.\d+\.\d+", GALAXY["version"])
    assert GALAXY["license"] == ["GPL-3.0-or-later"]


def test_the_version_has_a_changelog() -> None:
    released = yaml.safe_load(project.text("changelogs/changelog.yaml"))["releases"]
    fragments = [name for name in project.files() if name.startswith("changelogs/fragments/")]
    assert GALAXY["version"] in released or fragments


def test_badges_are_true() -> None:
    badges = dict(re.findall(r"!\[([^\]]+)\]\((https:[^)]+)\)", project.text("README.md")))
    workflows = {name: url.split("/workflows/")[1].partition("/")[0] for name, url in badges.items() if "/workflows/" in url}
    assert set(workflows) == {"CI", "Documentation"}
    project.none_of(file for file in workflows.values() if f".github/workflows/{file}" not in project.files())
    versions = [f"1.{minor}" for minor in known_minors()]
    assert {name: url.partition("/badge/")[2] for name, url in badges.items() if name not in workflows} == {
        "ansible-core": f"ansible--core-{CORES[0]}+-blue",
        "Kubernetes": f"Kubernetes-{versions[0]}_to_{versions[-1]}-blue",
        "License": f"license-{GALAXY['license'][0].replace('-', '--')}-blue",
    }


def test_new_plugins_say_a_version_that_exists() -> None:
    problems = []
    for kind in ("filter", "test", "lookup", "modules"):
        for stem in project.plugins(kind):
            added = str((project.documentation(kind, stem).get("doc") or {}).get("version_added", ""))
            if not re.fullmatch(r"\d+\.\d+\.\d+", added) or tuple(map(int, added.split("."))) > tuple(
                map(int, GALAXY["version"].split("."))
            ):
                problems.append(f"{kind} {stem}: version_added {added!r}, the collection is {GALAXY['version']}")
    project.none_of(problems)
