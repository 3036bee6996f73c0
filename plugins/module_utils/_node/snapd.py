# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the settings of a snap. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Mapping, Sequence

from . import programs
from .diff import Diff
from .errors import ApplyRefused


def read_settings(snap: str, run: Callable[[Sequence[str]], programs.Result] = programs.run) -> Dict[str, Any]:
    """All settings of a snap. Raises ApplyRefused when the snap is not installed."""
    result = run(["snap", "get", "-d", snap])
    if result.status != 0 and "has no configuration" in result.errors:
        return {}
    if result.status != 0:
        raise ApplyRefused(f"snap get {snap} failed: {result.errors.strip()}. Is this one of Canonical's EKS images?")
    try:
        settings = json.loads(result.output or "{}")
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise ApplyRefused(f"snap get -d {snap} did not print a mapping")
    return settings


def parse_value(text: str) -> Any:
    """The value that snapd stores for a text given to C(snap set): JSON if the text is JSON, otherwise the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def settings_diff(snap: str, before: Mapping[str, Any], after: Mapping[str, Any], secret: bool) -> Diff:
    """The before and after of settings, as C(--diff) shows them. With C(secret), only the names are shown."""
    header = f"snap settings of {snap}"
    return Diff(
        before_header=header,
        after_header=header,
        before=_settings_lines(before, "(not shown)", secret),
        after=_settings_lines(after, "(another value, not shown)", secret),
    )


def _settings_lines(settings: Mapping[str, Any], placeholder: str, secret: bool) -> str:
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in sorted(settings.items())}
    return "".join(f"{key}: {placeholder if secret else text}\n" for key, text in texts.items())
