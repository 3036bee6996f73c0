# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action access_entry without Ansible: its options, and what one task does with one access entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..access import single
from ..access.observed import CONFIG_MAP
from ..access.single import Choice, Step, Wanted
from ..formats.yaml import dump

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "str", "required": True},
    "principal_arn": {"type": "str", "required": True},
    "type": {"type": "str", "default": single.STANDARD, "choices": list(single.TYPES)},
    "kubernetes_groups": {"type": "list", "elements": "str"},
    "username": {"type": "str"},
    "access_policies": {"type": "list", "elements": "raw"},
    "tags": {"type": "dict"},
    "purge_tags": {"type": "bool", "default": False},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
    "force": {"type": "bool", "default": False},
    "recreate": {"type": "bool", "default": False},
}


class Entries(Protocol):
    """The calls of AWS for one cluster. An entry is as EKS describes it, with C(accessPolicies)."""

    def authentication_mode(self) -> str: ...

    def caller(self) -> str: ...

    def find(self, principal: str) -> Mapping[str, Any] | None: ...

    def create(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None: ...

    def recreate(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None: ...

    def update(self, principal: str, members: Mapping[str, Any]) -> None: ...

    def associate(self, principal: str, policy: Mapping[str, Any]) -> None: ...

    def disassociate(self, principal: str, policy_arn: str) -> None: ...

    def tag(self, arn: str, tags: Mapping[str, str], removed: Sequence[str]) -> None: ...

    def delete(self, principal: str) -> None: ...


def access_entry_task(
    options: Mapping[str, Any], entries: Entries, shown: Callable[[Mapping[str, Any]], dict[str, Any]], *, check_mode: bool
) -> dict[str, Any]:
    """Create, change or remove one entry. Raises C(SpecError) if that is refused: then nothing is changed.

    shown: makes the result of the task from an entry.
    """
    wanted = single.read_wanted(options)
    mode = entries.authentication_mode()
    found = None if mode == CONFIG_MAP else entries.find(wanted.principal)
    choice = Choice(entries.caller() if found is not None else "", options["force"], options["recreate"], options["purge_tags"])
    if options["state"] == "absent":
        steps = single.plan_absent(wanted.principal, found, mode, choice)
    else:
        steps = single.plan_present(wanted, found, mode, choice)
    after: Mapping[str, Any] | None = single.after(found, wanted, steps)
    if steps and not check_mode:
        for step in steps:
            _carry_out(step, wanted, found or {}, entries)
        after = entries.find(wanted.principal)
    before, entry = (None if one is None else shown(one) for one in (found, after))
    header = f"access entry {wanted.principal}"
    diff = {"before_header": header, "after_header": header, "before": _text(before), "after": _text(entry)}
    return {"changed": bool(steps), "entry": entry, "diff": [diff] if steps else []}


def _carry_out(step: Step, wanted: Wanted, found: Mapping[str, Any], entries: Entries) -> None:
    principal, members = wanted.principal, step.members or {}
    policies = single.associations(step.policies or {})
    if step.action == "create":
        entries.create(principal, members, policies)
    elif step.action == "recreate":
        entries.recreate(principal, members, policies)
    elif step.action == "update":
        entries.update(principal, members)
    elif step.action == "associate":
        for policy in policies:
            entries.associate(principal, policy)
    elif step.action == "disassociate":
        for policy in policies:
            entries.disassociate(principal, str(policy["policyArn"]))
    elif step.action == "tag":
        entries.tag(str(found["accessEntryArn"]), members, step.removed)
    else:
        entries.delete(principal)


def _text(shown: Mapping[str, Any] | None) -> str:
    return dump({name: value for name, value in (shown or {}).items() if value and name not in _HIDDEN}) if shown else ""


_HIDDEN = ("principal_arn", "access_entry_arn", "managed")
"""What a diff does not show: it is in the heading, or follows from the tags."""
