# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that need more than one field: required fields, forbidden fields, and fields that a version removed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Problem, Problems, joined
from ..formats.secrets import RULES, find_secrets, have_secret
from ..formats.user_data_kind import classify
from ..kubelet_fields import kubelet_config_contradictions, kubelet_config_problems
from ..kubelet_flags import kubelet_flag_problems
from ..kubernetes import kubelet_label_problem, label_key_problem, label_value_problem
from ..versions import family_version_problem, known_minors
from .merge import DOCUMENT_HEAD
from .own_fields import FIELD_OF_FLAG, label_path, merge_taints
from .spec import Cluster, NodeSpec

_FLAGS_OF_THE_IMAGE = ("config", "config-dir", "kubeconfig", "bootstrap-kubeconfig")
"""Flags with the paths of files that the image or this collection writes."""

_FAMILIES_WITHOUT_CONFIG = ("bottlerocket", "windows")
"""Families on which no field of kubelet's configuration can replace a flag: they write the configuration themselves."""

_PORT = re.compile(r":[0-9]+(?=/?$)")
_PRIVATE_URL = re.compile(r"://\S*[@?]")

_TAINTS = "registerWithTaints"
"""The field of kubelet's configuration that is checked with the taints of the node group."""


def check(spec: NodeSpec, problems: Problems) -> tuple[Problem, ...]:
    """Report every problem of C(spec) that does not depend on the output of its family. Return the checks that were skipped."""
    _required(spec, problems)
    _labels(spec, problems)
    _taints(spec, problems)
    _kubelet(spec, problems)
    _versions(spec, problems)
    _proxy(spec, problems)
    if not spec.allow_secrets:
        _secrets(spec, problems)
    return _unchecked(spec, problems)


def _required(spec: NodeSpec, problems: Problems) -> None:
    if (spec.managed or spec.mode == "karpenter") and spec.cluster.outpost:
        fix = "set mode: self_managed"
        problems.add(
            "mode.outpost",
            "node_group.mode",
            "does not exist in a local cluster on Outposts",
            value=spec.mode,
            allowed="self_managed",
            fix=fix,
        )
    # If the cluster is not a mapping, that is the only problem to report.
    if spec.completed or any(problem.path == "cluster" for problem in problems):
        return
    cluster = spec.cluster
    needed: dict[str, object] = {"name": cluster.name, "endpoint": cluster.endpoint, "certificate_authority": cluster.certificate_authority}
    if spec.family in ("al2023", "windows") or not spec.dns_ips:
        needed["service_cidr"] = cluster.service_cidr
    if spec.strategy == "static" and spec.family in ("al2", "ubuntu"):
        needed["region"] = cluster.region
    if cluster == Cluster() and not problems.touches("cluster"):
        *others, last = needed
        problems.add(
            "cluster.missing_field",
            "cluster",
            f"is required for {spec.family}, with the fields {', '.join(others)} and {last}",
            fix="set it to the output of `aws eks describe-cluster` (in roles and playbooks: eks_node_cluster)",
        )
        return
    for name, value in needed.items():
        path = f"cluster.{name}"
        if value is None and not problems.touches(path) and not (name == "service_cidr" and problems.touches("cluster.dns_ips")):
            problems.add("cluster.missing_field", path, f"is required for {spec.family}", fix=_where_to_find(name, spec.family))
    if cluster.outpost and cluster.id is None and not problems.touches("cluster.id"):
        problems.add(
            "cluster.missing_field",
            "cluster.id",
            "is required for a local cluster on Outposts",
            fix="copy id of `aws eks describe-cluster`",
        )
    if cluster.outpost and cluster.endpoint:
        check_outpost_endpoint(cluster.endpoint, "cluster.endpoint", problems)
    if cluster.id is not None and not cluster.outpost and not problems.touches("cluster.outpost"):
        problems.add(
            "cluster.id_without_outpost",
            "cluster.id",
            "has no meaning outside of Outposts",
            value=cluster.id,
            fix="set cluster.outpost: true, or remove it",
        )


def check_outpost_endpoint(endpoint: str, path: str, problems: Problems) -> None:
    """Report the endpoint of a local cluster on Outposts that contains a port."""
    if _PORT.search(endpoint):
        problems.add(
            "cluster.outpost_port",
            path,
            "contains a port, but the nodes of a local cluster look up its host name with it and fail",
            value=endpoint,
            allowed="https://HOST",
            fix=f"write {_PORT.sub('', endpoint)}",
        )


def _where_to_find(name: str, family: str) -> str:
    source = {
        "name": "name",
        "endpoint": "endpoint",
        "certificate_authority": "certificateAuthority.data",
        "service_cidr": "kubernetesNetworkConfig.serviceIpv4Cidr (or serviceIpv6Cidr)",
        "region": "the region in arn",
    }[name]
    instead = ", or set cluster.dns_ips" if name == "service_cidr" and family not in ("al2023", "windows") else ""
    return f"copy {source} of `aws eks describe-cluster`{instead}"


def _labels(spec: NodeSpec, problems: Problems) -> None:
    for key in spec.labels:
        path = label_path(spec.given, key)
        reason = kubelet_label_problem(key)
        if reason:
            problems.add(
                "labels.forbidden_prefix",
                path,
                reason,
                fix="use your own prefix, or set the label on the Node object after the node has joined",
            )
        elif spec.managed and (key.split("/")[0] == "eks.amazonaws.com" or key.split("/")[0].endswith(".eks.amazonaws.com")):
            problems.add(
                "labels.reserved_by_eks",
                path,
                "the prefix eks.amazonaws.com is reserved for EKS, and its API rejects it",
                fix="use your own prefix",
            )


def _taints(spec: NodeSpec, problems: Problems) -> None:
    seen: dict[tuple[str, str], str] = {}
    for path, taint in merge_taints(spec.given, Problems()):
        key, value, effect = taint.get("key"), taint.get("value", ""), taint.get("effect")
        reason = label_key_problem(key) if key else None
        if reason:
            problems.add("taints.invalid_key", f"{path}.key", reason, value=key, allowed="[prefix/]name, as Kubernetes spells taint keys")
        reason = label_value_problem(value)
        if reason:
            problems.add(
                "taints.invalid_value", f"{path}.value", reason, value=value, allowed='text of at most 63 characters, such as "gpu"'
            )
        if key and effect:
            if (key, effect) in seen:
                first = seen[key, effect]
                problems.add(
                    "taints.duplicate", path, f"has the key and effect of {first}", value=f"{key}:{effect}", fix="remove one of the two"
                )
            seen.setdefault((key, effect), path)


def _kubelet(spec: NodeSpec, problems: Problems) -> None:
    version = spec.cluster.kubernetes_version
    for path, config in _configs(spec.given):
        for key, right in DOCUMENT_HEAD.items():
            if config.get(key, right) != right:
                problems.add(
                    "kubelet.written_by_collection",
                    joined(path, key),
                    "is not the one that kubelet reads",
                    value=config[key],
                    allowed=right,
                    fix="remove it",
                )
        said = (*DOCUMENT_HEAD, _TAINTS)
        fields = {key: value for key, value in config.items() if key not in said and not problems.touches(joined(path, key))}
        kubelet_config_problems(fields, version, path, problems)
        if spec.family == "bottlerocket":
            kubelet_config_contradictions(fields, path, problems)
    for name in spec.kubelet_flags:
        path = joined("node_group.kubelet.flags", name)
        if name in _FLAGS_OF_THE_IMAGE:
            problems.add("kubelet.set_by_image", path, "sets the path of kubelet's own files, which the image decides", fix="remove it")
    others = {
        name: values[0] if len(values) == 1 else list(values)
        for name, values in spec.kubelet_flags.items()
        if name not in _FLAGS_OF_THE_IMAGE
    }
    has_config = spec.family not in _FAMILIES_WITHOUT_CONFIG
    kubelet_flag_problems(others, version, "node_group.kubelet.flags", problems, has_config=has_config, fields=FIELD_OF_FLAG)


def _configs(given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    own = given.get("kubelet", {}).get("config")
    if own:
        yield "node_group.kubelet.config", own
    kubelet = given.get("nodeadm", {}).get("kubelet")
    if isinstance(kubelet, dict) and isinstance(kubelet.get("config"), dict):
        yield "node_group.nodeadm.kubelet.config", kubelet["config"]


def newer_version(spec: NodeSpec) -> tuple[Problem, ...]:
    """Return a warning if the cluster runs a version that is newer than the versions that the collection knows."""
    version, (_oldest, newest) = spec.cluster.kubernetes_version, known_minors()
    if version is None or version <= (1, newest):
        return ()
    message = f"is newer than 1.{newest}, so flags, configuration and images were checked against 1.{newest}"
    value = f"{version[0]}.{version[1]}"
    fix = "update the collection, or correct the version"
    return (Problem("cluster.version_not_known", "cluster.kubernetes_version", message, value=value, fix=fix),)


def _unchecked(spec: NodeSpec, problems: Problems) -> tuple[Problem, ...]:
    if newer := newer_version(spec):
        return newer
    if spec.cluster.kubernetes_version is not None or problems.touches("cluster.kubernetes_version"):
        return ()
    message = "is not set, so the family, the kubelet flags and the kubelet configuration were not checked against a version"
    return (Problem("cluster.version_unknown", "cluster.kubernetes_version", message, fix="add kubernetes_version"),)


def _versions(spec: NodeSpec, problems: Problems) -> None:
    version, (oldest, newest) = spec.cluster.kubernetes_version, known_minors()
    if version is None:
        return
    if version < (1, oldest):
        problems.add(
            "cluster.version_too_old",
            "cluster.kubernetes_version",
            f"is older than 1.{oldest}, and EKS does not run it any more",
            value=f"{version[0]}.{version[1]}",
            allowed=f"1.{oldest} to 1.{newest}",
            fix="upgrade the cluster, or copy cluster.version of `aws eks describe-cluster`",
        )
        return
    release = {"windows": spec.windows.version, "ubuntu": spec.ubuntu_release}.get(spec.family)
    found = family_version_problem(spec.family, release, version)
    if found:
        reason, fix = found
        field = {"windows": "version", "ubuntu": "release"}.get(spec.family, "")
        given = field in spec.given.get(spec.family, {})
        path = f"node_group.{spec.family}.{field}" if given else "node_group.family"
        problems.add("family.not_in_version", path, reason, value=release if given else spec.given.get("family"), fix=fix)


def _proxy(spec: NodeSpec, problems: Problems) -> None:
    if spec.proxy and not (spec.proxy.http or spec.proxy.https) and not problems.touches("node_group.proxy"):
        problems.add("proxy.empty", "node_group.proxy", "does not name a proxy", fix="set http, https or both")


_SECRET_FIX = "let the node fetch it (SSM parameter, Secrets Manager), or set allow_secrets_in_user_data: true"


def _secrets(spec: NodeSpec, problems: Problems) -> None:
    found = _texts(spec.given, "node_group")
    for path, text in zip(spec.user_data_paths, spec.user_data, strict=True):
        found.extend((path, piece) for piece in _pieces(text, path))
    if not have_secret(text for _unused, text in found):
        return
    for path, text in found:
        for what, line in find_secrets(text):
            where = f" in line {line}" if "\n" in text else ""
            problems.add(
                RULES[what], path, f"seems to contain {what}{where}, and every process on the node can read user data", fix=_SECRET_FIX
            )


def _pieces(text: str, path: str) -> Iterator[str]:
    """Yield the decoded bodies of encoded MIME parts, and the text without them. The family reports problems of the parts."""
    if classify(text) == "mime":
        from ..formats import mime, mime_reader

        ignored = Problems()
        for part in mime_reader.read(text, path, ignored):
            if part.transfer_encoding and part.body:
                yield mime.decoded(part, path, ignored)
                # The encoded body is not searched again. Its line breaks stay, so that line numbers stay correct.
                text = text.replace(part.body, "\n" * part.body.count("\n"))
    yield text


def shows_secret(problem: Problem) -> bool:
    """Does the value of a problem look like a secret, alone or with the name of its field? A user name and a query of a URL do."""
    key = re.findall(r"[A-Za-z0-9_-]+", problem.path)[-1:]
    return any(_PRIVATE_URL.search(text) or find_secrets(text) for _unused, text in _texts(problem.value, problem.path, *key))


def _texts(tree: Any, path: str, key: str | None = None) -> list[tuple[str, str]]:
    """Every text below C(tree) with its path, as C(key = value): many secrets only look like one beside a name."""
    found: list[tuple[str, str]] = []
    _add_texts(tree, path, key, found)
    return found


def _add_texts(tree: Any, path: str, key: str | None, found: list[tuple[str, str]]) -> None:
    if isinstance(tree, str):
        found.append((path, tree if "\n" in tree or key is None else f"{key} = {tree}"))
    elif isinstance(tree, Mapping):
        for name, value in tree.items():
            if not (path == "node_group" and name == "user_data"):
                _add_texts(value, joined(path, name), str(name), found)
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            _add_texts(value, joined(path, index), key, found)
