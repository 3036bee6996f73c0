# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call on a node: look, decide, validate, change, start, verify. Everything up to the transaction only reads."""

from __future__ import annotations

import hashlib
import os
import time
from typing import Any, NamedTuple

from .._node import files as _files
from .._node import health, journald, processes, redaction, systemd
from .._node.errors import ApplyRefused
from .._node.placeholders import Identity
from .._transaction.store import Store
from .._transaction.transaction import StepFailed, Transaction
from . import file_changes, one_time_scripts, preflight, registration, service_commands, steps, validation
from . import plan as _plan

PHASES = ("preflight", "configure", "validate", "start", "verify")
MANIFEST_FORMAT = 1

SURE = 0.01
"""Seconds: the shortest wait for a join that does not trust one look alone."""


class Options(NamedTuple):
    """What the caller wants. C(plan): the decoded plan. C(wait): seconds for C(wait_for), which is healthy, registered or ready.

    C(label): the SELinux context of a new file at a path, or None.
    """

    plan: Any
    phases: Any
    state: str = "present"
    restart: str = "when_changed"
    take_over: bool = False
    reconcile: bool = False
    wait: float = 5.0
    wait_for: str = "healthy"
    check_mode: bool = False
    diff: bool = False
    label: Any = lambda path: None


def apply(options, store=None):
    """Bring the node to its plan, or take it back: the module's result. Raises ApplyRefused, RecoveryFailed, StepFailed or OSError."""
    preflight.check_python()
    preflight.check_system()
    store = store or Store()
    secret = any(file["sensitive"] for file in options.plan["files"])
    with store.lock(create=not options.check_mode), validation.Workshop(secret=secret) as workshop:
        call = _Call(options, store, workshop)
        return call.absent() if options.state == "absent" else call.present()


class _Call:
    """The course of one call."""

    def __init__(self, options, store, workshop):
        self.options = options
        self.plan = options.plan
        self.store = store
        self.workshop = workshop
        self.identity = Identity()
        self.result = {
            "changed": False, "actions": [], "restarted": [], "diff": [], "warnings": [], "healthy": None, "missing": [], "waited": 0.0,
            "join": None, "recovered": None, "registration": None, "facts": {"hostname": os.uname()[1]}, "foreign": {},
        }  # fmt: skip
        if not options.check_mode:
            self.result["recovered"] = store.recover()
        elif os.path.isdir(store.work):
            self.result["warnings"].append("an interrupted run is finished or undone first, so more may happen than is said here")
        self.manifest = store.manifest()
        if self.manifest.get("format", MANIFEST_FORMAT) != MANIFEST_FORMAT:
            raise ApplyRefused(
                f"{store.folder}/manifest.json has format {self.manifest['format']}: a newer nodebootstrap.eks set up this node, use that"
            )

    # --- present -----------------------------------------------------------------------------------------------------------------

    def present(self):
        plan, phases = self.plan, self.options.phases
        preflight.check_machine(plan, preflight.os_release())
        self._look_at_units()
        moves = self._check_registration()
        ran = False
        if {"configure", "validate", "start"} & set(phases):
            ran = self._configure(moves)
        if "verify" in phases and not self.options.check_mode:
            self._verify(ran)
        self.result["changed"] = bool(self.result["actions"] or self.result["recovered"])
        return self.result

    def _look_at_units(self):
        names = list(self.plan["verify"]["units"])
        for step in self.plan["steps"]:
            names += step.get("units", []) + step.get("enable", []) + step.get("active", [])
            names += [step[field] for field in ("kubelet", "containerd", "unit") if field in step]
            names += steps.laid_units(step)
        self.units = systemd.read_units(names)
        kubelet = _plan.kubelet_unit(self.plan)
        self.kubelet = self.units.get(kubelet)
        self.words = processes.command_line(self.kubelet.pid) if self.kubelet else []

    def _check_registration(self):
        """Whether the node moves to another cluster."""
        belongs = preflight.cluster_of_node(self.manifest, self.words)
        moves = preflight.check_cluster(self.plan, belongs, self._may_move)
        before = None if moves else registration.registered(self.plan, self.manifest, belongs, self.words)
        change = None if before is None else registration.difference(before, self.plan["registration"])
        anew = moves or before is None or (change is not None and self._never_joined())
        if change is not None and not anew and not self.options.reconcile:
            registration.refuse(change)
        self.patched = None if anew else registration.united(self.manifest.get("patched"), change)
        if self.patched and self.options.reconcile:
            self.result["registration"] = registration.patch(self.patched, self.words, self.identity)
        # Who waits for the cluster learns whether it has the node; until then there is no sign of it.
        asks = "verify" in self.options.phases and self.options.wait_for != "healthy"
        self.joined = self.manifest.get("joined") if not anew else False if asks else None
        return moves

    def _may_move(self):
        return self.options.take_over or self._never_joined()

    def _never_joined(self):
        """Whether nobody has ever seen this node in its cluster, nothing of a cluster is on it, and it is not there now either."""
        if self.manifest.get("joined") is not False or registration.has_served(self.words):
            return False
        from .._join import wait as _join

        return _join.never_joined()

    def _configure(self, moves):
        """Files and services. Returns whether something was started."""
        phases = self.options.phases
        items, files, originals = self._compare()
        preflight.check_units(self.plan, self.units)
        # A node whose files are right and whose kubelet runs was set up by our user data: its scripts have run.
        adopted = not self.manifest and not items and self.kubelet is not None and self.kubelet.is_up
        if "validate" in phases:
            self._validate(items)
        if not {"configure", "start"} & set(phases):
            return False
        once = one_time_scripts.due(self.plan, self.manifest) if "configure" in phases and not adopted else []
        for step in once:
            self.result["actions"].append(f"run {step['name']}")
            if not self.options.check_mode:
                self.manifest = one_time_scripts.run(step, self.store, self.manifest)
        if once and not self.options.check_mode:
            # They may have changed anything.
            self._look_at_units()
            items, files, originals = self._compare()
        laid = items if "configure" in phases else []
        if "configure" not in phases and "start" in phases:
            self._check_laid(items)
        hold = "start" not in phases or self.options.restart == "never"
        sources = self._sources()
        changed = bool(self.manifest.get("sources")) and _sources_differ(self.manifest["sources"], sources)
        situation = steps.Situation(
            self.plan, self.manifest, laid, self.units, hold, originals, self.workshop, self.identity, _files.read, changed
        )
        work = steps.decide(situation)
        return self._carry_out(work, laid, files, originals, sources, hold, moves)

    def _compare(self):
        originals = file_changes.Originals(self.store, self.manifest)
        # Where containerd does not run, it starts anyway: nobody has to know whether the change means anything to it.
        runs = any(unit.is_up for name, unit in self.units.items() if name.startswith("containerd"))
        dump = self.workshop.containerd_dump if runs else None
        items, files = file_changes.compare(self.plan, self.manifest, originals, dump, self.options.label)
        return items, files, originals

    def _validate(self, items):
        written = {item.change.path: item.change.content for item in items if item.change.content is not None}
        forms = {file["path"]: file["form"] for file in self.plan["files"]}
        for path, content in sorted(written.items()):
            if forms.get(path) == "containerd":
                self.workshop.check_containerd(path, content)
        units = {file["path"]: file["content"].encode("utf-8", "surrogateescape") for file in self.plan["files"] if file["form"] == "unit"}
        units = {path: content for path, content in units.items() if path.startswith(validation.ETC_UNITS)}
        if any(path in units for path in written):
            self.result["warnings"] += self.workshop.check_units(units, _files.read, list(self.units))
        if any(item.change.path.startswith(validation.NODEADM_FOLDER + "/") for item in items):
            before = validation.nodeadm_documents(_files.read)
            self.workshop.check_nodeadm(steps.nodeadm_after(self.plan, items, before))

    def _check_laid(self, items):
        missing = [item.change.path for item in items if item.current is None]
        if missing:
            raise ApplyRefused(f"{', '.join(missing[:3])} is not in place yet, so nothing can be started: run the phase configure, too")
        if items:
            self.result["warnings"].append(
                f"{len(items)} files are not what the plan says ({items[0].change.path}…): run the phase configure to change them"
            )

    def _sources(self):
        """Digests of what nodeadm reads beside our documents; their texts go into the result. None for other families."""
        if not any(steps.NODEADM_CONFIG in step.get("units", ()) for step in self.plan["steps"]):
            return None
        ours = {file["path"] for file in self.plan["files"]} | set(self.plan["owned"]) | set(self.manifest.get("files", ()))
        ours |= set(self.manifest.get("owned", ()))
        folder = validation.NODEADM_FOLDER
        found = {f"{folder}/{name}": content for name, content in validation.nodeadm_documents(_files.read).items()}
        others = {path: content.decode("utf-8", "replace") for path, content in found.items() if path not in ours}
        user_data = Identity.of_user_data()
        self.result["foreign"] = dict(others, **({"user_data": user_data} if user_data else {}))
        drop_ins = "\0".join(f"{path}\0{text}" for path, text in sorted(others.items()))
        return {"drop_ins": _digest(drop_ins), "user_data": None if user_data is None else _digest(user_data)}

    def _carry_out(self, work, laid, files, originals, sources, hold, moves):
        items = laid + work.items
        folders = file_changes.folders(self.plan) if "configure" in self.options.phases else []
        reload = file_changes.touches_units(laid)
        forward, back = work.commands(reload, self.plan["verify"])
        actions = [item.action for item in laid] + [f"make {path}" for path, _mode in folders]
        self.result["actions"] += actions + (["reload systemd"] if reload else []) + work.actions
        self.result["restarted"] = work.restarted
        if self.options.diff:
            self.result["diff"] = [file_changes.diff_of(item) for item in laid] + work.diffs
        manifest = self._manifest(work, files if "configure" in self.options.phases else None, sources, hold, moves)
        if self.options.check_mode:
            return False
        kept = originals.changes(manifest)
        if not (items or folders or forward) and manifest == self.manifest:
            return False
        folders += [(originals.folder, 0o700)] if any(change.content is not None for change in kept) else []
        self.store.prepare()
        changes = [item.change for item in items] + kept
        # What a unit that fails has written already does not stay either.
        snapshots = work.snapshots + [path for path in self.plan["owned"] if work.forward and path not in work.snapshots]
        transaction = Transaction(self.store, changes, folders, forward, back, snapshots, manifest)
        run(transaction, back, _plan.kubelet_unit(self.plan))
        return bool(work.has_run)

    def _manifest(self, work, files, sources, hold, moves):
        """What the node remembers of this call. C(files) None: none were written."""
        plan, old = self.plan, self.manifest
        new = {
            "format": MANIFEST_FORMAT,
            "family": plan["family"],
            "strategy": plan["strategy"],
            "cluster": plan["cluster"],
            "kubelet": _plan.kubelet_unit(plan),
            "units": sorted(self.units),
            "files": old.get("files", {}) if files is None else files,
            "owned": old.get("owned", []) if files is None else sorted(plan["owned"]),
            "once": old.get("once", {}) if files is None else one_time_scripts.known(plan, old),
            "image": work.image,
            "scripts": work.scripts,
            "pending": work.pending,
            "folders": old.get("folders", []) if files is None else self._folders([*files, *work.image]),
            "enabled": sorted(work.enabled),
            "snap": work.snap,
        }
        if sources is not None:
            last = old.get("sources", {})
            new["sources"] = {**sources, "user_data": sources["user_data"] or last.get("user_data")}
        registered = None if moves else old.get("registered")
        if not hold:
            registered = plan["registration"]
        if registered is not None:
            new["registered"] = registered
        if self.patched:
            new["patched"] = self.patched
        if self.joined is not None:
            new["joined"] = self.joined
        if files is None and not old:
            # Nothing is ours yet: only looking makes no manifest.
            return old if not work.forward and not work.enable_now else new
        return new

    def _folders(self, paths):
        """Folders that are there because of us: those made before and those that are made now."""
        wanted = {os.path.dirname(path) for path in paths} | {folder["path"] for folder in self.plan["directories"]}
        made = {folder for path in wanted for folder in _files.missing_folders(path)}
        return sorted(made | set(self.manifest.get("folders", ())))

    def _verify(self, ran):
        verify = self.plan["verify"]
        # Who asked for nothing to be started gets no answer about what does not run.
        held = self.options.restart == "never" and not all(self.units[name].is_up for name in verify["units"])
        if held:
            return
        known = None if ran else {name: self.units[name] for name in verify["units"]}
        began = time.monotonic()
        self.result["missing"] = health.wait_until_healthy(verify["units"], verify["healthz"], self.options.wait, known)
        self.result["waited"] = round(time.monotonic() - began, 3)
        self.result["healthy"] = not self.result["missing"]
        if self.options.wait_for != "healthy":
            self._verify_join(self.options.wait - (time.monotonic() - began))

    def _verify_join(self, seconds):
        from .._join import wait as _join

        # A kubelet that is not even healthy gets one look, which may say why; with more than 0 seconds it has to be sure of what it says.
        left = max(seconds, SURE) if self.result["healthy"] else SURE
        self.result["join"] = _join.wait(_join.Options(self.options.wait_for, left))
        if self.joined is False and self.result["join"]["registered"]:
            self._remember_joined()

    def _remember_joined(self):
        manifest = self.store.manifest()
        if manifest.get("joined") is False:
            self.store.prepare()
            Transaction(self.store, manifest=dict(manifest, joined=True)).run()

    # --- absent ------------------------------------------------------------------------------------------------------------------

    def absent(self):
        if not self.manifest:
            return self.result
        from . import removal as _absent

        if self.manifest.get("cluster"):
            belongs = preflight.cluster_of_node(self.manifest, [])
            preflight.check_cluster(self.plan, belongs, self._may_move)
        if not {"configure", "start"} & set(self.options.phases):
            return self.result
        originals = file_changes.Originals(self.store, self.manifest)
        units = systemd.read_units(_absent.units_of(self.manifest))
        removal = _absent.decide(self.manifest, originals, units)
        self.result.update(changed=True, actions=removal.actions)
        if self.options.diff:
            self.result["diff"] = [file_changes.diff_of(item) for item in removal.items] + removal.diffs
        if not self.options.check_mode:
            self.store.prepare()
            changes = [item.change for item in removal.items] + originals.changes({})
            run(Transaction(self.store, changes, (), removal.forward, removal.back, (), {}), removal.back)
            _absent.leave(self.manifest.get("folders", ()))
        return self.result


def run(transaction, back, kubelet=None):
    """Run a transaction; a failure is raised as ApplyRefused, in words that help. C(kubelet): the unit whose journal may say more."""
    began, ended = time.time() - 1, []

    def progress(command):
        if any(command is one for one in back) and not ended:
            ended.append(time.time())

    try:
        transaction.run(progress)
    except StepFailed as failure:
        raise ApplyRefused(_told(failure, began, ended[0] if ended else None, kubelet)) from None


def _told(failure, began, ended, kubelet):
    lines = [line for line in failure.output.strip().splitlines() if line.strip()][-6:]
    if failure.command is None:
        what = f"a file could not be switched ({failure.output.strip()})"
    else:
        status = "" if failure.status is None else f" (status {failure.status})"
        what = f"{service_commands.describe(failure.command)} failed{status}" + (f": {' | '.join(lines)}" if lines else "")
    units = [word for word in (failure.command.argv if failure.command else ()) if word.endswith(".service")]
    units = dict.fromkeys([*units, kubelet] if units and kubelet else units)
    said = {unit: [redaction.in_word(line) for line in journald.messages_between(unit, began, ended)] for unit in units}
    # What kubelet says is the reason where it was kubelet that failed; else an earlier kubelet may have said it.
    reason = _why_it_ended(kubelet, said[kubelet], what) if kubelet and failure.command and kubelet in failure.command.argv else ""
    text = f"{reason or what}. The node is back in the state it was in; correct the cause and run again"
    if failure.not_restored:
        commands = ", ".join(service_commands.describe(command) for command in failure.not_restored)
        text += f". On the way back these failed, too: {commands}; look at these units first"
    for unit, entries in said.items():
        if entries and not (reason and unit == kubelet):
            text += f". Last lines of {unit}: " + " | ".join(entries)
    return text


def _why_it_ended(kubelet, entries, what):
    """What the last words of a kubelet mean, where they are known ones; else ''. C(what): how they were noticed."""
    from .._join import kubelet_exit_diagnosis, model

    finding = kubelet_exit_diagnosis.diagnose(kubelet, None, model.KubeletExit(tuple(entries)))
    return model.sentence(finding._replace(evidence=(finding.evidence[0], what))) if finding.final else ""


def _sources_differ(before, now):
    if now is None:
        return False
    told = before.get("user_data") and now["user_data"] and before["user_data"] != now["user_data"]
    return before["drop_ins"] != now["drop_ins"] or bool(told)


def _digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
