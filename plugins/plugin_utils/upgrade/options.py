# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of an upgrade, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..drain.finding import Settings
from ..drain.options import checked_version
from ..errors import Problems
from ..model.described_cluster import check_cluster
from ..model.plain import INVALID
from ..quantities import parse_duration
from .availability import check_max_unavailable
from .model import Wanted

FORMATS = ("text", "json", "html")

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "dict", "required": True},
    "node_group": {"type": "dict", "default": {}},
    "auto_scaling_group": {"type": "str"},
    "managed_node_group": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "resumed", "aborted"], "default": "present"},
    "launch_template_version": {"type": "str"},
    "kubernetes_version": {"type": "raw"},
    "release_version": {"type": "str"},
    "max_unavailable": {"type": "raw"},
    "surge": {"type": "bool", "default": True},
    "by_zone": {"type": "bool", "default": False},
    "canary": {"type": "int", "default": 1},
    "drain_timeout": {"type": "str", "default": "15m"},
    "delete_after_timeout": {"type": "bool", "default": False},
    "delete_unmanaged_pods": {"type": "bool", "default": False},
    "delete_emptydir_data": {"type": "bool", "default": False},
    "load_balancer_wait": {"type": "str", "default": "60s"},
    "node_timeout": {"type": "str", "default": "15m"},
    "poll_interval": {"type": "float", "default": 5.0},
    "format": {"type": "str", "choices": list(FORMATS)},
    "report": {"type": "path"},
}

RULES: dict[str, Any] = {
    "mutually_exclusive": [("auto_scaling_group", "managed_node_group")],
    "required_one_of": [("auto_scaling_group", "managed_node_group")],
}

_NAMES = {"latest": "$Latest", "default": "$Default", "$latest": "$Latest", "$default": "$Default"}

KARPENTER = (
    "Karpenter replaces its nodes itself; fix: change the AMI in spec.amiSelectorTerms of the EC2NodeClass, or the user data there: the "
    "nodes have drifted then, and Karpenter replaces them within spec.disruption.budgets of the NodePool"
)


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The cluster. Raises C(SpecError) with all problems of the options."""
    problems = Problems()
    cluster = check_shared(options, problems)
    if options["managed_node_group"] and "name" not in cluster and not problems.touches("cluster.name"):
        problems.add("input.missing_field", "cluster.name", "is required", fix="set the name of the cluster")
    if options["node_group"].get("mode") == "karpenter":
        message, _fix, fix = KARPENTER.partition("; fix: ")
        problems.add("input.unknown_value", "node_group.mode", message, value="karpenter", fix=fix)
    version = options["launch_template_version"]
    if version and not version.isdecimal() and version.lower() not in _NAMES:
        problems.add(
            "input.unknown_value", "launch_template_version", "is not a version", value=version, allowed="latest, default, or a number"
        )
    problems.raise_any()
    return cluster


def check_shared(options: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Check the options of every upgrade. Returns the valid fields of the cluster."""
    cluster = check_cluster(options["cluster"], problems)
    checked_version(options["kubernetes_version"], "kubernetes_version", problems)
    if options["max_unavailable"] is not None:
        check_max_unavailable(options["max_unavailable"], problems)
    if options["canary"] < 0:
        problems.add("input.out_of_range", "canary", "is too small", value=options["canary"], allowed="a number from 0")
    for name, least in (("drain_timeout", 1), ("load_balancer_wait", 0), ("node_timeout", 1)):
        found = parse_duration(_with_unit(options[name]))
        if found is None or found < least:
            problems.add("input.invalid_text", name, "is not a duration", value=options[name], fix="write it as 15m or 900s")
    if not 0.1 <= options["poll_interval"] <= 60:
        problems.add(
            "input.out_of_range", "poll_interval", "is not allowed", value=options["poll_interval"], allowed="seconds from 0.1 to 60"
        )
    return {} if cluster is INVALID else cluster


def seconds(duration: Any) -> float:
    """The seconds of a duration such as C(15m), or of a plain number, that was checked."""
    return float(parse_duration(_with_unit(duration)) or 0)


def _with_unit(duration: Any) -> str:
    text = str(duration).strip()
    return f"{text}s" if text.isascii() and text.isdecimal() else text


def wanted(options: Mapping[str, Any], run: str, version: str) -> Wanted:
    """What the user asks for. run: the ID of a new run. version: the number of the launch template version, '' if none is requested."""
    return Wanted(
        run=run,
        version=version,
        kubelet=options["kubernetes_version"] or "",
        max_unavailable=str(options["max_unavailable"] or "1").strip(),
        surge=options["surge"],
        by_zone=options["by_zone"],
        canary=options["canary"],
        settle_seconds=seconds(options["load_balancer_wait"]),
        node_seconds=seconds(options["node_timeout"]),
        abort=options["state"] == "aborted",
        must_resume=options["state"] == "resumed",
    )


def version_name(options: Mapping[str, Any]) -> str:
    """The requested version: C($Latest), C($Default), a number, or '' for none."""
    version = str(options["launch_template_version"] or "")
    return _NAMES.get(version.lower(), version)


def settings(options: Mapping[str, Any], now: float) -> Settings:
    """How nodes are drained."""
    return Settings(
        timeout=seconds(options["drain_timeout"]),
        delete_after_timeout=options["delete_after_timeout"],
        delete_unmanaged_pods=options["delete_unmanaged_pods"],
        delete_emptydir_data=options["delete_emptydir_data"],
        has_surge=options["surge"],
        now=now,
    )
