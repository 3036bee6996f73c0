# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports values that the NodeConfigs of the user set differently, in one document or in several.

nodeadm merges the documents without a message: later values replace earlier ones, and the flags of all documents are appended. kubelet
then prefers flags to its configuration, uses the last occurrence of a flag with one value, and unites the occurrences of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from ..kubelet_settings import FEATURE_GATES, NODE_LABELS, TAINTS, field_of, is_list, is_map, is_same, value_of
from ..model.merge import Place
from . import proxy_environment
from .nodeconfig_flags import kubelet_flags
from .precedence import is_same_at, shown_at

_CONFIG: Place = ("kubelet", "config")
_EXPRESSION: Place = ("kubelet", "maxPodsExpression")
_MAX_PODS: Place = (*_CONFIG, "maxPods")
_TAINTS: Place = (*_CONFIG, "registerWithTaints")
_TOML: Place = ("containerd", "config")


@dataclass(frozen=True)
class _Value:
    """A value in a document. name: as messages show it. flag: the flag that sets it, or None."""

    document: str
    name: str
    value: Any
    flag: str | None = None


def check(documents: Sequence[tuple[str, Mapping[str, Any]]], problems: Problems) -> None:
    """Report every value that is set twice, and differently. documents: the place in the input and the NodeConfig, in their order."""
    seen: dict[Place, _Value] = {}
    for path, document in documents:
        spec = document.get("spec")
        for key, found in _values(path, spec if isinstance(spec, Mapping) else {}):
            first = seen.setdefault(key, found)
            if first is found:
                continue
            if found.flag and first.flag and is_list(found.flag):
                message = f"sets {found.name}, but so does {first.document}, and kubelet appends the values of this flag"
                problems.add("input.conflict", path, message, fix=_fix(documents))
            elif not _is_same(key, first, found):
                _report(first, found, documents, problems)
    _replaced_maps(seen, documents, problems)
    if _EXPRESSION in seen and _MAX_PODS in seen:
        _report(seen[_MAX_PODS], seen[_EXPRESSION], documents, problems)


def _fix(documents: Sequence[object]) -> str:
    return "set it in one place only" + (", or move the document that should win to override" if len(documents) > 1 else "")


def _report(first: _Value, second: _Value, documents: Sequence[object], problems: Problems) -> None:
    here, there = (f"{one.name} to {shown_at(one.name, one.value)}" for one in (second, first))
    if first.document == second.document:
        preferred = ", which kubelet prefers" if second.flag and not first.flag else ""
        message = f"sets {there}, but also {here}{preferred}"
    else:
        message = f"sets {here}, but {first.document} sets {there}"
    problems.add("input.conflict", second.document, message, fix=_fix(documents))


def _is_same(key: Place, first: _Value, second: _Value) -> bool:
    flag = first.flag or second.flag
    if flag is None or key == _TAINTS:
        return is_same_at(first.value, second.value, key)
    return is_same(flag, first.value, second.value)


def _replaced_maps(seen: Mapping[Place, _Value], documents: Sequence[object], problems: Problems) -> None:
    """A flag that is a map replaces its whole field, so a key that only the field has is lost."""
    by_flag: dict[str, dict[str, _Value]] = {}
    for key, found in seen.items():
        if found.flag and is_map(found.flag) and key[:1] == ("flag",) and len(key) == 3:
            by_flag.setdefault(found.flag, {})[key[2]] = found
    for flag, items in by_flag.items():
        field = field_of(flag)
        fields = {key[-1]: found for key, found in seen.items() if field and key[:-1] == (*_CONFIG, *field) and not found.flag}
        values, others = ({key: one.value for key, one in side.items()} for side in (fields, items))
        if fields and not is_same(flag, values, others):
            first, second = (next(iter(side.values())) for side in (fields, items))
            whole = _Value(first.document, _name((*_CONFIG, *(field or ()))), values)
            _report(whole, _Value(second.document, f"spec.kubelet.flags --{flag}", others, flag), documents, problems)


def _values(path: str, spec: Mapping[str, Any]) -> Iterator[tuple[Place, _Value]]:
    for place, value in _leaves(spec, ()):
        if place == ("kubelet", "flags"):
            continue
        if place == _TOML and isinstance(value, str):
            from ..formats import toml

            for below, item in _leaves(toml.load(value, path, Problems()), place):
                yield below, _Value(path, _name(below), item)
        elif place == _TAINTS:
            yield place, _Value(path, _name(place), sorted(map(_taint, value if isinstance(value, list) else ())))
        elif place[:2] == _CONFIG or value not in (None, "", []):
            yield proxy_environment.any_case(place), _Value(path, _name(place), value)
    yield from _flags(path, spec.get("kubelet"))


def _leaves(tree: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if not isinstance(tree, Mapping):
        yield place, tree
        return
    for key, value in tree.items():
        yield from _leaves(value, (*place, key))


def _name(place: Place) -> str:
    name = "spec"
    for key in place:
        name = joined(name, key)
    return name


def _flags(path: str, kubelet: Any) -> Iterator[tuple[Place, _Value]]:
    for flag, texts in kubelet_flags(kubelet if isinstance(kubelet, Mapping) else {}).items():
        name = f"spec.kubelet.flags --{flag}"
        field = field_of(flag)
        if flag == TAINTS:
            for text in texts:
                yield _TAINTS, _Value(path, name, sorted(word.strip() for word in text.split(",") if word), flag)
        elif is_map(flag) or flag == NODE_LABELS:
            place = (*_CONFIG, *field) if flag == FEATURE_GATES and field else ("flag", flag)
            for text in texts:
                items = value_of(flag, [text])
                for key, value in items.items() if isinstance(items, Mapping) else ():
                    yield (*place, key), _Value(path, f"{key} of {name}", value, flag)
        elif is_list(flag) and field:
            yield (*_CONFIG, *field), _Value(path, name, value_of(flag, texts), flag)
        else:
            for text in texts:
                yield (*_CONFIG, *field) if field else ("flag", flag), _Value(path, name, value_of(flag, [text]), flag)


def _taint(item: Any) -> str:
    return f"{item.get('key')}={item.get('value') or ''}:{item.get('effect')}" if isinstance(item, Mapping) else str(item)
