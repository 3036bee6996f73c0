# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the field C(proxy) in a NodeConfig, beside those of the user's documents.

Programs read a variable in upper and lower case, and Go programs prefer upper case. So a variable that the user writes in lower case is
the same value, and is compared and replaced under that name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..model.merge import Place
from ..model.spec import NodeSpec
from .refusals import given_at

NO_PROXY = "NO_PROXY"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", NO_PROXY)
_DEFAULT: Place = ("instance", "environment", "default")

Settings = Mapping[str, Any]
"""C(spec) of a NodeConfig."""


def beside(ours: Settings, others: Iterable[Settings]) -> dict[str, Any]:
    """Our settings with the proxy variables named as in C(others)."""
    own, documents = _default(ours), [_default(one) for one in others]
    found: dict[str, Any] = {}
    for name, value in own.items():
        names = [key for key in (name.upper(), name.lower()) if any(one.get(key) is not None for one in documents)]
        is_alone = name.upper() in VARIABLES and not {name.upper(), name.lower()} <= own.keys()
        found |= dict.fromkeys(names if is_alone and names else [name], value)
    return dict(ours) if found == own else _replaced(ours, found)


def agreed(ours: Settings, settings: Settings, own: Collection[str] | None) -> tuple[Settings, Settings]:
    """Both settings, with one list of hosts without a proxy where the two agree: C(settings) is a document that ours follows.

    own: the entries that the user wrote for our list; None if it is computed. Then it gets those of C(settings). Otherwise, lists with the
    entries that the user wrote, or with all of ours, are the same.
    """
    lists = {name: entries(value) for name, value in _default(settings).items() if name.upper() == NO_PROXY and value is not None}
    every = next((entries(value) for name, value in _default(ours).items() if name.upper() == NO_PROXY), None)
    if every is None or not lists:
        return ours, settings
    if own is None:
        every = list(dict.fromkeys([*(entry for listed in lists.values() for entry in listed), *every]))
    same = [name for name, listed in lists.items() if own is None or {*listed} in ({*own}, {*every})]
    text = ",".join(every)
    names = [name for name in _default(ours) if name.upper() == NO_PROXY]
    return _with_default(ours, dict.fromkeys(names, text)), _with_default(settings, dict.fromkeys(same, text))


def without_list(ours: Settings, last: Settings) -> Settings:
    """Our settings without a list of hosts that is computed, if C(last), the document that wins, has one."""
    if not any(name.upper() == NO_PROXY for name in _default(last)):
        return ours
    return _replaced(ours, {name: value for name, value in _default(ours).items() if name.upper() != NO_PROXY})


def entries(text: Any) -> list[str]:
    """The entries of a list of hosts without a proxy."""
    return [entry for entry in (part.strip() for part in str(text).split(",")) if entry]


def any_case(place: Place) -> Place:
    """The place of a proxy variable in upper case; every other place as it is."""
    is_variable = place[:-1] == _DEFAULT and place[-1].upper() in VARIABLES
    return (*_DEFAULT, place[-1].upper()) if is_variable else place


def own_entries(spec: NodeSpec) -> list[str] | None:
    """The entries that the user wrote as C(proxy.no_proxy), or as C(NO_PROXY) in C(nodeadm). None if there is no such list."""
    default = _default(spec.nodeadm)
    written = given_at(spec, "proxy.no_proxy")
    found = [value for name, value in default.items() if name.upper() == NO_PROXY and value is not None]
    return list(written) if written is not None else entries(found[-1]) if found else None


def _default(settings: Settings) -> Settings:
    found: Any = settings
    for key in _DEFAULT:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _with_default(settings: Settings, variables: Settings) -> Settings:
    return _replaced(settings, {**_default(settings), **variables}) if variables else settings


def _replaced(settings: Settings, default: Settings) -> dict[str, Any]:
    instance = settings["instance"]
    return {**settings, "instance": {**instance, "environment": {**instance["environment"], "default": dict(default)}}}
