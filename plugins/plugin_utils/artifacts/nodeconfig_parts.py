# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeConfig parts: the user's beside ours, and kubelet flags as nodeadm passes them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems, joined, shown
from ..formats.mime import Part, decoded
from ..formats.read_once import read_once
from ..kubernetes import taints_flag
from ..model.spec import NodeSpec, Taint
from .cloud_init import NODE_CONFIG

CONFIG_DROP_IN = (
    "[Service]\n"
    "ExecStart=\n"
    "ExecStart=/usr/bin/nodeadm init --skip run --config-source imds://user-data --config-source file:///etc/eks/nodeadm.d/"
    " --config-cache /run/eks/nodeadm/config.json\n"
)
"""nodeadm-config of the image reads only user data and fails without a complete cluster there (amazon-eks-ami, July 2026)."""

_FIX = "set it in one place only, or set user_data_precedence: ours or theirs"
_LABELS, _TAINTS = "--node-labels", "--register-with-taints"


def flag_value_problem(value: str) -> str | None:
    """Why a flag value does not survive C($NODEADM_KUBELET_ARGS), which systemd splits like a shell line; None when it does."""
    bad = [name for char, name in (('"', "a double quote"), ("'", "a single quote"), ("\\", "a backslash")) if char in value]
    return f"contains {' and '.join(bad)}, which systemd would interpret as quoting when it starts kubelet" if bad else None


def flag_word(name: str, value: str) -> str:
    """One kubelet flag as a word of that line; a value with blanks is quoted for systemd."""
    return f'--{name}="{value}"' if any(char.isspace() for char in value) else f"--{name}={value}"


@read_once
def check_document(text: str, path: str, problems: Problems) -> dict[str, Any]:
    """A NodeConfig document, refused where nodeadm would refuse it, drop something or misread it; empty when refused."""
    from ..nodeconfig import read, schema

    try:
        document = read.document(text)
    except read.NodeConfigError as error:
        problems.add("nodeconfig.unreadable", path, str(error), allowed="one NodeConfig document, as YAML or JSON")
        return {}
    if not isinstance(document, dict):
        fix = "on al2023 a script belongs in commands.pre"
        problems.add("nodeconfig.wrong_document", path, "is not a NodeConfig", allowed="a mapping with apiVersion, kind and spec", fix=fix)
        return {}
    return document if schema.document_problems(document, path, problems) else {}


def configs(parts: Iterable[Part], problems: Problems) -> list[dict[str, Any]]:
    """The NodeConfigs among the parts, in order."""
    found = []
    for part in parts:
        if part.media_type == NODE_CONFIG:
            before = len(problems)
            text = decoded(part, "node_group.user_data", problems)
            document = check_document(text, "node_group.user_data", problems) if len(problems) == before else {}
            if document:
                found.append(document)
    return found


def merged(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """One NodeConfig that says what all of them say, merged as nodeadm merges."""
    if len(documents) == 1:
        return documents[0]
    from ..nodeconfig import merge

    return dict(merge.merge(documents))


def reconcile(ours: dict[str, Any], existing: list[dict[str, Any]], spec: NodeSpec, problems: Problems) -> dict[str, Any]:
    """Our settings as they have to be written after the user's own NodeConfigs.

    nodeadm lets the later document win, and ours is later. So a value that the user's document has otherwise is either a
    problem, or stays (precedence ours), or is left out of ours (theirs). Cluster identity is always ours unless
    C(theirs) is asked for; labels and taints are united.
    """
    if not existing:
        return ours
    theirs = merged(existing).get("spec")
    if not isinstance(theirs, Mapping):
        return ours
    keep = _Precedence(spec.user_data_precedence, problems)
    result = {}
    # nodeadm reads null as nothing said.
    for key, value in ((key, value) for key, value in ours.items() if value is not None):
        other = theirs.get(key)
        path = joined("spec", key)
        if key == "cluster":
            kept = _identity(value, other, spec.user_data_precedence)
        elif key == "kubelet":
            kept = _kubelet(value, other if isinstance(other, Mapping) else {}, spec, keep)
        elif key == "containerd":
            kept = _containerd(value, other if isinstance(other, Mapping) else {}, keep, problems)
        else:
            kept = keep.tree(value, other, path)
        if kept:
            result[key] = kept
    return result


class _Precedence:
    """Decides, leaf by leaf, whether ours is written."""

    def __init__(self, choice: str | None, problems: Problems) -> None:
        self._choice = choice
        self._problems = problems

    def ours(self, path: str, value: Any, other: Any) -> bool:
        """Is our value at C(path) written? Reports a conflict that C(user_data_precedence) does not resolve."""
        if value == other and isinstance(value, bool) == isinstance(other, bool):
            return True
        if self._choice is None:
            message = f"sets {path} to {shown(other)}, and the fields of node_group to {shown(value)}"
            self._problems.add("user_data.conflict", "node_group.user_data", message, fix=_FIX)
        return self._choice != "theirs"

    def tree(self, value: Any, other: Any, path: str) -> Any:
        """C(value) without the leaves that the user's document keeps."""
        if other is None:
            return value
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            result = {key: self.tree(item, other.get(key), joined(path, key)) for key, item in value.items()}
            return {key: item for key, item in result.items() if item is not None}
        return value if self.ours(path, value, other) else None


def _identity(ours: Mapping[str, Any], theirs: Any, choice: str | None) -> dict[str, Any]:
    if choice != "theirs" or not isinstance(theirs, Mapping):
        return dict(ours)
    return {key: value for key, value in ours.items() if key not in theirs}


def _containerd(ours: Mapping[str, Any], theirs: Mapping[str, Any], keep: _Precedence, problems: Problems) -> Any:
    if not isinstance(ours.get("config"), str) or not isinstance(theirs.get("config"), str):
        return keep.tree(ours, theirs, "spec.containerd")
    from ..formats import toml

    own = toml.load(ours["config"], "node_group.containerd.config", problems)
    other = toml.load(theirs["config"], "node_group.user_data", problems)
    kept = keep.tree(own, other, "spec.containerd.config")
    rest = keep.tree({key: value for key, value in ours.items() if key != "config"}, theirs, "spec.containerd")
    return rest | ({"config": toml.dump(kept, "node_group.containerd.config")} if kept else {})


def _kubelet(ours: Mapping[str, Any], theirs: Mapping[str, Any], spec: NodeSpec, keep: _Precedence) -> dict[str, Any]:
    result = {key: value for key, value in ours.items() if key not in ("config", "flags")}
    config = keep.tree(ours.get("config", {}), theirs.get("config"), "spec.kubelet.config")
    flags = _flags(ours.get("flags", []), theirs, spec, keep)
    return result | {key: value for key, value in (("config", config), ("flags", flags)) if value}


def flag_values(kubelet: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """kubelet's flags in a NodeConfig as name → values, without the quotes that systemd takes away."""
    found: dict[str, tuple[str, ...]] = {}
    for word in kubelet.get("flags") or []:
        name, _unused, value = str(word).lstrip("-").partition("=")
        found[name] = (*found.get(name, ()), value.strip("\"'"))
    return found


def _flags(ours: list[str], theirs: Mapping[str, Any], spec: NodeSpec, keep: _Precedence) -> list[str]:
    """Our flags after theirs: kubelet unites repeated labels, but of repeated taints only the last flag counts."""
    words = [word for word in theirs.get("flags") or [] if isinstance(word, str)]
    given = dict(word.partition("=")[::2] for word in words)
    labels = _labels(",".join(word.partition("=")[2] for word in words if word.startswith(f"{_LABELS}=")))
    config = theirs.get("config")
    taints = _taints(given.get(_TAINTS, ""), config.get("registerWithTaints") if isinstance(config, Mapping) else None)
    result = []
    for word in ours:
        name, _unused, value = word.partition("=")
        if name == _LABELS:
            own = _labels(value)
            kept = {key: item for key, item in own.items() if key not in labels or keep.ours(f"label {key}", item, labels[key])}
            if kept:
                result.append(f"{_LABELS}={','.join(f'{key}={item}' for key, item in kept.items())}")
        elif name == _TAINTS:
            result.append(f"{_TAINTS}={taints_flag(_united_taints(spec.taints, taints, keep))}")
        elif name not in given or keep.ours(f"flag {name}", value, given[name]):
            result.append(word)
    return result


def _labels(text: str) -> dict[str, str]:
    text = text.replace('"', "").replace("'", "")
    return dict(pair.partition("=")[::2] for pair in text.split(",") if pair)


def _taints(flag: str, config: Any) -> list[Taint]:
    found = []
    for word in flag.replace('"', "").replace("'", "").split(","):
        pair, _unused, effect = word.rpartition(":")
        key, _unused, value = pair.partition("=")
        if key:
            found.append(Taint(key, value, effect))
    for item in config if isinstance(config, list) and not found else []:
        if isinstance(item, Mapping) and isinstance(item.get("key"), str):
            found.append(Taint(item["key"], str(item.get("value") or ""), str(item.get("effect"))))
    return found


def _united_taints(ours: Iterable[Taint], theirs: Iterable[Taint], keep: _Precedence) -> list[Taint]:
    result = {(taint.key, taint.effect): taint for taint in theirs}
    for taint in ours:
        other = result.get((taint.key, taint.effect))
        if other is None or keep.ours(f"taint {taint.key}:{taint.effect}", taint.value, other.value):
            result[taint.key, taint.effect] = taint
    return list(result.values())
