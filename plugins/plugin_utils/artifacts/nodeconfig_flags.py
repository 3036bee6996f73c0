# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's flags in a NodeConfig, as nodeadm passes them on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kubelet_settings import flag_name

Flags = dict[str, list[str]]


def flag_value_problem(value: str) -> str | None:
    """Why a flag value does not survive C($NODEADM_KUBELET_ARGS), which systemd splits like a shell line; None when it does."""
    bad = [name for char, name in (('"', "a double quote"), ("'", "a single quote"), ("\\", "a backslash")) if char in value]
    return f"contains {' and '.join(bad)}, which systemd would interpret as quoting when it starts kubelet" if bad else None


def flag_word(name: str, value: str) -> str:
    """One kubelet flag as a word of that line; a value with blanks is quoted for systemd."""
    return f'--{name}="{value}"' if any(char.isspace() for char in value) else f"--{name}={value}"


def kubelet_flags(kubelet: Mapping[str, Any]) -> Flags:
    """The flags in a kubelet section: name → values, without the quotes that systemd removes. A flag without a value is true."""
    found: Flags = {}
    words = kubelet.get("flags")
    for word in words if isinstance(words, (list, tuple)) else ():
        _unused, equals, value = str(word).partition("=")
        found.setdefault(flag_name(str(word)), []).append(value.replace('"', "").replace("'", "") if equals else "true")
    return found


def flag_values(kubelet: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """kubelet's flags in a NodeConfig as name → values, without the quotes that systemd takes away."""
    return {name: tuple(values) for name, values in kubelet_flags(kubelet).items()}
