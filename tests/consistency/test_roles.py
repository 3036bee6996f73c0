# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles: one set of variables and steps, said the same everywhere, and nothing that facts would have to bring."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.phases import PHASES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.tests.consistency import project

FACADE = "eks_node"
FAMILY_ROLES = tuple(f"{FACADE}_{family}" for family in FAMILIES)
REQUIRED = {"eks_node_cluster", "eks_node_group"}
TAGS = "{{ '" + " ".join(PHASES) + "'.split() | difference(ansible_skip_tags) }}"

# What runs there cannot ask the cluster.
NOT_JOINED = {f"{FACADE}_windows", f"{FACADE}_bottlerocket"}

# Variables of the play and the run, which no fact brings.
MAGIC = {"ansible_play_batch", "ansible_skip_tags"}
FACT = re.compile(r"\bansible_[a-z0-9_]+\b|\bhostvars\[[^]]+\]\.ansible_")


def options(role: str) -> dict[str, Any]:
    return dict(project.argument_specs(role)["main"]["options"])


def defaults() -> dict[str, Any]:
    return dict(yaml.safe_load(project.text(f"roles/{FACADE}/defaults/main.yml")))


def tasks(role: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load(project.text(f"roles/{role}/tasks/main.yml")))


def table(role: str) -> dict[str, str]:
    """Variable → default, as the README of a role tells them."""
    rows = re.findall(r"^\| `(eks_node_[a-z_]+)` \|[^|]*\|([^|]*)\|", project.text(f"roles/{role}/README.md"), flags=re.MULTILINE)
    return {name: default.strip().strip("`") for name, default in rows}


def shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_there_is_a_role_for_every_family() -> None:
    assert set(project.roles()) == {FACADE, *FAMILY_ROLES}


def test_the_defaults_are_those_of_the_action() -> None:
    given = {f"eks_node_{name}": option["default"] for name, option in apply.OPTIONS.items() if "default" in option}
    assert defaults() == given


@pytest.mark.parametrize("role", (FACADE, *FAMILY_ROLES))
def test_the_readme_tells_every_variable_and_its_default(role: str) -> None:
    known = {name: "required" if name in REQUIRED else shown(defaults()[name]) for name in (*REQUIRED, *defaults())}
    own = options(role).keys() - known.keys()
    told = table(role)
    assert {name: told.get(name) for name in known} == known
    assert own <= told.keys()
    assert told.keys() <= options(role).keys()


@pytest.mark.parametrize("role", FAMILY_ROLES)
def test_a_role_of_a_family_takes_the_variables_of_the_facade(role: str) -> None:
    mine, facade = options(role), options(FACADE)
    for name, option in facade.items():
        assert {key: mine[name].get(key) for key in ("type", "choices", "required")} == {
            key: option.get(key) for key in ("type", "choices", "required")
        }, name
        assert "default" not in mine[name], "the facade says it"
    project.none_of(name for name in mine if name not in facade and not name.startswith(f"{role}_"))


@pytest.mark.parametrize("role", (FACADE, *FAMILY_ROLES))
def test_every_task_has_the_five_tags_and_can_be_skipped_by_each(role: str) -> None:
    project.none_of(f"{role}: {task['name']}: {task.get('tags')}" for task in tasks(role) if task.get("tags") != TAGS)


@pytest.mark.parametrize("role", FAMILY_ROLES)
def test_a_role_hands_every_variable_on(role: str) -> None:
    first = str(tasks(role)[0])
    unused = {name for name in options(role) if name not in first}
    # What nobody can wait for there may be said for all hosts of a play.
    assert unused == ({"eks_node_wait_for", "eks_node_join_timeout"} if role in NOT_JOINED else set())
    for name in unused:
        assert options(role)[name]["description"][0].startswith("Not used here"), name


def strangers(text: str) -> list[str]:
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return [name for name in FACT.findall(code) if name not in MAGIC]


def test_no_role_and_no_playbook_needs_facts() -> None:
    names = [*project.under("roles", ".yml"), *project.under("playbooks", ".yml")]
    names = [name for name in names if "/meta/" not in name]
    project.none_of(f"{name}: {found}" for name in names for found in strangers(project.text(name)))
    for playbook in project.playbooks().values():
        assert all(play["gather_facts"] is False for play in yaml.safe_load(project.text(playbook)) if "hosts" in play)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('when: ansible_os_family == "Debian"', ["ansible_os_family"]),
        ("tags: ansible_skip_tags", []),
        ("# ansible_distribution", []),
    ],
)
def test_a_fact_is_seen(text: str, found: list[str]) -> None:
    assert strangers(text) == found


def test_roles_compute_nothing() -> None:
    for role in project.roles():
        modules = {key for task in tasks(role) for key in task}
        assert not modules & {"ansible.builtin.set_fact", "ansible.builtin.shell", "ansible.builtin.command"}, role
