# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides the next step of the replacement of a group. Every decision depends on what is observed now, and on nothing else."""

from __future__ import annotations

from dataclasses import replace

from . import availability, steps
from .model import Action, Done, Finish, Group, Observed, Run, SetGroup, Stop, Wanted, WriteRun
from .put_back import backward, clean_up, remove_surplus
from .replacement import NO_INSTANCE, NO_PROGRESS, View, forward

ABORTED = "aborted"
SUSPENDS = ("AZRebalance",)
"""It terminates nodes of zones that have more nodes than others, without draining them."""

_NEEDED = ("Launch", "Terminate")
"""Processes without which no instance is replaced."""


def decide(observed: Observed, wanted: Wanted) -> Action:
    """The next step of a group. Every step can be repeated, and the process can be killed before, in and after each."""
    group = observed.group
    if group is None:
        raise ValueError("group")
    run = group.run
    if run is None:
        return _begin(observed, group, wanted)
    if wanted.abort and not run.stopped:
        return WriteRun(replace(run, stopped=ABORTED), "the upgrade is aborted")
    if run.stopped:
        return backward(observed, group, run, wanted) or Finish(stopped(run, wanted))
    if wanted.version not in ("", run.version):
        return Stop(
            "other_version",
            f"an upgrade of {group.name} to version {run.version} has not ended, but version {wanted.version} is requested; "
            "fix: run the playbook with --tags resume or --tags abort first",
            is_restored=False,
        )
    view = View(observed, group, run, wanted)
    return forward(observed, group, run, wanted) or remove_surplus(view) or clean_up(view) or _final_version(view) or Finish(_done(view))


def _begin(observed: Observed, group: Group, wanted: Wanted) -> Action:
    if wanted.abort or wanted.must_resume:
        return _without_run(observed, group, wanted)
    if not group.instances or not group.desired:
        return Stop(
            "no_nodes",
            f"the Auto Scaling group {group.name} has no instances, so nothing can be upgraded; fix: check the name and the region",
        )
    missing = [name for name in _NEEDED if name in group.suspended]
    if missing:
        names = " and ".join(missing)
        return Stop(
            "suspended", f"{names} of the Auto Scaling group {group.name} is suspended; fix: resume it, the upgrade replaces instances"
        )
    version = wanted.version or dict(group.names).get("$Latest", group.resolved)
    run = Run(wanted.run, version, group.version, group.max_size, tuple(name for name in SUSPENDS if name not in group.suspended))
    view = View(observed, group, run, wanted)
    if not view.old and group.resolved == version:
        return Done(f"all {len(view.new)} nodes of {group.name} have launch template version {version} already")
    most = availability.limit(wanted.max_unavailable, availability.desired(observed))
    number = availability.unavailable(observed)
    if number > most:
        return Stop(
            "already_unavailable",
            f"{number} of {group.desired} nodes of {group.name} are unavailable, more than max_unavailable allows ({most}): "
            f"{', '.join(_unavailable(view)) or 'instances are missing'}; nothing was changed; fix: repair these nodes, or increase "
            "max_unavailable",
        )
    return WriteRun(run)


def _unavailable(view: View) -> list[str]:
    missing = [instance.id for instance in view.active if instance.id not in view.node_of]
    return [*availability.unavailable_names(view.nodes(view.active)), *missing]


def _without_run(observed: Observed, group: Group, wanted: Wanted) -> Action:
    """Nothing is recorded for the group. Its nodes may still be marked if its tags were removed by hand."""
    run = Run("", group.resolved, group.version, group.max_size)
    if wanted.abort:
        for node in observed.nodes:
            if node.mark is not None:
                return steps.release(node, node.mark)
        found = clean_up(View(observed, group, run, wanted))
        if found is not None:
            return found
    return Done(f"no upgrade of {group.name} has been interrupted: there is nothing to {'abort' if wanted.abort else 'resume'}")


def _final_version(view: View) -> Action | None:
    """A group that follows the newest version of its launch template does so again."""
    before = view.run.before
    return SetGroup(version=before) if before == "$Latest" and view.group.version != before else None


def _done(view: View) -> Done:
    return Done(f"all {len(view.new)} nodes of {view.group.name} have launch template version {view.run.version}")


def stopped(run: Run, wanted: Wanted) -> Done | Stop:
    """How an upgrade ends after its group was put back."""
    rule, _colon, subject = run.stopped.partition(":")
    where = f"{rule}: {subject}" if subject else rule
    if wanted.abort or rule == ABORTED:
        return Done(f"the upgrade to version {run.version} is aborted, and the group is put back; nodes that were upgraded stay")
    fix = _FIXES.get(rule, "find the cause on the node, correct the launch template, and run the playbook again")
    return Stop(rule, f"the upgrade to version {run.version} stopped ({where}), and the group is put back; fix: {fix}")


_FIXES = {
    steps.EVICTION: "let the pods leave (the report says why they do not), or set delete_after_timeout",
    NO_INSTANCE: "look at the activity history of the Auto Scaling group: capacity, quotas, addresses of the subnets",
    NO_PROGRESS: "repair the nodes that are not Ready, or increase max_unavailable",
    "refused": "allow the request, and run the playbook again",
}
