# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The subnets of instances, and how many addresses are free in them. Only reads. Runs on the controller."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from ansible.module_utils.basic import missing_required_lib

from . import client

_PROVIDER_ID = re.compile(r"aws:///(?P<zone>[a-z0-9-]+)/(?P<instance>[a-z0-9-]+)")
_BATCH = 200
"""Instances of one request."""


class FreeAddresses(NamedTuple):
    """A subnet. names: the names of the instances in it, as the caller gave them; none for a subnet that was asked for by its ID."""

    subnet: str
    free: int
    names: Tuple[str, ...]


def free_addresses(options: Mapping[str, Any], provider_ids: Mapping[str, str], more: Sequence[str] = ()) -> List[FreeAddresses]:
    """The subnets of the instances, and those with the IDs C(more). provider_ids: by name, C(aws:///ZONE/INSTANCE). Others are left out.

    Raises C(client.AwsError).
    """
    found = {name: _PROVIDER_ID.match(text) for name, text in provider_ids.items()}
    names = {match["instance"]: name for name, match in found.items() if match}
    if not names:
        return []
    if client.BOTO3_ERROR:
        raise client.AwsError(missing_required_lib("boto3"))
    zone = next(match["zone"] for match in found.values() if match)
    region = re.match(r"[a-z]+(-[a-z]+)+-[0-9]+", zone)
    given: Dict[str, Any] = {name: options.get(name) for name in client.OPTIONS}
    # The nodes say where they are.
    given["region"] = region[0] if region else given["region"]
    try:
        with client.explained_errors(given, "EC2"):
            return _read(client.new_client(client.new_session(given), "ec2", given), names, more)
    except client.client_error() as error:
        code, text = client.parse_error(error)
        fix = "allow ec2:DescribeInstances and ec2:DescribeSubnets in the policy"
        problem = client.explain_credentials(code, text) or f"EC2 refused to describe the subnets ({code}: {text}); fix: {fix}"
        raise client.AwsError(problem) from None


def _read(ec2: Any, names: Mapping[str, str], more: Sequence[str]) -> List[FreeAddresses]:
    by_subnet: Dict[str, List[str]] = {subnet: [] for subnet in more}
    instances: Sequence[str] = sorted(names)
    for start in range(0, len(instances), _BATCH):
        answer = ec2.describe_instances(Filters=[{"Name": "instance-id", "Values": instances[start : start + _BATCH]}])
        for instance in [one for reservation in answer["Reservations"] for one in reservation["Instances"]]:
            if instance.get("SubnetId"):
                by_subnet.setdefault(instance["SubnetId"], []).append(names[instance["InstanceId"]])
    if not by_subnet:
        return []
    answer = ec2.describe_subnets(SubnetIds=sorted(by_subnet))
    return [
        FreeAddresses(one["SubnetId"], int(one["AvailableIpAddressCount"]), tuple(sorted(by_subnet[one["SubnetId"]])))
        for one in answer["Subnets"]
    ]
