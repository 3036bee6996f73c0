# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a launch template: checked, merged into a version that exists, and compared by value.

The form is that of the EC2 API. A mapping is merged key by key. A list replaces the other one, but its items keep what they do not set
themselves, if the items have a name, such as the device of a volume. null removes a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..difference.shown import shown
from ..errors import Problems, joined, listed, nearest, rename
from ..model.schema import wrong_type
from .model import Tree

_KEYS: Mapping[str, tuple[str, ...]] = {
    "BlockDeviceMappings": ("DeviceName",),
    "NetworkInterfaces": ("NetworkCardIndex", "DeviceIndex"),
    "TagSpecifications": ("ResourceType",),
    "Tags": ("Key",),
}
"""What identifies an item of a list. The default of a number is 0. All other lists contain plain values, in any order."""

_READ_ONLY = frozenset(
    ("MetadataOptions.State", "Operator.Managed", "Operator.HiddenByDefault", "NetworkInterfaces[].Ipv6Addresses[].IsPrimaryIpv6")
)
"""Fields that EC2 shows, but does not accept."""

_ALTERNATIVES: Mapping[str, tuple[str, str]] = {
    "": ("InstanceType", "InstanceRequirements"),
    "CapacityReservationTarget": ("CapacityReservationId", "CapacityReservationResourceGroupArn"),
    "IamInstanceProfile": ("Arn", "Name"),
    "Placement": ("GroupId", "GroupName"),
}
"""Fields of a structure of which EC2 accepts only one. To set one removes the other."""

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class FieldChange:
    """A changed field. before, after: plain data without secrets, None if the field is absent."""

    path: str
    before: Any
    after: Any

    def plain(self) -> dict[str, Any]:
        """The change as plain data."""
        return {"path": self.path, "before": self.before, "after": self.after}


def checked(value: Any, tree: Tree, path: str, problems: Problems) -> Any:
    """C(value) with the types that EC2 expects. null stays, because it removes a field. Report what EC2 does not have."""
    kind = tree["type"]
    if value is None:
        return None
    if kind == "structure":
        return _structure(value, tree["members"], path, problems)
    if kind == "list":
        if not isinstance(value, list):
            return wrong_type(value, "a list", path, problems)
        return [checked(item, tree["member"], joined(path, index), problems) for index, item in enumerate(value)]
    return _scalar(value, kind, tree.get("enum"), path, problems)


def _structure(value: Any, members: Mapping[str, Tree], path: str, problems: Problems) -> Any:
    if not isinstance(value, Mapping):
        return wrong_type(value, "a mapping", path, problems)
    result = {}
    for name, item in value.items():
        below = joined(path, name)
        if name in members:
            result[name] = checked(item, members[name], below, problems)
        else:
            guess = problems.nearest(str(name).replace("_", ""), members)
            allowed = listed(sorted(members), guess)
            message = "is not a field of launch templates that this version of boto3 knows"
            problems.add("input.unknown_field", below, message, allowed=allowed, nearest=guess, fix=rename(guess, value))
    return result


def _scalar(value: Any, kind: str, words: Sequence[str] | None, path: str, problems: Problems) -> Any:
    if isinstance(value, (Mapping, list)):
        return wrong_type(value, {"string": "text", "boolean": "true or false"}.get(kind, "a number"), path, problems)
    word = str(value).lower() if isinstance(value, bool) else str(value)
    if kind == "boolean":
        if word.lower() not in (*_TRUE, *_FALSE):
            problems.add("input.wrong_type", path, "must be true or false", value=value)
        return word.lower() in _TRUE
    if kind in ("integer", "long") and not isinstance(value, bool):
        try:
            return int(word)
        except ValueError:
            return wrong_type(value, "an integer", path, problems)
    if kind in ("float", "double") and not isinstance(value, bool):
        try:
            return float(word)
        except ValueError:
            return wrong_type(value, "a number", path, problems)
    # EC2 accepts values that are newer than boto3, so only a misspelling is refused.
    if words and word not in words and (guess := nearest(word, words)):
        problems.add("input.unknown_value", path, "is not a value that EC2 knows", value=word, nearest=guess, fix=f"write {guess}")
    return word


def sendable(data: Any, tree: Tree, path: str = "") -> tuple[Any, tuple[str, ...]]:
    """What can be sent of the fields that were read, and the paths of the other fields. Fields that EC2 only shows are left out."""
    if tree["type"] == "structure" and isinstance(data, Mapping):
        result: dict[str, Any] = {}
        lost: list[str] = []
        for name, value in data.items():
            below = f"{path}.{name}" if path else name
            if name in tree["members"]:
                kept, more = sendable(value, tree["members"][name], below)
                lost += more
                # A structure of which nothing can be sent, such as Operator.
                result |= {name: kept} if kept != {} else {}
            elif below not in _READ_ONLY:
                lost.append(below)
        return result, tuple(lost)
    if tree["type"] == "list" and isinstance(data, list):
        items = [sendable(item, tree["member"], f"{path}[]") for item in data]
        return [item for item, _lost in items], tuple(sorted({one for _item, lost in items for one in lost}))
    return data, ()


def merged(base: Any, given: Any, name: str = "") -> Any:
    """C(given) over C(base). name: of the field. Fields that are null or empty are left out; C(None) if nothing is left."""
    if isinstance(given, Mapping):
        old = base if isinstance(base, Mapping) else {}
        replaced = _replaced(given, name)
        both = {**old, **dict.fromkeys(replaced), **{key: merged(old.get(key), value, key) for key, value in given.items()}}
        return {key: value for key, value in both.items() if value is not None} or None
    if isinstance(given, list):
        return _merged_list(base if isinstance(base, list) else [], given, name)
    return given


def _replaced(given: Mapping[str, Any], name: str) -> list[str]:
    """The fields that one of the given fields replaces."""
    pair = _ALTERNATIVES.get(name, ())
    return [other for other in pair if other not in given and any(given.get(one) is not None for one in pair)]


def _merged_list(base: list[Any], given: list[Any], name: str) -> list[Any] | None:
    if name in _KEYS:
        by_key = {_key(item, name): item for item in base}
        return [merged(by_key.get(_key(item, name)), item) for item in given] or None
    if not any(isinstance(item, (Mapping, list)) for item in (*base, *given)):
        return (base if sorted(map(str, base)) == sorted(map(str, given)) else given) or None
    return [merged(None, item) for item in given] or None


def _key(item: Any, name: str) -> tuple[Any, ...]:
    return tuple(item.get(key, 0) for key in _KEYS[name]) if isinstance(item, Mapping) else (item,)


def changes(before: Any, after: Any, path: str = "", name: str = "") -> Iterator[FieldChange]:
    """The fields that differ, sorted by path. The order of lists, and fields that are empty, mean nothing."""
    old, new = _comparable(before, name), _comparable(after, name)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}, key=str):
            below = joined(path, ".".join(map(str, key)) if isinstance(key, tuple) else key)
            yield from changes(old.get(key), new.get(key), below, "" if isinstance(key, tuple) else key)
    elif old != new:
        yield FieldChange(path, shown(before, path), shown(after, path))


def _comparable(value: Any, name: str) -> Any:
    """A value without order: lists become mappings or sorted lists. Empty values are None."""
    if isinstance(value, list) and name in _KEYS:
        return {_key(item, name): item for item in value} or None
    if isinstance(value, list):
        return sorted(str(item) for item in value) or None
    return value if value != {} else None


def removes(before: Any, after: Any, name: str = "") -> bool:
    """Whether a field of C(before) is absent from C(after). EC2 copies such a field from the source version."""
    old, new = _comparable(before, name), _comparable(after, name)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return any(removes(value, new.get(key), "" if isinstance(key, tuple) else key) for key, value in old.items())
    return old is not None and new is None
