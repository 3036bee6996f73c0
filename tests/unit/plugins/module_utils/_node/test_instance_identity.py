# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity document: imds_info, apply and join_check accept and refuse the same values of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.instance import read_instance
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import imds, instance_identity
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity

DOCUMENT = {
    "accountId": "111122223333", "architecture": "x86_64", "availabilityZone": "eu-central-1a", "imageId": "ami-0123456789abcdef0",
    "instanceId": "i-1234567890abcdef0", "instanceType": "m5.large", "kernelId": None, "pendingTime": "2026-01-01T00:00:00Z",
    "privateIp": "10.0.0.5", "ramdiskId": None, "region": "eu-central-1", "version": "2017-09-30", "billingProducts": None,
    "devpayProductCodes": None, "marketplaceProductCodes": ["abc"],
}  # fmt: skip
OTHERS = {
    "meta-data/instance-life-cycle": "spot", "meta-data/mac": "0a:58:0a:00:00:05", "meta-data/local-hostname": "ip-10-0-0-5.ec2.internal",
}  # fmt: skip


class Service:
    """A client of a metadata service with this identity document."""

    endpoint = imds.IPV4

    def __init__(self, **changed: Any) -> None:
        self.answers = {instance_identity.PATH: json.dumps(DOCUMENT | changed), **OTHERS}

    def get(self, path: str, missing_ok: bool = False) -> str | None:
        return self.answers.get(path)


def outcomes(service: Any, fact: str, label: str) -> list[str | None]:
    """What imds_info and apply make of the document; None if they refuse it."""
    found: list[str | None] = []
    try:
        found.append(imds.instance_facts(service)[fact])
    except imds.ImdsError:
        found.append(None)
    try:
        found.append(Identity(service).label(label))
    except ApplyRefused:
        found.append(None)
    return found


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ("i-12345678", True),
        ("i-1234567890abcdef0", True),
        (f"i-{'0' * 32}", True),
        ("i-1234567", False),
        (f"i-{'0' * 33}", False),
        ("i-1234567g", False),
        ("I-12345678", False),
        ("mi-12345678", False),
        ("i-12345678/../../api/token", False),
        ("i-12345678\n", False),
        ("i-12345678,a=b", False),
        ("i-١٢٣٤٥٦٧٨", False),
        (None, False),
        (12345678, False),
        (["i-12345678"], False),
    ],
)
def test_an_instance_id_is_accepted_by_both_or_by_none(value: Any, is_valid: bool) -> None:
    assert outcomes(Service(instanceId=value), "instance_id", "{instance_id}") == ([value] * 2 if is_valid else [None] * 2)


@pytest.mark.parametrize("value", ["eu-central-1a", "us-west-2-lax-1a", "eu-central-1a --x", "", None])
def test_a_zone_is_accepted_by_both_or_by_none(value: Any) -> None:
    first, second = outcomes(Service(availabilityZone=value), "availability_zone", "{availability_zone}")
    assert first == second and (first is None or first == value)


@pytest.mark.parametrize("value", ["eu-central-1", "us-gov-west-1", "eu-central-1 --x", "\x1b[31m", None, 5])
def test_a_region_is_accepted_by_both_or_by_none(value: Any) -> None:
    service = Service(region=value)
    assert read_instance(service.get).region == outcomes(service, "region", "")[0]


def test_a_wrong_field_does_not_hide_the_others() -> None:
    service: Any = Service(accountId="1")
    assert Identity(service).label("{instance_id}") == DOCUMENT["instanceId"]
    found = read_instance(service.get)
    assert (found.account, found.region) == (None, "eu-central-1")
    with pytest.raises(imds.ImdsError):
        imds.instance_facts(service)


def test_an_instance_without_ipv4_and_codes() -> None:
    document = instance_identity.parse(json.dumps({"privateIp": None, "marketplaceProductCodes": "x"}))
    assert document.optional("privateIp") is None and document.codes("billingProducts") == []
    for field in (lambda: document.text("privateIp"), lambda: document.codes("marketplaceProductCodes")):
        with pytest.raises(instance_identity.InvalidAnswer):
            field()
