# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bottlerocket settings as leaves: each with its place below C(settings), and with the path in the user's input it came from.

Settings come from several places: the common fields, C(bottlerocket.settings), existing user data. As leaves they are
united one by one, and a disagreement can name both paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Problems, joined, shown

Place = tuple[str, ...]

IDENTITY: tuple[Place, ...] = (("kubernetes", "api-server"), ("kubernetes", "cluster-certificate"), ("kubernetes", "cluster-name"))
LABELS: Place = ("kubernetes", "node-labels")
TAINTS: Place = ("kubernetes", "node-taints")

_SECRET = frozenset({"https-proxy", "credentials", "server-key", "bootstrap-token", "user-data", "config"})
"""Names of settings whose values may hold a secret: no message repeats them."""


COMPUTED_NO_PROXY = "node_group.proxy"
"""The origin of a no-proxy list to which the user contributed no entry."""
_COMPUTED_FROM = ("cluster.service_cidr", COMPUTED_NO_PROXY)
"""Origins of settings that are computed: they never replace what the user wrote."""


@dataclass(frozen=True)
class Setting:
    """One setting. value: text, number, boolean or list. origin: the path in the user's input.

    written: the items of a list that the user wrote, if C(value) has more. The same items elsewhere are the same value.
    """

    place: Place
    value: Any
    origin: str
    written: tuple[str, ...] = ()


Leaves = dict[Place, Setting]
Decide = Callable[[Setting, Setting, Problems], Setting]
"""(ours, theirs, problems) → the one that is written, when both name the same place and mean different things."""


def leaves(place: Place, value: Any, origin: str) -> Iterator[Setting]:
    """C(value) at C(place) as leaves. Taints are lists of C(value:Effect), even if there is only one."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves((*place, key), item, joined(origin, key))
    elif place[:2] == TAINTS and isinstance(value, str):
        yield Setting(place, [value], origin)
    else:
        yield Setting(place, value, origin)


def collect(settings: Iterable[Setting], problems: Problems) -> Leaves:
    """Leaves by place; two that disagree are a problem."""
    found: Leaves = {}
    for setting in settings:
        found = unite(found, {setting.place: setting}, disagree, problems) if setting.place in found else found | {setting.place: setting}
    return found


def unite(ours: Leaves, theirs: Leaves, decide: Decide, problems: Problems) -> Leaves:
    """Both; taints of one key are united, and C(decide) is asked where else the two differ."""
    result = dict(ours)
    for place, other in theirs.items():
        own = ours.get(place)
        if own is None:
            result[place] = other
        elif place[:2] == TAINTS and isinstance(own.value, list) and isinstance(other.value, list):
            result[place] = _united_taints(own, other, decide, problems)
        elif not same(own.value, other.value) and not _has_same_items(own, other):
            result[place] = _with_computed(own, other) if own.origin in _COMPUTED_FROM else decide(own, other, problems)
    return result


def _with_computed(ours: Setting, theirs: Setting) -> Setting:
    """What the user wrote instead of a computed value: a list of hosts without a proxy keeps the hosts that every node needs."""
    if ours.origin != COMPUTED_NO_PROXY or not isinstance(theirs.value, list):
        return theirs
    every = [*theirs.value, *(item for item in ours.value if item not in theirs.value)]
    return replace(theirs, value=every, written=tuple(map(str, theirs.value)))


def _has_same_items(ours: Setting, theirs: Setting) -> bool:
    """Whether C(theirs) has the items that the user wrote for C(ours), or all items, in any order."""
    if not ours.written or not isinstance(theirs.value, list):
        return False
    return {str(item) for item in theirs.value} in ({*ours.written}, {*ours.value})


def same(one: Any, other: Any) -> bool:
    """Equal, and of one type: TOML tells C(true) from C(1)."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(first, second) for first, second in zip(one, other, strict=True))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _united_taints(ours: Setting, theirs: Setting, decide: Decide, problems: Problems) -> Setting:
    by_effect = {str(taint).rpartition(":")[2]: taint for taint in ours.value}
    for taint in theirs.value:
        effect = str(taint).rpartition(":")[2]
        mine = by_effect.get(effect, taint)
        if mine != taint:
            mine = decide(replace(ours, value=mine), replace(theirs, value=taint), problems).value
        by_effect[effect] = mine
    return replace(ours, value=list(by_effect.values()))


def disagree(ours: Setting, theirs: Setting, problems: Problems) -> Setting:
    """Report that two places of the input say different things."""
    problems.add("input.conflict", theirs.origin, _difference(ours), fix="set it in one place only", **_value(theirs))
    return ours


def by_precedence(choice: str | None) -> Decide:
    """What C(user_data_precedence) says of the user's own document; without it only cluster identity is decided, for ours."""

    def decide(ours: Setting, theirs: Setting, problems: Problems) -> Setting:
        if choice == "theirs":
            return theirs
        if choice is None and ours.place not in IDENTITY:
            fix = "set it in one place only, or set user_data_precedence: ours or theirs"
            problems.add("user_data.conflict", theirs.origin, _difference(ours), fix=fix, **_value(theirs))
        return ours

    return decide


def _difference(ours: Setting) -> str:
    says = "" if is_secret(ours) else f", which is {shown(ours.value)}"
    return f"conflicts with {ours.origin}{says}"


def _value(setting: Setting) -> dict[str, Any]:
    return {} if is_secret(setting) else {"value": setting.value}


def is_secret(setting: Setting) -> bool:
    """Whether the value may be a secret, going by where it stands."""
    return not _SECRET.isdisjoint(setting.place)


def nested(found: Leaves) -> dict[str, Any]:
    """The leaves as one tree, keys sorted. A leaf where another one needs a table is left out: its type is a problem of its own."""
    tree: dict[str, Any] = {}
    for place, setting in sorted(found.items()):
        node: Any = tree
        for key in place[:-1]:
            node = node.setdefault(key, {}) if isinstance(node, dict) else None
        if isinstance(node, dict):
            node.setdefault(place[-1], setting.value)
    return tree


def report_at_origin(found: Leaves, reported: Problems, problems: Problems) -> None:
    """Hand on problems whose paths are places (C(settings.kubernetes.max-pods)), each at the path the setting came from."""
    paths = {_path(place): setting.origin for place, setting in found.items()} if len(reported) else {}
    for problem in reported:
        origins = [(len(path), origin) for path, origin in paths.items() if problem.path.startswith((path, f"{path}.", f"{path}["))]
        below = [origin for path, origin in paths.items() if path.startswith(problem.path)]
        origin = max(origins)[1] if origins else next(iter(below), problem.path)
        if not problems.touches(origin):
            problems.extend([replace(problem, path=origin)])


def _path(place: Place) -> str:
    path = "settings"
    for key in place:
        path = joined(path, key)
    return path
