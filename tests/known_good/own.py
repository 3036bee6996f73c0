# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data that the collection renders: every example, and one group for each field and family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, CIDR, ENDPOINT, NAME, KnownGood

CLUSTER = {"name": NAME, "endpoint": ENDPOINT, "certificate_authority": CA, "service_cidr": CIDR, "region": "eu-west-1"}
VERSION = {"al2": "1.32"}
"""The version for families that have no newer one."""

ALIKE = (("ubuntu", "commands after"),)
"""Texts that differ from those of another family in a path only."""

FIELDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("minimum", {}),
    ("labels", {"labels": {"team": "web", "tier": "front"}}),
    ("taints", {"taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]}),
    ("labels and taints", {"labels": {"team": "web"}, "taints": [{"key": "gpu", "effect": "NoExecute"}]}),
    ("max pods", {"max_pods": 58}),
    ("reservations", {"max_pods": 58, "reserved": {"kube": {"cpu": "80m", "memory": "893Mi"}, "system": {"cpu": "100m"}}}),
    ("kubelet configuration", {"kubelet": {"config": {"podPidsLimit": 900, "registryPullQPS": 10}}}),
    ("kubelet flags", {"kubelet": {"flags": {"v": "3"}}}),
    ("commands before", {"commands": {"pre": ["echo before"]}}),
    ("commands after", {"commands": {"post": ["echo after"]}}),
    ("disks", {"local_storage": {"strategy": "raid0"}}),
    ("mirror", {"containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example.com"]}}}),
    ("proxy", {"proxy": {"https": "http://proxy.example.com:3128"}}),
    ("managed", {"mode": "managed", "kubelet": {"config": {"podPidsLimit": 900}}}),
    ("without look-ups", {"strategy": "static", "instance": {"type": "m5.large"}}),
    ("without look-ups, labels", {"strategy": "static", "instance": {"type": "m5.large"}, "labels": {"team": "web"}}),
)


def _rows() -> Iterator[KnownGood]:
    texts = set()
    for family in FAMILIES:
        version = VERSION.get(family, "1.33")
        cluster = CLUSTER | {"kubernetes_version": version}
        for name, fields in FIELDS:
            try:
                text = render(cluster, {"name": "web", "family": family, **fields}).text
            except SpecError:
                # The family cannot express the field.
                continue
            if text and text not in texts and (family, name) not in ALIKE:
                texts.add(text)
                known = NAME if fields.get("mode") != "managed" and fields.get("strategy") != "static" else None
                yield KnownGood(f"nodebootstrap {family} {name}", "nodebootstrap", family, text, version=_minor(version), cluster=known)


def _minor(version: str) -> tuple[int, int]:
    return (1, int(version.partition(".")[2]))


ROWS: Iterable[KnownGood] = tuple(_rows())
