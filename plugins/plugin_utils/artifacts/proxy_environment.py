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
_ENVIRONMENT: Place = ("instance", "environment")
_DEFAULT = "default"
_SECTIONS = (_DEFAULT, "containerd", "kubelet")
"""Variables of all services, and of the services that get the field. Other services can have a proxy of their own."""

Settings = Mapping[str, Any]
"""C(spec) of a NodeConfig."""


def beside(ours: Settings, others: Iterable[Settings]) -> Settings:
    """Our settings with the proxy variables named as in C(others), and for the services for which C(others) set them, too."""
    documents = list(others)
    base = _variables(ours, _DEFAULT)
    found: dict[str, Any] = {}
    for name, value in base.items():
        names = _names(name, documents, _DEFAULT)
        is_alone = name.upper() in VARIABLES and not {name.upper(), name.lower()} <= base.keys()
        found |= dict.fromkeys(names if is_alone and names else [name], value)
    result = _with(ours, _DEFAULT, found)
    for service in _SECTIONS[1:]:
        added = {
            each: value
            for name, value in base.items()
            if name.upper() in VARIABLES
            for each in _names(name, documents, service)
            if each not in _variables(ours, service)
        }
        result = _with(result, service, {**_variables(ours, service), **added})
    return result


def _names(name: str, documents: Iterable[Settings], section: str) -> list[str]:
    """The names, in upper and lower case, by which documents set a variable."""
    return [key for key in (name.upper(), name.lower()) if any(_variables(one, section).get(key) is not None for one in documents)]


def agreed(ours: Settings, settings: Settings, own: Collection[str] | None) -> tuple[Settings, Settings]:
    """Both settings, with one list of hosts without a proxy where the two agree: C(settings) is a document that ours follows.

    own: the entries that the user wrote for our list; None if it is computed. Then it gets those of C(settings). Otherwise, lists with the
    entries that the user wrote, or with all of ours, are the same.
    """
    for section in _SECTIONS:
        mine, others = (_variables(one, section) for one in (ours, settings))
        lists = {name: entries(value) for name, value in others.items() if name.upper() == NO_PROXY and value is not None}
        every = next((entries(value) for name, value in mine.items() if name.upper() == NO_PROXY), None)
        if every is None or not lists:
            continue
        if own is None:
            every = list(dict.fromkeys([*(entry for listed in lists.values() for entry in listed), *every]))
        same = [name for name, listed in lists.items() if own is None or {*listed} in ({*own}, {*every})]
        text = ",".join(every)
        ours = _with(ours, section, {name: text if name.upper() == NO_PROXY else value for name, value in mine.items()})
        settings = _with(settings, section, {**others, **dict.fromkeys(same, text)})
    return ours, settings


def without_list(ours: Settings, last: Settings) -> Settings:
    """Our settings without a list of hosts that is computed, if C(last), the document that wins, has one."""
    for section in _SECTIONS:
        if any(name.upper() == NO_PROXY for name in _variables(last, section)):
            ours = _with(ours, section, {name: value for name, value in _variables(ours, section).items() if name.upper() != NO_PROXY})
    return ours


def entries(text: Any) -> list[str]:
    """The entries of a list of hosts without a proxy."""
    return [entry for entry in (part.strip() for part in str(text).split(",")) if entry]


def any_case(place: Place) -> Place:
    """The place of a proxy variable in upper case; every other place as it is."""
    is_variable = place[:-2] == _ENVIRONMENT and place[-1].upper() in VARIABLES
    return (*place[:-1], place[-1].upper()) if is_variable else place


def own_entries(spec: NodeSpec) -> list[str] | None:
    """The entries that the user wrote as C(proxy.no_proxy), or as C(NO_PROXY) in C(nodeadm). None if there is no such list."""
    written = given_at(spec, "proxy.no_proxy")
    found = [value for name, value in _variables(spec.nodeadm, _DEFAULT).items() if name.upper() == NO_PROXY and value is not None]
    return list(written) if written is not None else entries(found[-1]) if found else None


def _variables(settings: Settings, section: str) -> Settings:
    found: Any = settings
    for key in (*_ENVIRONMENT, section):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _with(settings: Settings, section: str, variables: Settings) -> Settings:
    """Settings with other variables of a section, or without an empty section."""
    if variables == _variables(settings, section):
        return settings
    instance = settings["instance"]
    environment = {**instance["environment"], section: dict(variables)}
    return {**settings, "instance": {**instance, "environment": {name: one for name, one in environment.items() if one}}}
