# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kubelet, merged as kubelet merges it. Standard library, Python 3.7 and newer.

See cmd/kubelet/app/server.go of Kubernetes 1.29 to 1.36: each file C(*.conf) of the drop-in directory, and of the directories in it, is a
JSON merge patch (RFC 7396), applied in lexical order. Flags override the result.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple

from . import yaml_reader
from .host import Host
from .kubelet_process import FIELDS, Flags, last, pairs

DEFAULT_PATHS = ("/etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet/kubelet-config.json", "/var/lib/kubelet/config.yaml")
"""Paths of the configuration in the images: the best guess if kubelet does not run."""

_MAX_FILES = 200
_MAX_DEPTH = 100


class ConfigFile(NamedTuple):
    """One file. C(value): its content; None if it cannot be read, then C(problem) says why. C(format): json or yaml.

    C(changed_at): seconds since 1970.
    """

    path: str
    format: str | None
    text: str | None
    value: Dict[str, Any] | None
    problem: str | None
    changed_at: float | None


class KubeletConfig(NamedTuple):
    """C(path): the file. C(directory): its drop-ins. C(merged): all readable files merged, without flags."""

    path: str | None
    directory: str | None
    files: List[ConfigFile]
    merged: Dict[str, Any]

    @property
    def is_complete(self) -> bool:
        """Whether every file could be read."""
        return all(file.value is not None for file in self.files)

    @property
    def effective(self) -> Dict[str, Any] | None:
        """The merged configuration. None if there is no file, or if a file cannot be read."""
        return self.merged if self.files and self.is_complete else None

    def changed_after(self, moment: float) -> bool:
        """Whether a file changed after a time in seconds since 1970."""
        return any(file.changed_at is not None and file.changed_at > moment for file in self.files)


class Registration(NamedTuple):
    """The labels and taints with which kubelet registers its node. A taint is written KEY=VALUE:EFFECT."""

    labels: Dict[str, str]
    taints: List[str]


def read_config(host: Host, flags: Flags, is_running: bool = True) -> KubeletConfig:
    """The configuration files that kubelet reads with these flags. C(is_running) False: the files that it would probably read."""
    path, directory = last(flags, "config"), last(flags, "config-dir")
    if not is_running:
        path = next((usual for usual in DEFAULT_PATHS if host.exists(usual)), None)
    paths = ([path] if path else []) + (_drop_ins(host, directory) if directory else [])
    files = [_read_file(host, one) for one in paths]
    merged: Dict[str, Any] = {}
    for file in files:
        if file.value is not None:
            merged = merge_patch(merged, file.value)
    return KubeletConfig(path, directory, files, merged)


def _drop_ins(host: Host, directory: str) -> List[str]:
    """Every *.conf of a directory and of the directories in it, in the order of a walk. Links to directories are not followed."""
    if os.path.islink(host.path(directory)):
        return []
    found: List[str] = []
    for name in host.names(directory):
        path = os.path.join(directory, name)
        if os.path.isdir(host.path(path)):
            found += _drop_ins(host, path)
        elif os.path.splitext(name)[1] == ".conf" or name == ".conf":
            found.append(path)
    return found[:_MAX_FILES]


def _read_file(host: Host, path: str) -> ConfigFile:
    text, changed_at = host.text(path), host.changed_at(path)
    if text is None:
        return ConfigFile(path, None, None, None, "it does not exist or cannot be read", changed_at)
    value, problem = None, None
    try:
        value = yaml_reader.parse(text)
        if not isinstance(value, dict):
            value, problem = None, "it is not a mapping"
        elif _depth(value) > _MAX_DEPTH:
            value, problem = None, "it cannot be parsed: it is nested too deeply"
    except yaml_reader.YamlError as error:
        hint = ". PyYAML may read it, and the Python of this node does not have it" if error.lacks_pyyaml else ""
        problem = f"it cannot be parsed: {error}{hint}"
    return ConfigFile(path, "json" if text.lstrip().startswith("{") else "yaml", text, value, problem, changed_at)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= _MAX_DEPTH:
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())]
        depth += 1
    return depth


def merge_patch(base: Any, patch: Any) -> Any:
    """RFC 7396: mappings are merged, null removes a field, anything else is replaced."""
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def field(config: Mapping[str, Any], name: str) -> Any:
    """The value of a field such as C(authentication.webhook.enabled), None without it."""
    value: Any = config
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def setting(flags: Flags, config: Mapping[str, Any], flag: str, default: object) -> str:
    """The value that kubelet uses, as text: the flag, else the field of the configuration, else the default."""
    given = last(flags, flag)
    if given is None:
        given = field(config, FIELDS[flag])
    return str(default if given is None else given)


def registration(flags: Flags, config: Mapping[str, Any]) -> Registration:
    """The labels and taints with which kubelet registers its node. The flag for taints overrides the field."""
    text = last(flags, "register-with-taints")
    if text is not None:
        taints = [taint for taint in text.split(",") if taint]
    else:
        given = config.get("registerWithTaints")
        taints = [_taint(taint) for taint in given if isinstance(taint, dict)] if isinstance(given, list) else []
    return Registration(pairs(flags, "node-labels"), taints)


def _taint(taint: Mapping[str, Any]) -> str:
    return f"{taint.get('key', '')}={taint.get('value') or ''}:{taint.get('effect', '')}"
