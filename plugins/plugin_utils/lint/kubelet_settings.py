# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what user data passes to kubelet: flags, labels, taints, DNS addresses, and the configuration that kubelet then runs with."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..artifacts.kubelet_layers import Layers, check_versions, on_image
from ..errors import Problem, Problems
from ..kubelet_effective import Effective, Origin, flag_fields
from ..kubelet_flags import kubelet_flag_problems
from ..kubelet_settings import NODE_LABELS, TAINTS
from ..kubernetes import kubelet_label_problem, label_key_problem, label_value_problem, taint_effects
from ..network import cidr_problem, ip_problem
from .subject import Subject

_WITH_KNOWN_CONFIG = ("al2", "al2023", "ubuntu")
"""Families whose whole configuration of kubelet is known."""

_OWN_NAMES = (("reserved.kube.", "kubeReserved."), ("reserved.system.", "systemReserved."), ("kubelet.config.", ""))

_OF_EKS = ("eks.amazonaws.com/nodegroup", "eks.amazonaws.com/nodegroup-image", "eks.amazonaws.com/capacityType")
_OF_KARPENTER = ("karpenter.sh/", "karpenter.k8s.aws/")
_UNEXPANDED = re.compile(r"\$|\{\{|%\{|<[A-Za-z_][^<>]*>")
"""A placeholder: the value is known only after another program has replaced it."""


@dataclass(frozen=True)
class Flag:
    """A flag of kubelet. name: without dashes. path: its place; whether messages show the flag as this path."""

    name: str
    value: str
    path: str
    is_shown: bool = False


def check_flags(flags: Sequence[Flag], subject: Subject, problems: Problems, *, config: str | None = None) -> None:
    """Report flags that kubelet refuses. config: the path of the configuration that can replace a flag, if there is one."""
    taints: dict[str, Flag] = {}
    for flag in flags:
        found = Problems(problems)
        if flag.value and not is_unexpanded(flag.value):
            kubelet_flag_problems({flag.name: flag.value}, subject.version, "", found, has_config=config is not None)
        for problem in found:
            fix = problem.fix.replace("kubelet.config", config) if problem.fix and config else problem.fix
            below = problem.path.removeprefix(flag.name) if flag.is_shown else f"--{problem.path}"
            message = f"{below}: {problem.message}" if below else problem.message
            problems.extend([replace(problem, path=flag.path, message=message, fix=fix)])
        if flag.name == NODE_LABELS:
            check_labels(_pairs(flag.value), flag.path, problems)
        elif flag.name == TAINTS:
            if TAINTS in taints:
                message = "is given again, and kubelet registers the node only with the taints of the last one"
                problems.add("taints.replaced", flag.path, message, fix="write all taints in one flag, separated by commas")
            taints[TAINTS] = flag
            _check_taint_words(flag.value, flag.path, problems)


def is_unexpanded(text: str) -> bool:
    """Whether another program has to replace a part of the text first."""
    return bool(_UNEXPANDED.search(text))


def _pairs(value: str) -> dict[str, str]:
    return {key: text for pair in value.split(",") if pair for key, _sign, text in [pair.partition("=")]}


def check_labels(labels: Mapping[str, Any], path: str, problems: Problems) -> None:
    """Report labels that kubelet, or Kubernetes, refuses."""
    for key, value in labels.items():
        if is_unexpanded(key) or (isinstance(value, str) and is_unexpanded(value)):
            continue
        if reason := label_key_problem(key):
            problems.add("labels.invalid_key", path, f"{key}: {reason}", fix="write [prefix/]name")
        elif reason := kubelet_label_problem(key):
            fix = "use your own prefix, or set the label on the Node object after the node has joined"
            problems.add("labels.forbidden_prefix", path, f"{key}: {reason}", fix=fix)
        elif reason := label_value_problem(value):
            problems.add("labels.invalid_value", path, f"{key}: {reason}", fix="use at most 63 letters, digits, -, _ and .")
        elif key in _OF_EKS:
            problems.add("labels.added_by_eks", path, f"{key}: EKS adds this label to the nodes of a managed node group")
        elif key.startswith(_OF_KARPENTER):
            problems.add("labels.added_by_karpenter", path, f"{key}: Karpenter adds this label to its nodes")


def _check_taint_words(value: str, path: str, problems: Problems) -> None:
    seen: set[tuple[str, str]] = set()
    for word in value.split(",") if value and not is_unexpanded(value) else ():
        pair, colon, effect = word.rpartition(":")
        key, _sign, text = pair.partition("=")
        if not colon or effect not in taint_effects:
            message = f"{word} is not a taint, so kubelet exits"
            problems.add("taints.invalid_form", path, message, allowed=f"key=value:effect, with one of {', '.join(taint_effects)}")
            continue
        check_taint(key, text, path, problems)
        if (key, effect) in seen:
            problems.add("taints.duplicate", path, f"has the taint {key}:{effect} twice", fix="remove one of the two")
        seen.add((key, effect))


def check_taint(key: str, value: str, path: str, problems: Problems) -> None:
    """Report a key or a value that Kubernetes refuses."""
    if reason := label_key_problem(key):
        problems.add("taints.invalid_key", path, f"{key}: {reason}", fix="write [prefix/]name")
    if reason := label_value_problem(value):
        problems.add("taints.invalid_value", path, f"{key}: {reason}", fix='use at most 63 characters, such as "gpu"')


def check_dns(addresses: Iterable[tuple[str, Any]], cidr: Any, problems: Problems) -> None:
    """Report DNS addresses outside of the service CIDR. addresses: with their paths. Addresses of a cache on the node are link-local."""
    if not isinstance(cidr, str) or cidr_problem(cidr):
        return
    network = ipaddress.ip_network(cidr)
    for path, text in addresses:
        if ip_problem(text):
            continue
        address = ipaddress.ip_address(text)
        if not address.is_link_local and (address.version != network.version or address not in network):
            message = f"is {text}, which is not in the service CIDR {cidr}, so pods cannot resolve names"
            problems.add("cluster.dns_outside_cidr", path, message)


def check_configuration(
    config: Mapping[str, Any], paths: Mapping[str, str], flags: Sequence[Flag], subject: Subject, problems: Problems
) -> None:
    """Report what kubelet refuses in the configuration that it runs with. config: the fields of user data. paths: of the fields."""
    family = subject.family
    if family not in _WITH_KNOWN_CONFIG:
        return
    passed: dict[str, list[str]] = {}
    for flag in flags:
        passed.setdefault(flag.name, []).append(flag.value)
    layers = Layers(config, {name: tuple(values) for name, values in passed.items()})
    origins = {name: Origin(paths[name]) for name in config if name != "clusterDNS"}
    places = {flag.name: flag.path for flag in flags}
    for name, (field, _value) in flag_fields(layers.flags).items():
        origins[field.partition(".")[0]] = Origin(places[name], f"--{name}", is_flag=True)
    origins.pop("clusterDNS", None)
    if origins:
        of_minor = partial(_effective, family, layers, origins)
        found = Problems(problems)
        found.extend(problems)
        before = len(found)
        warnings = check_versions(family, subject.version, of_minor, found)
        problems.extend(_with_own_names(problem) for problem in (*tuple(found)[before:], *warnings))


def _effective(family: str, layers: Layers, origins: Mapping[str, Origin], minor: int) -> Effective:
    return on_image(family, minor, layers, origins)


def _with_own_names(problem: Problem) -> Problem:
    """The fix of a problem with the names of kubelet instead of those of a node group."""
    fix = problem.fix
    for name, own in _OWN_NAMES:
        fix = fix.replace(name, own) if fix else fix
    return replace(problem, fix=fix)
