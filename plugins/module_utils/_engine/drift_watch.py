# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drift of one run: look, decide what to repair, record what is right, and find repairs that do not last."""

from __future__ import annotations

import time
from typing import Sequence

from .._node import files
from .._node.diff import Diff
from .._node.errors import ApplyRefused
from .._node.host import Host, format_time, read_boot_id, to_wall_time
from .._node.systemd import read_units
from . import drift
from .drift import WHOLE, Drift, Snaps
from .manifest import Manifest, Moment, Repair
from .observe import NodeState
from .plan import Plan
from .steps import Work


class DriftWatch:
    """The drift of one run. C(mode): repair, report or ignore. C(current): the manifest before the run.

    C(repairs): the differences that this run repairs.
    """

    def __init__(self, plan: Plan, mode: str, current: Manifest) -> None:
        self._plan = plan
        self._mode = mode if drift.has_record(plan) else drift.IGNORE
        self._is_secret = plan.is_sensitive or current.is_sensitive
        self._before = current
        self._found: list[Drift] | None = None
        self._returned: list[Drift] | None = None
        self._found_writers: dict[str, list[str]] = {}
        self.repairs: Sequence[Drift] = ()
        self.snaps = Snaps()

    def look(self, node: NodeState, can_repair: bool) -> None:
        """Compare the node with the record. A node without a record is compared with the values that the plan asks for."""
        if self._mode == drift.IGNORE:
            self._found = []
            return
        self._before = node.manifest
        self._found = self._differences(node.manifest)
        self.repairs = self._found if self._mode == drift.REPAIR and can_repair else ()

    def _differences(self, manifest: Manifest) -> list[Drift]:
        if manifest.effective:
            return drift.find(self._plan, manifest, files.read, self.snaps)
        if manifest.is_empty or manifest.pending:
            # The run decides by itself whether programs of the image have to run.
            return []
        from . import drift_asked

        return drift_asked.find(self._plan, files.read, self.snaps)

    # --- the result ------------------------------------------------------------------------------------------------------------

    def found(self) -> list[Drift]:
        """All differences as the result shows them."""
        return self._shown(self._found or ())

    def warnings(self) -> list[str]:
        """The differences that are only reported."""
        return [f"drift: {drift.describe(item)}" for item in self._shown(self._found or ())] if self._mode == drift.REPORT else []

    def diffs(self, repairs: Sequence[Drift]) -> list[Diff]:
        """The repairs as C(--diff) shows them."""
        return drift.diffs(self._shown(repairs))

    def _shown(self, found: Sequence[Drift]) -> list[Drift]:
        return [drift.shown(item, self._is_secret) for item in found]

    # --- after a verified success ----------------------------------------------------------------------------------------------

    def verified(self, current: Manifest) -> Manifest:
        """The manifest after a verified success: with a record of the values that programs of the image left."""
        if self._mode == drift.IGNORE or current.is_empty or current.pending or not self._must_record(current) or self._came_back():
            return current
        effective = drift.record(self._plan, files.read, read_units(self._plan.verify.units))
        accepted = {item.key for item in self._persisting()}
        return current._replace(
            effective=effective, repaired={key: repair for key, repair in current.repaired.items() if key not in accepted}
        )

    def _must_record(self, current: Manifest) -> bool:
        if self.repairs:
            return True
        if current.effective:
            return False
        has_run_image = current.effective is not None and self._before.effective != {}
        # What differs from the plan is not right yet.
        return has_run_image or not (self._differences(current) if self._found is None else self._found)

    def accepted(self) -> list[str]:
        """Warnings about values that the image's own program has set again: the run of it was no repair, and they count as right now."""
        items = self._shown(self._persisting()) if not self._came_back() else ()
        return [
            f"{item.source}: the image's program now sets {item.name or 'the file'} to {drift.text(item.found)}, and before "
            f"to {drift.text(item.recorded)}"
            for item in items
        ]

    def check_repairs_last(self) -> None:
        """Raise ApplyRefused if another program has undone a repair of this run or of an earlier one."""
        returned = self._came_back()
        if returned:
            raise self._refusal(returned)

    def _came_back(self) -> list[Drift]:
        """The settings of this run's repairs that another program writes."""
        if self._returned is None:
            repaired = self._before.repaired
            earlier = [item for item in self.repairs if item.key in repaired and repaired[item.key].found == item.found]
            now = [item for item in self._persisting() if item not in earlier and self._is_written_by_others(item)]
            self._returned = earlier + now
        return self._returned

    def _persisting(self) -> list[Drift]:
        """The repaired settings that have the same wrong value again."""
        if not self.repairs or not self._before.effective:
            return []
        return [item for item in drift.find(self._plan, self._before, files.read, Snaps()) if item in self.repairs]

    def _is_written_by_others(self, item: Drift) -> bool:
        """Whether a value is not from the image's program. That program writes its files before kubelet starts."""
        if self._writers(item):
            return True
        changed = None if item.source.startswith(drift.SNAP) else Host().changed_at(item.source)
        kubelet = self._plan.kubelet_unit
        started = read_units([kubelet])[kubelet].main_started if kubelet else None
        return changed is not None and started is not None and changed > to_wall_time(started)

    def _writers(self, item: Drift) -> list[str]:
        from . import drift_writers

        if item.source not in self._found_writers:
            self._found_writers[item.source] = drift_writers.find(item.source, self._plan.paths, self._plan.units())
        return self._found_writers[item.source]

    def _refusal(self, returned: Sequence[Drift]) -> ApplyRefused:
        lines, writers = [], []
        for item in returned:
            shown = drift.shown(item, self._is_secret)
            earlier = self._before.repaired.get(item.key)
            when = f"after the repair at {earlier.at}" if earlier is not None and earlier.found == item.found else "after its repair"
            state = "there" if item.found else "gone"
            what = f"{shown.name} is {drift.text(shown.found)}" if item.name != WHOLE else f"the file is {state}"
            lines.append(f"{item.source}: {what} again {when}")
            writers += [f"{item.source} is written by {writer}" for writer in self._writers(item)]
        cause = f"another program undoes repairs of this node: {'; '.join(lines)}"
        name = f"stop or remove {writers[0].partition(' is written by ')[2]}" if writers else "find the program that writes it, and stop it"
        fix = f"{name}, or set the value in the node group; drift: report (role: eks_node_drift) only warns about drift"
        return ApplyRefused(cause, fix, list(dict.fromkeys(writers)))


def manifest_after(plan: Plan, after: Manifest, work: Work) -> Manifest:
    """The manifest with what the work means for the record, the repairs, and the age of kubelet."""
    if not drift.has_record(plan):
        after = after._replace(effective=None, repaired={})
    elif work.runs_image or (work.repairs and after.effective is None):
        after = after._replace(effective={}, repaired={})
    if work.repairs:
        now = format_time(time.time())
        after = after._replace(repaired={**after.repaired, **{item.key: Repair(item.found, now) for item in work.repairs}})
    if work.restarts_kubelet:
        after = after._replace(restarted=Moment(read_boot_id(Host()), time.monotonic()))
    return after
