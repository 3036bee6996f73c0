# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine eksctl with a stand-in of C(eksctl anywhere) that speaks its log: steps, failures, kills, and what a rerun is refused for."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import eksctl, work_folder
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.programs import AdminPrograms, StepFailed
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cluster_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.lock import Machine, Owner, Process
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.run import Admin
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

SECRET = "secret-of-vsphere"
# It takes its orders from a file: the task before which it fails, and the task at which it waits until the file does not name it any more.
PROGRAM = """\
import json, os, sys, time
home = os.environ["STAND_IN"]
def orders():
    with open(os.path.join(home, "orders.json")) as stream:
        return json.load(stream)
def log(level, text, **values):
    print("2026-11-26T10:00:00.000Z\\tV%d\\t%s%s" % (level, text, "\\t" + json.dumps(values) if values else ""), flush=True)
def docker(names):
    with open(os.path.join(home, "containers"), "w") as stream:
        stream.write(names)
operation = sys.argv[2]
with open(os.path.join(home, "calls"), "a") as stream:
    stream.write(" ".join(sys.argv[1:]) + "\\n")
with open(os.path.join(home, "environment"), "w") as stream:
    stream.write(os.environ.get("EKSA_VSPHERE_PASSWORD", ""))
assert os.path.exists("cluster.yaml")
tasks = {
    "create": ["setup-validate", "bootstrap-cluster-init", "install-capi-components-bootstrap", "workload-cluster-init",
               "capi-management-move", "write-cluster-config", "delete-kind-cluster"],
    "upgrade": ["setup-and-validate", "upgrade-core-components", "upgrade-workload-cluster"],
    "delete": ["setup-and-validate-delete", "bootstrap-cluster-for-delete-init", "capi-management-move-for-delete",
               "delete-management-cluster", "kind-cluster-delete"],
}[operation]
for task in tasks:
    log(4, "Task start", task_name=task)
    while orders().get("wait") == task:
        time.sleep(0.02)
    if orders().get("fail") == task:
        log(0, "\\u274c Validation failed", error="password=%s is wrong" % os.environ.get("EKSA_VSPHERE_PASSWORD"))
        print("Error: failed to %s cluster: cause-of-stand-in" % operation, flush=True)
        sys.exit(1)
    log(5, "an internal line with token: abc.def")
    if task.startswith("bootstrap-cluster"):
        docker("dev-eks-a-cluster-control-plane")
        log(0, "message-of-stand-in")
    if task == "workload-cluster-init":
        os.makedirs("dev", exist_ok=True)
        with open("dev/dev-eks-a-cluster.kubeconfig", "w") as stream:
            stream.write("clusters: []\\nusers: []\\n")
    if task in ("delete-kind-cluster", "kind-cluster-delete"):
        docker("")
    log(4, "Task finished", task_name=task)
"""
DOCKER = """\
import os, sys
with open(os.path.join(os.environ["STAND_IN"], "containers")) as stream:
    for name in stream.read().split():
        print(name if sys.argv[-1] == "{{.Names}}" else name + "\\trunning\\tcontrol-plane")
"""


class Bench:
    """An admin machine with stand-ins of eksctl and docker in PATH, on which tasks run in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines = folder, list[str]()
        (folder / "bin").mkdir()
        for name, text in (("eksctl", PROGRAM), ("eksctl-anywhere", ""), ("docker", DOCKER)):
            (folder / "bin" / name).write_text(f"#!{sys.executable} -SE\n{text}", encoding="utf-8")
            (folder / "bin" / name).chmod(0o755)
        (folder / "containers").write_text("", encoding="utf-8")
        self.order()
        self.most_watches = 10**6
        self.orders_at_watch: dict[str, str] | None = None

    def order(self, **orders: str) -> None:
        staged = self.folder / "orders.new"
        staged.write_text(json.dumps(orders), encoding="utf-8")
        staged.replace(self.folder / "orders.json")

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def work(self) -> Path:
        return self.folder / "work" / "dev"

    def _call(self, name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        assert name.rpartition(".")[2] == "anywhere_eksctl"
        if options["operation"] == "watch":
            self.most_watches -= 1
            if self.most_watches < 0:
                raise KeyboardInterrupt
            if self.orders_at_watch is not None:
                # Not before the run has found the program: it could end meanwhile.
                self.order(**self.orders_at_watch)
        defaults = {"command": [], "digest": "", "files": {}, "environment": {}, "offset": 0}
        try:
            return eksctl.eksctl(AdminPrograms(options["work_dir"]), {**defaults, **options}, False)
        except StepFailed as error:
            return {"failed": True, "msg": str(error)}

    def run(self, operation: str, *, check_mode: bool = False, text: str | None = None, **own: Any) -> dict[str, Any]:
        self.lines.clear()
        owner = Owner("h", "b", Process(1, 1))
        admin = Admin(self._call, self.lines.append, lambda: "now", owner, lambda _pid: Machine("h", "b", {}))
        options = {name: option.get("default") for name, option in cluster_task.OPTIONS.items()}
        options |= {"operation": operation, "cluster_file": "f", "work_dir": str(self.work.parent), "engine": "eksctl", "eksctl": own}
        return cluster_task.cluster_task(
            options,
            read=lambda _path, _option: text or clusters.file("vsphere"),
            admin=admin,
            check_mode=check_mode,
            environment={"EKSA_VSPHERE_PASSWORD": SECRET},
        )

    @property
    def page(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    found = Bench(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN", str(tmp_path))
    return found


def wait_until(condition: Any) -> None:
    limit = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_a_cluster_is_created_shown_and_deleted_and_second_runs_change_nothing(bench: Bench) -> None:
    done = bench.run("create")
    assert done["changed"] and not done.get("failed"), done
    assert done["steps"][:2] == ["setup and validation", "create the bootstrap cluster"] and "move the management" in done["steps"]
    assert mentions(bench.page, "message-of-stand-in") and "internal" not in bench.page
    assert bench.calls == ["anywhere create cluster -f cluster.yaml -v 4"]
    assert (bench.folder / "environment").read_text(encoding="utf-8") == SECRET
    kubeconfig = Path(done["kubeconfig"])
    assert "users:" in kubeconfig.read_text(encoding="utf-8") and kubeconfig == bench.work / "dev-eks-a-cluster.kubeconfig"
    own = [path for path in bench.work.iterdir() if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in own} == {0o600} and stat.S_IMODE(bench.work.stat().st_mode) == 0o700
    assert not any(SECRET in path.read_text(encoding="utf-8") for path in own)
    assert bench.run("create") == {"changed": False, "steps": [], "kubeconfig": str(kubeconfig)}
    assert bench.run("create", text=clusters.file("vsphere", ("Cluster", "spec.kubernetesVersion", "1.33")))["failed"]
    bench.run("status")
    assert mentions(bench.page, "create: done", "kubeconfig: saved")
    assert not bench.run("delete").get("failed") and not kubeconfig.exists()
    assert bench.run("delete")["changed"] is False
    assert len(bench.calls) == 2


def test_check_mode_shows_the_command_and_starts_nothing(bench: Bench) -> None:
    shown = bench.run("create", check_mode=True, arguments=["--no-timeouts"])
    assert shown["changed"] and shown["steps"] == ["eksctl anywhere create cluster -f cluster.yaml -v 4 --no-timeouts"]
    assert not bench.calls and not bench.work.exists()


def test_a_failure_has_its_step_its_cause_and_what_it_left_and_a_rerun_is_refused(bench: Bench) -> None:
    bench.order(fail="workload-cluster-init")
    failed = bench.run("create")
    assert failed["failed"] and failed["steps"][-1] == "apply the cluster and wait for its machines"
    assert mentions(failed["msg"], "status 1", "cause-of-stand-in", "dev-eks-a-cluster-control-plane", "eksctl.log")
    assert SECRET not in str(failed) + bench.page
    bench.order()
    for operation in ("create", "upgrade", "delete"):
        refused = bench.run(operation)
        assert refused["failed"] and not refused["steps"] and mentions(refused["msg"], "machines.cluster.x-k8s.io")
    (bench.folder / "containers").write_text("", encoding="utf-8")
    assert mentions(bench.run("create")["msg"], "rerun")
    assert len(bench.calls) == 1
    assert not bench.run("create", rerun=True).get("failed")


def test_a_failure_before_anything_is_created_can_be_run_again(bench: Bench) -> None:
    bench.order(fail="setup-validate")
    failed = bench.run("create")
    assert failed["steps"] == ["setup and validation"] and mentions(failed["msg"], "cause-of-stand-in")
    bench.order()
    assert not bench.run("create").get("failed")


def test_a_failure_after_the_kubeconfig_was_written_does_not_lose_it(bench: Bench) -> None:
    bench.order(fail="capi-management-move")
    assert bench.run("create")["failed"]
    assert (bench.work / "dev-eks-a-cluster.kubeconfig").stat().st_mode & 0o777 == 0o600


def test_a_playbook_that_is_killed_leaves_the_program_running_and_the_next_one_watches_it(bench: Bench) -> None:
    bench.order(wait="capi-management-move")
    bench.most_watches = 2
    with pytest.raises(KeyboardInterrupt):
        bench.run("create")
    bench.most_watches = 10**6
    pid = json.loads((bench.work / "eksctl.json").read_text(encoding="utf-8"))["pid"]
    assert mentions(bench.run("delete")["msg"], str(pid))
    assert mentions(bench.run("create", check_mode=True)["steps"][0], "watch")
    bench.orders_at_watch = {}
    done = bench.run("create")
    assert not done.get("failed") and done["steps"][0] == "setup and validation"
    assert len(bench.calls) == 1


def test_a_program_that_was_killed_is_not_taken_for_done(bench: Bench) -> None:
    bench.order(wait="workload-cluster-init")
    bench.most_watches = 1
    with pytest.raises(KeyboardInterrupt):
        bench.run("create")
    bench.most_watches = 10**6
    wait_until(lambda: "workload-cluster-init" in (work_folder.read(str(bench.work / "eksctl.log")) or ""))
    record = json.loads((bench.work / "eksctl.json").read_text(encoding="utf-8"))
    os.killpg(record["pid"], signal.SIGKILL)
    wait_until(lambda: work_folder.start_time(record["pid"]) is None)
    refused = bench.run("create")
    assert refused["failed"] and mentions(refused["msg"], "cannot resume", "dev-eks-a-cluster-control-plane")
    assert len(bench.calls) == 1


def test_the_kubeconfig_is_given_to_eks_anywhere_where_it_looks_for_it(bench: Bench) -> None:
    bench.work.mkdir(parents=True)
    (bench.work / "dev-eks-a-cluster.kubeconfig").write_text("clusters: []\nusers: []\n", encoding="utf-8")
    assert not bench.run("upgrade").get("failed")
    assert (bench.work / "eksctl" / "dev" / "dev-eks-a-cluster.kubeconfig").exists()
    assert bench.calls == ["anywhere upgrade cluster -f cluster.yaml -v 4"]
    assert not bench.run("upgrade")["changed"]


def test_one_engine_does_not_continue_what_the_other_one_began(bench: Bench) -> None:
    bench.work.mkdir(parents=True)
    (bench.work / "ledger-create.json").write_text("{}", encoding="utf-8")
    assert mentions(bench.run("create")["msg"], "capi", "eks_anywhere_engine") and not bench.calls


def test_a_missing_program_and_a_damaged_record_are_told(bench: Bench) -> None:
    (bench.folder / "bin" / "eksctl-anywhere").unlink()
    assert mentions(bench.run("create")["msg"], "eksctl-anywhere")
    (bench.folder / "bin" / "eksctl-anywhere").write_text("#!/bin/sh\n", encoding="utf-8")
    (bench.folder / "bin" / "eksctl-anywhere").chmod(0o755)
    bench.work.mkdir(parents=True)
    (bench.work / "eksctl.json").write_text("{", encoding="utf-8")
    assert mentions(bench.run("create")["msg"], "eksctl.json") and not bench.calls


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('2026-11-26T10:00:00.000Z\tV4\tTask start\t{"task_name": "a-b"}', {"kind": "task", "text": "a-b"}),
        ('Task start\t{"task_name": "a"}', {"kind": "task", "text": "a"}),
        ("2026-11-26T10:00:00.000Z\tV0\tCreating new workload cluster", {"kind": "message", "text": "Creating new workload cluster"}),
        ("Error: failed to create", {"kind": "problem", "text": "Error: failed to create"}),
        ("2026-11-26T10:00:00.000Z\tV6\tExecuting command", None),
        ("", None),
    ],
)
def test_lines_of_the_log(line: str, row: dict[str, str] | None) -> None:
    assert eksctl.rows_of([line]) == ([] if row is None else [row])
