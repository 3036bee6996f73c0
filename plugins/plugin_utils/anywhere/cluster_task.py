# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_cluster without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cluster_plan import Read, plan_of
from .run import Admin, run, status
from .run_recover import recover
from .run_upgrade import upgrade
from .status_page import page

_IMAGE = {"version": {"type": "str", "required": True}, "image": {"type": "str", "required": True}}
OPTIONS: dict[str, Any] = {
    "operation": {"type": "str", "choices": ["create", "delete", "recover", "status", "upgrade"], "required": True},
    "cluster_file": {"type": "path", "required": True},
    "work_dir": {"type": "str", "required": True},
    "bootstrap_image": {"type": "str", "required": True},
    "node_images": {"type": "list", "elements": "dict", "required": True, "options": _IMAGE},
    "repository": {"type": "path", "required": True},
    "cluster_api_version": {"type": "str", "required": True},
    "cert_manager_version": {"type": "str", "required": True},
    "network_manifest": {"type": "path"},
    "image_repository": {"type": "str"},
    "haproxy_config_map": {"type": "str"},
    "docker_socket": {"type": "path", "default": "/var/run/docker.sock"},
    "allow_cgroup_v1": {"type": "bool", "default": True},
    "registry_username": {"type": "str"},
    "registry_password": {"type": "str", "no_log": True},
    "take_lock": {"type": "bool", "default": False},
    "machine_timeout": {"type": "float", "default": 3600.0},
}
RULES: dict[str, Any] = {"required_together": [["registry_username", "registry_password"]]}


def cluster_task(options: Mapping[str, Any], *, read: Read, admin: Admin, check_mode: bool) -> dict[str, Any]:
    """Create, upgrade, recover or delete the cluster, or tell where it stands. Raises C(SpecError) before anything is changed."""
    plan = plan_of(options, read)
    if options["operation"] != "status":
        work = {"upgrade": upgrade, "recover": recover}.get(options["operation"], run)
        return work(plan, admin, check_mode=check_mode)
    result = status(plan, admin)
    if not result.get("failed"):
        admin.say(page(plan.name, result))
    return result
