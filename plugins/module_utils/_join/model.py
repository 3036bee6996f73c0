# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node does not join, as one value. Pure. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import NamedTuple

from .._node.redaction import in_text, in_word

_LONGEST_LINE = 600
# Nobody reads on in a word of this length, and to look for secrets in it takes long.
_LONG_WORD = re.compile(r"[^\s\"'{}\[\],:]{400,}")


class Finding(NamedTuple):
    """One reason. C(message): a sentence without its full stop; C(fix): what to do, in the same form.

    C(evidence): lines that show it, each with where it comes from. C(final): nothing changes it by itself, so waiting is of no use.
    """

    cause: str
    message: str
    fix: str
    evidence: tuple = ()
    final: bool = False


def plain(text, limit=2000, whole=False):
    """A text from anywhere as it may be shown: one line, printable, bounded, without secrets.

    C(whole): it may be YAML or the like, in which the name of a secret stands before it.
    """
    text = _LONG_WORD.sub(lambda match: match.group(0)[:200] + "…", text[: 2 * limit])
    text = in_text(text) if whole else in_word(text)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:limit]


def sentence(finding):
    """What a user reads. C(finding): a Finding, or the dict that C(_join.wait) returns."""
    if isinstance(finding, Finding):
        finding = finding._asdict()
    # A fix may begin with a command, whose first letter must stay small, and programs end what they say with a full stop of their own.
    joined = "the node has joined, but" if finding.get("ready") else "the node did not join:"
    parts = [f"{joined} {finding['message']}".rstrip("."), f"Fix: {finding['fix']}"]
    if finding["evidence"]:
        parts.append("Evidence: " + " | ".join(finding["evidence"]))
    return ". ".join(parts)


def quoted(unit, line):
    """A line of a unit's journal as evidence."""
    return shortened(f"journal of {unit}: {line}")


def shortened(line):
    """A line that fits on a screen."""
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
