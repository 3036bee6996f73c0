# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for mirrors of registries, certificate authorities, and collections that are missing on the controller."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import check_collections
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import NodeSpec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import certificate_dates
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, VALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.fields import AL2, AL2023, BOTTLEROCKET
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, call, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

MIRRORS = "node_group.containerd.registry_mirrors"
FIRST = f'{MIRRORS}["docker.io"][0]'
CRI = "io.containerd.grpc.v1.cri"
URL = "https://m.example.com"


def mirrors(*listed: Any) -> dict[str, Any]:
    """The mirrors of docker.io."""
    return {"containerd": {"registry_mirrors": {"docker.io": list(listed)}}}


def _spec(node_group: dict[str, Any]) -> NodeSpec:
    return resolve(COMPLETE, AL2023 | node_group)[0]


def _node_config(text: str) -> str:
    """A NodeConfig with TOML for containerd."""
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"containerd": {"config": text}}}
    return json.dumps(document)


def _raise(problems: list[Problem]) -> None:
    if problems:
        raise SpecError(problems)


ROWS = (
    group("containerd.invalid_mirror_url", AL2023 | mirrors("https://me:you@m.example.com"), {FIRST: URL}),
    group("containerd.duplicate_mirror", AL2023 | mirrors(URL, {"url": URL}), {f'{MIRRORS}["docker.io"]': [URL]}),
    group("containerd.tls_of_http_mirror", AL2023 | mirrors({"url": "http://m", "skip_verify": True}), {f"{FIRST}.skip_verify": REMOVED}),
    group(
        "containerd.unverified_mirror",
        AL2023 | mirrors({"url": URL, "ca": VALID, "skip_verify": True}),
        {f"{FIRST}.skip_verify": REMOVED},
    ),
    group("containerd.ignored_dial_timeout", AL2 | mirrors({"url": URL, "dial_timeout": "3s"}), {f"{FIRST}.dial_timeout": REMOVED}),
    group("bottlerocket.mirror_setting", BOTTLEROCKET | mirrors({"url": URL, "dial_timeout": "3s"}), {f"{FIRST}.dial_timeout": REMOVED}),
    group("certificates.invalid_pem", AL2023 | {"trust": "corporate.pem"}, {"node_group.trust": VALID}),
    group("certificates.private_key", AL2023 | {"trust": "-----BEGIN PRIVATE " + "KEY-----\n" + VALID}, {"node_group.trust": VALID}),
    group("certificates.unreadable", AL2023 | {"trust": PEM}, {"node_group.trust": VALID}),
    call(
        "certificates.dates",
        lambda trust: _raise(certificate_dates.warnings([_spec({"trust": trust})], 1_800_000_000)),
        EXPIRED,
        VALID,
    ),
    group(
        "containerd.disables_cri",
        AL2023 | {"containerd": {"config": {"disabled_plugins": ["cri"]}}},
        {"node_group.containerd.config.disabled_plugins": REMOVED},
    ),
    group(
        "containerd.disables_cri",
        AL2023 | {"containerd": {"config": {"plugins": {CRI: {"registry": {"mirrors": {"docker.io": {"endpoint": [URL]}}}}}}}},
        {"node_group.containerd": mirrors(URL)["containerd"]},
    ),
    group(
        "containerd.disables_cri",
        AL2023 | {"override": _node_config('disabled_plugins = ["cri"]')},
        {"node_group.override": _node_config("disabled_plugins = []")},
    ),
    group(
        "containerd.mirrors_not_read",
        AL2023 | {"containerd": mirrors(URL)["containerd"] | {"config": {"plugins": {CRI: {"registry": {"config_path": "/etc/own"}}}}}},
        {f'node_group.containerd.config.plugins["{CRI}"].registry.config_path': "/etc/own:/etc/containerd/certs.d"},
    ),
    group(
        "containerd.wrong_config_version",
        AL2023 | {"containerd": {"config": {"version": 3}}},
        {"node_group.containerd.config.version": REMOVED},
    ),
    call(
        "live.missing_collection",
        lambda installed: check_collections(["ansible.windows"], installed.__contains__),
        [],
        ["ansible.windows"],
    ),
)
