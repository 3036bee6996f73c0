# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a recovery: it says in words what was interrupted, and which playbook goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import recovery
from .acts import Plan
from .observed import Observed
from .run import Admin, Around, Extras, Run, run


def recover(plan: Plan, admin: Admin, *, check_mode: bool, around: Around = lambda own: own) -> dict[str, Any]:
    """Bring what an interrupted command left into one consistent state, and return the result of the task."""
    return run(plan, admin, check_mode=check_mode, extras=around(Extras(_words, lambda _this: "", _words)))


def _words(this: Run, seen: Observed) -> Mapping[str, Any]:
    state = recovery.state_of(seen)
    words = recovery.in_words(state, seen, owner_ended=this.had_lock)
    lines = words.replace("; ", "\n  ")
    this.admin.say(f"{this.plan.name}: {lines}")
    return {"state": state, "words": words, "next": recovery.next_command(state) or None}
