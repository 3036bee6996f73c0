# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access entries of one cluster: reads and changes them. Runs on the controller."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .api import Api
from .client import AwsError

_NOT_FOUND = ("ResourceNotFoundException",)
_IN_USE = ("ResourceInUseException",)
_WITH_POLICIES = ("STANDARD", "EC2")
"""The types of entries that can have access policies."""

TAG = "nodebootstrap.eks/managed"
"""The tag of entries that this collection created."""

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds between attempts to create an entry that was deleted a moment ago."""


class AccessEntries:
    """The entries of a cluster. An entry is the C(accessEntry) of the API with C(accessPolicies). The methods raise C(AwsError)."""

    def __init__(self, api: Api, cluster: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._api = api
        self._cluster = cluster
        self._sleep = sleep

    def principals(self) -> List[str]:
        """The ARNs of all principals."""
        return [str(arn) for arn in self._api.pages("eks", "list_access_entries", "accessEntries", clusterName=self._cluster)]

    def all(self) -> List[Dict[str, Any]]:
        """All entries. An entry that is deleted meanwhile is left out."""
        found = (self.find(principal) for principal in self.principals())
        return [entry for entry in found if entry is not None]

    def find(self, principal: str) -> Optional[Dict[str, Any]]:
        """The entry of a principal, None if there is none."""
        answer = self._api.call("eks", "describe_access_entry", absent=_NOT_FOUND, **self._names(principal))
        if answer is None:
            return None
        entry: Dict[str, Any] = dict(answer["accessEntry"])
        has_policies = entry.get("type") in _WITH_POLICIES
        return {**entry, "accessPolicies": self._policies(principal) if has_policies else []}

    def _policies(self, principal: str) -> List[Dict[str, Any]]:
        return self._api.pages("eks", "list_associated_access_policies", "associatedAccessPolicies", **self._names(principal))

    def create(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]] = ()) -> None:
        """Create an entry. members: those of CreateAccessEntry that are set. policies: C(policyArn) and C(accessScope) of each."""
        answer = self._api.call("eks", "create_access_entry", absent=_IN_USE, **self._names(principal), **members)
        if answer is None:
            raise AwsError(f"another program created an access entry of {principal} at the same time; fix: run again")
        self._associate_all(principal, policies)

    def recreate(self, before: Mapping[str, Any], members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]] = ()) -> None:
        """Delete an entry, and create it with another type. If it cannot be created, the old one is restored.

        before: as C(find) returns it.
        """
        principal = str(before["principalArn"])
        self.delete(principal)
        try:
            self._create_again(principal, members)
        except AwsError as error:
            try:
                self._create_again(principal, members_of(before))
                self._associate_all(principal, before["accessPolicies"])
            except AwsError as second:
                raise AwsError(
                    f"the access entry of {principal} is deleted, and cannot be created again ({error}); it cannot be restored either "
                    f"({second}); fix: create it with the type {before.get('type')}"
                ) from None
            raise AwsError(f"{error}; the access entry of {principal} is as it was") from None
        self._associate_all(principal, policies)

    def _create_again(self, principal: str, members: Mapping[str, Any]) -> None:
        """EKS may still know the entry for a moment."""
        for pause in (*PAUSES, None):
            if self._api.call("eks", "create_access_entry", absent=_IN_USE, **self._names(principal), **members) is not None:
                return
            if pause is not None:
                self._sleep(pause)
        raise AwsError(f"EKS still has the deleted access entry of {principal}")

    def update(self, principal: str, members: Mapping[str, Any]) -> None:
        """Set C(kubernetesGroups) or C(username) of an entry of the type STANDARD."""
        self._api.call("eks", "update_access_entry", **self._names(principal), **members)

    def tag(self, arn: str, tags: Mapping[str, str], removed: Sequence[str] = ()) -> None:
        """Change the tags of an entry. arn: of the entry."""
        if tags:
            self._api.call("eks", "tag_resource", resourceArn=arn, tags=dict(tags))
        if removed:
            self._api.call("eks", "untag_resource", resourceArn=arn, tagKeys=list(removed))

    def associate(self, principal: str, policy: Mapping[str, Any]) -> None:
        """Add an access policy, or change its scope."""
        names = self._names(principal)
        self._api.call("eks", "associate_access_policy", policyArn=policy["policyArn"], accessScope=policy["accessScope"], **names)

    def disassociate(self, principal: str, policy_arn: str) -> None:
        """Remove an access policy."""
        self._api.call("eks", "disassociate_access_policy", absent=_NOT_FOUND, policyArn=policy_arn, **self._names(principal))

    def delete(self, principal: str) -> None:
        """Delete an entry, if it still exists."""
        self._api.call("eks", "delete_access_entry", absent=_NOT_FOUND, **self._names(principal))

    def _associate_all(self, principal: str, policies: Sequence[Mapping[str, Any]]) -> None:
        for policy in policies:
            scope = {key: value for key, value in policy["accessScope"].items() if value}
            self.associate(principal, {"policyArn": policy["policyArn"], "accessScope": scope})

    def _names(self, principal: str) -> Dict[str, str]:
        return {"clusterName": self._cluster, "principalArn": principal}


def members_of(entry: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of CreateAccessEntry that create an entry like this one."""
    names = ["type", "tags"] + (["kubernetesGroups", "username"] if entry.get("type") == "STANDARD" else [])
    return {name: entry[name] for name in names if entry.get(name)}


def plain_entry(entry: Mapping[str, Any]) -> Dict[str, Any]:
    """An entry as modules return it."""
    tags = dict(entry.get("tags") or {})
    policies = [
        {"policy": one["policyArn"], "namespaces": list((one.get("accessScope") or {}).get("namespaces") or ())}
        for one in entry.get("accessPolicies") or ()
    ]
    return {
        "principal_arn": entry.get("principalArn"),
        "access_entry_arn": entry.get("accessEntryArn"),
        "type": entry.get("type"),
        "username": entry.get("username"),
        "kubernetes_groups": list(entry.get("kubernetesGroups") or ()),
        "access_policies": sorted(policies, key=lambda one: str(one["policy"])),
        "tags": tags,
        "managed": TAG in tags,
    }
