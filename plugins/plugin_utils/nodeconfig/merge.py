# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges NodeConfigs as nodeadm does (amazon-eks-ami, July 2026): the later wins, with exceptions that are nodeadm's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import SpecError
from .read import NodeConfigError, decode
from .schema import API_VERSION, KIND, SPEC, Field


def merge(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One NodeConfig that stands for C(configs) in their order, with C(apiVersion) and C(kind).

    Only kubelet.flags are appended; other lists and single values are replaced by a later one that is not empty,
    mappings are united, enableOutpost stays true once it is. Fields that nodeadm does not know are dropped, as by nodeadm:
    check them with C(schema.document_problems) first. Raises C(NodeConfigError) for wrong types and invalid TOML.
    """
    merged: dict[str, Any] = {}
    for config in configs:
        merged = _record(merged, decode(config.get("spec")), SPEC, ())
    return {"apiVersion": API_VERSION, "kind": KIND, "spec": merged}


def _record(old: Mapping[str, Any], new: Mapping[str, Any], here: Field, path: tuple[str, ...]) -> dict[str, Any]:
    result = dict(old)
    for name, value in new.items():
        result[name] = _value(old[name], value, here.fields[name], (*path, name)) if name in old else value
    return result


def _value(old: Any, new: Any, here: Field, path: tuple[str, ...]) -> Any:
    if here.kind == "record":
        return _record(old, new, here, path)
    if path == ("containerd", "config"):
        return merge_toml(old, new)
    if path == ("kubelet", "flags"):
        return [*old, *new]
    if here.kind in ("environment", "gates", "free"):
        return merge_mappings(old, new)
    # Once both are set, nodeadm's merger takes false and "" for empty, and empty replaces nothing.
    return new or old


def merge_mappings(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """C(old) with C(new) laid over it: mappings united at every depth, all else replaced, null and empty lists included."""
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        result[key] = merge_mappings(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return result


def merge_toml(old: str, new: str) -> str:
    """Return C(old) with C(new) merged over it: tables are merged at every depth, keys are sorted. Raises C(NodeConfigError)."""
    from ..formats import toml

    try:
        merged = merge_mappings(toml.parse(old), toml.parse(new))
        return toml.dump(merged, "containerd.config", quoted_headers=True, dates=True)
    except toml.TomlError as error:
        raise NodeConfigError(f"containerd.config is not TOML: {error}", fatal=True) from error
    except SpecError as error:
        raise NodeConfigError(str(error), fatal=True) from error
