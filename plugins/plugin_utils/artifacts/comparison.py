# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the comparisons of the user's own user data and commands with the fields share (C(shell_places), C(windows_places), C(file_places),
C(proxy_places)), and whether there is anything to compare.
"""

from __future__ import annotations

import re

from ..model.spec import NodeSpec

FIX = "set it in one place only, or set user_data_precedence: ours or theirs"
"""What to do about a value that the user data and a field set differently."""

_PROXY = r"https?_proxy|no_proxy"
SHELL_MENTION = re.compile(
    rf"bootstrap\.sh|kubelet|nodeadm|containerd|/etc/eks|/etc/kubernetes|{_PROXY}|EnvironmentFile|ca-trust|ca-certificates", re.IGNORECASE
)
"""What a command, or a file that a cloud-config writes, mentions if it may change a setting of the node."""
POWERSHELL_MENTION = re.compile(r"EKSBootstrap|kubelet|Amazon\\+EKS|ProgramData\\+kubernetes", re.IGNORECASE)
"""The same for PowerShell, apart from proxy variables."""
_IN_COMMANDS = re.compile(f"{SHELL_MENTION.pattern}|{POWERSHELL_MENTION.pattern}", re.IGNORECASE)


def may_change_settings(spec: NodeSpec) -> bool:
    """Is there anything to compare? What compares is loaded only then: the first call of a filter pays for every module."""
    return bool(spec.user_data) or spec.override is not None or any(_IN_COMMANDS.search(command) for command in spec.commands_pre)
