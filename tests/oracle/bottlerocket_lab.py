# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Bottlerocket node behind a stand-in of Systems Manager, and what a task would ask of it."""

from __future__ import annotations

import base64
import functools
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from botocore import loaders

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client, ssm
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import bottlerocket
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.ssm_stand_in import INSTANCE, REGION, Node, SystemsManager
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.live.read_options import ReadOptions

PEM = b"-----BEGIN CERTIFICATE-----\n" + b"MIIBdzCCAR2gAwIBAgIBADAKBggqhkjOPQQDAgAB\n" * 30 + b"-----END CERTIFICATE-----\n"
CA = base64.b64encode(PEM).decode()
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": REGION,
}
GROUP = {"name": "web", "family": "bottlerocket", "max_pods": 40, "labels": {"role": "web", "example.com/tier": "a"}}
BOOTED = {
    "kubernetes": {
        "cluster-name": "demo",
        "api-server": CLUSTER["endpoint"],
        "cluster-certificate": CA,
        "cluster-dns-ip": "10.100.0.10",
        "hostname-override": "ip-10-0-0-5.eu-west-1.compute.internal",
        "max-pods": 29,
        "node-labels": {"role": "web", "example.com/tier": "a"},
        "server-key": "canary-of-a-server-key",
    },
    "motd": "Welcome",
    "container-registry": {"credentials": [{"registry": "docker.io", "username": "canary-of-a-user", "password": "canary-of-a-password"}]},
    "host-containers": {"admin": {"enabled": False, "user-data": "canary-of-user-data"}},
}
OPTIONS = {
    "cluster": CLUSTER,
    "node_group": GROUP,
    "instance_id": INSTANCE,
    "state": "present",
    "restart": "when_changed",
    "take_over": False,
    "reconcile": False,
    "wait_for": "healthy",
    "wait_timeout": 1,
    "command_timeout": 30,
    "phases": None,
}
CHANGES = ["PATCH /settings?tx", "POST /tx/commit_and_apply?tx"]


class Lab:
    """A node, its endpoint, and what was printed for people."""

    def __init__(self, folder: Path) -> None:
        self.node = Node(folder / "node", BOOTED)
        self.ssm = SystemsManager(self.node)
        self.lines: list[str] = []
        self.options = ReadOptions({})

    def apply(self, phases: tuple[str, ...] = PHASES, check: bool = False, **changed: Any) -> dict[str, Any]:
        """One run of the task, without Ansible."""
        options = self.options = ReadOptions({**OPTIONS, **changed})
        aws = {**dict.fromkeys(client.OPTIONS), "endpoint_url": self.ssm.url, "region": REGION, "access_key": "a", "secret_key": "b"}
        runner = ssm.Runner({**options, **aws}, self.lines.append)
        ticks = itertools.count()
        instance = bottlerocket.Instance(
            "node",
            lambda *script: bottlerocket.Answer(*runner.run(*script)),
            f"nodebootstrap-{len(self.ssm.calls)}",
            self.lines.append,
            lambda: float(next(ticks)),
            check,
            True,
        )
        return bottlerocket.apply(instance, options, phases)


_shared_loader = functools.cache(loaders.create_loader)


@contextmanager
def running(folder: Path) -> Iterator[Lab]:
    """A laboratory below C(folder). Whatever was said or sent there, no canary is in it."""
    found = Lab(folder)
    try:
        # Otherwise botocore reads its description of AWS for each client.
        with patch("botocore.loaders.create_loader", _shared_loader):
            yield found
    finally:
        found.ssm.close()
    if "canary" in json.dumps([found.lines, found.ssm.calls]):
        raise AssertionError("a secret was said or sent")
