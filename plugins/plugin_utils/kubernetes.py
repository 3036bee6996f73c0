# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The syntax of Kubernetes: versions, labels and taints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

_VERSION = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,3})?(?:[-+][0-9A-Za-z.-]*)?", re.ASCII)
_LABEL_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*", re.ASCII)
_NAME_LENGTH = 63
_PREFIX_LENGTH = 253

taint_effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_KUBELET_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)
_KUBELET_LABEL_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")


class Taint(Protocol):
    """What C(taints_flag) reads of a taint; C(value) may be empty or None."""

    @property
    def key(self) -> str:
        """The key."""

    @property
    def value(self) -> str | None:
        """The value."""

    @property
    def effect(self) -> str:
        """One of C(taint_effects)."""


def parse_version(text: Any) -> tuple[int, int] | None:
    """C((1, 31)) of C("1.31"), C("v1.31.4") or C("1.31.4-eks-abc"); None of anything else.

    A number is nothing: 1.3 and 1.30 are the same one.
    """
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    return (int(match[1]), int(match[2])) if match else None


def label_key_problem(key: Any) -> str | None:
    """Why C(key) is not a valid label or taint key (C(name) or C(prefix/name)), or None if it is valid."""
    if not isinstance(key, str):
        return "the key must be text"
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return "a key has at most one slash"
    if slash and not prefix:
        return "the part before the slash is empty"
    if len(prefix) > _PREFIX_LENGTH:
        return f"the part before the slash is longer than {_PREFIX_LENGTH} characters"
    if prefix and not _DNS_SUBDOMAIN.fullmatch(prefix):
        return "the part before the slash is not a DNS name (lower case letters, digits, - and .)"
    return _name_problem(name, "the name of a key")


def label_value_problem(value: Any) -> str | None:
    """Why C(value) is not a valid label or taint value, or None if it is valid, as the empty text is."""
    if not isinstance(value, str):
        return "a value is text; quote it"
    return _name_problem(value, "a value") if value else None


def _name_problem(name: str, what: str) -> str | None:
    if not name:
        return f"{what} is empty"
    if len(name) > _NAME_LENGTH:
        return f"{what} is longer than {_NAME_LENGTH} characters"
    if not _LABEL_NAME.fullmatch(name):
        return f"{what} can contain only letters, digits, -, _ and ., and must begin and end with a letter or digit"
    return None


def _within(domain: str, parents: Iterable[str]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


def kubelet_label_problem(key: Any) -> str | None:
    """Why kubelet refuses to start with label C(key), or None when it does not (k8s.io/kubelet, pkg/apis, 1.24 to 1.36)."""
    if not isinstance(key, str):
        return None
    domain = key.partition("/")[0] if "/" in key else ""
    if key in _KUBELET_LABELS or not _within(domain, _KUBERNETES_DOMAINS) or _within(domain, _KUBELET_LABEL_DOMAINS):
        return None
    return "kubelet refuses to start with this label: it can set only a few labels below kubernetes.io and k8s.io"


def node_labels_flag(labels: Mapping[str, str]) -> str:
    """The value of C(--node-labels): C(k=v,…), sorted by key."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels))


def taints_flag(taints: Iterable[Taint]) -> str:
    """The value of C(--register-with-taints): C(k=v:Effect,…) in the given order; C(k=:Effect) without a value."""
    return ",".join(f"{taint.key}={taint.value or ''}:{taint.effect}" for taint in taints)
