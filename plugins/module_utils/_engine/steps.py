# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to run on the node, decided from the plan, the files that change and what runs now; and how all of it is undone."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .._node import snapd
from . import service_commands, validation

NODEADM_CONFIG = "nodeadm-config.service"
NODEADM_WRITES = (
    "/etc/containerd/base-runtime-spec.json",
    "/etc/containerd/config.toml",
    "/etc/eks/image-credential-provider/config.json",
    "/etc/eks/kubelet/environment",
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf",
    "/etc/kubernetes/pki/ca.crt",
    "/etc/soci-snapshotter-grpc/config.toml",
    "/etc/systemd/system.conf.d/environment.conf",
    "/etc/systemd/system/containerd.service.d/10-soci-snapshotter.conf",
    "/etc/systemd/system/containerd.service.d/environment.conf",
    "/etc/systemd/system/kubelet.service.d/environment.conf",
    "/run/eks/nodeadm/config.json",
    "/run/systemd/resolved.conf.d/40-eks.conf",
    "/var/lib/kubelet/bootstrap-kubeconfig",
    "/var/lib/kubelet/kubeconfig",
)
"""What nodeadm writes (amazon-eks-ami, July 2026)."""


class Situation(NamedTuple):
    """What is known before anything is decided.

    C(items): files that change. C(units): {name: Unit}. C(hold): nothing may be started or restarted. C(sources_changed): other sources
    of nodeadm than ours changed since it ran.
    """

    plan: Any
    manifest: Any
    items: Any
    units: Any
    hold: bool
    originals: Any
    workshop: Any
    identity: Any
    read: Any
    sources_changed: bool = False

    def pending(self, step):
        """Whether an earlier run left this step to do."""
        return step["name"] in self.manifest.get("pending", ())

    def effects(self, step):
        """The files whose change this step has to follow."""
        return [item for item in self.items if item.effect and step["name"] in item.read_by]


class Work:
    """What is decided, collected step by step."""

    def __init__(self, situation):
        old = situation.manifest
        self.units = situation.units
        # Where files may hold secrets, kubelet's words may, too.
        self.secret = any(file["sensitive"] for file in (*situation.plan["files"], *old.get("files", {}).values()))
        self.actions = []
        self.restarted = []
        self.pending = []
        self.items = []
        self.snapshots = []
        self.diffs = []
        self.forward = []
        # Another strategy runs other programs: what theirs wrote before goes back, and they start from the beginning next time.
        writes = written_by_programs(situation.plan)
        self.image = {path: entry for path, entry in old.get("image", {}).items() if path in writes}
        names = [step["name"] for step in situation.plan["steps"]]
        self.scripts = {name: digest for name, digest in old.get("scripts", {}).items() if name in names}
        self.snap = dict(old.get("snap", {}))
        self.enabled = list(old.get("enabled", ()))
        self.enable_now = []
        self.enabled_by_script = []
        self.watch = False
        self.has_run = set()
        self._touched = []
        self._snap_back = []
        self._clean = []

    def enable(self, units):
        """Enable the units among C(units) that are not."""
        wanting = [name for name in units if self.units[name].needs_enable and name not in self.enable_now]
        if wanting:
            self.enable_now += wanting
            self.enabled += [name for name in wanting if name not in self.enabled]
            self.actions.append(f"enable {' '.join(wanting)}")

    def start(self, units, wait=True):
        """Restart units that run, start the others."""
        again = [name for name in units if self.units[name].is_running]
        self.actions.append(f"{'restart' if again else 'start'} {' '.join(units)}")
        self.forward.append(service_commands.restart(units, wait))

    def touch(self, units):
        """These units are restarted by what was just decided: so does the way back, or stops them where they did not run."""
        for name in units:
            if name not in self._touched:
                self._touched.append(name)
                self.restarted += [name] if self.units[name].is_running else []

    def may_fail(self, units):
        """Units that may be left as failed by what was just decided."""
        self._clean += [name for name in units if not self.units[name].is_running]

    def remember(self, paths, situation, as_brought=None):
        """Keep what files of the image were before programs of the image write them for the first time. Returns {path: original}.

        C(as_brought): maps (path, Current) to what the image brought, where the node was set up by others before us.
        """
        for path in paths:
            if path in self.image:
                continue
            known, entry = situation.originals.entry(path)
            if not known:
                current = situation.read(path)
                entry = situation.originals.keep(path, as_brought(path, current) if as_brought else current)
            self.image[path] = entry
        return {path: self.image[path] for path in paths}

    def snap_back(self, command):
        """A command of the way back for a snap; it runs before units are started again."""
        self._snap_back.append(command)

    def commands(self, reload, verify):
        """(forward, back) of the whole transaction. C(reload): systemd has to read its files again."""
        forward = []
        if self.enable_now:
            forward.append(service_commands.enable(self.enable_now))  # it reloads, too
        elif reload:
            forward.append(service_commands.reload())
        forward += self.forward
        if self.watch:
            forward.append(service_commands.watch(verify))
        enabling = self.enable_now + self.enabled_by_script
        back = [service_commands.disable(enabling)] if enabling else []
        idle = [name for name in self._touched if not self.units[name].is_running]
        busy = [name for name in self._touched if self.units[name].is_running]
        back += [service_commands.stop(list(reversed(idle)))] if idle else []
        # After the units of the transaction have stopped, for systemd forgets a unit that runs without a file only then.
        back += [service_commands.reload()] if reload or self.enable_now or self.snapshots else []
        back += self._snap_back
        back += [service_commands.restart(busy)] if busy else []
        clean = [name for name in dict.fromkeys(idle + self._clean) if self.units[name].active != "failed"]
        back += [service_commands.reset_failed(clean)] if clean else []
        return forward, back


def decide(situation):
    """The Work for all steps but those that run once."""
    work = Work(situation)
    for step in situation.plan["steps"]:
        if step["do"] == "service":
            _service(step, situation, work)
        elif step["do"] == "snap":
            _snap(step, situation, work)
        elif step["do"] == "image_script":
            # Python reads and compiles what is imported at every call.
            from . import image_script

            image_script.image_script(step, situation, work, laid_units(step))
    return work


def written_by_programs(plan):
    """The files that programs of the image write when the steps of a plan run them."""
    found = {path for step in plan["steps"] for path in step.get("writes", ())}
    return found | set(NODEADM_WRITES if any(NODEADM_CONFIG in step.get("units", ()) for step in plan["steps"]) else ())


def laid_units(step):
    """The services that the image's script lays down and may enable."""
    paths = [path for path in step.get("writes", ()) if path.startswith(validation.ETC_UNITS) and path.endswith(".service")]
    return [path.rpartition("/")[2] for path in paths]


def _service(step, situation, work):
    units = situation.units
    nodeadm = NODEADM_CONFIG in step["units"]
    changed = _nodeadm_changed(step, situation) if nodeadm else bool(situation.effects(step))
    due = changed or situation.pending(step)
    if situation.hold:
        work.pending += [step["name"]] if due else []
        return
    work.enable(step["enable"])
    if not due and all(units[name].is_up for name in step["active"]):
        return
    work.has_run.add(step["name"])
    work.start(step["units"], step["wait"])
    if nodeadm:
        writes = [path for path in NODEADM_WRITES if path not in {file["path"] for file in situation.plan["files"]}]
        work.snapshots += writes
        work.remember(writes, situation)
        work.touch([name for name in situation.plan["verify"]["units"] if name in units])
        work.may_fail(step["units"])
    else:
        work.touch(step["units"])
    work.watch = work.watch or (step["wait"] and bool(step["active"]))


def _nodeadm_changed(step, situation):
    """Whether what nodeadm makes of its sources is another than before: every run of it restarts containerd and kubelet."""
    effects = situation.effects(step)
    if situation.sources_changed:
        return True
    if not effects:
        return False
    prefix = validation.NODEADM_FOLDER + "/"
    if any(not item.change.path.startswith((prefix, validation.ETC_UNITS)) for item in effects):
        return True
    before = validation.nodeadm_documents(situation.read)
    merged = situation.workshop.nodeadm_dump("before", before)
    return merged is None or merged != situation.workshop.nodeadm_dump("after", nodeadm_after(situation.plan, situation.items, before))


def nodeadm_after(plan, items, before):
    """The documents in nodeadm's folder once the plan is carried out: {file name: content}."""
    prefix = validation.NODEADM_FOLDER + "/"
    after = dict(before)
    for item in items:
        if item.change.path.startswith(prefix):
            after.pop(item.change.path[len(prefix) :], None)
    for file in plan["files"]:
        if file["path"].startswith(prefix):
            after[file["path"][len(prefix) :]] = file["content"].encode("utf-8", "surrogateescape")
    return after


# --- settings of a snap ----------------------------------------------------------------------------------------------------------


def _snap(step, situation, work):
    name, unit = step["snap"], situation.units[step["unit"]]
    now = snapd.read_settings(name)
    facts = situation.plan["snap_facts"]
    wanted = {key: situation.identity.setting(value, facts) for key, value in step["settings"].items()}
    values = {key: value for key, value in wanted.items() if now.get(key) != snapd.parse_value(value)}
    values.update((key, None) for key in step["unset"] if key in now)
    # What an earlier plan set and this one does not speak of goes back to what it was.
    before = work.snap.get(name, {})
    for key, old in before.items():
        if key not in wanted and key not in step["unset"] and now.get(key) != old:
            values[key] = None if old is None else json.dumps(old)
    due = bool(values) or bool(situation.effects(step)) or situation.pending(step)
    if situation.hold:
        work.pending += [step["name"]] if due else []
        return
    if not due and unit.is_up and not unit.needs_enable:
        return
    work.has_run.add(step["name"])
    if values:
        work.snap[name] = {**{key: now.get(key) for key in values}, **before}
        set_snap(name, values, now, work)
    if unit.needs_enable:
        work.enabled += [unit.name] if unit.name not in work.enabled else []
        work.actions.append(f"enable {unit.name}")
    if unit.is_running and (due or not unit.is_up):
        work.start([unit.name])
    elif not unit.is_up:
        work.actions.append(f"start {unit.name}")
    if not unit.is_running or unit.needs_enable:
        work.forward.append(service_commands.snap_start(name))
        work.snap_back(service_commands.snap_stop(name, unit.needs_enable)) if not unit.is_running else None
    if due or not unit.is_up:
        work.touch([unit.name])
        work.watch = True


def set_snap(name, values, now, work):
    """Set and unset settings of a snap, and put back what was there when that is undone."""
    work.actions.append(f"set {name}: {', '.join(sorted(values))}")
    work.forward.append(service_commands.snap_set(name, values))
    old = {key: json.dumps(now[key]) if key in now else None for key in values}
    work.snap_back(service_commands.snap_set(name, old))
    before = {key: now[key] for key in values if key in now}
    after = {key: snapd.parse_value(value) for key, value in values.items() if value is not None}
    work.diffs.append(snapd.settings_diff(name, before, after, work.secret))
