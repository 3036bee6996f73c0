# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of NodeConfigs: each as nodeadm reads it, all of them merged, and what kubelet and containerd get of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..artifacts import containerd_config, document_agreement
from ..artifacts.nodeconfig_flags import flag_values
from ..artifacts.nodeconfig_parts import section
from ..errors import Problems, joined
from ..kubelet import deep_merge
from ..kubelet_fields import kubelet_config_problems
from ..kubelet_settings import flag_name
from ..nodeconfig import read
from ..nodeconfig.document import check_document
from ..readers.model import ReadPart
from . import instance
from .kubelet_settings import Flag, check_configuration, check_dns, check_flags
from .report import Report
from .subject import Subject

_REQUIRED = ("name", "apiServerEndpoint", "certificateAuthority", "cidr")
_CLUSTER_DNS = "cluster-dns"


@dataclass(frozen=True)
class _Kubelet:
    """The kubelet section of a document. path: of config."""

    config: Mapping[str, Any]
    path: str
    flags: tuple[Flag, ...]


def check(subject: Subject, report: Report) -> None:
    """Report what nodeadm refuses, ignores or replaces, and what kubelet refuses in the result."""
    problems = report.problems
    documents = []
    for part in subject.parts("nodeconfig"):
        check_document(part.text, part.path, problems)
        documents.append((part.path, _lenient(part)))
    if not documents:
        return
    _check_cluster(documents, problems)
    _check_agreement(documents, problems)
    sections = [_read_kubelet(path, document, subject, report) for path, document in documents]
    _check_merged(sections, documents, subject, report)
    for path, document in documents:
        _check_containerd(path, document, subject, problems)


def _lenient(part: ReadPart) -> Mapping[str, Any]:
    """The document as nodeadm reads it; an empty one if it is unreadable."""
    try:
        document = read.document(part.text, strict=False)
    except read.NodeConfigError:
        return {}
    return document if isinstance(document, dict) else {}


def _check_cluster(documents: list[tuple[str, Mapping[str, Any]]], problems: Problems) -> None:
    """nodeadm needs the whole cluster, in one document or in several. EKS and Karpenter add a document with it."""
    sections = [(path, section(section(document, "spec"), "cluster")) for path, document in documents]
    given = {name: value for _path, cluster in sections for name, value in cluster.items() if value not in (None, "")}
    if not given:
        message = "has no cluster: only EKS, for a managed node group without an AMI of its own, and Karpenter add it"
        problems.add("nodeconfig.no_cluster", joined(documents[0][0], "spec"), message)
        return
    path = next(path for path, cluster in sections if cluster)
    required = (*_REQUIRED, "id") if given.get("enableOutpost") is True else _REQUIRED
    for name in required:
        if name not in given:
            where = f"{joined(path, 'spec')}.cluster"
            problems.add("cluster.missing_field", where, f"{name} is missing, and nodeadm fails without it", fix=f"add {name}")


def _check_agreement(documents: list[tuple[str, Mapping[str, Any]]], problems: Problems) -> None:
    found = Problems()
    document_agreement.check(documents, found)
    for problem in found:
        problems.extend([replace(problem, rule="nodeconfig.replaced_value", fix="set it in one place only")])


def _read_kubelet(path: str, document: Mapping[str, Any], subject: Subject, report: Report) -> _Kubelet:
    """Report what is wrong in the kubelet section of one document, and return the section."""
    problems = report.problems
    kubelet = section(section(document, "spec"), "kubelet")
    where = f"{joined(path, 'spec')}.kubelet"
    config = {name: value for name, value in section(kubelet, "config").items() if name not in ("apiVersion", "kind")}
    if not problems.touches(f"{where}.config"):
        kubelet_config_problems(config, subject.version, f"{where}.config", problems)
    words = kubelet.get("flags")
    flags = []
    for index, word in enumerate(words if isinstance(words, list) else ()):
        at = f"{where}.flags[{index}]"
        if isinstance(word, str) and not problems.touches(at):
            flags += [Flag(flag_name(word), value, at) for value in flag_values({"flags": [word]})[flag_name(word)]]
    check_flags(flags, subject, problems, config="spec.kubelet.config")
    return _Kubelet(config, f"{where}.config", tuple(flags))


def _check_merged(sections: Sequence[_Kubelet], documents: list[tuple[str, Mapping[str, Any]]], subject: Subject, report: Report) -> None:
    """Report what kubelet refuses in what all documents together say. A problem is reported at the last document with the field."""
    problems = report.problems
    config: dict[str, Any] = {}
    places: dict[str, str] = {}
    for one in sections:
        config = deep_merge(config, one.config)
        places |= {name: joined(one.path, name) for name in one.config}
    flags = [flag for one in sections for flag in one.flags]
    addresses = config.get("clusterDNS")
    at = places.get("clusterDNS", "")
    listed = [(f"{at}[{index}]", item) for index, item in enumerate(addresses if isinstance(addresses, list) else ())]
    listed += [(flag.path, item) for flag in flags if flag.name == _CLUSTER_DNS for item in flag.value.split(",")]
    ranges = [section(section(document, "spec"), "cluster").get("cidr") for _path, document in documents]
    check_dns(listed, next((cidr for cidr in reversed(ranges) if cidr), None), problems)
    check_configuration(config, places, flags, subject, problems)
    instance.check(instance.of_kubelet(config, places, flags), subject, problems)


def _check_containerd(path: str, document: Mapping[str, Any], subject: Subject, problems: Problems) -> None:
    text = section(section(document, "spec"), "containerd").get("config")
    where = f"{joined(path, 'spec')}.containerd.config"
    if not isinstance(text, str) or problems.touches(where):
        return
    from ..formats import toml

    config = toml.load(text, where, problems)
    containerd_config.check_version(config, subject.version, where, problems)
    containerd_config.check(config, where, problems, has_mirrors=False)
