# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles: one set of variables and steps, said the same everywhere, and nothing that facts would have to bring."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply, bottlerocket
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import options as live_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.tests.consistency import project

FACADE = "eks_node"
FAMILY_ROLES = tuple(f"{FACADE}_{family}" for family in FAMILIES)
IMAGE = f"{FACADE}_image"
"""The role that builds images. It has variables of its own."""

DOCTOR = f"{FACADE}_doctor"
"""The role that examines nodes. It has variables of its own."""

PUBLISH = f"{FACADE}_publish"
"""The role that publishes launch templates. It has variables of its own."""

UPGRADE = f"{FACADE}_upgrade"
"""The role that upgrades the nodes of a group. It has variables of its own."""

ACCESS = "eks_cluster_access"
"""The role that maps the roles of nodes in a cluster. It has variables of its own."""

ANYWHERE = "eks_anywhere"
"""The role that creates and deletes clusters. It has variables of its own."""

ADMIN_MACHINE = "eks_anywhere_admin_machine"
"""The role that prepares an admin machine. It has variables of its own."""

REQUIRED = {"eks_node_cluster", "eks_node_group"}
TAGS = "{{ '" + " ".join(PHASES) + "'.split() | difference(ansible_skip_tags) }}"

# The default depends on the family, so the action sets it.
WAIT_FOR = "eks_node_wait_for"
NOT_JOINED = {f"{FACADE}_windows", f"{FACADE}_bottlerocket"}

# The shared task file selects one of these, named after the operating system.
SYSTEMS = {"linux": "apply", "windows": "apply_windows", "bottlerocket": "bottlerocket_settings"}

# Variables of the play and the run, which no fact brings.
MAGIC = {"ansible_check_mode", "ansible_play_batch", "ansible_play_hosts_all", "ansible_run_tags", "ansible_skip_tags"}
FACT = re.compile(r"\bansible_[a-z0-9_]+\b|\bhostvars\[[^]]+\]\.ansible_")


def options(role: str) -> dict[str, Any]:
    return dict(project.argument_specs(role)["main"]["options"])


def defaults() -> dict[str, Any]:
    return dict(yaml.safe_load(project.text(f"roles/{FACADE}/defaults/main.yml")))


def tasks(role: str, file: str = "main") -> list[dict[str, Any]]:
    return list(yaml.safe_load(project.text(f"roles/{role}/tasks/{file}.yml")))


def table(role: str) -> dict[str, str]:
    """Variable → default, as the README of a role tells them."""
    rows = re.findall(r"^\| `(eks_node_[a-z_]+)` \|[^|]*\|([^|]*)\|", project.text(f"roles/{role}/README.md"), flags=re.MULTILINE)
    return {name: default.strip().strip("`") for name, default in rows}


def shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("role", project.roles())
def test_a_failed_validation_does_not_bury_the_message(role: str) -> None:
    """If a variable is invalid, Ansible prints the options of the argument spec, for each host. In 2.16, the message is at the end."""
    assert len(json.dumps(options(role))) < 4000


def test_there_is_a_role_for_every_family() -> None:
    assert set(project.roles()) == {FACADE, *FAMILY_ROLES, IMAGE, DOCTOR, PUBLISH, UPGRADE, ACCESS, ANYWHERE, ADMIN_MACHINE}


def test_the_role_of_images_knows_its_variables() -> None:
    names = yaml.safe_load(project.text(f"roles/{IMAGE}/vars/main.yml"))
    assert {IMAGE, *names["eks_node_image__variables"]} == set(options(IMAGE))
    texts = [path.read_text(encoding="utf-8") for path in (project.TOP / "roles" / IMAGE / "tasks").iterdir()]
    registered = {name for text in texts for name in re.findall(r"register: (\w+)", text)}
    assert {name for name in registered if not name.startswith(f"{IMAGE}__")} == set(names["eks_node_image__results"])


LINUX_ONLY = ("eks_node_drift", "eks_node_lock_timeout")
"""Variables that the other systems refuse."""


def test_the_defaults_are_those_of_the_action() -> None:
    given = {f"eks_node_{name}": option["default"] for name, option in apply.OPTIONS.items() if "default" in option}
    assert [given.pop(name) for name in (WAIT_FOR, *LINUX_ONLY)] == ["ready", "repair", 30]
    assert defaults() == given
    for common in (live_options.OPTIONS, bottlerocket.OPTIONS):
        found = {f"eks_node_{name}": option["default"] for name, option in common.items() if "default" in option}
        assert found.pop(WAIT_FOR) == "healthy"
        assert defaults().items() <= found.items()


@pytest.mark.parametrize("role", (FACADE, *FAMILY_ROLES))
def test_the_readme_tells_every_variable_and_its_default(role: str) -> None:
    known = {name: "required" if name in REQUIRED else shown(defaults()[name]) for name in (*REQUIRED, *defaults())}
    known[WAIT_FOR] = "healthy" if role in NOT_JOINED else "ready"
    known |= dict(zip(LINUX_ONLY, ("", "") if role in NOT_JOINED else ("repair", "30"), strict=True))
    own = options(role).keys() - known.keys()
    told = table(role)
    assert {name: told.get(name) for name in known} == known
    assert own <= told.keys()
    assert told.keys() <= options(role).keys()


@pytest.mark.parametrize("role", FAMILY_ROLES)
def test_a_role_of_a_family_takes_the_variables_of_the_facade(role: str) -> None:
    mine, facade = options(role), options(FACADE)
    for name, option in facade.items():
        assert {key: mine[name].get(key) for key in ("type", "choices", "required", "default")} == {
            key: option.get(key) for key in ("type", "choices", "required", "default")
        }, name
        assert option.get("default") == defaults().get(name), name
    project.none_of(name for name in mine if name not in facade and not name.startswith(f"{role}_"))


def test_every_role_runs_the_shared_tasks() -> None:
    (task,) = tasks(FACADE)
    assert task["ansible.builtin.import_tasks"] == "apply.yml"
    for role in FAMILY_ROLES:
        (task,) = tasks(role)
        assert task["ansible.builtin.import_role"] == {"name": f"nodebootstrap.eks.{FACADE}", "tasks_from": "apply"}
        assert task["vars"] == {"eks_node__family": role.removeprefix(f"{FACADE}_")}


def test_the_shared_tasks_have_the_five_tags_and_can_be_skipped_by_each() -> None:
    (block,) = tasks(FACADE, "apply")
    assert block["tags"] == TAGS
    places = [name for name in project.under("roles", ".yml") if "/tasks/" in name and "ansible_skip_tags" in project.text(name)]
    assert places == [f"roles/{FACADE}/tasks/apply.yml"], "the expression is written once"


def test_one_task_hands_every_variable_on_to_the_module_of_each_system() -> None:
    (block,) = tasks(FACADE, "apply")
    (task,) = [task for task in block["block"] if "action" in task]
    given = task["args"]
    assert task["register"] == "eks_node_result"
    assert task["vars"]["eks_node__modules"] == {system: f"nodebootstrap.eks.{name}" for system, name in SYSTEMS.items()}
    for name in {*defaults(), WAIT_FOR}:
        assert name in given[name.removeprefix("eks_node_")], name
    for role in FAMILY_ROLES:
        own = options(role).keys() - options(FACADE).keys()
        assert [name for name in own if name not in str(given)] == []


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
        for name in project.under(f"roles/{role}/tasks", ".yml"):
            # An image is built by programs of the system, such as the one that reads certificates.
            words = "set_fact|shell" if role == IMAGE else "set_fact|shell|command"
            assert not re.search(rf"\b({words}):", project.text(name)), name
