# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration and the flags of kubelet, with the origin of every value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..difference.fact import leaves, path_of
from ..kubelet_effective import effective_config, flag_fields
from .model import Setting, Source

_COMPUTED: Mapping[str, Source] = {
    "clusterDNS": "service_cidr",
    "kubeReserved": "instance_type",
    "maxPods": "instance_type",
    "providerID": "instance",
}
"""Fields of kubelet's file that the image's bootstrap program computes."""
_OF_INSTANCE = ("node-ip", "hostname-override")
_OF_DOCUMENT = ("apiVersion", "kind")


@dataclass(frozen=True)
class Given:
    """What user data sets. config: the user's fields, in a drop-in. flags: name → values, in their order.

    origins: field, or flag with its dashes, → its place: C(Setting) without a value.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origins: Mapping[str, Setting] = field(default_factory=dict)

    def origin(self, name: str) -> Setting:
        """The place of a field or a flag, or of a setting that contains it."""
        return self.origins.get(name) or self.origins.get(name.partition(".")[0]) or Setting(None, "user_data")


def kubelet_config(minor: int, base: Mapping[str, Any], given: Given, lost: Mapping[str, str]) -> dict[str, Setting]:
    """The fields that kubelet runs with, by path. base: in its file. lost: fields whose values are unknown, and that are left out."""
    from_flags = flag_fields(given.flags)
    flag_of = {path: f"--{name}" for name, (path, _value) in from_flags.items()}
    config = effective_config(minor, base, given.config, dict(from_flags.values()))
    own, drop_in = (dict(leaves(tree, ())) for tree in (base, given.config))
    rows: dict[str, Setting] = {}
    for key, value in leaves(config, ()):
        if key[:1] in ((), *((name,) for name in _OF_DOCUMENT)):
            continue
        path = path_of(key)
        flag = next((flag_of[name] for name in (path, str(key[0])) if name in flag_of), None)
        if flag is not None:
            origin = given.origin(flag)
        elif key in drop_in and drop_in[key] == value:
            origin = given.origin(path)
        elif key in own:
            origin = Setting(None, _COMPUTED.get(str(key[0]), "image"))
        else:
            origin = Setting(None, "kubelet")
        if origin.source != "user_data" and key[0] in lost:
            # The default of kubelet in its place is not the value either.
            continue
        rows[path] = Setting(value, origin.source, origin.path, origin.where)
    return rows


def kubelet_flags(image: Mapping[str, tuple[str, ...]], given: Given) -> dict[str, Setting]:
    """The flags of kubelet, by name. image: those of the image. Several values of one flag are a list."""
    rows: dict[str, Setting] = {}
    for name, values in image.items():
        rows[f"--{name}"] = Setting(_value(values), "instance" if name in _OF_INSTANCE else "image")
    for name, values in given.flags.items():
        origin = given.origin(f"--{name}")
        rows[f"--{name}"] = Setting(_value(values), "user_data", origin.path, origin.where)
    return rows


def _value(values: tuple[str, ...]) -> Any:
    return values[0] if len(values) == 1 else list(values)
