# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2023: finds values in which other NodeConfigs on the node differ from ours, and the value that nodeadm uses.

nodeadm merges user data first, then the documents of /etc/eks/nodeadm.d in the order of their names; the later one wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problem, Problems, joined, shown
from ..formats import mime, mime_reader
from ..formats.compression import unpack
from ..formats.user_data_kind import classify
from ..model.checks import shows_secret

USER_DATA = "user_data"
"""The key of the user data in the report of the node. All other keys are paths."""

FOLDER = "/etc/eks/nodeadm.d/"
_SUFFIXES = (".yaml", ".yml", ".json")
_MERGED_FLAGS = ("node-labels",)


@dataclass(frozen=True)
class _Document:
    """One document on the node: its name in messages, and its values by path."""

    where: str
    values: Mapping[str, Any] = field(default_factory=dict)


def disagreements(ours: str, path: str, foreign: Mapping[str, str], own: Sequence[str] = ()) -> list[str]:
    """One sentence for each value that differs in another document of the node, and for each document that cannot be read.

    ours: our document, which lies at C(path). foreign: text of the others by path, and of the user data. own: files of ours
    in the same folder.
    """
    from ..nodeconfig.read import NodeConfigError, parse

    problems: list[str] = []
    values = dict(_values(parse(ours)["spec"]))
    earlier: list[_Document] = []
    later: list[_Document] = []
    for name in sorted(foreign, key=lambda one: (one != USER_DATA, one)):
        if name == path or name in own or not _is_read(name):
            continue
        try:
            document = _read(name, foreign[name])
        except NodeConfigError as error:
            problems.append(f"{_name_in_messages(name)} {error}, so nodeadm fails: correct or remove it")
            continue
        (later if name != USER_DATA and name > path else earlier).append(document)
    overriding = [
        _nodeadm_uses_theirs(document, key, values[key], document.values[key]) for document in later for key in _differing(values, document)
    ]
    overridden = [
        _nodeadm_uses_ours(document, key, values[key], document.values[key]) for document in earlier for key in _differing(values, document)
    ]
    return [*problems, *overriding, *overridden]


def _is_read(name: str) -> bool:
    folder, _unused, _file = name.rpartition("/")
    return name == USER_DATA or (f"{folder}/" == FOLDER and name.lower().endswith(_SUFFIXES))


def _name_in_messages(name: str) -> str:
    return "the instance's user data" if name == USER_DATA else name


def _differing(ours: Mapping[str, Any], document: _Document) -> list[str]:
    return sorted(key for key, value in document.values.items() if key in ours and ours[key] != value)


def _nodeadm_uses_theirs(document: _Document, key: str, ours: Any, theirs: Any) -> str:
    other, own = _value_in_messages(key, theirs), _value_in_messages(key, ours)
    fix = "remove it there, or use the same value"
    return f"{document.where} sets {key}{other}, and nodeadm prefers it to the value of the collection{own}: {fix}"


def _nodeadm_uses_ours(document: _Document, key: str, ours: Any, theirs: Any) -> str:
    other, own = _value_in_messages(key, theirs), _value_in_messages(key, ours)
    return f"{document.where} sets {key}{other}; nodeadm uses the value of the collection{own}"


def _value_in_messages(key: str, value: Any) -> str:
    """The value for a message. Empty if it may be a secret."""
    return "" if shows_secret(Problem("input.conflict", key, "", value=value)) else f" ({shown(value)})"


def _read(name: str, text: str) -> _Document:
    """The merged NodeConfigs of one document. Raises C(NodeConfigError)."""
    from ..nodeconfig import merge, read

    configs = [read.parse(part) for part in _texts(name, text)]
    merged = merge.merge(configs)["spec"] if configs else {}
    return _Document(_name_in_messages(name), dict(_values(merged)))


def _texts(name: str, text: str) -> Iterator[str]:
    """The NodeConfigs in a text. Other parts of user data are ignored, as nodeadm does."""
    problems = Problems()
    user_data = name == USER_DATA
    plain = unpack(text, name, problems) if user_data else text
    kind = classify(plain)
    if kind == "mime":
        for part in mime_reader.read(plain, name, problems):
            if part.media_type == mime.NODE_CONFIG:
                yield mime.decoded(part, name, problems)
    elif kind == "nodeconfig" or (not user_data and plain.strip()):
        yield plain


def _values(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All values of a NodeConfig by path. Flags of kubelet are listed by name, and the TOML of containerd by key."""
    for section, content in spec.items():
        rest = dict(content) if isinstance(content, Mapping) else content
        if section == "kubelet" and isinstance(rest, dict):
            yield from _flags(rest.pop("flags", []))
        if section == "containerd" and isinstance(rest, dict) and "config" in rest:
            yield from _leaves(_toml(rest.pop("config")), "spec.containerd.config")
        yield from _leaves(rest, joined("spec", section))


def _leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _leaves(value, joined(path, key))
    else:
        yield path, tree


def _flags(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The last value of a repeated flag wins. Labels are merged."""
    for word in words:
        name, _unused, value = word.lstrip("-").partition("=")
        bare = value.replace('"', "").replace("'", "")
        if name in _MERGED_FLAGS:
            pairs = (pair.partition("=") for pair in bare.split(",") if pair)
            yield from ((f"label {key}", label) for key, _is, label in pairs)
        else:
            yield f"flag --{name}", bare


def _toml(text: Any) -> Any:
    from ..formats import toml

    problems = Problems()
    tables = toml.load(str(text), "containerd.config", problems)
    return text if problems else tables
