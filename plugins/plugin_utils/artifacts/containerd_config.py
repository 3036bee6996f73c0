# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the user's containerd configuration together with the configuration of the image, as containerd reads the two.

containerd starts with an invalid section for CRI, but without CRI: then kubelet finds no container runtime, and the node never joins.
Source: the validation of CRI in containerd 1.7 and 2.2. tests/oracle/test_containerd.py and tests/lab/test_containerd.py show each rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import kubelet
from ..errors import Problems, joined
from ..nodeconfig import containerd_files
from ..nodeconfig.containerd_files import IMAGES, RUNTIME

MIRRORS = "/etc/containerd/certs.d"
"""The directory with our C(hosts.toml) files."""

FIRST_WITH_CONTAINERD_2 = (1, 30)
"""The first Kubernetes version whose AL2023 images run containerd 2 (amazon-eks-ami, July 2026)."""

_EFFECT = "containerd then starts without CRI, and kubelet has no runtime"
_CRI_PLUGINS = ("cri", kubelet.CRI, IMAGES, RUNTIME)
_DURATION = re.compile(r"[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*)")
_DURATIONS = ("stream_idle_timeout", "image_pull_progress_timeout", "drain_exec_sync_io_timeout")
_OF_SERVER = {
    "disable_tcp_service",
    "enable_tls_streaming",
    "stream_idle_timeout",
    "stream_server_address",
    "stream_server_port",
    "x509_key_pair_streaming",
}
"""Settings that keep their place in version 3."""
_OF_AMI = ("nvidia",)
"""Runtimes that nodeadm, or the AMI, adds where their program is installed."""
_OF_RUNTIME_1 = ("systemd_cgroup", "no_pivot")
_OF_RUNTIME_1_EACH = ("runtime_engine", "runtime_root")
_KINDS = {bool: "a boolean", str: "text", int: "an integer", list: "a list", dict: "a mapping"}


def check_version(
    config: Mapping[str, Any], version: tuple[int, int] | None, path: str, problems: Problems, paths: Mapping[str, str] | None = None
) -> None:
    """Report a configuration for AL2023 that mixes versions, or has version 3 on containerd 1. version: of Kubernetes.

    paths: plugin → the document that sets it, if it is another one.
    nodeadm takes names of plugins of version 3 for version 3, and everything else for version 2, which it lets containerd 2 migrate.
    """
    plugins = _mapping(config.get("plugins"))
    is_3 = [name for name in (IMAGES, RUNTIME) if name in plugins]
    declared = config.get("version")
    where = joined(joined(path, "plugins"), is_3[0]) if is_3 else joined(path, "version")
    if is_3 and version is not None and version < FIRST_WITH_CONTAINERD_2:
        message = f"has version 3, but the images for Kubernetes 1.{version[1]} run containerd 1.7, which reads version 2"
        problems.add("containerd.wrong_config_version", where, message, fix=f'write version 2: plugins."{kubelet.CRI}"')
    elif is_3 and set(_mapping(plugins.get(kubelet.CRI))) - _OF_SERVER:
        newer = joined(joined(paths[is_3[0]], "plugins"), is_3[0]) if paths else is_3[0]
        message = f"has version 2, but {newer} has version 3, which containerd then reads"
        fix = f'write it as plugins."{IMAGES}" and plugins."{RUNTIME}"'
        problems.add("containerd.wrong_config_version", joined(joined(path, "plugins"), kubelet.CRI), message, fix=fix)
    # containerd 2 also finds plugins of version 3 in a document of version 2.
    expected = (2, 3) if is_3 else (2,)
    if declared is not None and (declared not in expected or isinstance(declared, bool)):
        message = "is not 2: nodeadm writes version 2 unless plugins of version 3 are named" if not is_3 else "is not 3"
        fix = "remove it: nodeadm writes the version that fits the plugins"
        problems.add("containerd.wrong_config_version", joined(path, "version"), message, value=declared, fix=fix)


def check(config: Mapping[str, Any], path: str, problems: Problems, *, has_mirrors: bool) -> None:
    """Report a configuration with which containerd starts without CRI, and one in which it does not find our mirrors."""
    if problems.touches(path):
        return
    is_3 = any(name in _mapping(config.get("plugins")) for name in (IMAGES, RUNTIME))
    template = containerd_files.template(version_3=is_3)
    for place, message in _wrong_types(config, template, ()):
        problems.add("containerd.disables_cri", _at(path, place), f"{message}; {_EFFECT}")
    if problems.touches(path):
        return
    effective = kubelet.deep_merge(template, config)
    disabled = effective.get("disabled_plugins")
    if disabled is not None and not isinstance(disabled, list):
        problems.add(
            "containerd.disables_cri", joined(path, "disabled_plugins"), "must be a list; containerd does not start", value=disabled
        )
        return
    for index, name in enumerate(disabled or ()):
        if name in _CRI_PLUGINS:
            where = joined(joined(path, "disabled_plugins"), index)
            message = "disables CRI, without which kubelet has no container runtime"
            problems.add("containerd.disables_cri", where, message, value=name, fix="remove it")
    plugins = effective["plugins"]
    images, runtime = (IMAGES, RUNTIME) if is_3 else (kubelet.CRI, kubelet.CRI)
    found = [((images, *place), message, fix) for place, message, fix in _registry(plugins[images].get("registry") or {})]
    found += [((runtime, *place), message, fix) for place, message, fix in _runtimes(plugins[runtime])]
    found += [
        ((name, *place), message, fix)
        for name in sorted({images, runtime, kubelet.CRI})
        for place, message, fix in _settings(_mapping(plugins.get(name)))
    ]
    for place, message, fix in found:
        problems.add("containerd.disables_cri", _at(path, ("plugins", *place)), f"{message}; {_EFFECT}", fix=fix)
    folders = str((plugins[images].get("registry") or {}).get("config_path") or "").split(":")
    if has_mirrors and MIRRORS not in folders and not found:
        message = f"does not contain {MIRRORS}, where the mirrors of containerd.registry_mirrors are written"
        fix = f"add {MIRRORS}, separated by a colon, or remove it"
        problems.add("containerd.mirrors_not_read", _at(path, ("plugins", images, "registry", "config_path")), message, fix=fix)


def check_merged(
    documents: Sequence[tuple[str, Mapping[str, Any]]], version: tuple[int, int] | None, problems: Problems, *, has_mirrors: bool
) -> None:
    """Report what is wrong in C((path, configuration)) pairs that nodeadm merges in this order, at the document that sets it.

    Documents of one NodeConfig alone say little: one can take config_path away, and another one set mirrors.
    """
    merged: dict[str, Any] = {}
    for _unused, config in documents:
        merged = kubelet.deep_merge(merged, config)
    found = Problems()
    paths = {name: path for path, config in documents for name in _mapping(config.get("plugins"))}
    check_version(merged, version, _MERGED, found, paths if len(documents) > 1 else None)
    check(merged, _MERGED, found, has_mirrors=has_mirrors)
    for problem in found:
        owner = next((path for path, config in reversed(documents) if problem.path in _places(config, _MERGED)), documents[-1][0])
        where = f"{owner}{problem.path.removeprefix(_MERGED)}"
        if not problems.touches(where):
            problems.extend([replace(problem, path=where)])


_MERGED = "merged"


def _places(tree: Any, path: str) -> Iterator[str]:
    """The paths of everything in a document, below C(path)."""
    items = tree.items() if isinstance(tree, Mapping) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        here = joined(path, key)
        yield here
        yield from _places(value, here)


Found = Iterator[tuple[tuple[str, ...], str, str]]


def _registry(registry: Mapping[str, Any]) -> Found:
    if not registry.get("config_path"):
        return
    if registry.get("mirrors"):
        yield (
            ("registry", "mirrors"),
            "cannot be set together with config_path, which the image sets",
            "write them as containerd.registry_mirrors",
        )
    for host, settings in _mapping(registry.get("configs")).items():
        if _mapping(settings).get("tls"):
            fix = "write it as ca or skip_verify of a mirror in containerd.registry_mirrors, or as trust"
            yield ("registry", "configs", host, "tls"), "cannot be set together with config_path, which the image sets", fix


def _runtimes(section: Mapping[str, Any]) -> Found:
    containerd = _mapping(section.get("containerd"))
    runtimes = _mapping(containerd.get("runtimes"))
    name = containerd.get("default_runtime_name")
    if name not in runtimes and name not in _OF_AMI:
        yield ("containerd", "default_runtime_name"), "is not one of the runtimes", f"use one of {', '.join(sorted(map(str, runtimes)))}"
    for key in _OF_RUNTIME_1:
        if section.get(key):
            yield (
                (key,),
                "needs a runtime that no longer exists",
                "write runtimes.NAME.options.SystemdCgroup" if "cgroup" in key else "remove it",
            )
    for name, runtime in runtimes.items():
        for key in _OF_RUNTIME_1_EACH:
            if _mapping(runtime).get(key):
                yield ("containerd", "runtimes", name, key), "needs a runtime that no longer exists", "write it in options"
        settings = _mapping(runtime)
        if settings.get("privileged_without_host_devices_all_devices_allowed") and not settings.get("privileged_without_host_devices"):
            place = ("containerd", "runtimes", name, "privileged_without_host_devices_all_devices_allowed")
            yield place, "needs privileged_without_host_devices", "set privileged_without_host_devices, too"


def _settings(section: Mapping[str, Any]) -> Found:
    for key in _DURATIONS:
        value = section.get(key)
        if value not in (None, "") and not (isinstance(value, str) and _DURATION.fullmatch(value)):
            yield (key,), "is not a duration", "write a duration such as 5m or 1h30m"


def _wrong_types(config: Mapping[str, Any], template: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Values of another type than the image writes at the same place."""
    for key, value in config.items():
        if key not in template:
            continue
        here = (*place, key)
        expected = template[key]
        if isinstance(expected, Mapping) and isinstance(value, Mapping):
            yield from _wrong_types(value, expected, here)
        else:
            kind, *_others = [kind for kind in _KINDS if isinstance(expected, kind)]
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                yield here, f"must be {_KINDS[kind]}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _at(path: str, place: tuple[str, ...]) -> str:
    for key in place:
        path = joined(path, key)
    return path
