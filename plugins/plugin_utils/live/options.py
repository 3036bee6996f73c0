# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of all actions that bring a live node to what its node group says."""

from __future__ import annotations

from typing import Any

from .phases import PHASES

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "raw", "required": True},
    "node_group": {"type": "raw", "required": True},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
    "restart": {"type": "str", "default": "when_changed", "choices": ["when_changed", "never"]},
    "take_over": {"type": "bool", "default": False},
    "reconcile": {"type": "bool", "default": False},
    "verify_timeout": {"type": "int", "default": 60},
    "phases": {"type": "list", "elements": "str", "choices": list(PHASES)},
}
"""As Ansible checks them; documented in plugins/doc_fragments/live.py."""
