# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the values of one node from a message, so that the same cause has the same text on all nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MIN_NAME = 4
"""Shorter names of nodes are also parts of ordinary words."""

_VALUES = (
    (re.compile(r"\bi-[0-9a-f]{8,17}\b"), "INSTANCE"),
    (re.compile(r"\bip-[0-9]{1,3}(?:-[0-9]{1,3}){3}(?:\.[\w-]+)*"), "NODE"),
    (re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z\b|[+-][0-9]{2}:?[0-9]{2}\b)?"), "TIME"),
    (re.compile(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"), "ADDRESS"),
    (re.compile(r"(?<![\w.-])[+-]?[0-9]+(?:\.[0-9]+)?(?= ?(?:%|(?:[KMG]i?B|s|ms|seconds?|minutes?|hours?|days?|times?)\b))"), "N"),
    (re.compile(r"(?<=\bpid )[0-9]+", re.IGNORECASE), "N"),
)


def generalize(message: str, names: Iterable[str]) -> str:
    """The message with words in capitals in place of values. names: of the node, for example its host name and its instance ID."""
    for name in sorted({name for name in names if len(name) >= _MIN_NAME}, key=len, reverse=True):
        message = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "NODE", message)
    for pattern, word in _VALUES:
        message = pattern.sub(word, message)
    return message
