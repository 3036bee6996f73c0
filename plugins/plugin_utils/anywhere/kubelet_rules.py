# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the configuration of kubelet and of the audit of the API server inside the file of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Problems, joined, nearest
from ..formats import yaml
from ..kubelet_fields import kubelet_config_problems
from .model import ControlPlane, Machines
from .schema import type_name

_KIND = "KubeletConfiguration"
_API_VERSION = "kubelet.config.k8s.io/v1beta1"
_SET_BY_PROVIDER = ("providerID",)
_AUDIT_VERSION = "audit.k8s.io/v1"
_AUDIT_LEVELS = ("Metadata", "None", "Request", "RequestResponse")


def check_kubelet(machines: Machines, version: tuple[int, int] | None, problems: Problems) -> None:
    """Report what kubelet of a version would refuse in the configuration of a group."""
    config = machines.kubelet
    path = joined(machines.path, "kubeletConfiguration")
    if config is None:
        return
    if config.get("kind") is None:
        problems.add("anywhere.kubelet_kind", joined(path, "kind"), "is missing", allowed=_KIND, fix=f"add kind: {_KIND}")
    elif config["kind"] != _KIND:
        problems.add("anywhere.kubelet_kind", joined(path, "kind"), "is not its kind", value=config["kind"], allowed=_KIND)
    api_version = config.get("apiVersion")
    if api_version not in (None, _API_VERSION):
        problems.add("anywhere.kubelet_kind", joined(path, "apiVersion"), "is not its API version", value=api_version, allowed=_API_VERSION)
    for name in _SET_BY_PROVIDER:
        if config.get(name):
            problems.add("anywhere.kubelet_field", joined(path, name), "is set by EKS Anywhere", fix="remove it")
    fields = {name: value for name, value in config.items() if name not in ("apiVersion", "kind", *_SET_BY_PROVIDER)}
    kubelet_config_problems(fields, version, path, problems)


def check_audit_policy(plane: ControlPlane, problems: Problems) -> None:
    """Report an audit policy that the API server would refuse: with it, no control plane starts."""
    path = joined(plane.path, "auditPolicyContent")
    if not plane.audit_policy or problems.touches(path):
        return
    try:
        policy = yaml.load(plane.audit_policy)
    except yaml.YamlError as error:
        problems.add("anywhere.audit_policy", path, f"is not valid YAML: {error}", fix="correct the policy")
        return
    if not isinstance(policy, dict):
        problems.add("anywhere.audit_policy", path, f"must be a mapping, not {type_name(policy)}", fix="write the policy after |")
        return
    for name, expected in (("apiVersion", _AUDIT_VERSION), ("kind", "Policy")):
        if policy.get(name) is None:
            problems.add("anywhere.audit_policy", path, f"has no {name}", fix=f"add {name}: {expected}")
        elif policy[name] != expected:
            problems.add("anywhere.audit_policy", path, f"has a wrong {name}", value=policy[name], allowed=expected)
    _check_audit_rules(policy, path, problems)


def _check_audit_rules(policy: Mapping[str, Any], path: str, problems: Problems) -> None:
    rules = policy.get("rules")
    if not isinstance(rules, list) or not rules:
        problems.add("anywhere.audit_policy", path, "has no rules", allowed="a list of rules with their levels")
        return
    for index, rule in enumerate(rules):
        level = rule.get("level") if isinstance(rule, dict) else None
        if level not in _AUDIT_LEVELS:
            message = f"rule {index + 1} has no valid level"
            guess = nearest(level, _AUDIT_LEVELS) if isinstance(level, str) else None
            problems.add("anywhere.audit_policy", path, message, value=level, allowed=", ".join(_AUDIT_LEVELS), nearest=guess)
