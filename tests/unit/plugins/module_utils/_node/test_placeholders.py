# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who a node is, in as few requests as possible, and answers that have no form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import imds, instance_identity
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.imds import Client
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.imds_stand_in import StandIn, serving

FACTS = {"domain": "eu-central-1.compute.internal", "by_address": True, "ipv6": False}
IDENTITY = {"instanceId": "i-1234567890abcdef0", "availabilityZone": "eu-central-1a", "privateIp": "10.0.0.5"}
DOCUMENT = instance_identity.PATH


class Told:
    """A client that knows its answers."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {DOCUMENT: json.dumps(IDENTITY), "meta-data/instance-life-cycle": "spot", "meta-data/mac": "0a:58:0a:00:00:05"}
        self.answers["meta-data/network/interfaces/macs/0a:58:0a:00:00:05/ipv6s"] = "2001:db8::5\n2001:db8::6"
        self.answers |= answers
        self.asked: list[str] = []

    def get(self, path: str, missing_ok: bool = False) -> str:
        self.asked.append(path)
        return str(self.answers[path])


@pytest.fixture
def service() -> Iterator[StandIn]:
    with serving() as stand_in:
        yield stand_in


def test_one_document_answers_nearly_everything() -> None:
    client = Told()
    who = Identity(client)
    assert who.setting("--a=${NODE_IP},${NODE_NAME}", FACTS) == "--a=10.0.0.5,ip-10-0-0-5.eu-central-1.compute.internal"
    assert who.setting("${PROVIDER_ID} ${INSTANCE_ID}", FACTS) == "aws:///eu-central-1a/i-1234567890abcdef0 i-1234567890abcdef0"
    assert who.label("{instance_id}.{availability_zone}") == "i-1234567890abcdef0.eu-central-1a"
    assert client.asked == [DOCUMENT]
    assert who.label("{instance_lifecycle}{else}") == "spot{else}" and len(client.asked) == 2


def test_other_names_and_ipv6() -> None:
    client = Told()
    facts = FACTS | {"by_address": False, "ipv6": True}
    assert Identity(client).setting("${NODE_IP} ${NODE_NAME}", facts) == "2001:db8::5 i-1234567890abcdef0.eu-central-1.compute.internal"
    assert len(client.asked) == 3


def test_text_without_variables_makes_no_request() -> None:
    client = Told()
    assert Identity(client).setting("$HOME ${lower} $NODE_IP {instance_id}", FACTS) == "$HOME ${lower} $NODE_IP {instance_id}"
    assert client.asked == []


@pytest.mark.parametrize(
    "document",
    [
        "<html>",
        "[]",
        json.dumps(IDENTITY | {"instanceId": "i-1,b=c"}),
        json.dumps(IDENTITY | {"instanceId": "i-1234567890abcdef0\n"}),
        json.dumps(IDENTITY | {"instanceId": "i-1234567"}),
        json.dumps(IDENTITY | {"instanceId": f"i-{'0' * 33}"}),
        json.dumps(IDENTITY | {"instanceId": "i-../../api/token"}),
        json.dumps(IDENTITY | {"instanceId": "mi-1234567890abcdef0"}),
        json.dumps(IDENTITY | {"privateIp": "10.0.0.5 --x"}),
        json.dumps(IDENTITY | {"privateIp": None}),
    ],
)
def test_an_answer_without_form_never_becomes_a_value(document: str, golden_message: GoldenMessages) -> None:
    who = Identity(Told(**{DOCUMENT: document}))
    with pytest.raises(ApplyRefused) as caught:
        who.setting("${INSTANCE_ID}${NODE_IP}", FACTS)
    golden_message(caught.value)


def test_unknown_variables_and_missing_facts_are_damage(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        Identity(Told()).setting("${PATH}", FACTS)
    golden_message(caught.value)
    with pytest.raises(ApplyRefused) as caught:
        Identity(Told()).setting("${NODE_IP}", None)
    golden_message(caught.value)


def test_over_the_wire(service: StandIn, golden_message: GoldenMessages) -> None:
    client = Client(service.endpoint, timeout=30, retries=0)
    assert Identity(client).label("{instance_id}").startswith("i-")
    assert Identity.of_user_data(Client(service.endpoint, timeout=30, retries=0)) == ""
    assert Identity.of_user_data(Client("http://127.0.0.1:1", timeout=0.2, retries=0)) is None
    with pytest.raises(ApplyRefused) as caught:
        Identity(Client("http://127.0.0.1:1", timeout=0.2, retries=0)).label("{instance_id}")
    golden_message(caught.value)


def test_user_data_that_a_busy_service_gives_late_is_still_seen(service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imds, "Client", partial(Client, service.endpoint))
    service.answers["/latest/user-data"], service.latency = "#!/bin/sh\n", 0.7
    assert Identity.of_user_data() == "#!/bin/sh"
