# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: the record, differences from it, what a run repairs, and repairs that do not last. Real nodes: tests/oracle/test_drift.py."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import drift, drift_asked, drift_watch, drift_writers
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.drift import Drift, Snaps
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.drift_watch import DriftWatch
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Effective, Manifest, Repair
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Plan
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import snapd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Current
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.kubelet_process import BOOTSTRAP_KUBECONFIG
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.nodeadm_files import WRITES
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import node_state, typed_plan, unit

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
CA = "/etc/kubernetes/pki/ca.crt"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
SERVER = "https://ABC.gr7.eu-central-1.eks.amazonaws.com"


class Files(dict[str, str]):
    """The files of a node."""

    def current(self, path: str) -> Current | None:
        return Current(self[path].encode(), 0o644, 0, 0) if path in self else None


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    found = Files({CONFIG: json.dumps({"maxPods": 29, "clusterDNS": ["10.100.0.10"]}), CA: "x", KUBECONFIG: f"server: {SERVER}\n"})
    monkeypatch.setattr(drift_watch.files, "read", found.current)
    return found


@pytest.fixture
def snap(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {"max-pods": 29}
    monkeypatch.setattr(snapd, "read_settings", lambda _name: dict(found))
    return found


def recorded(plan: Plan, files: Files, units: Mapping[str, Any] | None = None) -> Manifest:
    effective = drift.record(plan, files.current, units or {})
    return Manifest(family="al2", effective=effective)


def record_of(manifest: Manifest, path: str) -> Effective:
    """What a manifest records of a file."""
    effective = (manifest.effective or {})[path]
    assert effective is not None
    return effective


def test_only_another_value_is_drift(files: Files) -> None:
    plan = typed_plan("al2 script")
    manifest = recorded(plan, files)
    assert drift.find(plan, manifest, files.current, Snaps()) == []
    files[CONFIG] = json.dumps({"clusterDNS": ["10.100.0.10"], "maxPods": 29})
    assert drift.find(plan, manifest, files.current, Snaps()) == []
    files[CONFIG] = json.dumps({"maxPods": True, "podPidsLimit": 5})
    files["/etc/containerd/config.toml"] = "version = 2\n"
    del files[CA]
    assert drift.find(plan, manifest, files.current, Snaps()) == [
        Drift("/etc/containerd/config.toml", drift.WHOLE, None, "present"),
        Drift(CONFIG, "clusterDNS", ["10.100.0.10"], None),
        Drift(CONFIG, "maxPods", 29, True),
        Drift(CONFIG, "podPidsLimit", None, 5),
        Drift(CA, drift.WHOLE, "present", None),
    ]


def test_settings_of_a_snap_are_compared_for_both_strategies(files: Files, snap: dict[str, Any]) -> None:
    for kind in ("ubuntu", "ubuntu script"):
        plan = typed_plan(kind)
        manifest = recorded(plan, files)
        assert drift.find(plan, manifest, files.current, Snaps()) == []
        snap["max-pods"] = 5
        assert drift.find(plan, manifest, files.current, Snaps()) == [Drift("snap kubelet-eks", "max-pods", 29, 5)]
        snap["max-pods"] = 29


def test_files_of_the_plan_and_of_kubelet_itself_are_not_recorded(files: Files) -> None:
    assert not drift.has_record(typed_plan("al2"))
    plan = typed_plan("al2023", kubelet={"config": {"maxPods": 5}})
    assert set(drift.record(plan, files.current, {})) >= {KUBECONFIG, CA}
    files[BOOTSTRAP_KUBECONFIG] = "x"
    assert KUBECONFIG not in drift.record(plan, files.current, {})
    assert WRITES[-4] == "/run/eks/nodeadm/config.json" and WRITES[-4] not in drift.record(plan, files.current, {})


def test_units_that_start_at_boot_are_recorded(files: Files) -> None:
    plan = typed_plan("al2 script")
    units = {"kubelet.service": unit("kubelet.service"), "containerd.service": unit("containerd.service", file_state="disabled")}
    assert drift.units_to_enable(recorded(plan, files, units)) == ["kubelet.service"] and drift.units_to_enable(Manifest()) == []


def test_how_differences_are_shown(golden_message: GoldenMessages) -> None:
    found = [Drift(CONFIG, "maxPods", 29, 5), Drift(CONFIG, "clusterDNS", ["1.2.3.4"], None), Drift(CA, drift.WHOLE, "present", None)]
    assert drift.actions(found) == [f"repair {CONFIG}: maxPods, clusterDNS", f"repair {CA}"]
    for entry in drift.diffs(found):
        golden_message("\n".join(entry))
    for item in (*found, Drift(CA, drift.WHOLE, None, "present")):
        golden_message(drift.describe(item))
    secret = Drift(KUBECONFIG, "users.kubelet.user.token", "canary", "canary-2")
    assert "canary" not in str(drift.shown(secret, False)) and "5" not in str(drift.shown(found[0], True))
    assert drift.shown(found[2], True) == found[2] and drift.shown(found[0], False) == found[0]


# --- a run -------------------------------------------------------------------------------------------------------------------------------


def watch_of(files: Files, mode: str = "repair", can_repair: bool = True, **fields: Any) -> DriftWatch:
    """The watch of a run on a node whose pods were changed from 29 to 5."""
    plan = typed_plan("al2 script")
    manifest = recorded(plan, files)._replace(**fields)
    files[CONFIG] = json.dumps({"maxPods": 5, "clusterDNS": ["10.100.0.10"]})
    watch = DriftWatch(plan, mode, manifest)
    watch.look(node_state(manifest=manifest), can_repair)
    return watch


def test_the_modes(files: Files) -> None:
    right = files[CONFIG]
    for mode, can_repair, repairs, warnings in (("repair", True, 1, 0), ("repair", False, 0, 0), ("report", True, 0, 1)):
        files[CONFIG] = right
        watch = watch_of(files, mode, can_repair)
        assert (len(watch.repairs), len(watch.warnings()), len(watch.found())) == (repairs, warnings, 1)
    files[CONFIG] = right
    assert watch_of(files, "ignore").found() == []


@pytest.fixture
def kubelet_started(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When kubelet started, in seconds of the monotonic clock; the files changed at second 100."""
    started = [200.0]
    monkeypatch.setattr(
        drift_watch, "read_units", lambda names: {name: unit(name)._replace(main_started=started[0], pid=7) for name in names}
    )
    monkeypatch.setattr(drift_watch, "to_wall_time", lambda moment: moment)
    monkeypatch.setattr(Host, "changed_at", lambda self, path: 100.0)
    monkeypatch.setattr(drift_writers, "find", lambda source, ours, units: [])
    return started


def test_a_repair_that_lasts_keeps_the_record(files: Files, kubelet_started: list[float]) -> None:
    right = files[CONFIG]
    watch = watch_of(files)
    files[CONFIG] = right
    manifest = recorded(typed_plan("al2 script"), files)
    after = watch.verified(manifest._replace(repaired={f"{CONFIG}: maxPods": Repair(5, "then")}))
    watch.check_repairs_last()
    assert watch.accepted() == [] and record_of(after, CONFIG) == record_of(manifest, CONFIG)
    assert after.repaired == {f"{CONFIG}: maxPods": Repair(5, "then")}


def test_a_value_that_the_program_sets_again_before_kubelet_starts_is_accepted(files: Files, kubelet_started: list[float]) -> None:
    watch = watch_of(files)
    assert mentions(watch.accepted(), CONFIG, "maxPods", "5", "29")
    after = watch.verified(Manifest(family="al2", effective={"x": None}, repaired={f"{CONFIG}: maxPods": Repair(5, "then")}))
    watch.check_repairs_last()
    assert after.repaired == {} and record_of(after, CONFIG).values["maxPods"] == 5


@pytest.mark.parametrize("writers", [[], ["the cron job /etc/cron.d/tune"]])
def test_a_value_that_others_set_again_fails(
    files: Files, kubelet_started: list[float], monkeypatch: pytest.MonkeyPatch, writers: list[str], golden_message: GoldenMessages
) -> None:
    kubelet_started[0] = 50.0 if not writers else 200.0
    monkeypatch.setattr(drift_writers, "find", lambda source, ours, units: writers)
    watch = watch_of(files)
    current = Manifest(family="al2", effective={"x": None})
    assert watch.verified(current) == current and watch.accepted() == []
    with pytest.raises(ApplyRefused) as caught:
        watch.check_repairs_last()
    golden_message(caught.value)


def test_a_value_that_was_repaired_before_fails_after_the_repair(
    files: Files, kubelet_started: list[float], golden_message: GoldenMessages
) -> None:
    right = files[CONFIG]
    watch = watch_of(files, repaired={f"{CONFIG}: maxPods": Repair(5, "2026-01-01T00:00:00Z")})
    files[CONFIG] = right
    with pytest.raises(ApplyRefused) as caught:
        watch.check_repairs_last()
    golden_message(caught.value)
    files[CONFIG] = right
    other = watch_of(files, repaired={f"{CONFIG}: maxPods": Repair(6, "2026-01-01T00:00:00Z")})
    files[CONFIG] = right
    other.check_repairs_last()


def test_when_a_record_is_made(files: Files, kubelet_started: list[float]) -> None:
    plan = typed_plan("al2 script")
    before, due = Manifest(family="al2"), Manifest(family="al2", effective={})
    assert DriftWatch(plan, "repair", before).verified(due).effective
    assert DriftWatch(plan, "ignore", before).verified(due) == due
    for current in (Manifest(), due._replace(pending=("bootstrap script",)), due._replace(effective={"x": None})):
        assert DriftWatch(plan, "repair", current).verified(current) == current
    # What differs from the plan is not recorded, also not after a run that was killed before it could record.
    files[KUBECONFIG] = "clusters: []\n"
    for unknown in (Manifest(family="al2"), due):
        assert DriftWatch(plan, "repair", unknown).verified(unknown) == unknown


def test_a_run_that_was_killed_before_it_recorded_is_compared_with_its_plan(files: Files, kubelet_started: list[float]) -> None:
    plan = typed_plan("al2 script")
    killed = Manifest(family="al2", effective={})
    files[CONFIG] = json.dumps({"clusterDNS": ["9.9.9.9"]})
    watch = DriftWatch(plan, "repair", killed)
    watch.look(node_state(manifest=killed), True)
    assert (CONFIG, "clusterDNS") in {(item.source, item.name) for item in watch.repairs}
    assert watch.verified(killed).effective
    # The program that has to run anyway sets its values.
    pending = killed._replace(pending=("bootstrap script",))
    watch.look(node_state(manifest=pending), True)
    assert watch.repairs == []


def test_a_node_without_a_record_is_compared_with_its_plan(files: Files, snap: dict[str, Any]) -> None:
    certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    kubeconfig = {"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                  "clusters": [{"name": "k", "cluster": {"server": SERVER}}], "users": [{"name": "u", "user": {}}]}  # fmt: skip
    files.update({CA: certificate, KUBECONFIG: json.dumps(kubeconfig)})
    extra = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"
    files[extra] = "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--node-labels=a=b,id=i-1 --max-pods=5'\n"
    plan = typed_plan("al2 script", labels={"a": "b", "id": "{instance_id}"}, max_pods=5)
    assert drift_asked.find(plan, files.current, Snaps()) == []
    files[extra] = files[extra].replace("max-pods=5", "max-pods=6")
    files[CONFIG] = json.dumps({"clusterDNS": ["9.9.9.9"]})
    name = "Service.Environment.KUBELET_EXTRA_ARGS.--max-pods"
    assert drift_asked.find(plan, files.current, Snaps()) == [
        Drift(CONFIG, "clusterDNS", ["10.100.0.10"], ["9.9.9.9"]),
        Drift(extra, name, "5", "6"),
    ]
    snap.update({"cluster-dns": "10.100.0.10", "args": "--max-pods=6"})
    plan = typed_plan("ubuntu script", max_pods=5)
    assert drift_asked.find(plan, files.current, Snaps()) == [Drift("snap kubelet-eks", "args.--max-pods", "5", "6")]


def test_nodeadm_without_a_record(files: Files) -> None:
    plan = typed_plan("al2023", kubelet={"config": {"podPidsLimit": 100, "evictionHard": {"memory.available": "5%"}}}, max_pods=5)
    names = [item.name for item in drift_asked.find(plan, files.current, Snaps())]
    assert {"podPidsLimit", "evictionHard.memory.available", "maxPods"} <= set(names)
    files["/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"] = json.dumps(
        {"podPidsLimit": 100, "evictionHard": {"memory.available": "5%"}, "maxPods": 5}
    )
    names = [item.name for item in drift_asked.find(plan, files.current, Snaps())]
    assert not {"podPidsLimit", "evictionHard.memory.available", "maxPods"} & set(names)


# --- writers -----------------------------------------------------------------------------------------------------------------------------


def lay(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        target = root / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


TUNE = "#!/bin/sh\nsed -i s/a/b/ " + CONFIG + "\n"


@pytest.mark.parametrize(
    ("laid", "expected"),
    [
        ({}, []),
        ({"/etc/systemd/system/tune.service": f"[Service]\nExecStart=/bin/sed -i s/a/b/ {CONFIG}\n"}, ["tune.service"]),
        ({"/etc/systemd/system/kubelet.service.d/90-x.conf": "[Service]\nExecStartPre=/opt/tune\n", "/opt/tune": TUNE}, ["/opt/tune"]),
        ({"/etc/systemd/system/kubelet.service": f"[Service]\nExecStart=/usr/bin/kubelet --config {CONFIG}\n"}, []),
        ({"/etc/systemd/system/x.service": "ExecStart = /opt/run\n", "/opt/run": f"#!/bin/sh\nexec kubelet --config {CONFIG}\n"}, []),
        ({"/etc/systemd/system/tune.service": f"ExecStart = /bin/sh -c \\\n  'sed -i s/a/b/ {CONFIG}'\n"}, ["ExecStart of tune.service"]),
        ({"/etc/systemd/system/kubelet.service.d/50-ours.conf": f"[Service]\nExecStartPre=/bin/sed -i s/a/b/ {CONFIG}\n"}, []),
        ({"/etc/cron.d/tune": f"* * * * * root sed -i s/a/b/ {CONFIG}\n"}, ["/etc/cron.d/tune"]),
        ({"/etc/cron.hourly/tune": TUNE}, ["/etc/cron.hourly/tune"]),
        ({"/var/spool/cron/crontabs/root": "@hourly /opt/tune\n", "/opt/tune": TUNE}, ["/opt/tune"]),
        ({"/proc/99/cmdline": f"sed\0-i\0s/a/b/\0{CONFIG}\0"}, ["process 99"]),
        ({"/proc/99/cmdline": f"/usr/bin/kubelet\0--config={CONFIG}\0"}, []),
    ],
)
def test_a_writer_is_found_by_what_names_the_file(tmp_path: Path, laid: dict[str, str], expected: list[str]) -> None:
    lay(tmp_path, laid)
    found = drift_writers.find(CONFIG, {"/etc/systemd/system/kubelet.service.d/50-ours.conf"}, host=Host(root=str(tmp_path)))
    assert len(found) == len(expected) and all(word in line for word, line in zip(expected, found, strict=True)), found


def test_a_writer_of_settings_names_the_snap(tmp_path: Path) -> None:
    (tmp_path / "etc/cron.d").mkdir(parents=True)
    (tmp_path / "etc/cron.d/tune").write_text("@daily root snap set kubelet-eks max-pods=5\n")
    assert len(drift_writers.find("snap kubelet-eks", (), host=Host(root=str(tmp_path)))) == 1


VENDOR = "/usr/lib/systemd/system/kubelet.service"
DROP_INS = [f"{VENDOR}.d/10-image.conf", "/etc/systemd/system/kubelet.service.d/50-ours.conf"]
SHOWN = "{{ path={0} ; argv[]={1} ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }}\n"


class ShownUnits(Host):
    """A node on which systemctl show reports these commands of kubelet.service, as systemd 252 prints them."""

    def __init__(self, root: Path, commands: Sequence[tuple[str, str]], status: int = 0) -> None:
        super().__init__(root=str(root))
        lines = [f"{setting}=" + SHOWN.format(text.split()[0], text) for setting, text in commands]
        self.result = Result(status, "".join(lines) + f"FragmentPath={VENDOR}\nDropInPaths={' '.join(DROP_INS)}\n", "")

    def run_program(self, argv: Sequence[str]) -> Result:
        return self.result if argv[-1] == "kubelet.service" else Result(0, "", "")


SED = f"/bin/sed -i s/a/b/ {CONFIG}"


@pytest.mark.parametrize(
    ("commands", "laid", "expected"),
    [
        ([("ExecStart", f"/usr/bin/kubelet --config {CONFIG}")], {VENDOR: ""}, []),
        ([("ExecStart", f"/usr/bin/kubelet --config={CONFIG}")], {VENDOR: ""}, []),
        ([("ExecStartPre", "/sbin/iptables -P FORWARD ACCEPT -w 5")], {VENDOR: ""}, []),
        # A drop-in of the image, which is not in a folder of the administrator.
        ([("ExecStartPre", SED)], {DROP_INS[0]: f"[Service]\nExecStartPre=-{SED}\n"}, [f"ExecStartPre of kubelet.service ({DROP_INS[0]})"]),
        ([("ExecStartPost", SED)], {VENDOR: f"ExecStartPost={SED}\n"}, [f"ExecStartPost of kubelet.service ({VENDOR})"]),
        # systemd shows the words without quotes, and specifiers replaced.
        (
            [("ExecStartPre", f"/bin/sh -c test -e x; {SED}")],
            {DROP_INS[0]: f"ExecStartPre=/bin/sh -c \\\n 'test -e x; {SED}'\n", VENDOR: "ExecStartPre=/bin/true\n"},
            [f"ExecStartPre of kubelet.service ({DROP_INS[0]})"],
        ),
        (
            [("ExecStartPre", "/opt/kubelet/tune")],
            {DROP_INS[0]: "ExecStartPre=/opt/%p/tune\n", VENDOR: "ExecStart=/usr/bin/kubelet\n", "/opt/kubelet/tune": TUNE},
            [f"ExecStartPre of kubelet.service ({DROP_INS[0]}), which runs /opt/kubelet/tune"],
        ),
        # A later drop-in wins, and what the plan itself sets is not a writer.
        (
            [("ExecStartPre", "/opt/tune")],
            {VENDOR: "ExecStartPre=/opt/tune\n", DROP_INS[0]: "ExecStartPre=\nExecStartPre=/opt/tune\n", "/opt/tune": TUNE},
            [f"ExecStartPre of kubelet.service ({DROP_INS[0]}), which runs /opt/tune"],
        ),
        ([("ExecStartPre", SED)], {VENDOR: "", DROP_INS[1]: f"ExecStartPre={SED}\n"}, []),
        # The file that sets it has been removed since, but systemd was not reloaded.
        ([("ExecStartPre", SED)], {}, [f"ExecStartPre of kubelet.service ({VENDOR})"]),
    ],
)
def test_a_command_of_kubelets_unit_is_found_wherever_it_is_set(
    tmp_path: Path, commands: list[tuple[str, str]], laid: dict[str, str], expected: list[str]
) -> None:
    lay(tmp_path, laid)
    host = ShownUnits(tmp_path, commands)
    assert drift_writers.find(CONFIG, {DROP_INS[1]}, ["containerd.service", "kubelet.service"], host) == expected


def test_a_command_is_named_once(tmp_path: Path) -> None:
    path = "/etc/systemd/system/kubelet.service.d/90-tune.conf"
    lay(tmp_path, {path: "ExecStartPre=/opt/tune\n", "/opt/tune": TUNE})
    host = ShownUnits(tmp_path, [("ExecStartPre", "/opt/tune")])
    host.result = host.result._replace(output=host.result.output.replace(DROP_INS[0], path))
    expected = [f"ExecStartPre of kubelet.service ({path}), which runs /opt/tune"]
    assert drift_writers.find(CONFIG, (), ["kubelet.service"], host) == expected
    # Without an answer of systemd, the files are still searched.
    assert drift_writers.find(CONFIG, (), ["kubelet.service"], ShownUnits(tmp_path, [], status=1)) == expected
