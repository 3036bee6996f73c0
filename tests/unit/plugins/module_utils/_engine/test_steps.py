# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on a node after which change, and how it is undone."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import decision, image_script, service_commands
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.drift import Drift
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.file_changes import FileChange, Originals
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Effective, Manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import ImageScriptStep, Plan
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.steps import StepContext, Work
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import snapd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import node_state, parse, plan, typed_plan, unit

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
RUNTIME = "/etc/containerd/config.toml"


class Labels(Identity):
    def setting(self, text: str, facts: Any) -> str:
        return text.replace("${NODE_IP}", "10.0.0.5").replace("${NODE_NAME}", "host").replace("${PROVIDER_ID}", "aws:///z/i")


def units(plan: Plan, **changed: Unit) -> dict[str, Unit]:
    names = [name for name in plan.units() if not name.startswith("snap.") or name in plan.verify.units]
    return {name: changed.get(name.partition(".")[0].replace("-", "_"), unit(name)) for name in names}


def item(plan: Plan, path: str, has_effect: bool = True) -> FileChange:
    [file] = [file for file in plan.files if file.path == path]
    return FileChange(Change(path, b""), None, has_effect, file.read_by, False, f"write {path}")


def decide(
    plan: Plan,
    *changes: FileChange,
    manifest: Manifest | None = None,
    hold: bool = False,
    reload: bool = False,
    sources_changed: bool = False,
    states: dict[str, Unit] | None = None,
    drift: Sequence[Drift] = (),
    kubelet_due: float = 0.0,
    **changed: Unit,
) -> Work:
    observed = states or units(plan, **changed)
    kubelet = observed.get(plan.kubelet_unit or "")
    node = node_state(manifest=manifest or Manifest(), units=observed, kubelet=kubelet, kubelet_due=kubelet_due)
    originals = Originals(SimpleNamespace(folder="/var/lib/nodebootstrap"), node.manifest)
    sandbox: Any = None
    context = StepContext(plan, node, changes, originals, hold, sources_changed, sandbox, Labels(), lambda path: None, drift)
    return decision.decide_steps(context, reload)


def words(commands: Sequence[Command]) -> list[str]:
    return [service_commands.describe(command) for command in commands]


def stopped(name: str, file_state: str = "disabled") -> Unit:
    return unit(name, "inactive", "dead", file_state)


def test_a_node_that_is_right_is_left_alone() -> None:
    content = typed_plan("al2", commands={"post": ["true"]})
    work = decide(content, item(content, CONFIG, has_effect=False))
    assert (work.actions, work.forward, work.pending, work.restarted) == ([], [], [], [])
    assert work.back == [] and not work.has_started


def test_only_readers_of_what_changed_are_restarted() -> None:
    content = typed_plan("al2")
    work = decide(content, item(content, CONFIG))
    forward, back = work.forward, work.back
    restart = ["systemctl reset-failed kubelet.service", "systemctl restart kubelet.service"]
    assert words(forward) == [*restart, "the watch over containerd.service, kubelet.service"]
    assert words(back) == restart and work.restarted == ["kubelet.service"]
    work = decide(content, item(content, RUNTIME))
    assert work.actions == ["restart containerd.service", "restart sandbox-image.service"]


def test_a_fresh_node_starts_in_order_and_is_stopped_in_reverse() -> None:
    content = typed_plan("al2", commands={"post": ["true"]})
    names = ("containerd.service", "sandbox-image.service", "kubelet.service", "nodebootstrap-post.service")
    dead = {name.partition(".")[0].replace("-", "_"): stopped(name) for name in names}
    items = [item(content, path) for path in content.paths]
    work = decide(content, *items, reload=True, **dead)
    forward, back = work.forward, work.back
    assert words(forward) == [
        "systemctl --quiet enable containerd.service kubelet.service",
        f"systemctl reset-failed {' '.join(names)}",
        "systemctl restart containerd.service",
        "systemctl restart sandbox-image.service",
        "systemctl restart kubelet.service",
        "systemctl --no-block restart nodebootstrap-post.service",
        "the watch over containerd.service, kubelet.service",
    ]
    assert words(back) == [
        "systemctl disable containerd.service kubelet.service",
        f"systemctl stop {' '.join(reversed(names))}",
        "systemctl daemon-reload",
        f"systemctl reset-failed {' '.join(names)}",
    ]
    assert work.enabled == ["containerd.service", "kubelet.service"] and work.restarted == []


@pytest.mark.parametrize(
    ("active", "sub", "again"),
    [("activating", "auto-restart", True), ("activating", "start-pre", False), ("failed", "failed", True), ("reloading", "reload", False)],
)
def test_a_unit_on_its_way_is_not_disturbed(active: str, sub: str, again: bool) -> None:
    content = typed_plan("al2")
    work = decide(content, kubelet=unit("kubelet.service", active, sub))
    assert bool(work.forward) is again


def test_what_is_held_back_stays_pending_and_runs_later() -> None:
    content = typed_plan("al2")
    work = decide(content, item(content, CONFIG), hold=True, containerd=stopped("containerd.service"))
    assert (work.actions, work.pending, work.forward, work.enabled) == ([], ["kubelet"], [], [])
    assert decide(content, hold=True, manifest=Manifest(pending=("kubelet",))).pending == ["kubelet"]
    done = decide(content, manifest=Manifest(pending=("kubelet",)))
    assert (done.actions, done.pending) == (["restart kubelet.service"], [])


def test_nodeadm_runs_for_other_sources_and_its_files_are_kept() -> None:
    content = typed_plan("al2023")
    work = decide(content, sources_changed=True)
    assert work.actions == ["restart nodeadm-config.service nodeadm-run.service"]
    assert work.restarted == ["containerd.service", "kubelet.service"] and "/var/lib/kubelet/kubeconfig" in work.snapshots
    names = ", ".join(["containerd.service", "kubelet.service", "nodeadm-config.service", "nodeadm-run.service"])
    nodeadm, started = "nodeadm-config.service nodeadm-run.service", "containerd.service kubelet.service"
    reset, restart = f"systemctl reset-failed {nodeadm} {started}", f"systemctl restart {started}"
    assert words(work.forward)[:2] == [reset, f"systemctl restart {nodeadm}"]
    assert words(work.back) == ["systemctl daemon-reload", reset, restart, f"the restore of {names}"]
    assert decide(content).forward == []


CONFIG_DRIFT = Drift("/etc/kubernetes/kubelet/config.json", "maxPods", 29, 5)


def test_drift_runs_the_program_of_the_image_again() -> None:
    content = typed_plan("al2023")
    work = decide(content, drift=[CONFIG_DRIFT])
    assert work.actions == [f"repair {CONFIG_DRIFT.source}: maxPods", "restart nodeadm-config.service nodeadm-run.service"]
    assert (work.repairs, work.runs_image, work.restarts_kubelet) == ([CONFIG_DRIFT], False, True)
    assert decide(content, drift=[CONFIG_DRIFT], sources_changed=True).runs_image
    assert decide(content, drift=[CONFIG_DRIFT], hold=True).pending == ["nodeadm"]
    # Another step does not repair it.
    assert decide(typed_plan("al2"), drift=[CONFIG_DRIFT]).actions == []


def test_drift_of_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    content = typed_plan("al2 script")
    [step] = [step for step in content.steps if isinstance(step, ImageScriptStep)]
    done = Manifest(family="al2", scripts={step.name: image_script._digest(step, content)}, effective={})
    assert decide(content, manifest=done).actions == []
    found = Drift("/etc/kubernetes/kubelet/kubelet-config.json", "maxPods", 29, 5)
    work = decide(content, manifest=done, drift=[found])
    assert work.actions[0] == f"repair {found.source}: maxPods" and f"run {step.name}" in work.actions
    assert (work.repairs, work.runs_image, work.restarts_kubelet) == ([found], False, True)
    assert decide(content).runs_image


def test_a_kubelet_that_starts_meanwhile_is_stopped_before_the_script() -> None:
    """Between the look at the node and the script a queued job may start it, and the script does not restart a kubelet that runs."""
    content = typed_plan("al2 script")
    [step] = [step for step in content.steps if isinstance(step, ImageScriptStep)]
    forward = words(decide(content, kubelet=stopped("kubelet.service")).forward)
    assert forward.index("systemctl stop kubelet.service") < forward.index(step.path)
    forward = words(decide(content).forward)
    assert forward.index(step.path) < forward.index("systemctl restart kubelet.service")


@pytest.mark.parametrize("kind", ["al2", "al2 script", "ubuntu", "ubuntu script", "al2023"])
def test_a_unit_that_was_started_too_often_can_start_again(kind: str, snap: dict[str, Any]) -> None:
    """systemd refuses every start of such a unit, and some units are started by programs of the image."""
    content = typed_plan(kind)
    kubelet = content.kubelet_unit
    assert kubelet is not None
    limited = unit(kubelet, "failed", "failed")._replace(result="start-limit-hit")
    states = {name: limited if name == kubelet else stopped(name) for name in units(content)}
    forward = decide(content, states=states).forward
    [reset] = [index for index, command in enumerate(forward) if "reset-failed" in command.argv]
    assert set(content.verify.units) <= set(forward[reset].argv) and forward[reset].optional
    assert all("daemon-reload" in command.argv or "enable" in command.argv for command in forward[:reset])
    [step] = [step for step in content.steps if isinstance(step, ImageScriptStep)] or [None]
    assert step is None or set(step.installed_units) <= set(forward[reset].argv)


@pytest.mark.parametrize("kind", ["al2", "al2 script", "ubuntu script", "al2023"])
def test_a_stopped_containerd_is_started_alone(kind: str, snap: dict[str, Any]) -> None:
    content = typed_plan(kind)
    scripts = {step.name: image_script._digest(step, content) for step in content.steps if isinstance(step, ImageScriptStep)}
    manifest = Manifest(family=content.family, scripts=scripts)
    containerd = "containerd.service"
    states = {name: stopped(name, "enabled") if name == containerd else unit(name) for name in units(content)}
    work = decide(content, manifest=manifest, states=states)
    watch = f"the watch over {', '.join(content.verify.units)}"
    assert words(work.forward) == [f"systemctl reset-failed {containerd}", f"systemctl restart {containerd}", watch]
    assert words(work.back) == [f"systemctl stop {containerd}", f"systemctl reset-failed {containerd}"]
    assert work.actions == [f"start {containerd}"] and work.has_started
    assert decide(content, manifest=manifest, states=states, hold=True).forward == []


@pytest.mark.parametrize("kind", ["al2 script", "ubuntu script"])
def test_containerd_starts_before_kubelet(kind: str, snap: dict[str, Any]) -> None:
    content = typed_plan(kind)
    scripts = {step.name: image_script._digest(step, content) for step in content.steps if isinstance(step, ImageScriptStep)}
    states = {name: stopped(name, "enabled") for name in units(content)}
    work = decide(content, manifest=Manifest(family=content.family, scripts=scripts), states=states)
    assert words(work.forward)[1] == f"systemctl restart {' '.join(content.verify.units)}"
    assert content.verify.units[0] == "containerd.service"


def disabled(name: str) -> Unit:
    return unit(name, file_state="disabled")


def test_a_disabled_kubelet_is_enabled_again(snap: dict[str, Any]) -> None:
    for kind in ("al2", "al2 script"):
        content = typed_plan(kind)
        steps_done = {step.name: image_script._digest(step, content) for step in content.steps if isinstance(step, ImageScriptStep)}
        work = decide(content, manifest=Manifest(family="al2", scripts=steps_done), kubelet=disabled("kubelet.service"))
        assert words(work.forward) == ["systemctl --quiet enable kubelet.service"] and work.enables == ["kubelet.service"]
        assert words(work.back)[0] == "systemctl disable kubelet.service"
    # nodeadm starts kubelet at boot, so it is enabled only if it was before.
    content = typed_plan("al2023")
    assert decide(content, kubelet=disabled("kubelet.service")).forward == []
    was = Manifest(family="al2023", effective={"units": Effective("", {"kubelet.service": "enabled"})})
    assert decide(content, manifest=was, kubelet=disabled("kubelet.service")).enables == ["kubelet.service"]
    content = typed_plan("ubuntu script")
    [step] = [step for step in content.steps if isinstance(step, ImageScriptStep)]
    states = {name: disabled(name) if "kubelet" in name else unit(name) for name in units(content)}
    work = decide(content, states=states, manifest=Manifest(family="ubuntu", scripts={step.name: image_script._digest(step, content)}))
    assert (words(work.forward), words(work.back)) == (["snap start --enable"], ["snap stop --disable kubelet-eks"])


@pytest.mark.parametrize("kind", ["al2", "al2 script", "al2023"])
def test_a_kubelet_with_an_older_configuration_is_restarted(kind: str) -> None:
    content = typed_plan(kind)
    scripts = {step.name: image_script._digest(step, content) for step in content.steps if isinstance(step, ImageScriptStep)}
    old = unit("kubelet.service")._replace(main_started=100.0)
    for due, job, restarts in ((99.0, False, False), (101.0, False, True), (101.0, True, False)):
        states = {name: old if name == old.name else unit(name)._replace(has_job=job) for name in units(content)}
        work = decide(content, manifest=Manifest(family="al2", scripts=scripts), states=states, kubelet_due=due)
        assert work.restarts_kubelet is restarts


SETTINGS = {"config": "/c", "node-ip": "10.0.0.5"}


@pytest.fixture
def snap(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    monkeypatch.setattr(snapd, "read_settings", lambda name: found)
    return found


def test_a_snap_gets_what_differs_in_one_call_and_back(snap: dict[str, Any]) -> None:
    plain = plan("ubuntu")
    plain["steps"][-1]["settings"] = {"config": "/c", "node-ip": "${NODE_IP}", "v": "2"}
    content = parse(plain)
    snap.update({"config": "/c", "v": 3, "cluster-dns": "1.2.3.4", "mine": "x"})
    work = decide(content)
    forward, back = work.forward, work.back
    kubelet = "snap.kubelet-eks.daemon.service"
    assert words(forward[:1]) == words(back[:1]) == [f"systemctl reset-failed {kubelet}"]
    assert forward[1].argv[-5:] == ("set", "kubelet-eks", "cluster-dns!", "node-ip=10.0.0.5", "v=2") and forward[1].undo_at_boot
    assert words(forward[2:]) == [f"systemctl restart {kubelet}", f"the watch over containerd.service, {kubelet}"]
    assert back[1].argv[-5:] == ("set", "kubelet-eks", 'cluster-dns="1.2.3.4"', "node-ip!", "v=3")
    assert words(back[2:]) == [f"systemctl restart {kubelet}"]
    assert work.snap == {"kubelet-eks": {"cluster-dns": "1.2.3.4", "node-ip": None, "v": 3}}
    assert (work.diffs[0].before, work.diffs[0].after) == ("cluster-dns: 1.2.3.4\nv: 3\n", "node-ip: 10.0.0.5\nv: 2\n")

    snap.clear()
    snap.update({"config": "/c", "node-ip": "10.0.0.5", "v": 2, "mine": "x"})
    assert decide(content, manifest=Manifest(snap=work.snap)).forward == []
    # What a plan no longer speaks of goes back to what it was.
    del plain["steps"][-1]["settings"]["v"]
    assert decide(parse(plain), manifest=Manifest(snap=work.snap)).forward[1].argv[-2:] == ("kubelet-eks", "v=3")


def test_a_snap_that_never_ran_is_enabled_and_stopped_again(snap: dict[str, Any]) -> None:
    content = typed_plan("ubuntu")
    kubelet = "snap.kubelet-eks.daemon.service"
    states = {name: stopped(name) if name == kubelet else unit(name) for name in units(content)}
    work = decide(content, states=states)
    forward, back = work.forward, work.back
    assert words(forward)[:3] == [f"systemctl reset-failed {kubelet}", "snap set kubelet-eks", "snap start --enable"]
    assert [command.argv[4:7] for command in back[1:3]] == [("snap", "set", "kubelet-eks"), ("snap", "stop", "--disable")]
    assert work.actions[1:] == [f"enable {kubelet}", f"start {kubelet}"]
