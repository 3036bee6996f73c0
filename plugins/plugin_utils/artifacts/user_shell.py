# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells whether the user's own user data and commands may change settings of the node, so that they have to be compared with the fields."""

from __future__ import annotations

import re

from ..model.spec import NodeSpec

MENTION = re.compile(
    r"bootstrap\.sh|kubelet|nodeadm|containerd|/etc/eks|/etc/kubernetes|https?_proxy|no_proxy|EnvironmentFile|ca-trust|ca-certificates"
    r"|EKSBootstrap|Amazon\\+EKS|ProgramData\\+kubernetes",
    re.IGNORECASE,
)
"""What a command, or a file that a cloud-config writes, mentions if it may change a setting of the node."""


def may_change_settings(spec: NodeSpec) -> bool:
    """Is there anything to compare? What compares is loaded only then: the first call of a filter pays for every module."""
    return bool(spec.user_data) or spec.override is not None or any(MENTION.search(command) for command in spec.commands_pre)
