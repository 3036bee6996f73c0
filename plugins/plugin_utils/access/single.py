# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One access entry of any principal: what is wanted, and the steps from the entry that exists. For the action access_entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from ..model.plain import INVALID, plain
from ..model.role_arn import find_role, principal_arn
from ..model.schema import Check, list_of, map_of, record, text
from .entries import AUTO_NODE_POLICY
from .observed import CONFIG_MAP, TAG, TAG_VALUE, without_aws_tags

STANDARD, AUTO = "STANDARD", "EC2"
TYPES = (STANDARD, "EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX")
_RESERVED_NAMES = ("system:", "eks:", "aws:", "amazon:", "iam:")
_POLICIES = "cluster-access-policy/"


@dataclass(frozen=True)
class Wanted:
    """The entry that is described. None: not managed. policies: ARN → namespaces, C(()) for the whole cluster."""

    principal: str
    kind: str = STANDARD
    groups: tuple[str, ...] | None = None
    username: str | None = None
    policies: Mapping[str, tuple[str, ...]] | None = None
    tags: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Choice:
    """How far a change may go. caller: the ARN of the caller."""

    caller: str = ""
    force: bool = False
    recreate: bool = False
    purge_tags: bool = False


@dataclass(frozen=True)
class Step:
    """One call. action: C(create), C(recreate), C(update), C(associate), C(disassociate), C(tag) or C(delete).

    members: of CreateAccessEntry or UpdateAccessEntry, or the tags. policies: ARN → namespaces. removed: keys of tags.
    """

    action: str
    members: Mapping[str, Any] | None = None
    policies: Mapping[str, tuple[str, ...]] | None = None
    removed: tuple[str, ...] = ()


def read_wanted(options: Mapping[str, Any]) -> Wanted:
    """The entry in the options of a task. Raises C(SpecError)."""
    problems = Problems()
    given = plain({key: options[key] for key in _FIELDS if options.get(key) is not None}, "", problems)
    values = {name: _FIELDS[name](value, name, problems) for name, value in given.items()} if given is not INVALID else {}
    if "principal_arn" not in values and not problems:
        problems.add("input.missing_field", "principal_arn", "is required", fix="set the ARN of the role or user")
    valid = {name: value for name, value in values.items() if value is not INVALID}
    if "principal_arn" in valid:
        _check(valid, str(options["type"]), problems)
    problems.raise_any()
    partition = values["principal_arn"].split(":")[1]
    policies = values.get("access_policies")
    return Wanted(
        values["principal_arn"],
        str(options["type"]),
        tuple(values["kubernetes_groups"]) if "kubernetes_groups" in values else None,
        values.get("username"),
        None if policies is None else {_policy_arn(one["policy"], partition): tuple(one.get("namespaces", ())) for one in policies},
        values.get("tags"),
    )


def _check(values: Mapping[str, Any], kind: str, problems: Problems) -> None:
    """Report options that EKS would refuse."""
    if kind != STANDARD:
        for name in ("kubernetes_groups", "username"):
            if name in values:
                problems.add("access.invalid_entry", name, f"cannot be set for the type {kind}: EKS chooses it", fix="remove it")
        if find_role(values["principal_arn"]) is None:
            problems.add("access.invalid_entry", "principal_arn", f"must be a role for the type {kind}", value=values["principal_arn"])
    for index, group in enumerate(values.get("kubernetes_groups", ())):
        if group.startswith("system:"):
            fix = "use the access policy AmazonEKSClusterAdminPolicy" if group == "system:masters" else "bind another group"
            problems.add("access.invalid_entry", joined("kubernetes_groups", index), "cannot begin with system:", value=group, fix=fix)
    if values.get("username", "").startswith(_RESERVED_NAMES):
        problems.add(
            "access.invalid_entry", "username", f"cannot begin with {', '.join(_RESERVED_NAMES)}", value=values["username"],
            fix="remove it: EKS chooses a name",
        )  # fmt: skip
    for index, one in enumerate(values.get("access_policies", ())):
        path = joined("access_policies", index)
        is_auto = one.get("policy", "").rpartition("/")[2] == AUTO_NODE_POLICY.rpartition("/")[2]
        if is_auto != (kind == AUTO):
            allowed = "AmazonEKSAutoNodePolicy for the type EC2, and the other policies for the type STANDARD"
            problems.add("access.invalid_entry", path, f"cannot be used with the type {kind}", allowed=allowed)
        elif kind == AUTO and one.get("namespaces"):
            problems.add("access.invalid_entry", joined(path, "namespaces"), "cannot be set for nodes", fix="remove it")
    for key in values.get("tags", {}):
        if key.lower().startswith("aws:"):
            problems.add("access.invalid_entry", joined("tags", key), "begins with aws:, which is reserved", fix="rename it")


def _policy_arn(name: str, partition: str) -> str:
    return name if name.startswith("arn:") else f"arn:{partition}:eks::aws:{_POLICIES}{name}"


_WORD = text()
_FIELDS: dict[str, Check] = {
    "principal_arn": principal_arn,
    "kubernetes_groups": list_of(_WORD),
    "username": _WORD,
    "access_policies": list_of(
        record(
            {"policy": _WORD, "namespaces": list_of(_WORD, filled=True)},
            required={"policy": "the name or the ARN of an access policy, such as AmazonEKSViewPolicy"},
            main="policy",
        )
    ),
    "tags": map_of(text(empty=True), allowed="tags such as {team: web}"),
}


# --- steps --------------------------------------------------------------------------------------------------------------------------


def plan_present(wanted: Wanted, found: Mapping[str, Any] | None, mode: str, choice: Choice) -> tuple[Step, ...]:
    """The steps to the described entry. found: the entry with C(accessPolicies). Raises C(SpecError)."""
    problems = Problems()
    _check_mode(mode, problems)
    steps: tuple[Step, ...] = ()
    if found is None:
        steps = (Step("create", _members(wanted), wanted.policies),)
    elif found.get("type") != wanted.kind:
        steps = _other_type(wanted, found, choice, problems)
    else:
        steps = tuple(_changes(wanted, found, choice, problems))
    problems.raise_any()
    return steps


def plan_absent(principal: str, found: Mapping[str, Any] | None, mode: str, choice: Choice) -> tuple[Step, ...]:
    """The steps that remove an entry. Raises C(SpecError)."""
    problems = Problems()
    _check_mode(mode, problems)
    if found is None:
        problems.raise_any()
        return ()
    if is_own(principal, choice.caller):
        _refuse_own(principal, problems)
    elif TAG not in (found.get("tags") or {}) and not choice.force:
        problems.add(
            "access.foreign_entry", "principal_arn", f"has an access entry of type {found.get('type')} that another tool created",
            value=principal, fix="remove it with that tool, or set force: true",
        )  # fmt: skip
    problems.raise_any()
    return (Step("delete"),)


def is_own(principal: str, caller: str) -> bool:
    """Whether an entry is the way in of the caller. A session of a role does not have the path of the role."""
    role, own = find_role(principal), find_role(caller)
    return principal == caller or (role is not None and own is not None and role.key == own.key)


def _check_mode(mode: str, problems: Problems) -> None:
    if mode == CONFIG_MAP:
        fix = "change the authentication mode of the cluster to API_AND_CONFIG_MAP, which cannot be undone"
        problems.add("access.needs_access_entries", "cluster", "has no access entries: it uses only aws-auth", fix=fix)


def _members(wanted: Wanted) -> dict[str, Any]:
    members = {
        "type": wanted.kind,
        "tags": {TAG: TAG_VALUE, **(wanted.tags or {})},
        "kubernetesGroups": list(wanted.groups) if wanted.groups else None,
        "username": wanted.username,
    }
    return {name: value for name, value in members.items() if value is not None}


def _other_type(wanted: Wanted, found: Mapping[str, Any], choice: Choice, problems: Problems) -> tuple[Step, ...]:
    if is_own(wanted.principal, choice.caller):
        _refuse_own(wanted.principal, problems)
    elif not choice.recreate:
        fix = "set recreate: true, which deletes the entry and creates it again"
        message = f"is {wanted.kind}, but the access entry has the type {found.get('type')}, which cannot be changed"
        problems.add("access.wrong_entry_type", "type", message, fix=fix)
    members = _members(wanted)
    kept = {} if choice.purge_tags and wanted.tags is not None else without_aws_tags(found.get("tags") or {})
    return (Step("recreate", {**members, "tags": {**kept, **members["tags"]}}, wanted.policies),)


def _changes(wanted: Wanted, found: Mapping[str, Any], choice: Choice, problems: Problems) -> Iterator[Step]:
    """The differences from an entry of the same type."""
    groups, present = wanted.groups, set(found.get("kubernetesGroups") or ())
    members: dict[str, Any] = {}
    if groups is not None and set(groups) != present:
        members["kubernetesGroups"] = list(groups)
    if wanted.username is not None and wanted.username != found.get("username"):
        members["username"] = wanted.username
    if members:
        yield Step("update", members)
    scopes = policies_of(found)
    missing = {arn: names for arn, names in (wanted.policies or {}).items() if arn not in scopes or set(scopes[arn]) != set(names)}
    extra = {arn: scopes[arn] for arn in scopes if wanted.policies is not None and arn not in wanted.policies}
    if missing:
        yield Step("associate", policies=missing)
    if extra:
        yield Step("disassociate", policies=extra)
    loses = extra or any(arn in scopes for arn in missing) or (groups is not None and present - set(groups)) or "username" in members
    if loses and is_own(wanted.principal, choice.caller):
        _refuse_own(wanted.principal, problems)
    yield from _tags(wanted, found, choice)


def _tags(wanted: Wanted, found: Mapping[str, Any], choice: Choice) -> Iterator[Step]:
    present, ours = dict(found.get("tags") or {}), {TAG: TAG_VALUE}
    needed = {**(ours if choice.force else {}), **(wanted.tags or {})}
    changed = {key: value for key, value in needed.items() if present.get(key) != value}
    removed: Sequence[str] = ()
    if choice.purge_tags and wanted.tags is not None:
        removed = sorted(key for key in present if key not in needed and key != TAG and not key.startswith("aws:"))
    if changed or removed:
        yield Step("tag", changed, removed=tuple(removed))


def policies_of(found: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The access policies of an entry: ARN → namespaces, C(()) for the whole cluster."""
    return {
        str(one["policyArn"]): tuple((one.get("accessScope") or {}).get("namespaces") or ()) for one in found.get("accessPolicies") or ()
    }  # fmt: skip


def associations(policies: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """C(policyArn) and C(accessScope) of each policy, as EKS has them."""
    return [
        {"policyArn": arn, "accessScope": {"type": "namespace", "namespaces": list(names)} if names else {"type": "cluster"}}
        for arn, names in policies.items()
    ]


def _refuse_own(principal: str, problems: Problems) -> None:
    fix = "use the credentials of another principal for this change"
    problems.add(
        "access.own_access", "principal_arn", "is your own access to the cluster, and would lose permissions", value=principal, fix=fix
    )


def after(found: Mapping[str, Any] | None, wanted: Wanted, steps: Sequence[Step]) -> dict[str, Any] | None:
    """The entry after the steps, as far as it is known without EKS; for diffs and check mode."""
    result: dict[str, Any] | None = None if found is None else {**found, "accessPolicies": policies_of(found)}
    for step in steps:
        result = _APPLY[step.action](result or {}, wanted, step)
    return None if result is None else {**result, "accessPolicies": associations(result["accessPolicies"])}


def _created(_before: dict[str, Any], wanted: Wanted, step: Step) -> dict[str, Any]:
    return {"principalArn": wanted.principal, **dict(step.members or {}), "accessPolicies": dict(step.policies or {})}


def _retagged(before: dict[str, Any], _wanted: Wanted, step: Step) -> dict[str, Any]:
    tags = {key: value for key, value in (before.get("tags") or {}).items() if key not in step.removed}
    return {**before, "tags": {**tags, **dict(step.members or {})}}


_APPLY: dict[str, Callable[[dict[str, Any], Wanted, Step], dict[str, Any] | None]] = {
    "create": _created,
    "recreate": _created,
    "update": lambda before, _wanted, step: {**before, **dict(step.members or {})},
    "associate": lambda before, _wanted, step: {**before, "accessPolicies": {**before["accessPolicies"], **dict(step.policies or {})}},
    "disassociate": lambda before, _wanted, step: {
        **before,
        "accessPolicies": {arn: names for arn, names in before["accessPolicies"].items() if arn not in (step.policies or {})},
    },
    "tag": _retagged,
    "delete": lambda _before, _wanted, _step: None,
}
