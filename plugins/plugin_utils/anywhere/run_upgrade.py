# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of an upgrade: the plan and what is refused before it begins, and the other clusters resumed in any case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import Problems, SpecError
from . import upgrade_plan
from .acts import Plan, RunFailed
from .acts_upgrade import resume_siblings
from .observed import Observed
from .run import Admin, Around, Extras, Run, run


def upgrade(plan: Plan, admin: Admin, *, check_mode: bool, around: Around = lambda own: own) -> dict[str, Any]:
    """Upgrade the cluster, and return the result of the task. Raises C(SpecError) for what an upgrade cannot do."""
    left_paused: list[bool] = []

    def before(this: Run, seen: Observed) -> Mapping[str, Any]:
        left_paused.append(seen.paused_siblings)
        return _before(this)

    try:
        return run(plan, admin, check_mode=check_mode, extras=around(Extras(before, _failed)))
    except SpecError:
        if any(left_paused) and not check_mode:
            # An earlier run was killed, and this one cannot go on with it. The other clusters must not stay paused.
            run(replace(plan, command="recover"), admin, check_mode=False)
        raise


def _before(this: Run) -> Mapping[str, Any]:
    """The plan, printed before anything is changed."""
    live = this.says["upgrade"]
    if live is None:
        return {"plan": []}
    problems = Problems()
    upgrade_plan.check(live, this.plan.objects, this.plan.providers, this.plan.cert_manager, problems)
    problems.raise_any()
    found = upgrade_plan.rows(live, this.plan.objects, this.plan.providers, this.plan.cert_manager)
    this.admin.say(f"{this.plan.name}: versions and groups, before -> after\n{upgrade_plan.page(found)}")
    return {"plan": found}


def _failed(this: Run) -> str:
    """Whatever happened, no other cluster stays paused. Returns what the message of the failure also says."""
    live = this.says.get("upgrade")
    if live is not None and not live["siblings"]:
        return ""
    try:
        resume_siblings(this.plan, this.step)
    except RunFailed as error:
        return f"; and the other clusters could not be resumed: {error}; run eks_anywhere_recover"
    return ""
