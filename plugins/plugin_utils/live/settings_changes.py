# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bottlerocket: compares the settings of a running node with the wanted settings, and describes the differences."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..artifacts.settings_tree import LABELS, TAINTS, Leaves, Place, Setting, is_secret, nested
from ..errors import joined
from ..formats import toml
from ..formats.secrets import find_secrets

ABSENT: Any = object()
"""The value of a setting that the node does not have."""

_PROXY: Place = ("network", "https-proxy")

_AT_BOOT: tuple[Place, ...] = (
    ("autoscaling",),
    ("boot",),
    ("bootstrap-commands",),
    ("bootstrap-containers",),
    ("cloudformation",),
    ("kernel", "lockdown"),
    ("kernel", "modules"),
)
"""Settings that Bottlerocket reads only at boot, or cannot revert before the next boot (bottlerocket.dev, settings reference)."""

_LONG = 100
"""Values of at least this many characters, such as certificates, are shown shortened and with a digest."""


@dataclass(frozen=True)
class Change:
    """One setting that differs. before: the value on the node, or C(ABSENT)."""

    place: Place
    before: Any
    after: Any

    @property
    def path(self) -> str:
        """The path in messages, for example C(settings.kubernetes.max-pods)."""
        return path_of(self.place)


def path_of(place: Place) -> str:
    """The path of a place below C(settings), as text."""
    path = "settings"
    for key in place:
        path = joined(path, key)
    return path


def withheld(wanted: Leaves) -> tuple[Place, ...]:
    """The settings that may be secrets. Systems Manager stores commands and their output, so these settings are neither read
    nor sent."""
    return tuple(sorted(place for place, setting in wanted.items() if _holds_secret(setting)))


def _holds_secret(setting: Setting) -> bool:
    if setting.place == _PROXY:
        return "@" in str(setting.value)
    return is_secret(setting) or bool(find_secrets(toml.dump(nested({setting.place: setting}))))


def changes(wanted: Leaves, live: Mapping[str, Any]) -> tuple[Change, ...]:
    """The settings of C(wanted) that are missing or different in C(live), the tree below C(settings) on the node; sorted."""
    found = (Change(place, at(live, place), setting.value) for place, setting in sorted(wanted.items()))
    return tuple(change for change in found if _canonical(change.after) != _canonical(change.before))


def at(live: Mapping[str, Any], place: Place) -> Any:
    """The value at C(place) in a tree of settings, or C(ABSENT)."""
    node: Any = live
    for key in place:
        node = node.get(key, ABSENT) if isinstance(node, Mapping) else ABSENT
    return ABSENT if node is None else node


def _canonical(value: Any) -> Any:
    """C(value) in a normal form. The API of Bottlerocket prints some settings in another form than they were set."""
    if isinstance(value, Mapping):
        return tuple(sorted((key, _canonical(item)) for key, item in value.items() if item is not None))
    if isinstance(value, (list, tuple)):
        # A list with one item can also be written as the item.
        return _canonical(value[0]) if len(value) == 1 else tuple(_canonical(item) for item in value)
    if isinstance(value, bool) or value is ABSENT:
        return (value,)
    if value == "unlimited":
        return "-1"
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, str) else str(value)
    except ValueError:
        return value


def body(found: Iterable[Change]) -> dict[str, Any]:
    """The changes as a tree for the API of Bottlerocket."""
    return nested({change.place: Setting(change.place, change.after, "") for change in found})


def of_registration(found: Iterable[Change]) -> tuple[Change, ...]:
    """The changed labels and taints. kubelet sends them to the cluster only when the node registers."""
    return tuple(change for change in found if change.place[:2] in (LABELS, TAINTS))


def at_boot(found: Iterable[Change]) -> tuple[str, ...]:
    """The paths of settings that take effect at the next boot."""
    return tuple(change.path for change in found if any(change.place[: len(place)] == place for place in _AT_BOOT))


def rows(found: Iterable[Change]) -> list[dict[str, Any]]:
    """The changes for the result of the task: C(setting), C(before) (None if it was not set) and C(after)."""
    return [
        {"setting": one.path, "before": None if one.before is ABSENT else shortened(one.before), "after": shortened(one.after)}
        for one in found
    ]


def diff(found: Iterable[Change], name: str) -> list[dict[str, str]]:
    """The diff: the changed settings as TOML, before and after. name: of the instance."""
    listed = list(found)
    if not listed:
        return []
    texts = [_toml({change.place: value for change, value in pairs}) for pairs in _both(listed)]
    return [{"before_header": f"settings of {name}", "after_header": f"settings of {name}", "before": texts[0], "after": texts[1]}]


def _both(found: list[Change]) -> Iterator[list[tuple[Change, Any]]]:
    yield [(change, change.before) for change in found if change.before is not ABSENT]
    yield [(change, change.after) for change in found]


def _toml(values: Mapping[Place, Any]) -> str:
    return (
        toml.dump({"settings": nested({place: Setting(place, shortened(value), "") for place, value in values.items()})}) if values else ""
    )


def shortened(value: Any) -> Any:
    """C(value) with long texts shortened. A digest distinguishes them."""
    if isinstance(value, Mapping):
        return {key: shortened(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [shortened(item) for item in value]
    if isinstance(value, str) and len(value) > _LONG:
        digest = hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:12]
        return f"{value[:12]}...{value[-12:]} ({len(value)} characters, sha256 {digest})"
    return value


def node_patches(found: Iterable[Change], node: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Merge patches for labels and changes of taints with which the controller updates the Node object.

    node: the name under which the node is registered; C(ABSENT) when it is not known.
    """
    listed = list(found)
    labels = {change.place[2]: change.after for change in listed if change.place[:2] == LABELS}
    taints = [(change.place[2], *_split(text)) for change in listed if change.place[:2] == TAINTS for text in _listed(change.after)]
    gone = [
        (change.place[2], effect)
        for change in listed
        if change.place[:2] == TAINTS
        for effect in sorted({_split(text)[1] for text in _listed(change.before)} - {_split(text)[1] for text in _listed(change.after)})
    ]
    if node is ABSENT:
        return [], []
    patches = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}}] if labels else []
    removed = [{"name": node, "state": "absent", "taints": [{"key": key, "effect": effect} for key, effect in gone]}] if gone else []
    put = [{"key": key, "effect": effect} | ({"value": value} if value else {}) for key, value, effect in taints]
    return patches, [*removed, *([{"name": node, "state": "present", "taints": put}] if put else [])]


def _split(text: Any) -> tuple[str, str]:
    value, _unused, effect = str(text).rpartition(":")
    return value, effect


def _listed(value: Any) -> list[Any]:
    if value is ABSENT:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
