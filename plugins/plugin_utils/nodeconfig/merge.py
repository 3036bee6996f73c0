# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges NodeConfigs like nodeadm (amazon-eks-ami, July 2026): later values win, with some exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import SpecError
from ..kubelet import deep_merge
from .read import NodeConfigError, decode
from .schema import API_VERSION, KIND, SPEC, Field


def merge(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge C(configs), in their order, into one NodeConfig with C(apiVersion) and C(kind).

    kubelet.flags are appended. Later values that are not empty replace other lists and single values. Mappings are merged.
    enableOutpost stays true. Unknown fields are dropped, as by nodeadm: check them with C(schema.document_problems) first.
    Raises C(NodeConfigError) for wrong types and invalid TOML.
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
        return deep_merge(old, new)
    # If both are set, nodeadm treats false and "" as empty, and an empty value replaces nothing.
    return new or old


def merge_toml(old: str, new: str) -> str:
    """Return C(old) with C(new) merged over it: tables are merged at every depth, keys are sorted. Raises C(NodeConfigError)."""
    from ..formats import toml

    try:
        merged = deep_merge(toml.parse(old), toml.parse(new))
        return toml.dump(merged, "containerd.config", quoted_headers=True, dates=True)
    except toml.TomlError as error:
        raise NodeConfigError(f"containerd.config is not TOML: {error}", fatal=True) from error
    except SpecError as error:
        raise NodeConfigError(str(error), fatal=True) from error
