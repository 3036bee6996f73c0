# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller says about a role that a cluster does not accept."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import join_access
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.access.clusters import ACCOUNT, ROLE, config_map, item

ENDPOINT = "https://abc.gr7.eu-west-1.eks.amazonaws.com"
IDENTITY = {"role": "node", "account": ACCOUNT, "region": "eu-west-1", "cluster": "demo", "server": ENDPOINT}


class Cluster:
    """A cluster with these access entries (ARN → type) and this aws-auth; both are also what the module asks."""

    def __init__(self, mode: str, entries: dict[str, str] | None = None, aws_auth: Any = None, unreachable: str = "") -> None:
        self.mode, self.entries, self.aws_auth, self.unreachable = mode, entries or {}, aws_auth or {}, unreachable

    def cluster(self) -> tuple[dict[str, Any], dict[str, Any]]:
        access = {"authenticationMode": self.mode}
        return {
            "endpoint": ENDPOINT.upper().replace("HTTPS", "https"),
            "arn": f"arn:aws:eks:r:{ACCOUNT}:cluster/demo",
            "accessConfig": access,
        }, {}

    def principals(self) -> list[str]:
        return list(self.entries)

    def find(self, first: str, name: str = "") -> dict[str, Any]:
        return self.aws_auth if name else {"principalArn": first, "type": self.entries[first]}


def asked(cluster: Cluster, **identity: Any) -> dict[str, Any]:
    return join_access.look_up({**IDENTITY, **identity}, cluster, lambda _known: cluster)


CASES: dict[str, Cluster] = {
    "no entry": Cluster("API", {f"{ROLE}other": "EC2_LINUX", "arn:aws:iam::111122223333:user/node": "STANDARD"}),
    "entry of a person": Cluster("API", {f"{ROLE}team/node": "STANDARD"}),
    "entry for Windows": Cluster("API_AND_CONFIG_MAP", {f"{ROLE}node": "EC2_WINDOWS"}, config_map(item("node"))),
    "right entry": Cluster("API", {f"{ROLE}team/node": "EC2_LINUX"}),
    "neither": Cluster("API_AND_CONFIG_MAP", aws_auth=config_map(item("other"))),
    "no item": Cluster("CONFIG_MAP", aws_auth=config_map(item("other"))),
    "no aws-auth": Cluster("CONFIG_MAP"),
    "item with a path": Cluster("CONFIG_MAP", aws_auth=config_map(item("team/node"))),
    "item without the group": Cluster("CONFIG_MAP", aws_auth=config_map(item("node", ["system:bootstrappers"]))),
    "item with another user name": Cluster("CONFIG_MAP", aws_auth=config_map(item("node", username="node"))),
    "right item": Cluster("API_AND_CONFIG_MAP", aws_auth=config_map(item("NODE"))),
    "broken YAML": Cluster("CONFIG_MAP", aws_auth=config_map(text="- a: [\n")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_missing(name: str, golden_message: GoldenMessages) -> None:
    found = asked(CASES[name])
    assert found["evidence"] == []
    golden_message(f"{found['message']}\nFix: {found['fix']}")


@pytest.mark.parametrize(
    ("cluster", "identity"),
    [
        (Cluster("CONFIG_MAP", unreachable="the API server does not answer"), {}),
        (Cluster("API"), {"server": "https://other.gr7.eu-west-1.eks.amazonaws.com"}),
    ],
)
def test_what_cannot_be_said(cluster: Cluster, identity: dict[str, str]) -> None:
    """The message of the node stays, and the evidence says why."""
    found = asked(cluster, **identity)
    assert list(found) == ["evidence"]
    assert len(found["evidence"]) == 1


def test_a_role_of_another_account_is_not_that_of_the_node() -> None:
    cluster = Cluster("API", {"arn:aws:iam::999988887777:role/node": "EC2_LINUX"})
    assert asked(cluster) == asked(CASES["no entry"])
    assert asked(CASES["right entry"], account=None) == asked(CASES["right entry"])
