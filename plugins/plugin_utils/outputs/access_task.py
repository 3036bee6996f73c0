# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action cluster_access without Ansible: its options, and what one task does.

Side effects happen only in the given C(Account) and C(Kubernetes). A task reads everything, plans, and fails with all problems before
anything is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..access import aws_auth, windows
from ..access.aws_auth import AwsAuth, BrokenAwsAuth
from ..access.config_map import ConfigMapPlan
from ..access.desired import NodeRole
from ..access.entries import EntryChange
from ..access.observed import CONFIG_MAP, TAG, TAG_VALUE, Entry, Observed, entry_of
from ..access.plan import AccessPlan, Settings, plain_plan, plan_access, read_input
from ..errors import Problem, Problems, SpecError
from ..model.role_arn import find_role
from . import access_report

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "raw"},
    "node_groups": {"type": "raw"},
    "roles": {"type": "raw"},
    "purge": {"type": "bool", "default": False},
    "recreate": {"type": "bool", "default": False},
    "force": {"type": "bool", "default": False},
}

_VERBS = {"create": "creating", "recreate": "deleting and creating again", "associate": "adding an access policy to", "delete": "deleting"}

ATTEMPTS = 5
"""How often aws-auth is read again because another program changed it between reading and writing."""


class Account(Protocol):
    """The calls of AWS. A text in place of a result says why it is not known."""

    def cluster(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The answer of DescribeCluster, and the input C(cluster) from it."""

    def caller(self) -> str: ...

    def entries(self) -> Sequence[Mapping[str, Any]]: ...

    def users_of_roles(self) -> Sequence[tuple[str, str]]: ...

    def policies_of_role(self, arn: str) -> Sequence[str] | str: ...

    def create(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None: ...

    def recreate(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None: ...

    def associate(self, principal: str, policy: Mapping[str, Any]) -> None: ...

    def delete(self, principal: str) -> None: ...


class Kubernetes(Protocol):
    """The API server. C(unreachable) says why there is no connection, C('') if there is one."""

    unreachable: str

    def find(self, namespace: str, name: str) -> dict[str, Any]: ...

    def write(self, namespace: str, name: str, body: Mapping[str, Any], is_new: bool) -> bool: ...

    def linux_nodes(self) -> int | str: ...


@dataclass(frozen=True)
class Run:
    """One task. connect: connects to the API server of a cluster; with its second argument, a failure ends the task."""

    account: Account
    connect: Callable[[Mapping[str, Any], bool], Kubernetes]
    say: Callable[[str], None]
    check_mode: bool


def access_task(options: Mapping[str, Any], run: Callable[[str, Any], Run]) -> dict[str, Any]:
    """Plan, and make the changes unless the run is in check mode. Raises C(SpecError) with all problems.

    run: makes the run for a cluster, from its name and its region.
    """
    given, roles = read_input(options["cluster"], options["node_groups"], options["roles"])
    task = run(given["name"], given.get("region"))
    task.say(f"cluster {given['name']}: reading access")
    described, cluster = task.account.cluster()
    check_endpoint(given, described)
    observed = _observe(task.account, described)
    kubernetes = _connect(task, cluster, observed, roles)
    facts = _windows_facts(task.account, kubernetes, described, observed) if windows.has_windows(roles) else None
    settings = Settings(options["purge"], options["recreate"], options["force"])
    return _Task(task, roles, observed, settings, kubernetes, facts).carry_out(given["name"])


def check_endpoint(given: Mapping[str, Any], described: Mapping[str, Any]) -> None:
    """Refuse a cluster of the same name in another account or region. Raises C(SpecError)."""
    endpoint, found = given.get("endpoint"), described.get("endpoint")
    if endpoint and found and str(endpoint).rstrip("/").lower() != str(found).rstrip("/").lower():
        fix = "check region and profile, or correct cluster.endpoint"
        raise SpecError(
            [Problem("access.other_cluster", "cluster.endpoint", f"is not that of this cluster ({found})", value=endpoint, fix=fix)]
        )


def _observe(account: Account, described: Mapping[str, Any]) -> Observed:
    mode = str((described.get("accessConfig") or {}).get("authenticationMode") or CONFIG_MAP)
    used: dict[tuple[str, str], tuple[str, ...]] = {}
    for arn, user in account.users_of_roles():
        role = find_role(arn)
        if role is not None:
            used[role.key] = (*used.get(role.key, ()), user)
    entries = () if mode == CONFIG_MAP else tuple(_entry(one) for one in account.entries())
    account_id = "".join(str(described.get("arn") or "").split(":")[4:5])
    return Observed(mode, account_id, entries, account.caller(), used)


def _entry(described: Mapping[str, Any]) -> Entry:
    return entry_of(described, tuple(str(one["policyArn"]) for one in described.get("accessPolicies") or ()))


def _connect(task: Run, cluster: Mapping[str, Any], observed: Observed, roles: Sequence[NodeRole]) -> Kubernetes | None:
    """The API server, None if it is not needed. Only aws-auth cannot do without it."""
    if observed.has_config_map or windows.has_windows(roles):
        return task.connect(cluster, observed.mode == CONFIG_MAP)
    return None


def _windows_facts(account: Account, kubernetes: Kubernetes | None, described: Mapping[str, Any], observed: Observed) -> windows.Facts:
    network, role = described.get("kubernetesNetworkConfig") or {}, str(described.get("roleArn") or "")
    profiles = [name for names in observed.used_by_eks.values() for name in names if name.startswith("Fargate")]
    policies = account.policies_of_role(role)
    if kubernetes is None or kubernetes.unreachable:
        reason = kubernetes.unreachable if kubernetes else "no connection"
        return windows.Facts(reason, reason, policies, str(network.get("ipFamily")), len(profiles), role)
    found = kubernetes.find(windows.NAMESPACE, windows.NAME)
    return windows.Facts(found, kubernetes.linux_nodes(), policies, str(network.get("ipFamily")), len(profiles), role)


@dataclass(frozen=True)
class _Task:
    """What is known before the first change."""

    run: Run
    roles: tuple[NodeRole, ...]
    observed: Observed
    settings: Settings
    kubernetes: Kubernetes | None
    facts: windows.Facts | None

    def carry_out(self, cluster: str) -> dict[str, Any]:
        found, broken, has_backup = self._aws_auth()
        if broken is not None and self.observed.mode == CONFIG_MAP:
            return {"changed": has_backup, "backup": self._backup_name(), **_failed(broken, self._backup_name())}
        plan = self._plan(found)
        if broken is not None:
            plan = access_report.with_finding(plan, aws_auth.refusal(broken, self._backup_name()))
        if self.observed.has_config_map and self.kubernetes is not None and self.kubernetes.unreachable:
            where = f"{aws_auth.NAMESPACE}/{aws_auth.NAME}"
            plan = access_report.with_finding(plan, Problem("access.not_checked", where, f"was not read: {self.kubernetes.unreachable}"))
        self.run.say("\n".join(["", *access_report.table(cluster, plan), ""]))
        if not self.run.check_mode:
            plan = self._change(plan)
        changed = plan.changes_anything or has_backup
        return {"changed": changed, **plain_plan(plan), "diff": access_report.diffs(plan)}

    def _plan(self, found: AwsAuth | None) -> AccessPlan:
        return plan_access(self.roles, self.observed, self.settings, aws_auth=found, windows=self.facts)

    # --- reading ------------------------------------------------------------------------------------------------------------------

    def _aws_auth(self) -> tuple[AwsAuth | None, BrokenAwsAuth | None, bool]:
        """aws-auth, or why it cannot be read; whether a copy of a broken one was made."""
        if not self.observed.has_config_map or self.kubernetes is None or self.kubernetes.unreachable:
            return None, None, False
        try:
            return aws_auth.read_config_map(self._found()), None, False
        except BrokenAwsAuth as broken:
            self.run.say(f"{aws_auth.NAMESPACE}/{aws_auth.NAME} is broken:\n{aws_auth.excerpt(broken)}")
            return None, broken, self._keep_copy()

    def _found(self) -> dict[str, Any]:
        return self._api().find(aws_auth.NAMESPACE, aws_auth.NAME)

    def _api(self) -> Kubernetes:
        """The API server, for what is done only with a connection."""
        if self.kubernetes is None:
            raise ValueError("kubernetes")
        return self.kubernetes

    def _backup_name(self) -> str:
        return str(aws_auth.backup(self._found())["metadata"]["name"])

    def _keep_copy(self) -> bool:
        """Copy a broken aws-auth to another ConfigMap, once."""
        copy = aws_auth.backup(self._found())
        name = str(copy["metadata"]["name"])
        if self._api().find(aws_auth.NAMESPACE, name):
            return False
        if not self.run.check_mode:
            self._api().write(aws_auth.NAMESPACE, name, copy, True)
        return True

    # --- changing -----------------------------------------------------------------------------------------------------------------

    def _change(self, plan: AccessPlan) -> AccessPlan:
        for change in plan.entries.changes:
            self._change_entry(change)
        plan = self._change_config_map(plan)
        if plan.windows.body is not None and self.kubernetes is not None:
            self.run.say(f"setting {windows.KEY} in {windows.NAMESPACE}/{windows.NAME}")
            if not self.kubernetes.write(windows.NAMESPACE, windows.NAME, plan.windows.body, plan.windows.is_new):
                raise_conflict(f"{windows.NAMESPACE}/{windows.NAME}")
        return plan

    def _change_entry(self, change: EntryChange) -> None:
        account, principal = self.run.account, change.principal
        self.run.say(f"{_VERBS[change.action]} the access entry of {principal}, type {change.kind}")
        members = {"type": change.kind, "tags": {**(change.before.own_tags if change.before else {}), TAG: TAG_VALUE}}
        policies = [{"policyArn": policy, "accessScope": {"type": "cluster"}} for policy in change.policies]
        if change.action == "create":
            account.create(principal, members, policies)
        elif change.action == "recreate":
            account.recreate(principal, members, policies)
        elif change.action == "delete":
            account.delete(principal)
        else:
            for policy in policies:
                account.associate(principal, policy)

    def _change_config_map(self, plan: AccessPlan) -> AccessPlan:
        """Write aws-auth. If another program was faster, plan again with what it wrote."""
        where = f"{aws_auth.NAMESPACE}/{aws_auth.NAME}"
        for _attempt in range(ATTEMPTS):
            change: ConfigMapPlan = plan.config_map
            if change.body is None or self.kubernetes is None:
                return plan
            self.run.say(f"writing {where}")
            if self.kubernetes.write(aws_auth.NAMESPACE, aws_auth.NAME, change.body, change.is_new):
                return plan
            self.run.say(f"another program changed {where} meanwhile: reading it again")
            try:
                plan = self._plan(aws_auth.read_config_map(self._found()))
            except BrokenAwsAuth as broken:
                self._keep_copy()
                raise SpecError([aws_auth.refusal(broken, self._backup_name())]) from None
        raise_conflict(where)
        return plan


def raise_conflict(where: str) -> None:
    """Refuse to go on: another program changes the same object. Raises C(SpecError)."""
    problems = Problems()
    problems.add("access.changed_meanwhile", where, "is changed by another program again and again", fix="find that program, and run again")
    problems.raise_any()


def _failed(broken: BrokenAwsAuth, kept_in: str) -> dict[str, Any]:
    problem = aws_auth.refusal(broken, kept_in)
    lines = [f"cluster_access: 1 problem\n{problem}", aws_auth.excerpt(broken)]
    return {"failed": True, "msg": "\n".join(lines), "problems": [problem.plain()]}
