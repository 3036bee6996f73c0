# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for the instance metadata service in the fields of a launch template or a launch configuration.

Source: L(metadata options,https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceMetadataOptionsRequest.html).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ..errors import Problem

FIELD = "MetadataOptions"
ENDPOINT, TOKENS, LIMIT = "HttpEndpoint", "HttpTokens", "HttpPutResponseHopLimit"
FIELD_OF_RULE: Mapping[str, str] = {
    "launch_template.no_metadata": ENDPOINT,
    "launch_template.imdsv1": TOKENS,
    "launch_template.hop_limit": LIMIT,
}
"""The field that each rule is about."""
_NO_OTHER_NAMES: Mapping[str, str] = MappingProxyType({})
_HOPS_OF_PODS = 2
"""A pod without the network of the host is one hop farther away than the node."""


def problems_of(options: Any, path: str, chosen: Collection[str] = (), *, names: Mapping[str, str] = _NO_OTHER_NAMES) -> Iterator[Problem]:
    """The most important problem of C(MetadataOptions), in the form of the EC2 API. A value that is known only later has no problem.

    path: of the field. chosen: the fields that the user set to their values; there is no warning about them. names: how the file of another
    tool names the fields.
    """
    given = options if isinstance(options, Mapping) else {}
    endpoint, tokens, limit = (given.get(name) for name in (ENDPOINT, TOKENS, LIMIT))
    of_endpoint, of_tokens, of_limit = (names.get(name, name) for name in (ENDPOINT, TOKENS, LIMIT))
    if endpoint == "disabled":
        message = f"{of_endpoint} is disabled, but a node reads its user data and its credentials from the instance metadata service"
        yield Problem("launch_template.no_metadata", path, message, fix=f"set {of_endpoint} to enabled")
    elif tokens in (None, "", "optional") and TOKENS not in chosen:
        reason = "is optional, so" if tokens else "is not set: unless the image or the account requires a token,"
        message = f"{of_tokens} {reason} every process on the node can read the credentials of its role without one (IMDSv1)"
        yield Problem("launch_template.imdsv1", path, message, fix=f"set {of_tokens} to required")
    elif (limit is None or (isinstance(limit, int) and limit < _HOPS_OF_PODS)) and LIMIT not in chosen:
        shown = "not set" if limit is None else limit
        message = f"{of_limit} is {shown}, so pods without the network of the host may not reach the instance metadata service"
        fix = f"set {of_limit} to {_HOPS_OF_PODS}, or to 1 if no pod should reach it"
        yield Problem("launch_template.hop_limit", path, message, fix=fix)
