# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collector of diagnostics with stand-ins for kubectl, kind and docker that print planted secrets."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin.diagnostics import (
    MAX_SECONDS,
    Collected,
    Collector,
    request_of,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin.tools import Tools
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._anywhere_admin import programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import capi_objects

PASSWORD, TOKEN, IN_ENVIRONMENT = "Planted+pass/word1", "planted.token-value", "planted-of-environment"
KUBECONFIG = f"users:\n- user:\n    token: {TOKEN}\n"
BASE64 = base64.b64encode(PASSWORD.encode()).decode()
SECRETS = {"items": [{"kind": "Secret", "metadata": {"name": "s", "namespace": "a"}, "data": {"password": BASE64}}]}
PLANTED = (PASSWORD, TOKEN, IN_ENVIRONMENT, BASE64)


def bed(folder: Path, **kubectl: Any) -> dict[str, str]:
    """The programs: a bootstrap cluster that answers, with a cluster that does not start. Returns the environment."""
    objects = capi_objects.creation()
    machine = next(one for one in objects if one["kind"] == "DockerMachine")
    machine["spec"] = {"customImage": "a:1", "bootstrapData": PASSWORD}
    pods = [capi_objects.pod("capd-manager", "capd-system", "CrashLoopBackOff"), capi_objects.pod("web", "default", "Running")]
    failed = capi_objects.event(machine, "Failed", f"login with {PASSWORD} failed: unable to apply caps")
    answers: dict[str, Any] = {
        "*--kubeconfig*none.kubeconfig*": (1, "", f"The connection to the server was refused, token {TOKEN}"),
        "* version": "v1.36.0",
        "*get secrets*": json.dumps(SECRETS),
        "*get cluster-api*": json.dumps({"items": objects}),
        "*get events*": json.dumps({"items": [failed]}),
        "*get pods,deployments*": json.dumps({"items": pods}),
        "*logs*": f'E0101 "error" {BASE64} of {IN_ENVIRONMENT} with Bearer {TOKEN}\nline',
        "*get*": "NAME AGE",
    } | kubectl
    programs.script(folder / "bin", "kubectl", answers)
    programs.script(folder / "bin", "kind", {"get kubeconfig --name dev-eks-a-cluster": KUBECONFIG})
    programs.docker(folder / "bin")
    files = folder / "clusters/dev"
    (files / "backup-1").mkdir(parents=True)
    (files / "ledger.json").write_text(json.dumps({"step": "move", "registry_password": PASSWORD}), encoding="utf-8")
    (files / "run.log").write_text(f"pulled with {PASSWORD}\n", encoding="utf-8")
    (files / "backup-1/secret.yaml").write_text(PASSWORD, encoding="utf-8")
    (files / "other.kubeconfig.yaml").write_text(TOKEN, encoding="utf-8")
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "EKSA_VSPHERE_PASSWORD": IN_ENVIRONMENT}


def collect(folder: Path, environment: dict[str, str], clock: Any = None, **kubeconfigs: str) -> Collected:
    tools = Tools(20.0, environment)
    collector = Collector(tools, environment, clock) if clock else Collector(tools, environment)
    return collector.collect(request_of("dev", str(folder / "clusters"), kubeconfigs))


def unpacked(archive: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {one.name.removeprefix("diagnostics/"): (opened.extractfile(one) or io.BytesIO()).read().decode() for one in opened}


def test_everything_is_collected_without_a_secret_and_nothing_is_changed(tmp_path: Path) -> None:
    found = collect(tmp_path, bed(tmp_path))
    files = unpacked(found.archive)
    shown = json.dumps([files, found.objects, found.logs, found.unreachable], ensure_ascii=False)
    assert [planted for planted in PLANTED if planted in shown] == []
    here = "dev-eks-a-cluster"
    assert {f"{here}/{name}" for name in ("nodes.txt", "pods.txt", "providers.txt", "webhooks.txt")} < files.keys()
    assert {f"{here}/{name}.json" for name in ("cluster-api", "events", "workloads")} < files.keys()
    assert {f"{here}/logs/capd-system_capd-manager.log", f"docker/{here}-control-plane.log", "docker/info.json"} < files.keys()
    assert "unable to apply caps" in files[f"{here}/events.json"] and "dev-cp" in files[f"{here}/cluster-api.json"]
    # Of the files on the machine, kubeconfigs and backups are left out.
    assert {name for name in files if name.startswith("files/")} == {"files/ledger.json", "files/run.log"}
    assert json.loads(files["files/ledger.json"])["step"] == "move"
    assert found.entries == len(files) - 1 and found.logs[here]
    allowed = ("kubectl --kubeconfig", "kind get kubeconfig", "docker ps", "docker info", "docker logs")
    calls = programs.calls(tmp_path / "bin")
    assert [call for call in calls if not call.startswith(allowed)] == []
    words = [call.split("--request-timeout=20s ")[1].split()[0] for call in calls if call.startswith("kubectl")]
    assert {*words} == {"version", "get", "logs"}
    # The kubeconfig of kind was in a private folder, which is removed.
    assert not Path(next(call for call in calls if call.startswith("kubectl")).split()[2]).exists()


def test_secrets_that_are_given_are_removed_in_each_encoding(tmp_path: Path) -> None:
    environment, password = bed(tmp_path), "registry/pass+word"
    header = base64.b64encode(f"me:{password}".encode()).decode()
    (tmp_path / "clusters/dev/hosts.toml").write_text(f"[header]\n  a = '{header}'\n  b = '{password}'\n", encoding="utf-8")
    collector = Collector(Tools(20.0, environment), environment, secrets=[password, f"me:{password}"])
    files = unpacked(collector.collect(request_of("dev", str(tmp_path / "clusters"), {})).archive)
    assert "files/hosts.toml" in files
    assert [name for name, text in files.items() if password in text or header in text] == []


def test_a_cluster_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    environment = bed(tmp_path)
    (tmp_path / "none.kubeconfig").write_text(KUBECONFIG, encoding="utf-8")
    found = collect(tmp_path, environment, dev=str(tmp_path / "none.kubeconfig"))
    assert found.unreachable.keys() == {"dev"} and TOKEN not in found.unreachable["dev"]
    assert found.objects.keys() == {"dev-eks-a-cluster"}
    assert any(row["name"] == "dev/" and row["reason"] for row in json.loads(unpacked(found.archive)["index.json"]))


def test_without_any_cluster_the_files_are_collected(tmp_path: Path) -> None:
    environment = bed(tmp_path)
    (tmp_path / "bin/kind").unlink()
    (tmp_path / "bin/docker").unlink()
    found = collect(tmp_path, environment)
    assert found.objects == {} and "files/run.log" in unpacked(found.archive)


def test_answers_that_are_not_json_are_left_out(tmp_path: Path) -> None:
    found = collect(
        tmp_path, bed(tmp_path, **{"*get events*": "{", "*get secrets*": "no", "*get cluster-api*": (1, "", "no such resource")})
    )
    index = {row["name"]: row for row in json.loads(unpacked(found.archive)["index.json"])}
    assert index["dev-eks-a-cluster/events.json"]["reason"] and index["dev-eks-a-cluster/cluster-api.json"]["bytes"] == 0
    assert [one["kind"] for one in found.objects["dev-eks-a-cluster"]] == ["Pod", "Pod"]


def test_when_the_time_is_over_the_rest_is_listed(tmp_path: Path) -> None:
    times = iter([0.0, *[MAX_SECONDS + 1] * 1000])
    found = collect(tmp_path, bed(tmp_path), lambda: next(times))
    index = {row["name"]: row for row in json.loads(unpacked(found.archive)["index.json"])}
    assert index["dev-eks-a-cluster/nodes.txt"]["bytes"] == 0 and index["dev-eks-a-cluster/nodes.txt"]["reason"]
