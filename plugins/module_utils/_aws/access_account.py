# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the access of nodes to one cluster needs of AWS. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .access_entries import AccessEntries
from .client import AwsError
from .cluster import ClusterReader, authentication_mode, cluster_input


class Account:
    """One cluster in one account and region. options: those of C(client.OPTIONS). The methods raise C(AwsError)."""

    def __init__(self, options: Dict[str, Any], name: str) -> None:
        self._reader = ClusterReader(options, name)
        self._entries = AccessEntries(self._reader.api, name)

    def cluster(self) -> Tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The cluster as DescribeCluster returns it, and the input C(cluster) from it."""
        described, region = self._reader.cluster()
        return described, cluster_input(described, region)

    def caller(self) -> str:
        """The ARN of the identity of the credentials."""
        return self._reader.caller()

    def authentication_mode(self) -> str:
        """C(API), C(API_AND_CONFIG_MAP) or C(CONFIG_MAP)."""
        return authentication_mode(self._reader.cluster()[0])

    def entries(self) -> List[Dict[str, Any]]:
        """All access entries."""
        return self._entries.all()

    def principals(self) -> List[str]:
        """The ARNs of the principals of all access entries."""
        return self._entries.principals()

    def users_of_roles(self) -> List[Tuple[str, str]]:
        """The roles of managed node groups and of Fargate profiles, each with the name of its user."""
        return self._reader.users_of_roles()

    def policies_of_role(self, arn: str) -> Union[List[str], str]:
        """The names of the policies that are attached to a role, or why they are not known."""
        return self._reader.policies_of_role(arn)

    def create(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None:
        """Create an access entry."""
        self._entries.create(principal, members, policies)

    def recreate(self, principal: str, members: Mapping[str, Any], policies: Sequence[Mapping[str, Any]]) -> None:
        """Delete an access entry, and create it with another type."""
        before = self._entries.find(principal)
        if before is None:
            raise AwsError(f"the access entry of {principal} was deleted meanwhile; fix: run again")
        self._entries.recreate(before, members, policies)

    def find(self, principal: str) -> Optional[Dict[str, Any]]:
        """One access entry, None if there is none."""
        return self._entries.find(principal)

    def update(self, principal: str, members: Mapping[str, Any]) -> None:
        """Set groups or the user name of an access entry of the type STANDARD."""
        self._entries.update(principal, members)

    def disassociate(self, principal: str, policy_arn: str) -> None:
        """Remove an access policy from an entry."""
        self._entries.disassociate(principal, policy_arn)

    def tag(self, arn: str, tags: Mapping[str, str], removed: Sequence[str]) -> None:
        """Change the tags of an access entry."""
        self._entries.tag(arn, tags, removed)

    def associate(self, principal: str, policy: Mapping[str, Any]) -> None:
        """Add an access policy to an entry."""
        self._entries.associate(principal, policy)

    def delete(self, principal: str) -> None:
        """Delete an access entry."""
        self._entries.delete(principal)
