# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_cluster without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from . import eksctl_plan, eksctl_run, packages
from .check import CAPI, EKSCTL, ENGINES
from .cluster_plan import Read, plan_of
from .run import Admin, run, status
from .status_page import page

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
    "operation": {"type": "str", "choices": ["create", "delete", "status"], "required": True},
    "cluster_file": {"type": "path", "required": True},
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
}
RULES: dict[str, Any] = {"required_together": [["registry_username", "registry_password"]]}


def cluster_task(
    options: Mapping[str, Any], *, read: Read, admin: Admin, check_mode: bool, environment: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Create or delete the cluster, or tell where it stands. environment: of the controller. Raises C(SpecError) before any change."""
    if options["engine"] == EKSCTL:
        wanted = eksctl_plan.plan_of(options, read, environment)
        return eksctl_run.run(wanted, admin.call, admin.say, check_mode=check_mode)
    plan = plan_of(options, read)
    if options["operation"] != "status":
        return run(plan, admin, check_mode=check_mode)
    result = status(plan, admin)
    if not result.get("failed"):
        admin.say(page(plan.name, result))
    return result
