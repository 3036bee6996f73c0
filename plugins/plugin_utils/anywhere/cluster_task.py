# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_cluster without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from ..errors import Problem, SpecError
from . import eksctl_plan, eksctl_run, packages, preflight, preflight_run
from .around import Diagnostics, around
from .check import CAPI, EKSCTL, ENGINES
from .cluster_plan import Read, plan_of
from .diagnostics_task import Write
from .run import Admin, run
from .run_recover import recover
from .run_upgrade import upgrade
from .status_task import NEEDED, status_task

_IMAGE = {"version": {"type": "str", "required": True}, "image": {"type": "str", "required": True}}
_PROVIDER = {
    "name": {"type": "str", "required": True},
    "type": {
        "type": "str",
        "required": True,
        "choices": ["CoreProvider", "BootstrapProvider", "ControlPlaneProvider", "InfrastructureProvider"],
    },
    "version": {"type": "str", "required": True},
    "components": {"type": "str"},
}
OPTIONS: dict[str, Any] = {
    "operation": {"type": "str", "choices": ["create", "delete", "recover", "status", "upgrade"], "required": True},
    "cluster_file": {"type": "path"},
    "work_dir": {"type": "str", "required": True},
    "bootstrap_image": {"type": "str"},
    "node_images": {"type": "list", "elements": "dict", "default": [], "options": _IMAGE},
    "repository": {"type": "path"},
    "cluster_api_version": {"type": "str"},
    "cert_manager_version": {"type": "str"},
    "network_manifest": {"type": "path"},
    "image_repository": {"type": "str"},
    "haproxy_config": {"type": "path"},
    "manifests": {"type": "list", "elements": "path", "default": []},
    "providers": {"type": "list", "elements": "dict", "default": [], "options": _PROVIDER},
    "etcd_version": {"type": "str"},
    "images_dir": {"type": "str"},
    "preload_images": {"type": "list", "elements": "str", "default": []},
    "packages": {"type": "list", "elements": "dict", "default": [], "options": packages.OPTIONS},
    "engine": {"type": "str", "choices": list(ENGINES), "default": CAPI},
    "eksctl": {"type": "dict", "default": {}, "options": eksctl_plan.OPTIONS},
    "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
    "allow_cgroup_v1": {"type": "bool", "default": True},
    "registry_username": {"type": "str"},
    "registry_password": {"type": "str", "no_log": True},
    "take_lock": {"type": "bool", "default": False},
    "machine_timeout": {"type": "float", "default": 3600.0},
    "name": {"type": "str"},
    "skip_checks": {"type": "list", "elements": "str", "choices": list(preflight.NAMES), "default": []},
    "registries": {"type": "list", "elements": "str"},
    "ports": {"type": "list", "elements": "int", "default": []},
    "diagnostics": {"type": "bool", "default": True},
    "diagnostics_dir": {"type": "path", "default": "diagnostics"},
    "status_file": {"type": "path"},
}
RULES: dict[str, Any] = {"required_together": [["registry_username", "registry_password"]]}


def cluster_task(
    options: Mapping[str, Any],
    *,
    read: Read,
    admin: Admin,
    check_mode: bool,
    write: Write | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Create, upgrade, recover or delete the cluster, or tell where it stands. Raises C(SpecError) before anything is changed.

    write: writes a file on the controller that only its owner can read. Without it, there are no diagnostics. environment: of the
    controller.
    """
    command = options["operation"]
    if options["engine"] == EKSCTL and options["cluster_file"]:
        wanted = eksctl_plan.plan_of(options, read, environment)
        return eksctl_run.run(wanted, admin.call, admin.say, check_mode=check_mode)
    if command == "status":
        return status_task(options, admin, read=read, write=write)
    if not options["cluster_file"]:
        raise SpecError(_missing(options))
    plan = plan_of(options, read)
    preflights = None
    if command in preflight_run.COMMANDS:
        preflights = preflight_run.observe(preflight_run.wanted(options, read), command, options["skip_checks"], admin.call)
        if preflights.must_pass:
            preflights.refuse()
    diagnostics = None
    if options["diagnostics"] and write:
        diagnostics = Diagnostics(options["work_dir"], options["diagnostics_dir"], write, _secrets(options))
    extras = partial(around, preflights, diagnostics)
    if command in _OTHERS:
        return _OTHERS[command](plan, admin, check_mode=check_mode, around=extras)
    return run(plan, admin, check_mode=check_mode, extras=extras(None))


def _secrets(options: Mapping[str, Any]) -> tuple[str, ...]:
    """What only this run knows: the password of the registry, and the words of which a header with it is made."""
    password = options["registry_password"]
    return () if password is None else (password, f"{options['registry_username']}:{password}")


def _missing(options: Mapping[str, Any]) -> list[Problem]:
    """Without the file of the cluster, there is nothing else to check: one problem for each input that is not given."""
    lacking = [name for name in NEEDED if not options[name]]
    return [Problem("input.missing_field", name, "is required", fix=f"set eks_anywhere_{name}") for name in lacking]


_OTHERS = {"upgrade": upgrade, "recover": recover}
