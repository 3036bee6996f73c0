# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The phases of a run on a live node, and how tags choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PHASES = ("preflight", "configure", "validate", "start", "verify")
"""In the order in which a node goes through them."""


def chosen(asked: Sequence[str] | None, run_tags: Iterable[str], skip_tags: Iterable[str]) -> tuple[str, ...]:
    """The phases to go through.

    asked: what the task says; it decides alone. Otherwise the tags of the run do: tags that name phases select them, a
    run that names none means all of them, and what is skipped is taken off.
    """
    if asked:
        return tuple(phase for phase in PHASES if phase in asked)
    wanted, unwanted = set(run_tags), set(skip_tags)
    named = [phase for phase in PHASES if phase in wanted]
    return tuple(phase for phase in named or PHASES if phase not in unwanted)
