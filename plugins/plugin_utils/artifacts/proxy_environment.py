# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the field C(proxy) in a NodeConfig, beside those of the user's documents.

Programs read a variable in upper and lower case, and Go programs prefer upper case. So a variable that the user writes in lower case is
the same value, and is compared and replaced under that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..model.merge import Place
from ..model.spec import NodeSpec
from .refusals import given_at

NO_PROXY = "NO_PROXY"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", NO_PROXY)
_DEFAULT: Place = ("instance", "environment", "default")

Settings = Mapping[str, Any]
"""C(spec) of a NodeConfig."""


def beside(ours: Settings, others: Iterable[Settings], *, is_computed: bool) -> dict[str, Any]:
    """Our settings with the proxy variables named as in C(others).

    is_computed: whether the user wrote no entry of our C(NO_PROXY). Then it is left out, if C(others) set it.
    """
    own, documents = _default(ours), [_default(one) for one in others]
    found: dict[str, Any] = {}
    for name, value in own.items():
        names = [key for key in (name.upper(), name.lower()) if any(one.get(key) is not None for one in documents)]
        if name.upper() not in VARIABLES or {name.upper(), name.lower()} <= own.keys():
            found[name] = value
        elif not (names and name.upper() == NO_PROXY and is_computed):
            found |= dict.fromkeys(names or [name], value)
    return dict(ours) if found == own else _with_default(ours, found)


def comparable(settings: Settings, spec: NodeSpec) -> Settings:
    """Settings of the user with C(NO_PROXY) as we write it, if it has the entries that the user wrote for C(proxy), or all entries.

    Our settings follow and have all entries. Not for C(override), which is the last document: there, missing entries are missing.
    """
    default = _default(settings)
    written = given_at(spec, "proxy.no_proxy")
    if spec.proxy is None or written is None:
        return settings
    ours = spec.proxy.variables()[NO_PROXY]
    same = {
        name: ours
        for name, value in default.items()
        if name.upper() == NO_PROXY and {entry.strip() for entry in str(value).split(",")} in ({*written}, {*spec.proxy.no_proxy})
    }
    return _with_default(settings, {**default, **same}) if same else settings


def any_case(place: Place) -> Place:
    """The place of a proxy variable in upper case; every other place as it is."""
    is_variable = place[:-1] == _DEFAULT and place[-1].upper() in VARIABLES
    return (*_DEFAULT, place[-1].upper()) if is_variable else place


def has_entries(spec: NodeSpec) -> bool:
    """Whether the user wrote C(proxy.no_proxy), or C(NO_PROXY) in C(nodeadm)."""
    default = _default(spec.nodeadm)
    return given_at(spec, "proxy.no_proxy") is not None or NO_PROXY in default or NO_PROXY.lower() in default


def _default(settings: Settings) -> Settings:
    found: Any = settings
    for key in _DEFAULT:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _with_default(settings: Settings, default: Settings) -> dict[str, Any]:
    instance = settings.get("instance") or {}
    environment = {**(instance.get("environment") or {}), "default": dict(default)}
    return {**settings, "instance": {**instance, "environment": environment}}
